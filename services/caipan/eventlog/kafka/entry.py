"""Whether the cluster lets this user in. The clients would try a wrong password again until their time is over."""

from __future__ import annotations

import os
import ssl

from aiokafka.conn import create_conn
from aiokafka.errors import (
    IllegalSaslStateError,
    KafkaError,
    SaslAuthenticationFailed,
    UnsupportedSaslMechanismError,
)
from aiokafka.protocol.metadata import MetadataRequest

from caipan.eventlog.errors import LogError, LogUnavailable, WrongLog
from caipan.eventlog.kafka.settings import KafkaSettings

_TIMEOUT_MS = 5000


async def enter(settings: KafkaSettings) -> None:
    """Connects to one of the brokers and takes leave.

    Raises WrongLog, naming the setting, if a broker is there and does not let this user in; LogUnavailable if there is
    none.
    """
    errors = []
    for server in settings.servers:
        try:
            return await _connect(settings, server)
        except LogError as error:
            errors.append(error)
    raise next((error for error in errors if isinstance(error, WrongLog)), errors[0])


async def _connect(settings: KafkaSettings, server: str) -> None:
    host, _, port = server.rpartition(":")
    arguments = {name: value for name, value in settings.client().items() if name != "bootstrap_servers"}
    try:
        connection = await create_conn(
            host.strip("[]"), int(port), client_id="caipan-entry", request_timeout_ms=_TIMEOUT_MS, **arguments
        )
        try:
            await connection.send(MetadataRequest([]))  # to an unknown user this is the first thing that is refused
        finally:
            connection.close()
    except SaslAuthenticationFailed as error:
        raise WrongLog(
            f"{settings.name}: {server} does not let the user {settings.sasl_username!r} in: correct "
            "CAIPAN_KAFKA_SASL_USERNAME, CAIPAN_KAFKA_SASL_PASSWORD or CAIPAN_KAFKA_SASL_MECHANISM"
        ) from error
    except IllegalSaslStateError as error:
        raise WrongLog(
            f"{settings.name}: {server} asks for no user and password: correct CAIPAN_KAFKA_SECURITY_PROTOCOL"
        ) from error
    except UnsupportedSaslMechanismError as error:
        raise WrongLog(
            f"{settings.name}: {server} knows no {settings.sasl_mechanism}: correct CAIPAN_KAFKA_SASL_MECHANISM"
        ) from error
    except ssl.SSLError as error:
        raise WrongLog(
            f"{settings.name}: no TLS with {server}: {getattr(error, 'verify_message', '') or error.reason}; correct "
            "CAIPAN_KAFKA_SECURITY_PROTOCOL, or the files of CAIPAN_KAFKA_SSL_CAFILE, _CERTFILE and _KEYFILE"
        ) from error
    except (KafkaError, OSError, TimeoutError) as error:
        raise LogUnavailable(
            f"{settings.name}: no broker answers at {server} ({_said(error)}); start it, or correct the address and "
            "CAIPAN_KAFKA_SECURITY_PROTOCOL"
        ) from error


def _said(error: BaseException) -> str:
    if isinstance(error, OSError) and error.errno is not None and error.errno > 0:
        return os.strerror(error.errno)  # asyncio puts the address in its place
    return getattr(error, "strerror", None) or str(error) or type(error).__name__

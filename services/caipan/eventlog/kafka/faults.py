"""What the Kafka clients raise, as the errors of the port."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import aiokafka.errors as asynchronous
import kafka.errors as blocking

from caipan.eventlog.errors import Fenced, LogError, LogUnavailable, WrongLog
from caipan.eventlog.kafka.settings import KafkaSettings

CLIENT_ERRORS = (blocking.KafkaError, asynchronous.KafkaError)

_DENIED = ("Authorization", "Authentication")


@contextmanager
def translated(settings: KafkaSettings, what: str) -> Iterator[None]:
    """Within it errors of the clients come out as LogErrors that name the log and `what` was tried."""
    try:
        yield
    except CLIENT_ERRORS as error:
        raise as_log_error(settings, what, error) from error
    except (OSError, TimeoutError) as error:
        said = str(error) or "no answer in time"
        raise LogUnavailable(f"{settings.name}: {what}: {said}; is the broker up?") from error


def as_log_error(settings: KafkaSettings, what: str, error: BaseException) -> LogError:
    """The error of the port for what a client raised."""
    kind = type(error).__name__.removesuffix("Error")
    said = f"{settings.name}: {what}: {kind}"
    if isinstance(error, (blocking.ProducerFencedError, asynchronous.ProducerFenced)):
        return Fenced(f"{said}; another worker has taken over")
    if isinstance(error, blocking.InvalidReplicationFactorError):
        return WrongLog(f"{said}; the cluster has not so many brokers: give a smaller --replication, or add brokers")
    if any(word in kind for word in _DENIED):
        return WrongLog(f"{said}; the cluster does not let this user in, or not do this: check CAIPAN_KAFKA_* and ACLs")
    return LogUnavailable(f"{said}; is the broker up, and are enough replicas in sync?")

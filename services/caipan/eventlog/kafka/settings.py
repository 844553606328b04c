"""Where the cluster is and how to get in: what an operator sets, passed on to the clients."""

from __future__ import annotations

import re
import ssl
from enum import StrEnum
from pathlib import Path
from typing import Any, Self

from pydantic import Field, SecretStr, ValidationError, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

SCHEME = "kafka://"
_SERVER = re.compile(r"(\[[0-9a-fA-F:]+\]|[A-Za-z0-9._-]+):([0-9]{1,5})")


class SecurityProtocol(StrEnum):
    """As Kafka names them."""

    PLAINTEXT = "PLAINTEXT"
    SSL = "SSL"
    SASL_PLAINTEXT = "SASL_PLAINTEXT"
    SASL_SSL = "SASL_SSL"


class SaslMechanism(StrEnum):
    """The mechanisms with a name and a password."""

    PLAIN = "PLAIN"
    SCRAM_SHA_256 = "SCRAM-SHA-256"
    SCRAM_SHA_512 = "SCRAM-SHA-512"


class KafkaSettings(BaseSettings):
    """Settings of the connection; each is an environment variable with CAIPAN_KAFKA_ before its name.

    Secrets are in no repr and no message. `topic_prefix` stands before the names of all topics, of the consumer group
    and of the transactional ids, so that several caipans share a cluster.
    """

    model_config = SettingsConfigDict(env_prefix="CAIPAN_KAFKA_", extra="ignore", hide_input_in_errors=True)

    bootstrap: str
    topic_prefix: str = Field(default="", pattern=r"^[A-Za-z0-9._-]{0,100}$")
    security_protocol: SecurityProtocol = SecurityProtocol.PLAINTEXT
    sasl_mechanism: SaslMechanism = SaslMechanism.SCRAM_SHA_512
    sasl_username: str = ""
    sasl_password: SecretStr = SecretStr("")
    ssl_cafile: Path | None = None
    ssl_certfile: Path | None = None
    ssl_keyfile: Path | None = None
    ssl_key_password: SecretStr | None = None

    @classmethod
    def of_url(cls, url: str) -> Self:
        """The settings for `kafka://host:port[,host:port]`, the rest from the environment.

        Raises ValueError that names the setting at fault.
        """
        try:
            return cls(bootstrap=url.removeprefix(SCHEME).rstrip("/"))
        except ValidationError as error:
            first = error.errors(include_input=False, include_url=False)[0]
            where = first["loc"][0] if first["loc"] else ""
            name = "" if where in ("", "bootstrap") else f"CAIPAN_KAFKA_{str(where).upper()}: "
            raise ValueError(f"{name}{first['msg'].removeprefix('Value error, ')}") from None

    @model_validator(mode="after")
    def _complete(self) -> Self:
        for server in self.servers:
            matched = _SERVER.fullmatch(server)
            if not matched or not 0 < int(matched[2]) < 65536:
                shown = repr(server) if "@" not in server else "what holds an @"  # perhaps a password before it
                raise ValueError(
                    f"{shown} is no address of a broker; name the log kafka://host:port[,host:port], a user and a "
                    "password by CAIPAN_KAFKA_SASL_USERNAME and CAIPAN_KAFKA_SASL_PASSWORD"
                )
        if self.uses_sasl and not (self.sasl_username and self.sasl_password.get_secret_value()):
            raise ValueError(
                f"{self.security_protocol} needs CAIPAN_KAFKA_SASL_USERNAME and CAIPAN_KAFKA_SASL_PASSWORD; set both"
            )
        for name in ("ssl_cafile", "ssl_certfile", "ssl_keyfile"):
            path = getattr(self, name)
            if path is not None and not path.is_file():
                raise ValueError(f"CAIPAN_KAFKA_{name.upper()}: there is no file {path}; correct the path")
        return self

    @property
    def servers(self) -> list[str]:
        """The brokers to begin with, "host:port" each."""
        return self.bootstrap.split(",")

    @property
    def name(self) -> str:
        """How messages name this log."""
        return f"{SCHEME}{self.bootstrap}"

    @property
    def uses_sasl(self) -> bool:
        return self.security_protocol in (SecurityProtocol.SASL_PLAINTEXT, SecurityProtocol.SASL_SSL)

    @property
    def uses_tls(self) -> bool:
        return self.security_protocol in (SecurityProtocol.SSL, SecurityProtocol.SASL_SSL)

    def topic(self, name: str) -> str:
        """The name on the cluster of the topic `name`."""
        return f"{self.topic_prefix}{name}"

    def ssl_context(self) -> ssl.SSLContext | None:
        """For TLS: checks the broker's certificate and name; shows the own certificate where one is set.

        Raises ValueError for files that cannot be used.
        """
        if not self.uses_tls:
            return None
        try:
            context = ssl.create_default_context(cafile=self.ssl_cafile)
            if self.ssl_certfile is not None:
                password = self.ssl_key_password.get_secret_value() if self.ssl_key_password else None
                context.load_cert_chain(self.ssl_certfile, self.ssl_keyfile, password)
        except (ssl.SSLError, OSError):
            raise ValueError(
                "the files of CAIPAN_KAFKA_SSL_CAFILE, _CERTFILE and _KEYFILE cannot be used: they must be PEM, and "
                "the key must belong to the certificate and open with CAIPAN_KAFKA_SSL_KEY_PASSWORD"
            ) from None
        return context

    def client(self) -> dict[str, Any]:
        """The arguments that the clients of kafka-python and aiokafka share."""
        arguments: dict[str, Any] = {
            "bootstrap_servers": self.servers,
            "security_protocol": self.security_protocol.value,
            "ssl_context": self.ssl_context(),
        }
        if self.uses_sasl:
            arguments |= {
                "sasl_mechanism": self.sasl_mechanism.value,
                "sasl_plain_username": self.sasl_username,
                "sasl_plain_password": self.sasl_password.get_secret_value(),
            }
        return arguments

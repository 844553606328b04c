"""The log on a cluster that lets in only who has a password, over TLS, by all the clients that caipan uses."""

from __future__ import annotations

import asyncio
import datetime
import logging
import os
from collections.abc import Iterator
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import NameOID
from support.command import Running, caipan, objects
from support.kafka import Broker
from support.kafka.broker import free_port

from caipan.eventlog import LogUnavailable, NewRecord, WrongLog
from caipan.eventlog.kafka import KafkaLog, KafkaSettings, create_topics

PASSWORD = "kein-Wort-davon-41"


def certified(folder: Path) -> str:
    """A certificate for 127.0.0.1 in cert.pem; returns the file that holds it with its key, as a broker wants it."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=2))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = certificate.public_bytes(serialization.Encoding.PEM)
    (folder / "cert.pem").write_bytes(pem)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / "store.pem").write_bytes(private + pem)
    return str(folder / "store.pem")


@pytest.fixture
def secured(java: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a listener with SASL and TLS; the environment is set to be let in."""
    port, controller, secure = free_port(), free_port(), free_port()
    settings = {
        "listeners": f"PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller},SASL_SSL://127.0.0.1:{secure}",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL_SSL:SASL_SSL",
        "sasl.enabled.mechanisms": "PLAIN",
        "listener.name.sasl_ssl.plain.sasl.jaas.config": (
            f'org.apache.kafka.common.security.plain.PlainLoginModule required user_hall="{PASSWORD}";'
        ),
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": certified(tmp_path),
    }
    for variable, value in {
        "SECURITY_PROTOCOL": "SASL_SSL",
        "SASL_MECHANISM": "PLAIN",
        "SASL_USERNAME": "hall",
        "SASL_PASSWORD": PASSWORD,
        "SSL_CAFILE": str(tmp_path / "cert.pem"),
    }.items():
        monkeypatch.setenv(f"CAIPAN_KAFKA_{variable}", value)
    with Broker(tmp_path / "kafka", port=port, voters={1: controller}, settings=settings):
        yield f"kafka://127.0.0.1:{secure}"


@pytest.mark.kafka
async def test_every_client_gets_in_over_tls_with_the_password_and_none_without(
    secured: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    settings = KafkaSettings.of_url(secured)
    await create_topics(settings, 2, 1)
    async with KafkaLog(settings) as gateway, KafkaLog(settings, batches=True) as fold:
        await gateway.append("game-events", [NewRecord(b"g", b"1", partition=0)])
        await fold.append("game-events", [NewRecord(b"g", b"2", partition=0)])
        await fold.take_over("game-state", 0)
        await fold.checkpoint("game-state", 0, 2, {b"g": b"state"})
        assert await gateway.restore("game-state", 0) == (2, {b"g": b"state"})
        async with asyncio.timeout(30):
            follower = gateway.follow("game-events", 0, 0)
            assert [record.value for record in await anext(follower)][:1] == [b"1"]

    monkeypatch.setenv("CAIPAN_KAFKA_SASL_PASSWORD", "wrong-" + PASSWORD[::-1])
    with pytest.raises(WrongLog, match="CAIPAN_KAFKA") as refused:
        await KafkaLog(KafkaSettings.of_url(secured)).open()
    monkeypatch.setenv("CAIPAN_KAFKA_SASL_PASSWORD", PASSWORD)
    monkeypatch.delenv("CAIPAN_KAFKA_SSL_CAFILE")
    with pytest.raises((LogUnavailable, WrongLog)) as untrusted:
        await KafkaLog(KafkaSettings.of_url(secured)).open()
    for text in (str(refused.value), str(untrusted.value), caplog.text):
        assert PASSWORD not in text
        assert PASSWORD[::-1] not in text


@pytest.mark.kafka
def test_a_game_is_judged_by_a_worker_that_comes_in_over_tls_with_the_password(secured: str, tmp_path: Path) -> None:
    variables = {name: value for name, value in os.environ.items() if name.startswith("CAIPAN_KAFKA_")}
    record = tmp_path / "game.sgf"
    record.write_text("(;SZ[9];B[ee];W[cc];B[gg])", "utf-8")
    events = caipan("sgf2events", record, "--game-id", "secret").stdout
    caipan("topics", "create", "--log", secured, "--partitions", 2, **variables)
    listening = ("--listen", "127.0.0.1:0", "--data", tmp_path / "data", "--json")
    with Running("up", "--log", secured, *listening, **variables) as service:
        address = service.object()["address"]
        sent = caipan("send", "-", "--json", "--address", address, "--data", tmp_path / "data", text=events).stdout
        assert [told["outcome"]["verdict"]["seq"] for told in objects(sent)] == ["1", "2", "3", "4"]
        code, errors = service.end()
    assert code == 0
    assert PASSWORD not in errors

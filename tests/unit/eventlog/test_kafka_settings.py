"""The settings of the connection: what is wrong is named, and no secret is shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from caipan.eventlog.kafka import KafkaSettings

SECRET = "pass-wort-37"


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in ("TOPIC_PREFIX", "SECURITY_PROTOCOL", "SASL_USERNAME", "SASL_PASSWORD", "SSL_CAFILE"):
        monkeypatch.delenv(f"CAIPAN_KAFKA_{name}", raising=False)
    return monkeypatch


def test_an_address_has_one_broker_or_several() -> None:
    assert KafkaSettings.of_url("kafka://127.0.0.1:9092").servers == ["127.0.0.1:9092"]
    assert KafkaSettings.of_url("kafka://a.example:1,[::1]:65535/").servers == ["a.example:1", "[::1]:65535"]


@pytest.mark.parametrize(
    "servers",
    ["", "a", "a:", "a:0", "a:65536", "a:1,,b:2", "a b:1"],
)
def test_an_address_that_names_no_broker_is_refused_with_the_form_it_must_have(servers: str) -> None:
    with pytest.raises(ValueError, match=r"kafka://host:port\[,host:port\]"):
        KafkaSettings.of_url(f"kafka://{servers}")


def test_a_password_in_the_address_is_refused_and_not_repeated() -> None:
    with pytest.raises(ValueError, match="CAIPAN_KAFKA_SASL_PASSWORD") as caught:
        KafkaSettings.of_url(f"kafka://hall:{SECRET}@a.example:9092")
    assert SECRET not in str(caught.value)


def test_sasl_needs_a_user_and_a_password(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("CAIPAN_KAFKA_SECURITY_PROTOCOL", "SASL_SSL")
    environment.setenv("CAIPAN_KAFKA_SASL_PASSWORD", SECRET)
    with pytest.raises(ValueError, match="CAIPAN_KAFKA_SASL_USERNAME") as caught:
        KafkaSettings.of_url("kafka://a:1")
    assert SECRET not in str(caught.value)


def test_a_setting_that_cannot_be_is_named_by_its_variable(environment: pytest.MonkeyPatch, tmp_path: Path) -> None:
    environment.setenv("CAIPAN_KAFKA_SECURITY_PROTOCOL", "TLS")
    with pytest.raises(ValueError, match=r"CAIPAN_KAFKA_SECURITY_PROTOCOL: .*SASL_SSL"):
        KafkaSettings.of_url("kafka://a:1")
    environment.setenv("CAIPAN_KAFKA_SECURITY_PROTOCOL", "SSL")
    environment.setenv("CAIPAN_KAFKA_SSL_CAFILE", str(tmp_path / "ca.pem"))
    with pytest.raises(ValueError, match=r"CAIPAN_KAFKA_SSL_CAFILE: there is no file .*ca\.pem"):
        KafkaSettings.of_url("kafka://a:1")
    (tmp_path / "ca.pem").write_text("no certificate")
    with pytest.raises(ValueError, match="must be PEM"):
        KafkaSettings.of_url("kafka://a:1").ssl_context()


def test_a_topic_prefix_has_only_what_kafka_allows(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("CAIPAN_KAFKA_TOPIC_PREFIX", "federation.de-")
    assert KafkaSettings.of_url("kafka://a:1").topic("game-events") == "federation.de-game-events"
    environment.setenv("CAIPAN_KAFKA_TOPIC_PREFIX", "a/b")
    with pytest.raises(ValueError, match="CAIPAN_KAFKA_TOPIC_PREFIX"):
        KafkaSettings.of_url("kafka://a:1")


def test_secrets_stand_in_no_text_of_the_settings(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("CAIPAN_KAFKA_SECURITY_PROTOCOL", "SASL_SSL")
    environment.setenv("CAIPAN_KAFKA_SASL_USERNAME", "hall")
    environment.setenv("CAIPAN_KAFKA_SASL_PASSWORD", SECRET)
    settings = KafkaSettings.of_url("kafka://a:1")
    assert settings.client()["sasl_plain_password"] == SECRET
    for text in (repr(settings), str(settings), settings.name, settings.model_dump_json()):
        assert SECRET not in text

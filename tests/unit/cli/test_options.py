"""What is given for an option is checked before anything is started, and what is wrong is said without its secrets."""

from __future__ import annotations

import pytest
import typer

from caipan.cli.options import Place, cluster_target, database_url, log_target, place


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("127.0.0.1:50051", Place("127.0.0.1", 50051)),
        ("0.0.0.0:0", Place("0.0.0.0", 0)),
        ("[::1]:9", Place("::1", 9)),
        ("hall.example:65535", Place("hall.example", 65535)),
    ],
)
def test_a_place_is_a_host_and_a_port(text: str, meant: Place) -> None:
    assert place("--listen", text) == meant


@pytest.mark.parametrize("text", ["50051", "localhost", ":50051", "h:99999", "h:x", ""])
def test_what_is_no_place_is_named_with_its_option(text: str) -> None:
    with pytest.raises(typer.BadParameter, match=r"--metrics needs HOST:PORT, e\.g\. 127\.0\.0\.1:50051"):
        place("--metrics", text)


@pytest.mark.parametrize(
    "target", ["log.db", "data/log.db", "kafka://a:9092", "kafka://a:9092,b.example:9093", "kafka://[::1]:9092", None]
)
def test_a_log_is_a_file_or_a_cluster(target: str | None) -> None:
    assert log_target(target) == target


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("kafka://", "is no address of a broker"),
        ("kafka://a", "is no address of a broker"),
        ("kafka://a:0", "is no address of a broker"),
        ("kafka://a:9092,", "is no address of a broker"),
        ("kafka://a:9092/topic", "is no address of a broker"),
        ("kafka://anna:horse@a:9092", "CAIPAN_KAFKA_SASL_PASSWORD"),
        ("redis://a:1", "names no log; write kafka://HOST:PORT"),
        (".", "is a folder; name the file of the log, e.g. log.db"),
    ],
)
def test_what_names_no_log_is_told(target: str, said: str) -> None:
    with pytest.raises(typer.BadParameter) as caught:
        log_target(target)
    assert said in caught.value.message
    assert "horse" not in caught.value.message


def test_a_file_is_no_log_for_several_processes() -> None:
    assert cluster_target("kafka://a:9092") == "kafka://a:9092"
    with pytest.raises(typer.BadParameter, match=r"log\.db is a file, which one process alone writes"):
        cluster_target("log.db")


def test_a_database_is_a_url_with_a_driver_that_is_there() -> None:
    assert database_url(None) is None
    assert database_url("sqlite:///games.db") == "sqlite:///games.db"


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("games.db", "this is no URL of a database"),
        ("nosuch://anna:horse@host/games", "this is no URL of a database"),
        ("postgresql+pg8000://anna:horse@host/games", "the driver of this database, pg8000, is not installed"),
    ],
)
def test_what_is_no_database_is_told_without_the_password(url: str, said: str) -> None:
    with pytest.raises(typer.BadParameter) as caught:
        database_url(url)
    assert said in caught.value.message
    assert "horse" not in caught.value.message

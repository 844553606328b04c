"""A log is copied whole or goes on where the copy ended; what cannot become the copy is left as it is."""

from __future__ import annotations

import asyncio
import hashlib
import signal
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from support.command import Running, Service, caipan, objects

from caipan.eventlog import TOPICS, EventLog, NewRecord
from caipan.eventlog.embedded import EmbeddedLog
from caipan.eventlog.kafka import KafkaLog, KafkaSettings

SHORT = "(;GM[1]SZ[9]KM[7.5];B[ee];W[cc];B[gg];W[gc];B[cg];W[];B[])"
KO = "(;GM[1]SZ[9]KM[7.5];B[bb];W[cb];B[ac];W[dc];B[bd];W[cd];B[cc];W[bc];B[cc])"
GAMES = {"T1/r1/b1": SHORT, "T1/r1/b2": KO, "T1/r1/b3": KO.replace("[bb]", "[ha]")}
PEOPLE = {"li": "Li", "wang": "Wang"}
ANYWHERE = ["--listen", "127.0.0.1:0"]
KEPT = [name for name, spec in TOPICS.items() if not spec.compacted]

Content = dict[tuple[str, int], list[tuple[int, bytes | None, bytes, tuple[tuple[str, bytes], ...]]]]


async def content(log: EventLog) -> Content:
    """All that a copy must have: the records of each partition, and the persons."""
    found: Content = {}
    async with log:
        for topic in KEPT:
            for partition in range(log.partitions(topic)):
                records: list[Any] = []
                while batch := await log.read(topic, partition, len(records)):
                    records += [(each.offset, each.key, each.value, each.headers) for each in batch]
                found[topic, partition] = records
        for partition in range(log.partitions("people")):
            _, states = await log.restore("people", partition)
            found["people", partition] = [(0, key, states[key], ()) for key in sorted(states)]
    return found


def content_of(file: Path) -> Content:
    return asyncio.run(content(EmbeddedLog(file, read_only=True)))


def size(of: Content) -> int:
    return sum(map(len, of.values()))


async def fill(file: Path, records: list[NewRecord], partitions: int | None = None, **people: str | None) -> None:
    async with EmbeddedLog(file, partitions) as log:
        await log.append("game-events", records)
        for person, name in people.items():
            await log.put("people", person.encode(), name.encode() if name else None)


def numbered(numbers: range, partition: int = 0) -> list[NewRecord]:
    return [NewRecord(b"g%d" % (n % 3), b"%d" % n, (("n", b"%d" % n),), partition) for n in numbers]


def outcomes(of: Content) -> Content:
    """All that the referee derives, save what it notes about records it cannot read: that comes again."""
    return {stream: records for stream, records in of.items() if stream[0] != "quarantine"}


def standing(address: str) -> dict[str, Any]:
    """What a service answers about each game, and that none has diverged."""
    (status,) = objects(caipan("status", "--json", "--address", address).stdout)
    assert not status.get("diverged")
    return {game: objects(caipan("show", game, "--json", "--address", address).stdout) for game in GAMES}


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """A log of three judged games with persons, an event sent twice and a record in quarantine; the games in words."""
    data = tmp_path_factory.mktemp("judged")
    asyncio.run(fill(data / "log.db", [NewRecord(b"T1/r1/b1", b"\xff no event", (("h", b"\xff"),))], **PEOPLE))
    with Service(data) as service:
        for game, record in GAMES.items():
            file = data / "game.sgf"
            file.write_text(record, "utf-8")
            events = caipan("sgf2events", file, "--game-id", game).stdout
            caipan("send", "-", text=events + events.splitlines()[3], **service.at)
        told = standing(service.address)
        service.end()
    return data / "log.db", told


def test_a_copy_has_the_same_records_and_persons_and_leaves_the_source_as_it_is(
    judged: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    source, _ = judged
    before = hashlib.sha256(source.read_bytes()).digest()
    (told,) = objects(caipan("log", "copy", source, tmp_path / "copy.db", "--json").stdout)
    copied = content_of(tmp_path / "copy.db")
    assert copied == content_of(source)
    assert hashlib.sha256(source.read_bytes()).digest() == before
    assert told["copied"] == size(copied) - len(PEOPLE)
    assert told["people"] == len(PEOPLE)
    assert {(each["topic"], each["partition"]): each["records"] for each in told["partitions"]} == {
        stream: len(records) for stream, records in copied.items() if stream[0] != "people"
    }


def test_services_on_the_copy_give_the_same_answers_and_write_nothing_anew(
    judged: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    source, answers = judged
    (told,) = objects(caipan("log", "copy", source, tmp_path / "log.db", "--json").stdout)
    assert len(told["heads"]) == len(GAMES)
    before = content_of(tmp_path / "log.db")
    with Service(tmp_path) as service:
        assert standing(service.address) == answers
        service.end()
    assert outcomes(content_of(tmp_path / "log.db")) == outcomes(before)


def test_a_person_is_told_the_counts_and_that_both_logs_are_equal(
    judged: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    told = caipan("log", "copy", judged[0], tmp_path / "copy.db").stdout
    assert "game-outcomes" in told
    assert told.splitlines()[-1] == "both logs are equal: 3 games, each with its head unchanged; 2 persons"


def test_a_copy_is_brought_up_to_date(tmp_path: Path) -> None:
    source, copy = tmp_path / "log.db", tmp_path / "copy.db"
    asyncio.run(fill(source, numbered(range(3)), li="Li", wang="Wang"))
    assert objects(caipan("log", "copy", source, copy, "--json").stdout)[0]["copied"] == 3
    assert objects(caipan("log", "copy", source, copy, "--json").stdout)[0]["copied"] == 0
    asyncio.run(fill(source, numbered(range(3, 8)), li=None, wang="Wang Xi", chen="Chen"))
    (told,) = objects(caipan("log", "copy", source, copy, "--json").stdout)
    assert (told["copied"], told["people"]) == (5, 2)
    assert content_of(copy) == content_of(source)


def test_a_copy_killed_on_the_way_goes_on(tmp_path: Path) -> None:
    source, copy = tmp_path / "log.db", tmp_path / "copy.db"
    for partition in range(4):
        asyncio.run(fill(source, numbered(range(8_000), partition)))
    with Running("log", "copy", source, copy, "--json") as running:
        while not (begun := copy.exists() and _has_records(copy)):
            time.sleep(0.01)
        running.end(signal.SIGKILL)
    assert begun
    (told,) = objects(caipan("log", "copy", source, copy, "--json").stdout)
    assert told["copied"] < 32_000
    assert content_of(copy) == content_of(source)


def _has_records(file: Path) -> bool:
    async def ends() -> bool:
        async with EmbeddedLog(file, read_only=True) as log:
            return await log.end("game-events", 0) > 0

    try:
        return asyncio.run(ends())
    except Exception:  # it is being made
        return False


def test_a_log_that_is_written_meanwhile_is_copied_up_to_its_end_at_the_start(
    judged: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    data, (source, _) = tmp_path / "data", judged
    data.mkdir()
    caipan("log", "copy", source, data / "log.db")
    events = tmp_path / "events.jsonl"
    record = tmp_path / "game.sgf"
    record.write_text(KO, "utf-8")
    game = caipan("sgf2events", record, "--game-id", "more/0").stdout
    events.write_text("".join(game.replace("more/0", f"more/{n}") for n in range(60)), "utf-8")
    with Service(data) as service, Running("send", events, "--json", **service.at) as sending:
        assert sending.line()
        caipan("log", "copy", data / "log.db", tmp_path / "copy" / "log.db")
        sending.end(None)
        caipan("log", "copy", data / "log.db", tmp_path / "whole" / "log.db")
        service.end()
    part, whole = content_of(tmp_path / "copy" / "log.db"), content_of(tmp_path / "whole" / "log.db")
    assert size(part) < size(whole)
    assert all(whole[stream][: len(records)] == records for stream, records in part.items())
    with Service(tmp_path / "copy") as service:  # what outcomes it has belong to events it has
        (status,) = objects(caipan("status", "--json", **service.at).stdout)
        assert not status.get("diverged")


@pytest.mark.parametrize(
    ("there", "said"),
    [
        (numbered(range(5, 9)), "the record at offset 3 is another one; copy into an empty target"),
        (numbered(range(30)), "it has 30 records, the source 10; copy into an empty target"),
        (numbered(range(2), partition=1), "game-events-1 of the target is not the beginning of the source"),
    ],
)
def test_another_log_is_no_target_and_is_left_as_it_is(there: list[NewRecord], said: str, tmp_path: Path) -> None:
    source, target = tmp_path / "log.db", tmp_path / "other.db"
    asyncio.run(fill(source, numbered(range(10)), li="Li"))
    asyncio.run(fill(target, there))
    before = content_of(target)
    done = caipan("log", "copy", source, target, ok=1)
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert content_of(target) == before


def test_persons_of_another_log_are_not_erased(tmp_path: Path) -> None:
    source, target = tmp_path / "log.db", tmp_path / "other.db"
    asyncio.run(fill(source, numbered(range(3)), li="Li"))
    asyncio.run(fill(target, [], chen="Chen"))
    done = caipan("log", "copy", source, target, ok=1)
    assert done.stderr == "caipan: the target has people that the source does not have; copy into an empty target\n"
    assert size(content_of(target)) == 1


def test_a_target_with_another_partition_count_is_refused(tmp_path: Path) -> None:
    source, target = tmp_path / "log.db", tmp_path / "other.db"
    asyncio.run(fill(source, numbered(range(3)), 4))
    asyncio.run(fill(target, [], 3))
    assert "the log has 3 partitions, not 4" in caipan("log", "copy", source, target, ok=1).stderr


def test_a_difference_before_the_end_of_an_old_copy_is_found_by_the_comparison(tmp_path: Path) -> None:
    source, target = tmp_path / "log.db", tmp_path / "other.db"
    asyncio.run(fill(source, numbered(range(10))))
    asyncio.run(fill(target, [NewRecord(b"g0", b"0", (("n", b"1"),), 0), *numbered(range(1, 5))]))
    done = caipan("log", "copy", source, target, ok=1)
    assert "game-events-0 of the target is not the beginning of the source" in done.stderr
    assert not done.stdout


def test_what_cannot_be_copied_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "foreign.db").write_text("no log")
    cases = {
        "there is no log here": [tmp_path / "missing.db", tmp_path / "new.db"],
        "this is no caipan log": [tmp_path / "foreign.db", tmp_path / "new.db"],
    }
    for said, arguments in cases.items():
        done = caipan("log", "copy", *arguments, ok=1)
        assert said in done.stderr
        assert len(done.stderr.splitlines()) == 1
        assert not (tmp_path / "new.db").exists()


@pytest.mark.parametrize(
    ("source", "target", "said"),
    [
        ("log.db", "./log.db", "FROM and TO are the same log"),
        (".", "copy.db", ". is a folder; name the file of the log, e.g. log.db"),
        ("log.db", "http://127.0.0.1:9092", "names no log; write kafka://HOST:PORT"),
        ("log.db", "kafka://", "is no address of a broker"),
        ("log.db", "kafka://me:secret@127.0.0.1:9092", "CAIPAN_KAFKA_SASL_USERNAME"),
    ],
)
def test_what_names_no_log_is_wrong_usage(source: str, target: str, said: str) -> None:
    done = caipan("log", "copy", source, target, ok=2)
    assert said in " ".join(done.stderr.replace("│", "").split())
    assert "secret" not in done.stderr


# Kafka


@pytest.fixture
def topics(kafka: KafkaSettings) -> KafkaSettings:
    """An empty log on Kafka with as many partitions as a file has."""
    caipan("topics", "create", "--log", kafka.name, "--partitions", 4, **prefixed(kafka))
    return kafka


def prefixed(kafka: KafkaSettings) -> dict[str, str]:
    return {"CAIPAN_KAFKA_TOPIC_PREFIX": kafka.topic_prefix}


def test_every_head_stays_as_it_is_on_kafka_and_back_in_a_file(
    judged: tuple[Path, dict[str, Any]], topics: KafkaSettings, tmp_path: Path
) -> None:
    source, answers = judged
    way = [source, topics.name, tmp_path / "back" / "log.db"]
    reports = [objects(caipan("log", "copy", *step, "--json", **prefixed(topics)).stdout) for step in pairwise(way)]
    assert reports[0][0]["heads"] == reports[1][0]["heads"]
    assert reports[0][0]["partitions"] == reports[1][0]["partitions"]
    assert asyncio.run(content(KafkaLog(topics))) == content_of(source) == content_of(way[2])
    command = ["up", "--json", *ANYWHERE]
    with Running(*command, "--data", tmp_path / "x", "--log", topics.name, **prefixed(topics)) as kafka:
        assert standing(kafka.object()["address"]) == answers
        assert kafka.end()[0] == 0
    with Running(*command, "--data", tmp_path / "back") as file:
        assert standing(file.object()["address"]) == answers
        assert file.end()[0] == 0
    for after in (asyncio.run(content(KafkaLog(topics))), content_of(way[2])):
        assert outcomes(after) == outcomes(content_of(source))


def test_a_copy_onto_kafka_goes_on_and_takes_no_other_log(topics: KafkaSettings, tmp_path: Path) -> None:
    source, other = tmp_path / "log.db", tmp_path / "other.db"
    asyncio.run(fill(source, numbered(range(2000)), li="Li"))
    caipan("log", "copy", source, topics.name, **prefixed(topics))
    asyncio.run(fill(source, numbered(range(2000, 2500)), li=None, chen="Chen"))
    (told,) = objects(caipan("log", "copy", source, topics.name, "--json", **prefixed(topics)).stdout)
    assert told["copied"] == 500
    assert asyncio.run(content(KafkaLog(topics))) == content_of(source)
    asyncio.run(fill(other, numbered(range(1, 2600))))
    done = caipan("log", "copy", other, topics.name, ok=1, **prefixed(topics))
    assert "the record at offset 2499 is another one; copy into an empty target" in done.stderr
    assert asyncio.run(content(KafkaLog(topics))) == content_of(source)


def test_topics_with_another_partition_count_are_refused(topics: KafkaSettings, tmp_path: Path) -> None:
    asyncio.run(fill(tmp_path / "log.db", numbered(range(3)), 3))
    done = caipan("log", "copy", tmp_path / "log.db", topics.name, ok=1, **prefixed(topics))
    assert done.stderr == (
        "caipan: the target has 4 partitions, the source 3, and the count never changes; copy into a target with 3\n"
    )
    assert size(asyncio.run(content(KafkaLog(topics)))) == 0


def test_large_records_and_those_without_a_key_are_copied_as_they_are(topics: KafkaSettings, tmp_path: Path) -> None:
    source = tmp_path / "log.db"
    records = [NewRecord(None, b"no key", (), 1), NewRecord(b"", b"an empty one", (), 1), NewRecord(b"k", b"", (), 1)]
    asyncio.run(fill(source, [*records, *(NewRecord(b"k", bytes([n]) * 900_000, (), 1) for n in range(5))]))
    caipan("log", "copy", source, topics.name, **prefixed(topics))
    caipan("log", "copy", topics.name, tmp_path / "back.db", **prefixed(topics))
    assert content_of(tmp_path / "back.db") == content_of(source)

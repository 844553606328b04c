"""Records that no fold can read: each is quarantined, and every game goes on."""

from __future__ import annotations

import pytest
from support.hall import (
    EVENTS,
    OUTCOMES,
    PARTITIONS,
    STATE,
    everything,
    judge_all,
    noise,
    opened,
    overlong,
    quarantine_of,
    record,
    retracted,
    stone,
)

from caipan.eventlog import EventLog, NewRecord, partition_of
from caipan.v1.outcome_pb2 import STATUS_FOLDED, STATUS_QUARANTINED, Outcome

OF_NOISE = partition_of(b"noise", PARTITIONS)


@pytest.mark.parametrize(
    ("bad", "reason"),
    zip(noise()[:4], ["no event", "type of the event is not known", "'plain'", "''"], strict=True),
)
async def test_an_unreadable_record_of_a_game_takes_a_seq_and_the_game_goes_on(
    log: EventLog, bad: NewRecord, reason: str
) -> None:
    await log.append(EVENTS, [record(opened("noise")), bad, record(stone("noise", 2, "C3"))])
    await judge_all(log)
    verdicts = [Outcome.FromString(found.value).verdict for found in await everything(log, OUTCOMES)]
    assert [verdict.seq for verdict in verdicts] == [1, 2, 3]
    assert [verdict.status for verdict in verdicts] == [STATUS_FOLDED, STATUS_QUARANTINED, STATUS_FOLDED]
    assert reason in verdicts[1].reason
    assert list(verdicts[2].added_black) == ["C3"]
    (quarantined,) = await quarantine_of(log)
    assert quarantined.record_id == f"game-events-{OF_NOISE}-1"
    assert (quarantined.key, quarantined.value) == (bad.key, bad.value)
    assert reason in quarantined.reason
    (source,) = await log.read(EVENTS, OF_NOISE, 1, 1)
    assert quarantined.recorded_at_ms == source.timestamp_ms


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (NewRecord(None, b"?", partition=OF_NOISE), "no key"),
        (NewRecord(b"", b"?", partition=OF_NOISE), "no key"),
        (NewRecord(b"\xff\xfe", b"?", partition=OF_NOISE), "UTF-8"),
        (NewRecord(b"g" * 129, b"?", partition=OF_NOISE), "129 characters, a game_id at most 128"),
        (overlong("noise", 2), "bytes, an event at most 1000000"),
        (NewRecord(b"noise", record(opened("noise")).value, partition=(OF_NOISE + 1) % PARTITIONS), "belongs to"),
    ],
    ids=["no key", "empty key", "key of bytes", "long key", "long value", "wrong partition"],
)
async def test_a_record_of_no_game_goes_to_the_quarantine_alone(log: EventLog, bad: NewRecord, reason: str) -> None:
    placed = await log.append(EVENTS, [record(opened("noise")), bad, record(stone("noise", 2, "C3"))])
    await judge_all(log)
    verdicts = [Outcome.FromString(found.value).verdict for found in await everything(log, OUTCOMES)]
    assert [(verdict.seq, verdict.event_id) for verdict in verdicts] == [(1, "noise-1"), (2, "noise-2")]
    (quarantined,) = await quarantine_of(log)
    assert quarantined.record_id == "game-events-{}-{}".format(*placed[1])
    assert reason in quarantined.reason
    assert bad.value.startswith(quarantined.value)
    assert len(quarantined.value) == min(len(bad.value), 1_000_000)
    for partition in range(PARTITIONS):
        end = await log.end(EVENTS, partition)
        assert (await log.restore(STATE, partition))[0] == end


async def test_a_correction_does_not_judge_again_what_belongs_to_no_game(log: EventLog) -> None:
    events = [record(opened("noise")), overlong("noise", 2), record(stone("noise", 2, "C3"))]
    await log.append(EVENTS, [*events, record(stone("noise", 3, "D4")), record(retracted("noise", 4, "noise-2"))])
    await judge_all(log)
    *_, last = await everything(log, OUTCOMES)
    verdict = Outcome.FromString(last.value).verdict
    assert [(revision.seq, revision.HasField("after")) for revision in verdict.revised] == [(2, False), (3, True)]

"""Every incident through the services on Kafka, each act by its own person; a worker is killed in the middle."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from cases.test_incidents import INCIDENTS
from support.fleet import Fleet
from support.play import Play

from caipan.eventlog.kafka import KafkaSettings, create_topics
from caipan.v1.case_service_pb2 import ListCasesRequest
from caipan.v1.common_pb2 import ROLE_ARBITER, ROLE_CHIEF, ROLE_RECORDER, Actor, Role
from caipan.v1.event_pb2 import Event
from caipan.v1.outcome_pb2 import Verdict

from .hall import spread, until_shared
from .load import CALL_S, Client, Seen
from .proof import assert_all_judged, outcomes_of, records_of
from .test_kill import chance

PARTITIONS = 8
TABLES = 12  # games at a time
# What the scripts let anybody try, and the services only in such a role; the fold wants it to be held in this game.
IN_A_ROLE = {
    "session_marked": ROLE_ARBITER,
    "ruling_decided": ROLE_ARBITER,
    "official_appointed": ROLE_CHIEF,
    "regulations_adopted": ROLE_CHIEF,
}


class Acts:
    """The acts of the incidents, and what is told of them when nobody disturbs the fold."""

    def __init__(self) -> None:
        self.plays: dict[str, Play] = {f"incidents/{each.__name__}": each() for each in INCIDENTS}

    def of(self, game_id: str) -> Iterator[tuple[Event, Actor]]:
        """Each event as a client sends it, and who does."""
        for record in self.plays[game_id].log:
            event = Event.FromString(record.value)
            by = Actor(person=event.by.person, role=event.by.role)
            event.game_id = game_id
            event.ClearField("by")
            if event.HasField("game_opened"):
                event.game_opened.ClearField("pins")
            elif by.role == ROLE_RECORDER and (role := IN_A_ROLE.get(event.WhichOneof("fact") or "")):
                by.role = role
            yield event, by

    def persons(self) -> set[tuple[str, Role.ValueType]]:
        return {(by.person, by.role) for game_id in self.plays for _, by in self.of(game_id)}


def told(verdict: Verdict) -> tuple[Any, ...]:
    """What a verdict says, the state that follows it, and the cases as they stand."""
    found = [(finding.clause, finding.kind, finding.side) for finding in verdict.findings]
    cases = [(case.case_id, case.status, case.option) for case in verdict.cases]
    return verdict.seq, verdict.event_id, verdict.status, verdict.reason, found, cases, verdict.state_digest


async def test_the_incidents_are_judged_as_written_with_a_worker_killed_in_the_middle_of_their_cases(
    kafka: KafkaSettings, tmp_path: Path
) -> None:
    acts, random, seen = Acts(), chance(), Seen()
    await create_topics(kafka, PARTITIONS, 1)
    with Fleet(kafka, tmp_path) as fleet:
        fleet.start("gateway", "query", "referee", "referee")
        async with AsyncExitStack() as opened:
            clients: dict[tuple[str, Role.ValueType], Client] = {}
            for person, role in sorted(acts.persons()):
                connect = spread(fleet, person=person, role=Role.Name(role).removeprefix("ROLE_"))
                clients[person, role] = await opened.enter_async_context(connect(seen, random))
            any_client = next(iter(clients.values()))
            await until_shared(any_client, fleet.running("referee"))
            tables = asyncio.Semaphore(TABLES)
            under_way = asyncio.Event()

            async def play(game_id: str) -> None:
                async with tables:
                    for event, by in acts.of(game_id):
                        await clients[by.person, by.role].append([event])
                        if len(seen.acknowledged) > total // 3:
                            under_way.set()

            total = sum(len(each.log) for each in acts.plays.values())
            async with asyncio.TaskGroup() as hall:
                for game_id in acts.plays:
                    hall.create_task(play(game_id))
                await under_way.wait()
                asked = await any_client.cases.ListCases(ListCasesRequest(open_only=True), timeout=CALL_S)
                fleet.running("referee")[0].kill()
            assert asked.cases, "nobody was in the middle of a case"
            for game_id, undisturbed in acts.plays.items():
                outcomes = await outcomes_of(any_client, game_id)
                assert [told(each.verdict) for each in outcomes] == list(map(told, undisturbed.verdicts)), game_id
        fleet.stop()
    await assert_all_judged(kafka)
    assert await records_of(kafka, "quarantine") == []

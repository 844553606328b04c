"""Every incident through the services on Kafka, each act by its own person; a worker is killed in the middle."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

from cases.test_incidents import INCIDENTS
from support.fleet import Fleet
from support.served import as_sent, told

from caipan.eventlog.kafka import KafkaSettings, create_topics
from caipan.v1.case_service_pb2 import ListCasesRequest
from caipan.v1.common_pb2 import Role

from .hall import spread, until_shared
from .load import CALL_S, Client, Seen
from .proof import assert_all_judged, outcomes_of, records_of
from .test_kill import chance

PARTITIONS = 8
TABLES = 12  # games at a time


async def test_the_incidents_are_judged_as_written_with_a_worker_killed_in_the_middle_of_their_cases(
    kafka: KafkaSettings, tmp_path: Path
) -> None:
    plays = {f"incidents/{each.__name__}": each() for each in INCIDENTS}
    persons = {(by.person, by.role) for game_id, play in plays.items() for _, by in as_sent(play, game_id)}
    random, seen = chance(), Seen()
    await create_topics(kafka, PARTITIONS, 1)
    with Fleet(kafka, tmp_path) as fleet:
        fleet.start("gateway", "query", "referee", "referee")
        async with AsyncExitStack() as opened:
            clients: dict[tuple[str, Role.ValueType], Client] = {}
            for person, role in sorted(persons):
                connect = spread(fleet, person=person, role=Role.Name(role).removeprefix("ROLE_"))
                clients[person, role] = await opened.enter_async_context(connect(seen, random))
            any_client = next(iter(clients.values()))
            await until_shared(any_client, fleet.running("referee"))
            tables = asyncio.Semaphore(TABLES)
            under_way = asyncio.Event()

            async def send(game_id: str) -> None:
                async with tables:
                    for event, by in as_sent(plays[game_id], game_id):
                        await clients[by.person, by.role].append([event])
                        if len(seen.acknowledged) > total // 3:
                            under_way.set()

            total = sum(len(each.log) for each in plays.values())
            async with asyncio.TaskGroup() as hall:
                for game_id in plays:
                    hall.create_task(send(game_id))
                await under_way.wait()
                asked = await any_client.cases.ListCases(ListCasesRequest(open_only=True), timeout=CALL_S)
                fleet.running("referee")[0].kill()
            assert asked.cases, "nobody was in the middle of a case"
            for game_id, undisturbed in plays.items():
                outcomes = await outcomes_of(any_client, game_id)
                assert [told(each.verdict) for each in outcomes] == list(map(told, undisturbed.verdicts)), game_id
        fleet.stop()
    await assert_all_judged(kafka)
    assert await records_of(kafka, "quarantine") == []

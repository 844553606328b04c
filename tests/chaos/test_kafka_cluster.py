"""Three brokers, each killed once under load: the hall goes on, and nothing acknowledged is lost."""

from __future__ import annotations

import asyncio
from contextlib import closing
from pathlib import Path

import pytest
from kafka import KafkaAdminClient
from support.fleet import Fleet
from support.kafka import Cluster
from support.reading import until

from caipan.eventlog.kafka import KafkaSettings, create_topics

from .games import games
from .hall import spread
from .load import Load, Seen
from .proof import assert_all_judged, assert_nothing_lost, assert_served, assert_watched_once_in_order
from .test_kafka_away import PatientClient
from .test_kill import chance

PARTITIONS = 4
NODES = 3
ENOUGH = 300  # events, to say that the hall goes on


@pytest.mark.usefixtures("java")
async def test_the_hall_goes_on_while_any_one_of_three_brokers_is_gone(tmp_path: Path) -> None:
    """Each in its turn, so also the one that leads the controllers, the workers' group, a partition."""
    random = chance()
    hints: list[float] = []
    with Cluster(tmp_path / "kafka", NODES) as cluster:
        log = KafkaSettings.of_url(cluster.url)
        await create_topics(log, PARTITIONS, NODES)
        with Fleet(log, tmp_path) as fleet:
            fleet.start("gateway", "referee", "referee", "query")
            connect = spread(fleet, PatientClient, hints=hints)
            async with (
                connect(Seen(), random) as onlooker,
                Load(connect, games(random, moves=(15, 70)), random) as load,
            ):
                await goes_on(load)
                for broker in cluster.brokers:
                    await asyncio.to_thread(broker.kill)
                    await goes_on(load)
                    await asyncio.to_thread(broker.start)
                    await until_whole(log)
                await goes_on(load)
                seen = await load.finish()
                chains = await assert_nothing_lost(log, seen)
                await assert_all_judged(log)
                assert_watched_once_in_order(seen, chains)
                await assert_served(onlooker, chains)
            for member in fleet.members:
                member.stop()
    print(f"{len(seen.acknowledged)} events of {len(chains)} games; {len(hints)} calls were put off")
    assert not seen.resumed, "a watcher was cut"


async def goes_on(load: Load) -> None:
    """Waits for further events to be acknowledged, judged and watched."""
    stored, watched = len(load.seen.acknowledged), watched_of(load)
    await until(lambda: len(load.seen.acknowledged) > stored + ENOUGH and watched_of(load) > watched + ENOUGH)
    load.check()


def watched_of(load: Load) -> int:
    return sum(map(len, load.seen.watched.values()))


async def until_whole(log: KafkaSettings) -> None:
    """Waits until every partition has all its replicas in sync: only then may the next broker go."""

    def whole() -> bool:
        with closing(KafkaAdminClient(bootstrap_servers=log.servers)) as admin:
            topics = admin.describe_topics(admin.list_topics())
        return all(len(each["isr_nodes"]) == NODES for topic in topics for each in topic["partitions"])

    while not await asyncio.to_thread(whole):  # noqa: ASYNC110 - nobody tells
        await asyncio.sleep(0.2)

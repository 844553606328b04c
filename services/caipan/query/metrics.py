"""What Prometheus is told of the reading side: read from its tables when it asks."""

from __future__ import annotations

from collections.abc import Iterable

from prometheus_client.core import Metric

from caipan.eventlog import EventLog
from caipan.query import reading
from caipan.query.database import Database
from caipan.query.watchers import Watchers
from caipan.serving.metrics import gauge, gauges, lags


async def query_metrics(log: EventLog, database: Database, watchers: Watchers, topics: Iterable[str]) -> list[Metric]:
    """The read model and its readers; ``topics`` are those that it follows. Raises ReadModelError."""
    cursors, counts = await database.read(
        lambda connection: (reading.all_cursors(connection), reading.counts(connection))
    )
    positions = {(topic, partition): 0 for topic in topics for partition in range(log.partitions(topic))}
    positions |= {(cursor.topic, cursor.partition): cursor.next_offset for cursor in cursors}
    behind = [((topic, str(partition)), lag) for (topic, partition), lag in (await lags(log, positions)).items()]
    return [
        gauges("caipan_query_lag_records", "Records that are not served yet.", ("topic", "partition"), behind),
        gauge("caipan_query_watchers", "Readers that follow a game or a hall.", len(watchers)),
        gauge("caipan_query_games", "Games that were opened.", counts.games),
        gauge("caipan_query_games_in_play", "Games in play or paused.", counts.games_in_play),
        gauge("caipan_query_parked_events", "Events that wait for earlier ones.", counts.parked),
        gauge("caipan_query_orphan_games", "Games of which facts came, but no game.opened.", len(counts.orphans)),
        gauge("caipan_query_diverged_games", "Games that are served no further.", len(counts.diverged)),
        gauge("caipan_query_quarantined_records", "Records that no fold could read.", counts.quarantined),
        gauge("caipan_query_retried_records", "Those of them that were read again since.", counts.retried),
    ]

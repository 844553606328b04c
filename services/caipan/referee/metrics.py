"""What Prometheus is told of a referee: read from its status when it asks, so that judging counts nothing for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from prometheus_client.core import Metric, SummaryMetricFamily

from caipan.eventlog import EventLog
from caipan.referee.records import EVENTS
from caipan.referee.worker import Progress
from caipan.serving.metrics import Labels, counters, gauges, lags
from caipan.v1.mark_pb2 import REFEREE_PHASE_JUDGING, REFEREE_PHASE_RECOVERING

_BY = ("partition",)
_PHASES = {REFEREE_PHASE_RECOVERING: "recovering", REFEREE_PHASE_JUDGING: "judging"}


async def referee_metrics(log: EventLog, status: Sequence[Progress]) -> list[Metric]:
    """The partitions that this process judges, and what befell it."""
    own = [each for each in status if each.phase in _PHASES]
    ends = await lags(log, {(EVENTS, each.partition): each.next_offset for each in own})
    lag = [((str(partition),), records) for (_, partition), records in ends.items()]
    phases = [((name,), sum(each.phase == phase for each in own)) for phase, name in _PHASES.items()]
    judged = _each(own, lambda each: each.next_offset)
    outcomes = _each(own, lambda each: each.outcomes_end)
    quarantined = _each(own, lambda each: each.quarantined)
    took = _each(own, lambda each: each.takeover_ms / 1000)
    stopped = _each(own, lambda each: len(each.stopped))
    refilled = _each(status, lambda each: each.refilled)
    fenced = _each(status, lambda each: each.fenced)
    return [
        gauges("caipan_referee_partitions", "Partitions that this worker has, by what it does.", ("phase",), phases),
        gauges("caipan_referee_lag_events", "Events that are not judged yet.", _BY, lag),
        counters("caipan_referee_judged_events", "Events judged, by any worker.", _BY, judged),
        counters("caipan_referee_outcomes", "Outcomes and notices written, by any worker.", _BY, outcomes),
        counters("caipan_referee_quarantined_records", "Records put in quarantine by this worker.", _BY, quarantined),
        _checkpoints(own),
        gauges("caipan_referee_takeover_seconds", "How long the last takeover took.", _BY, took),
        gauges("caipan_referee_stopped_games", "Games that are judged no further.", _BY, stopped),
        counters("caipan_referee_refilled_events", "Events that were not delivered to this worker.", _BY, refilled),
        counters("caipan_referee_fenced", "Times that another worker took over unannounced.", _BY, fenced),
    ]


def _checkpoints(own: Sequence[Progress]) -> Metric:
    family = SummaryMetricFamily("caipan_referee_checkpoint_seconds", "How long checkpoints took.", labels=_BY)
    for each in own:
        family.add_metric((str(each.partition),), each.checkpoints, each.checkpoints_s)
    return family


def _each(status: Sequence[Progress], number: Callable[[Progress], float]) -> list[tuple[Labels, float]]:
    return [((str(each.partition),), number(each)) for each in status]

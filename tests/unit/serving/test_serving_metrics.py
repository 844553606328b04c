"""The endpoint for Prometheus: what it tells, and what it does when a part or the log fails."""

from __future__ import annotations

import asyncio
import urllib.request
from collections.abc import Iterable
from pathlib import Path

import pytest
from prometheus_client.core import Metric
from prometheus_client.parser import text_string_to_metric_families
from structlog.testing import capture_logs

from caipan.eventlog.embedded import EmbeddedLog
from caipan.serving.metrics import Source, counters, gauge, gauges, log_metrics, serve_metrics
from caipan.serving.server import CannotListen


async def scraped(port: int) -> dict[str, float]:
    """Samples of caipan by their name with labels."""

    def get() -> str:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as answer:
            text: str = answer.read().decode()
            return text

    families = text_string_to_metric_families(await asyncio.to_thread(get))
    samples = [sample for family in families for sample in family.samples if sample.name.startswith("caipan_")]
    return {"".join((sample.name, *sorted(f"[{value}]" for value in sample.labels.values()))): sample.value
            for sample in samples}  # fmt: skip


def source(*metrics: Metric) -> Source:
    async def snapshot() -> Iterable[Metric]:
        return metrics

    return snapshot


async def test_each_scrape_takes_a_snapshot_of_every_part() -> None:
    taken = 0

    async def games() -> Iterable[Metric]:
        nonlocal taken
        taken += 1
        return [gauge("caipan_t_games", "Games.", taken)]

    lag = gauges("caipan_t_lag", "Lag.", ("partition",), [(("0",), 3), (("1",), 0)])
    refilled = counters("caipan_t_refilled", "Refilled.", ("partition",), [(("0",), 7)])
    async with serve_metrics("127.0.0.1", 0, games, source(lag, refilled)) as port:
        assert taken == 0
        for number in (1, 2):
            told = await scraped(port)
            assert told["caipan_t_games"] == number
        assert (told["caipan_t_lag[0]"], told["caipan_t_lag[1]"]) == (3, 0)
        assert told["caipan_t_refilled_total[0]"] == 7
        assert any(name.startswith("caipan_build_info[") for name in told)
    async with serve_metrics("127.0.0.1", 0) as port:
        assert "caipan_t_games" not in await scraped(port)


async def test_a_part_that_fails_is_left_out_and_the_others_are_told() -> None:
    async def broken() -> Iterable[Metric]:
        raise ZeroDivisionError("inner matter")

    with capture_logs() as logged:
        async with serve_metrics("127.0.0.1", 0, broken, source(gauge("caipan_t_sound", "Sound.", 1))) as port:
            assert (await scraped(port))["caipan_t_sound"] == 1
    assert [entry["error"] for entry in logged] == ["ZeroDivisionError: inner matter"]


async def test_whether_the_log_answers_is_told(tmp_path: Path) -> None:
    async with EmbeddedLog(tmp_path / "log.db") as log, serve_metrics("127.0.0.1", 0, log_metrics(log)) as port:
        assert (await scraped(port))["caipan_log_available"] == 1
        await log.close()
        assert (await scraped(port))["caipan_log_available"] == 0


async def test_a_port_that_cannot_be_had_is_a_clear_error() -> None:
    async with serve_metrics("127.0.0.1", 0) as port:
        with pytest.raises(CannotListen, match=f"127.0.0.1:{port}: metrics: .*choose another"):
            async with serve_metrics("127.0.0.1", port):
                pass
        assert await scraped(port)

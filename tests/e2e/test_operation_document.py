"""docs/operation.md names the metrics that a service tells, all of them and no others, with their labels."""

from __future__ import annotations

import re
import urllib.request
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families
from support.command import Running, caipan
from support.intake import opening

from caipan.cli.console import json_of

DOCUMENT = Path(__file__).parents[2] / "docs" / "operation.md"


def documented() -> dict[str, set[str]]:
    """Names of metrics with their labels."""
    rows = re.findall(r"^\| (`caipan_.*?`) \| (.*?) ?\|", DOCUMENT.read_text(), re.MULTILINE)
    return {name: set(re.findall(r"\w+", labels)) for names, labels in rows for name in re.findall(r"`(\w+)`", names)}


def told(url: str) -> dict[str, set[str]]:
    with urllib.request.urlopen(url, timeout=60) as answer:
        families = list(text_string_to_metric_families(answer.read().decode()))
    found: dict[str, set[str]] = {}
    for family in families:
        name = f"{family.name}_total" if family.type == "counter" else family.name
        if name.startswith("caipan_"):
            found[name] = {label for sample in family.samples for label in sample.labels} - {"le"}
    return found


def test_every_metric_is_documented_with_its_labels(tmp_path: Path) -> None:
    options = ("--json", "--data", tmp_path, "--listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0")
    with Running("up", *options) as service:
        ready = service.object()
        text = json_of(opening())
        caipan("send", "-", text=text, CAIPAN_ADDRESS=ready["address"], CAIPAN_DATA=str(tmp_path))
        assert told(ready["metrics"]) == documented()

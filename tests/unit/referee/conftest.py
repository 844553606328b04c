from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from support.hall import PARTITIONS

from caipan.eventlog import EventLog
from caipan.eventlog.embedded import EmbeddedLog


@pytest.fixture
async def log(tmp_path: Path) -> AsyncIterator[EventLog]:
    async with EmbeddedLog(tmp_path / "log.db", PARTITIONS) as log:
        yield log

"""The reading services: games, persons and operations, answered from a read model that the log builds."""

from __future__ import annotations

from caipan.query.database import ReadModelError
from caipan.query.service import Query

__all__ = ["Query", "ReadModelError"]

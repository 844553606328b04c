"""The referee: judges the events of each game in the order of the log, and writes what it derived."""

from __future__ import annotations

from caipan.referee.processor import Referee
from caipan.referee.service import RefereeService
from caipan.referee.worker import Progress

__all__ = ["Progress", "Referee", "RefereeService"]

"""The outcomes that stand in the log already, beyond a checkpoint: what is folded again is compared with them."""

from __future__ import annotations

import structlog
from google.protobuf.message import DecodeError

from caipan.eventlog import EventLog
from caipan.referee.records import OUTCOMES
from caipan.rules.game import Judged
from caipan.v1.outcome_pb2 import Outcome

logger = structlog.get_logger()


class Standing:
    """What stands from some offset on: heads by game and seq, notices by their bytes. `end` is the offset behind it."""

    def __init__(self) -> None:
        self._heads: dict[str, dict[int, bytes]] = {}
        self._notices: set[bytes] = set()
        self._conflicts: set[str] = set()
        self.end = 0

    @classmethod
    async def read(cls, log: EventLog, partition: int, start: int) -> Standing:
        """Reads game-outcomes of one partition from offset `start` to its `end`."""
        standing = cls()
        standing.end = start
        while records := await log.read(OUTCOMES, partition, standing.end):
            for record in records:
                try:
                    standing._add(record.value)
                except DecodeError:
                    logger.warning("unreadable_outcome", partition=partition, offset=record.offset)
            standing.end = records[-1].offset + 1
        return standing

    def _add(self, value: bytes) -> None:
        outcome = Outcome.FromString(value)
        game_id, seq = outcome.verdict.game_id, outcome.verdict.seq
        if not seq:
            self._notices.add(value)
        elif self._heads.setdefault(game_id, {}).setdefault(seq, outcome.head) != outcome.head:
            self._conflicts.add(game_id)

    def head(self, game_id: str, judged: Judged) -> bytes | None:
        """The head that stands for what was judged, b"" for a notice, None where nothing stands. Ask once for each."""
        if not judged.seq:
            return judged.head if judged.record in self._notices else None
        return self._heads.get(game_id, {}).pop(judged.seq, None)

    def games(self) -> list[str]:
        """The games of which outcomes stand here."""
        return sorted(self._heads)

    def contradicts(self, game_id: str, seq: int, head: bytes) -> str:
        """Why what stands cannot be of a game whose checkpoint is at `seq`; empty where it can.

        Up to there outcomes may stand again, and are not asked for any more.
        """
        if game_id in self._conflicts:
            return "two outcomes of one seq stand in the log"
        heads = self._heads[game_id]
        if heads.get(seq, head) != head:
            return f"another outcome stands for seq {seq}"
        self._heads[game_id] = {later: head for later, head in heads.items() if later > seq}
        return ""

    def left(self) -> list[tuple[str, int]]:
        """The games of which outcomes stand that were not asked for, with the last of their seqs."""
        return [(game_id, max(heads)) for game_id, heads in sorted(self._heads.items()) if heads]

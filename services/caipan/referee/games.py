"""The games of one partition: those in use in memory, all of them in the checkpoints."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Mapping

from caipan.eventlog import EventLog
from caipan.referee.records import STATE
from caipan.rules.checkpoint import load, save
from caipan.rules.game import Game

_SLICE = 50  # snapshots made before other tasks have their turn
_SAVES = 2  # checkpoints until what was restored is forgotten


class Games:
    """Games by key. At most `kept` of them, those used last, stay in memory after a checkpoint.

    `restored`: the snapshots of all games at the start, kept for a while: to read the log for each game would delay the
    first events after a takeover. Nobody else writes snapshots of this partition meanwhile.
    """

    def __init__(self, log: EventLog, partition: int, kept: int, restored: Mapping[bytes, bytes]) -> None:
        self._log = log
        self._partition = partition
        self._kept = kept
        self._games: OrderedDict[bytes, Game] = OrderedDict()  # used last: last
        self._changed: set[bytes] = set()
        self._restored = dict(restored)
        self._stored = set(restored)  # keys of all games that have a snapshot
        self._saves = 0

    def __len__(self) -> int:
        return len(self._games)

    async def get(self, game_id: str) -> Game:
        """The game as it stood after its last event; a new one where there was none."""
        key = game_id.encode()
        game = self._games.get(key)
        if game is None:
            snapshot = await self._snapshot(key)
            game = Game(game_id) if snapshot is None else load(snapshot)
            game.partition = self._partition
            self._games[key] = game
        else:
            self._games.move_to_end(key)
        return game

    async def _snapshot(self, key: bytes) -> bytes | None:
        if key not in self._stored:
            return None
        return self._restored.pop(key, None) or await self._log.get(STATE, key, self._partition)

    def changed(self, game_id: str) -> None:
        """The game differs from its last checkpoint."""
        self._changed.add(game_id.encode())

    def drop(self, game_id: str) -> None:
        """Forgets a game; its last checkpoint stays."""
        self._games.pop(game_id.encode(), None)
        self._changed.discard(game_id.encode())

    async def snapshots(self) -> dict[bytes, bytes]:
        """The games that changed since the last checkpoint, by key."""
        snapshots: dict[bytes, bytes] = {}
        for key in sorted(self._changed):
            snapshots[key] = save(self._games[key])
            if len(snapshots) % _SLICE == 0:
                await asyncio.sleep(0)
        return snapshots

    def saved(self) -> None:
        """A checkpoint has all that changed: games not used lately leave memory."""
        self._stored |= self._changed
        self._changed.clear()
        while len(self._games) > self._kept:
            self._games.popitem(last=False)
        self._saves += 1
        if self._saves >= _SAVES:
            self.settled()

    def settled(self) -> None:
        """The takeover is over: what was restored and not used since is read from the log again when it is."""
        self._restored.clear()

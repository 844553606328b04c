"""One process alone writes a file: a lock beside it, which the system drops when the process ends, however it does."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import IO


class HeldError(Exception):
    """Another process has the lock; ``holder`` is its id."""

    def __init__(self, holder: str) -> None:
        super().__init__(holder)
        self.holder = holder


def hold(path: Path) -> IO[str]:
    """Makes this process the only writer of ``path`` until what is returned is closed. Raises HeldError, OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = open(f"{path}.lock", "a+", encoding="ascii")  # noqa: SIM115 - held while the file is in use
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
    except BlockingIOError:
        lock.seek(0)
        holder = lock.read()
        lock.close()
        raise HeldError(holder) from None
    except OSError:
        lock.close()
        raise
    return lock

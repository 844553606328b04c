"""The row of game-state that belongs to no game: who judges a partition, and how far its checkpoints are."""

from __future__ import annotations

import os
import socket
from hashlib import sha256

from google.protobuf.message import DecodeError

from caipan.v1 import checkpoint_pb2
from caipan.v1.mark_pb2 import RefereeMark

MARK_KEY = b""  # no game has an empty id
# Checkpoints that were written by other protos could be read, but misunderstood.
FORMAT = sha256(checkpoint_pb2.DESCRIPTOR.serialized_pb).hexdigest()


def read_mark(value: bytes | None) -> RefereeMark:
    """The mark in a row of game-state; an empty one, of no format, where there is none or none that can be read."""
    try:
        return RefereeMark.FromString(value or b"")
    except DecodeError:
        return RefereeMark()


def this_worker() -> str:
    """ "host:pid" of this process."""
    return f"{socket.gethostname()}:{os.getpid()}"

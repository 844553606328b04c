"""The bytes of an event as they go into the log: here alone the reporter and the pins of a game are written in.

The gateway and the offline commands both call this, so that the same facts have the same heads.
"""

from __future__ import annotations

from caipan.rules.pins import pin
from caipan.v1.common_pb2 import Actor
from caipan.v1.event_pb2 import Event


def stamped(event: Event, by: Actor) -> bytes:
    """The value of ``event`` as reported by ``by``; the event itself is left as it is.

    What the caller wrote as ``by`` or as pins is replaced, ``caused_by`` stays as the gateway set it, fields that this
    version does not know are left out. The fields stand in the order of their numbers, ``by`` last. Raises
    RegulationsError if a game.opened cannot be pinned.
    """
    bare = Event()
    bare.CopyFrom(event)
    bare.DiscardUnknownFields()
    bare.ClearField("by")
    if bare.HasField("game_opened"):
        bare.game_opened.pins.CopyFrom(pin(bare.game_opened))
    return bare.SerializeToString(deterministic=True) + Event(by=by).SerializeToString(deterministic=True)

"""Values of the published language as editions write them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from caipan.rules.points import MAX_SIZE
from caipan.v1.regulations_pb2 import Regulations

if TYPE_CHECKING:
    from google.protobuf.descriptor import EnumDescriptor

# Between what a game can be judged; the gateway refuses more. Other numbers are not negative.
BOUNDS = {
    "komi_qz": (-1_000_000, 1_000_000),
    "handicap": (0, MAX_SIZE * MAX_SIZE),
    "clock_skew_ms": (0, 1 << 40),
    "max_step_s": (0, 1 << 40),
    "warning_qz": (0, 4000),
    "warning_points": (0, 2000),
}


def out_of_bounds(regulations: Regulations) -> str | None:
    """The field of regulations that no game can be judged by; None where there is none."""
    for field, (low, high) in BOUNDS.items():
        if not low <= getattr(regulations, field) <= high:
            return field
    return None


def names_of(enum: EnumDescriptor) -> dict[int, str]:
    """The values of a proto enum as editions write them: without the prefix, and without the unspecified one."""
    prefix = enum.values[0].name.removesuffix("UNSPECIFIED")
    return {value.number: value.name.removeprefix(prefix) for value in enum.values if value.number}


def value_of(regulations: Regulations, key: str) -> Any:
    """The value of a key as editions write it; None for an enum that is not set."""
    value, enum = getattr(regulations, key), Regulations.DESCRIPTOR.fields_by_name[key].enum_type
    return value if enum is None else names_of(enum).get(value)

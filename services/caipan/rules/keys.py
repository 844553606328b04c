"""Values of the published language as editions write them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from caipan.v1.regulations_pb2 import Regulations

if TYPE_CHECKING:
    from google.protobuf.descriptor import EnumDescriptor


def names_of(enum: EnumDescriptor) -> dict[int, str]:
    """The values of a proto enum as editions write them: without the prefix, and without the unspecified one."""
    prefix = enum.values[0].name.removesuffix("UNSPECIFIED")
    return {value.number: value.name.removeprefix(prefix) for value in enum.values if value.number}


def value_of(regulations: Regulations, key: str) -> Any:
    """The value of a key as editions write it; None for an enum that is not set."""
    value, enum = getattr(regulations, key), Regulations.DESCRIPTOR.fields_by_name[key].enum_type
    return value if enum is None else names_of(enum).get(value)

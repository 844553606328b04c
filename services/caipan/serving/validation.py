"""The field rules of the proto files, checked for every request; the first broken one is told as MALFORMED."""

from __future__ import annotations

from google.protobuf.message import Message
from protovalidate import FieldPathElementPb, Validator, Violation

from caipan.serving.errors import ServiceError
from caipan.v1.errors_pb2 import ERROR_CODE_MALFORMED

_CORRECT = "correct it and send it again"
# Rules about a message as a whole: the field of it to name.
_ABOUT = {
    "event.player": "player",
    "event.order": "source",
    "game_opened.distinct_stones": "initial_white",
    "record_corrected.fact": "fact",
    "compare.what": "clause",
}
_POINT = "is no point: a column letter without I and a row from the bottom, e.g. Q16"
_SHOWN = 64  # characters of a wrong text that are repeated to the caller

_validator = Validator()


def check(message: Message) -> None:
    """Raises ServiceError MALFORMED for the first field that breaks its rule, e.g. "events[2].stone_placed.point"."""
    violations = _validator.collect_violations(message)
    if violations:
        raise _malformed(violations[0])


def _malformed(violation: Violation) -> ServiceError:
    said = violation.proto
    path = [_element(element) for element in said.field.elements] if said.field else []
    if said.rule_id in _ABOUT:
        path.append(_ABOUT[said.rule_id])
    return ServiceError(ERROR_CODE_MALFORMED, _reason(violation), _CORRECT, ".".join(path))


def _element(element: FieldPathElementPb) -> str:
    at = element.subscript
    return f"{element.field_name}[{at.value}]" if at is not None else element.field_name


def _reason(violation: Violation) -> str:
    said, value = violation.proto, violation.field_value
    if said.rule_id == "string.pattern":  # all patterns of the proto files are points
        return f"{shown(value)} {_POINT}"
    return f"{said.message}, and is {shown(value)}" if isinstance(value, (str, int)) and value != "" else said.message


def shown(value: object) -> str:
    """What a caller wrote, as it is repeated to the caller."""
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}... ({len(str(value))} characters)"

"""Effects as they are entered at a command: `set_points remove=R5 add_white=R4`, and as they are told."""

from __future__ import annotations

import re
from typing import Any

from google.protobuf.descriptor import EnumDescriptor, FieldDescriptor

from caipan.cli.words import SIDES, name_of
from caipan.v1.common_pb2 import COLOR_BLACK, COLOR_WHITE
from caipan.v1.rulings_pb2 import Effect, ResultKind, SetClock, SetPoints, SetRunning

KINDS = tuple(field.name for field in Effect.DESCRIPTOR.oneofs_by_name["effect"].fields)
EXAMPLE = "set_points remove=R5 add_white=R4"

_SEATS = {"B": COLOR_BLACK, "BLACK": COLOR_BLACK, "W": COLOR_WHITE, "WHITE": COLOR_WHITE}
_BOOLS = {"true": True, "yes": True, "false": False, "no": False}


_EXAMPLES = {
    "set_points": EXAMPLE,
    "set_clock": "set_clock side=B count_s=20",
    "warn": "warn player=B",
    "result": "result kind=B_WIN",
}


def example_for(what: str) -> str:
    """An example of the effect that is asked for."""
    return next((example for kind, example in _EXAMPLES.items() if kind in what.split()), EXAMPLE)


def parse_effects(text: str) -> list[Effect]:
    """Several effects with ; between. Raises ValueError as ``parse_effect``."""
    return [parse_effect(part) for part in text.split(";")]


def parse_effect(text: str) -> Effect:
    """The effect that a person has entered. Raises ValueError that says what would be right."""
    name, *words = text.split() or [""]
    if name not in KINDS:
        raise ValueError(f"{name!r} is no effect; the effects are {', '.join(KINDS)}")
    effect = Effect()
    said: Any = getattr(effect, name)
    said.SetInParent()
    fields = said.DESCRIPTOR.fields_by_name
    for word in words:
        key, is_given, value = word.partition("=")
        if not is_given or key not in fields:
            known = " ".join(f"{field}=..." for field in fields) or "nothing"
            raise ValueError(f"{word!r} in {text!r}: {name} takes {known}, e.g. {EXAMPLE}")
        if fields[key].is_repeated:
            getattr(said, key).extend(part for part in value.split(",") if part)
        else:
            setattr(said, key, _value(fields[key], value))
    return effect


def _value(field: FieldDescriptor, text: str) -> Any:
    if field.enum_type is not None:
        return _enum(field.name, field.enum_type, text)
    if field.name.endswith("_ms"):
        return _time_ms(text)
    if field.type == FieldDescriptor.TYPE_BOOL:
        if text not in _BOOLS:
            raise ValueError(f"{field.name}={text}: yes or no")
        return _BOOLS[text]
    if field.type == FieldDescriptor.TYPE_STRING:
        return text
    if not re.fullmatch("[0-9]{1,9}", text):
        raise ValueError(f"{field.name}={text}: a whole number")
    return int(text)


def _enum(field: str, enum: EnumDescriptor, text: str) -> int:
    """A value by its name without the prefix; seats as B and W too."""
    values = enum.values_by_name
    prefix = enum.values[0].name.removesuffix("UNSPECIFIED")
    if prefix == "COLOR_" and text.upper() in _SEATS:
        return _SEATS[text.upper()]
    found = values.get(f"{prefix}{text.upper()}")
    if found is None or not found.number:
        known = ", ".join(name.removeprefix(prefix) for name, value in values.items() if value.number)
        raise ValueError(f"{field}={text}: one of {known}")
    return int(found.number)


def _time_ms(text: str) -> int:
    """Ms of 1:02:03, 12:30 or 12:30.5."""
    parts = re.fullmatch(r"(?:([0-9]{1,3}):)?([0-9]{1,3}):([0-9]{1,2})(?:\.([0-9]{1,3}))?", text)
    if parts is None:
        raise ValueError(f"{text!r} is no time used; write h:mm:ss, e.g. 1:02:30")
    hours, minutes, seconds, fraction = (part or "0" for part in parts.groups())
    return ((int(hours) * 60 + int(minutes)) * 60 + int(seconds)) * 1000 + int(fraction.ljust(3, "0"))


def effect_of(effect: Effect) -> str:
    """What an effect does, in words."""
    kind = effect.WhichOneof("effect") or ""
    said = getattr(effect, kind)
    match kind:
        case "warn":
            return f"a warning for {SIDES[said.player]}"
        case "admonish":
            return f"an admonition for {SIDES[said.player]}"
        case "void_move":
            return f"the stone at {said.point} is void" if said.point else "a stone is void"
        case "pass":
            return f"{SIDES[said.player]} loses the turn{', as a pass' if said.empty_move else ''}"
        case "set_points":
            return _points(said)
        case "set_turn":
            return f"{SIDES[said.color]} is to move"
        case "set_colours":
            how = ", and the persons change seats" if said.change_seats else ""
            return f"{said.black} has Black, {said.white} White{how}"
        case "result":
            return f"the result is {name_of(ResultKind.Name(said.kind), 'RESULT_KIND_').replace('_', ' ')}"
        case "assign_points":
            return f"{' '.join(said.points)} are {SIDES[said.side]}'s"
        case "permit":
            return f"permitted: {said.what.lower()}{f', {said.terms}' if said.terms else ''}"
        case "sanction":
            return f"{said.kind.lower().replace('_', ' ')} for {said.target}{f': {said.scope}' if said.scope else ''}"
        case "set_clock":
            return _clock(said)
        case "clock":
            run = name_of(SetRunning.Run.Name(said.run), "RUN_")
            return f"{'another clock; ' if said.replaced else ''}running: {run}"
    return "nothing follows"


def _points(said: SetPoints) -> str:
    parts = [f"the position after move {said.as_after_move}"] if said.HasField("as_after_move") else []
    parts += ["the board is cleared"] if said.remove_all else []
    for verb, points in (("off", said.remove), ("Black on", said.add_black), ("White on", said.add_white)):
        if points:
            parts.append(f"{verb} {' '.join(points)}")
    return "; ".join(parts) or "the board stays as it is"


def _clock(said: SetClock) -> str:
    used = [f"Black has used {_as_time(said.black_ms)}"] if said.HasField("black_ms") else []
    used += [f"White has used {_as_time(said.white_ms)}"] if said.HasField("white_ms") else []
    whose = SIDES.get(said.side, "both")
    used += [f"{said.minutes_left} min left for {whose}"] if said.HasField("minutes_left") else []
    used += [f"the count of {whose} is at {said.count_s} s"] if said.HasField("count_s") else []
    return "; ".join(used) or "the readings stay"


def _as_time(ms: int) -> str:
    minutes, seconds = divmod(ms // 1000, 60)
    return f"{minutes // 60}:{minutes % 60:02}:{seconds:02}"

"""Clauses as a person names them: what is meant by a name, and what may be meant by one that no edition has."""

from __future__ import annotations

from difflib import get_close_matches

from caipan.rules.clauses import Clause
from caipan.rules.edition import Edition
from caipan.rules.edition import edition as edition_of
from caipan.v1.state_pb2 import GameState


def edition_in_force(state: GameState) -> Edition:
    """The text by which a game is judged now."""
    regulations = state.adopted if state.HasField("adopted") else state.opened.pins.regulations
    return edition_of(regulations.edition)


def meant_by(text: Edition, name: str) -> tuple[Clause, ...]:
    """The clause of this name with its matters, or what stands for it in the edition; () where there is none."""
    for key in (f"{text.id} {name}", name):
        matters = tuple(each for of, each in text.clauses.items() if of == key or of.startswith(f"{key} "))
        if matters or text.cited(key):
            return matters or text.cited(key)
    return text.named(name)


def of_article(text: Edition, number: str) -> tuple[Clause, ...]:
    """The clauses of an article, e.g. 22: those of the edition, else of the text it rests on."""
    for article in (f"{text.id} {number}", *(f"{each.key.split(' ')[0]} {number}" for each in text.clauses.values())):
        found = tuple(each for key, each in text.clauses.items() if key.startswith((f"{article}.", f"{article}(")))
        if found:
            return found
    return ()


def why_unknown(text: Edition, name: str) -> str:
    """That the edition has no such clause, and what else may be meant."""
    names = [key.removeprefix(f"{text.id} ") for key in text.clauses]
    article = [each.key.removeprefix(f"{text.id} ") for each in of_article(text, name)]
    near = ", ".join(article or get_close_matches(name, names, 3, 0.5))
    hint = f"the nearest are: {near}" if near else f"list all: caipan clauses --edition {text.id}"
    return f"{text.id} has no clause {name!r}; {hint}"

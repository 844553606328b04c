"""The subcommand `clauses`: what an edition says, for whoever has to apply it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from enum import StrEnum
from typing import Annotated, Any

import typer
from rich.cells import cell_len

from caipan.cli.clause_names import meant_by, of_article, why_unknown
from caipan.cli.console import print_json, stdout
from caipan.cli.offline import EditionId
from caipan.cli.options import AsJson
from caipan.rules.clauses import Clause, Offer
from caipan.rules.edition import ROOT, Edition, edition_ids
from caipan.rules.edition import edition as edition_of
from caipan.rules.effects import Effect


class Lang(StrEnum):
    """A language of the texts."""

    ZH = "zh"
    EN = "en"


# Words for the values of editions and the labels of a page, Chinese and English.
_WORDS = {
    "FIXED": ("裁决固定", "a fixed ruling"),
    "CHOSEN": ("裁决可选", "a choice of rulings"),
    "DERIVED": ("自动成立", "follows by itself"),
    "NONE": ("本身无效果", "no effect of its own"),
    "TOURNAMENT": ("由赛事一级处理", "in the tournament"),
    "APPEAL": ("由上诉处理", "on appeal"),
    "PLAYER": ("任何一方棋手", "either player"),
    "OPPONENT": ("对方", "the opponent"),
    "COUNTED": ("被读秒方", "the player under the count"),
    "ARBITER": ("裁判员", "an arbiter"),
    "ANYONE": ("任何人", "anyone"),
    "CHIEF": ("裁判长", "the chief arbiter"),
    "COMMITTEE": ("组委会", "the committee"),
    "OWN_TIME": ("在自己的时间内", "in the own thinking time"),
    "OPPONENT_TIME": ("在对方的时间内", "in the opponent's thinking time"),
    "COUNT": ("读秒中", "under the count"),
    "DEAD_STONES": ("确认死子时", "while the dead stones are agreed"),
    "OUTSIDE_MOMENT": ("不在规定的时机提出", "claimed outside its moment"),
    "LATE": ("逾期提出", "the claim is late"),
    "ANSWERED": ("对方已着子", "the opponent has moved since"),
    "UNANSWERED": ("对方尚未着子", "the opponent has not moved since"),
    "AGREED": ("已取得同意", "those asked have agreed"),
    "NOT_AGREED": ("未取得同意", "they have not agreed"),
    "FIRST": ("初犯", "the first time"),
    "AGAIN_IN_GAME": ("本局再犯", "again in this game"),
    "AGAIN_IN_EVENT": ("同一赛事另一局再犯", "again in another game of the event"),
    "WITHIN_LIMIT": ("未超限度", "within the limit"),
    "OVER_LIMIT": ("超过限度", "over the limit"),
    "APPLIED": ("被读秒方申请", "the counted player has applied for it"),
    "RECORDED": ("有书面记录", "there is a written record"),
    "NOT_RECORDED": ("无书面记录", "there is no written record"),
    "RECONSTRUCTED": ("可以复盘", "the position could be set up again"),
    "LOST": ("不能复盘", "it could not"),
    "raised": ("提出", "raised by"),
    "until": ("时限", "until"),
    "decided": ("裁决", "decided by"),
    "ruling": ("性质", "ruling"),
    "options": ("选项", "options"),
    "limit": ("限度", "limit"),
    "cited": ("引用为", "cited as"),
    "see": ("参见", "see"),
    "if": ("条件", "if"),
    "or": ("或", "or"),
    "free": ("效果由裁决者写明", "the effects are entered with the decision"),
}
_LABELS = ("cited", "ruling", "raised", "until", "decided", "limit", "options", "see")


def clauses(
    words: Annotated[
        list[str] | None,
        typer.Argument(help="Clauses, or an article: 17.3, 17.3 drop, CN1988S 17.3, 22.", metavar="ID"),
    ] = None,
    edition: EditionId = ROOT,
    lang: Annotated[Lang | None, typer.Option(help="Texts in this language only.")] = None,
    json: AsJson = False,
) -> None:
    """List the clauses of an edition or of an article, or show some: the text, who may raise it until when, who
    decides, the options.

    An id may name its edition. For a clause that an edition replaces, what stands in its place is shown.
    """
    asked = " ".join(words or ()).split()
    named = asked[0] if asked else ""
    text = edition_of(named if edition == ROOT and named in edition_ids() else edition)
    if not asked or (len(asked) == 1 and not meant_by(text, named) and of_article(text, named)):
        listed = of_article(text, named) or tuple(text.clauses.values())
        head = f"{text.id}{f' {named}' if asked else ''}  {_both(text.title_zh, text.title_en, lang)}"
        _tell(text, listed, [head, *_list(listed, lang)], lang, json)
        return
    found = tuple(_found(text, asked))
    pages = "\n\n".join("\n".join(_page(text, clause, lang)) for clause in found)
    _tell(text, found, [pages], lang, json)


def _tell(text: Edition, found: tuple[Clause, ...], lines: list[str], lang: Lang | None, json: bool) -> None:
    if json:
        for clause in found:
            print_json(_as_json(text, clause, lang))
    else:
        stdout().print(*lines, sep="\n")


def _found(text: Edition, words: Sequence[str]) -> Iterator[Clause]:
    """The clauses that the words name, each name as long as it can be. Raises BadParameter with the nearest ids."""
    before: Sequence[str] = ()
    while words:
        for end in range(len(words), 0, -1):
            if found := meant_by(text, " ".join(words[:end]).removeprefix(f"{text.id} ")):
                break
        else:
            matter = () if words[0][0].isdigit() else before  # 17.3 dorp
            name = " ".join([*matter, *words]).removeprefix(f"{text.id} ")
            raise typer.BadParameter(why_unknown(text, name), param_hint="ID")
        yield from found
        before, words = words[:end], words[end:]


def _list(found: tuple[Clause, ...], lang: Lang | None) -> Iterator[str]:
    """One line a clause: key, how it is decided, titles."""
    width = max(len(clause.key) for clause in found)
    for clause in found:
        yield f"{clause.key:<{width}}  {clause.ruling.lower():<7}  {_both(clause.zh, clause.en, lang)}"


def _page(text: Edition, clause: Clause, lang: Lang | None) -> Iterator[str]:
    """All that is to know about a clause."""
    yield f"{clause.key}  {_both(clause.zh, clause.en, lang)}"
    yield from (f"  {said}" for said in _texts(clause.text_zh, clause.text_en, lang))
    width = max(cell_len(_word(label, lang)) for label in _LABELS)
    for label, lines in _entries(text, clause, lang):
        for number, line in enumerate(lines):
            head = "" if number else _word(label, lang)
            yield f"  {head}{' ' * (width - cell_len(head))}  {line}"


def _entries(text: Edition, clause: Clause, lang: Lang | None) -> Iterator[tuple[str, list[str]]]:
    """The labelled parts of a page, each with its lines."""
    if not f"{clause.key} ".startswith(f"{clause.id} "):
        yield "cited", [clause.id]
    level = f"; {_word(clause.level, lang)}" if clause.level in _WORDS else ""
    yield "ruling", [f"{_word(clause.ruling, lang)}{level}"]
    if clause.raised_by:
        during = f" ({_word(clause.during, lang)})" if clause.during in _WORDS else ""
        yield "raised", [", ".join(_word(each, lang) for each in clause.raised_by) + during]
    window = text.window(clause.key)
    if window is not None:
        yield "until", [" / ".join(_texts(window.zh, window.en, lang))]
    if clause.decides is not None:
        yield "decided", [_word(clause.decides, lang)]
    if clause.limit is not None:
        yield "limit", [_limit(text, clause)]
    if clause.options:
        yield "options", [line for offer in clause.options for line in _offer(clause, offer, lang)]
    if clause.see:
        yield "see", [f"{each.key}  {_both(each.zh, each.en, lang)}" for each in text.see(clause.key)]


def _offer(clause: Clause, offer: Offer, lang: Lang | None) -> Iterator[str]:
    """An option: its name and titles, what it does, when it is listed and who records it."""
    yield f"{offer.name}  {_both(offer.option.zh, offer.option.en, lang)}"
    if not offer.option.dismisses:
        yield "  " + (_word("free", lang) if offer.option.free else ", ".join(map(_effect, offer.option.effects)))
    conditions = [f" {_word('or', lang)} ".join(_word(each, lang) for each in sorted(offer.when))] if offer.when else []
    conditions += [f"{key} = {value}" for key, value in offer.regulation.items()]
    if conditions:
        yield f"  {_word('if', lang)} {', '.join(conditions)}"
    if offer.decides and offer.decides != clause.decides:
        yield f"  {_word('decided', lang)} {_word(offer.decides, lang)}"


def _limit(text: Edition, clause: Clause) -> str:
    limit = clause.limit
    assert limit is not None
    if limit.key:
        return f"{limit.key} = {text.defaults.get(limit.key, '-')}"
    return f"{limit.seconds} s" if limit.seconds else f"{limit.times} x"


def _effect(effect: Effect) -> str:
    """ "SET_POINTS how=ORIGINAL"."""
    said = {each.name: getattr(effect, each.name) for each in fields(effect)}
    return " ".join([effect.tag, *(f"{name}={value}" for name, value in said.items() if value)])


def _word(word: str, lang: Lang | None) -> str:
    """A word of a page; in English where both languages are shown."""
    zh, en = _WORDS[word]
    return zh if lang == Lang.ZH else en


def _texts(zh: str, en: str, lang: Lang | None) -> list[str]:
    return [said for said, of in ((zh, Lang.ZH), (en, Lang.EN)) if lang in (None, of)]


def _both(zh: str, en: str, lang: Lang | None) -> str:
    return "  ".join(_texts(zh, en, lang))


def _as_json(text: Edition, clause: Clause, lang: Lang | None) -> dict[str, Any]:
    """A clause as an object; what it does not have is left out."""
    window = text.window(clause.key)
    value = {
        "edition": text.id,
        "key": clause.key,
        "id": clause.id,
        "reason": clause.reason,
        **_titled("title", clause.zh, clause.en, lang),
        **_titled("text", clause.text_zh, clause.text_en, lang),
        "ruling": clause.ruling,
        "level": clause.level,
        "raised_by": list(clause.raised_by),
        "during": clause.during if clause.raised_by else "",
        "until": {"window": clause.until, "ends": window.ends, "count": window.count} if window else None,
        "decides": clause.decides,
        "consent": clause.consent,
        "limit": {each.name: value for each in fields(clause.limit) if (value := getattr(clause.limit, each.name))}
        if clause.limit
        else None,
        "options": [_offer_as_json(offer, lang) for offer in clause.options],
        "see": [each.key for each in text.see(clause.key)],
    }
    return {name: each for name, each in value.items() if each}


def _offer_as_json(offer: Offer, lang: Lang | None) -> dict[str, Any]:
    value = {
        "option": offer.name,
        **_titled("title", offer.option.zh, offer.option.en, lang),
        "effects": [
            {"effect": effect.tag, **{each.name: getattr(effect, each.name) for each in fields(effect)}}
            for effect in offer.option.effects
        ],
        "free": offer.option.free,
        "when": sorted(offer.when),
        "regulation": offer.regulation,
        "decides": offer.decides,
    }
    return {name: each for name, each in value.items() if each}


def _titled(name: str, zh: str, en: str, lang: Lang | None) -> dict[str, str]:
    return {f"{name}_{of}": said for said, of in ((zh, Lang.ZH), (en, Lang.EN)) if lang in (None, of)}

"""The subcommand `rule`: a decision of an arbiter; what is missing is asked for, what would change is shown first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from caipan.cli.case_words import case_lines, closed_of, option_title, preview_lines, role_of
from caipan.cli.clause_names import edition_in_force, why_unknown
from caipan.cli.console import CommandError, print_json, printable, stderr, stdout
from caipan.cli.desk import (
    Against,
    At,
    Choice,
    DeskToken,
    EventId,
    Refs,
    Seat,
    ask,
    ask_until,
    at_ms,
    choose,
    confirmed,
    decider,
    is_terminal,
    new_id,
    nothing_recorded,
    seat,
)
from caipan.cli.effects import EXAMPLE, example_for, parse_effect, parse_effects
from caipan.cli.online import GameId, connect, outcomes_of, tell_outcome
from caipan.cli.options import ADDRESS, DATA, Address, AsJson, Data, Query
from caipan.cli.words import title_of
from caipan.rules.edition import Edition
from caipan.v1.case_service_pb2 import (
    GetCaseRequest,
    GetCaseResponse,
    HallCase,
    ListCasesRequest,
    ListCasesResponse,
    PreviewRulingRequest,
)
from caipan.v1.common_pb2 import Role
from caipan.v1.game_service_pb2 import GetGameRequest
from caipan.v1.outcome_pb2 import STATUS_FOLDED, Case, Verdict
from caipan.v1.ruling_service_pb2 import DecideRequest, Entry, SupersedeRequest
from caipan.v1.rulings_pb2 import Effect, RulingDecided
from caipan.v1.state_pb2 import GameState

if TYPE_CHECKING:
    from caipan.cli.client import Service

_OWN_MOTION = "of your own motion"


class _Offer(NamedTuple):
    """An option that may be taken: the key of its clause, its name, who may record it."""

    key: str
    name: str
    role: Role.ValueType


def rule(
    game: GameId,
    case: Annotated[str, typer.Argument(help="Number of the case; without it the one that is open.")] = "",
    clause: Annotated[str, typer.Option(help="The clause, e.g. 17.2; needed without a case.")] = "",
    option: Annotated[str, typer.Option(help="What is ruled, as the case lists it, e.g. VOID_AND_WARN.")] = "",
    reason: Annotated[str, typer.Option(help="Why.")] = "",
    effect: Annotated[
        list[str] | None, typer.Option(help=f'Where the option leaves it open, e.g. "{EXAMPLE}"; several times.')
    ] = None,
    against: Against = None,
    ref: Refs = None,
    role: Annotated[str, typer.Option(help="In which role; without it the lowest that may.", show_default=False)] = "",
    person: Annotated[str, typer.Option(help="Who decides, where no token says it.", show_default=False)] = "",
    supersedes: Annotated[str, typer.Option(help="The ruling whose place this one takes.", show_default=False)] = "",
    from_here: Annotated[
        bool, typer.Option("--from-here", help="With --supersedes: what followed stays as it was played.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Record it without asking again.")] = False,
    event_id: EventId = "",
    at: At = "",
    address: Address = ADDRESS,
    query: Query = None,
    token: DeskToken = None,
    data: Data = DATA,
    json: AsJson = False,
) -> None:
    """Decide a case, or act of your own motion.

    At a terminal whatever is missing is asked for. What the ruling would change is shown before it is recorded; nothing
    is recorded without a confirmation or --yes.
    """
    reading = connect(query or address)
    state = reading.call(reading.games.GetGame, GetGameRequest(game_id=game)).game
    ruling = RulingDecided(reason=reason, supersedes=supersedes, from_here=from_here, against=seat(against))
    ruling.refs.extend(ref or ())
    for text in effect or ():
        ruling.effects.append(_read_effect(text))
    draft = _Draft(reading, state, ruling, at_ms(at), json)
    if event_id and draft.was_recorded(event_id):
        return
    clause = draft.choose_case(case, draft.checked(clause))
    choice = draft.choose_option(clause, option)
    ruling.role = _role(role or ("CHIEF" if supersedes else ""), choice)  # whom alone superseding is open to
    who = decider(token, data, state, ruling.role, person)
    ruling.reason = ruling.reason or ask("the reason", "--reason")
    verdict = draft.preview(who.person)
    draft.show(verdict, who.person)
    if not yes and not _confirmed():
        raise nothing_recorded()
    service = connect(address, who.token, who.acting)
    entry = Entry(game_id=game, event_id=event_id or new_id("ruling"), at_ms=draft.at_ms)
    if supersedes:
        told = service.insist_or_say(service.rulings.Supersede, SupersedeRequest(entry=entry, ruling=ruling)).result
    else:
        told = service.insist_or_say(service.rulings.Decide, DecideRequest(entry=entry, ruling=ruling)).result
    if json:
        print_json(told)
    else:
        stdout().print(printable(f"recorded as {told.event_id}:"))
        tell_outcome(told.outcome)


def _read_effect(text: str) -> Effect:
    try:
        return parse_effect(text)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--effect") from None


def _role(name: str, choice: _Offer | None) -> Role.ValueType:
    from caipan.serving.tokens import role_named

    if not name:
        return choice.role if choice else role_named("ARBITER")
    try:
        return role_named(name.upper().removeprefix("ROLE_"))
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--role") from None


def _confirmed() -> bool:
    if not is_terminal():
        raise typer.BadParameter("missing: a confirmation; look at the preview, then add --yes", param_hint="--yes")
    return confirmed("record this ruling?")


def _names_of(case: Case) -> tuple[str, ...]:
    """By what a case may be called: its number, or a clause of it."""
    keys = [each.key for each in case.candidates]
    return (case.case_id, *keys, *(key.partition(" ")[2] for key in keys))


@dataclass(slots=True)
class _Draft:
    """A ruling on its way: the game as it stands, the ruling as far as it is known."""

    reading: Service
    state: GameState
    ruling: RulingDecided
    at_ms: int
    json: bool

    @property
    def edition(self) -> Edition:
        """That of the game."""
        return edition_in_force(self.state)

    def _say(self, *lines: str) -> None:
        (stderr() if self.json else stdout()).print(*lines, sep="\n", soft_wrap=True)

    def choose_case(self, number: str, clause: str) -> str:
        """The case named; else the one that is open, or of the clause; else there is none. Returns the clause."""
        if self.ruling.supersedes:
            decided = self._superseded()
            self.ruling.case_id = number or decided.case_id
            return clause or decided.key
        about = [case for case in self.state.cases if not clause or self._keys(case, clause)]
        if not number and len(about) > 1:
            listed = [Choice(each.case_id, f"{each.case_id}  {self._line(each)}", _names_of(each)) for each in about]
            own = [Choice("", f"none  {_OWN_MOTION}", ("none",))] if clause else []
            number = choose("which case (its number)", "CASE", [*listed, *own], numbered=False)
        elif not number and about:
            number = about[0].case_id
        self.ruling.case_id = number
        case = self._case()
        if case is None:
            return clause
        self.ruling.case_revision = case.revision
        self.ruling.interrupted.CopyFrom(case.interrupted)
        told, earlier = self._told(case)
        self._say(*case_lines(told, earlier, with_options=not is_terminal()))  # there the menu lists them
        return clause

    def was_recorded(self, event_id: str) -> bool:
        """Whether a ruling with this id stands; then it is shown."""
        told = self._decided_by(event_id)
        if told is not None and self.json:
            print_json(told)
        elif told is not None:
            stdout().print(printable(f"recorded before: {told.game_id}  case {told.case.case_id}  {closed_of(told)}"))
        return told is not None

    def _superseded(self) -> Case:
        """The case that the ruling to be superseded has decided. Raises CommandError."""
        told = self._decided_by(self.ruling.supersedes)
        if told is None:
            raise CommandError(f"{self.state.game_id}: {self._why_not_in_force(self.ruling.supersedes)}")
        self._say(printable(f"{told.game_id}  case {told.case.case_id}  {closed_of(told)}"))
        return told.case

    def _why_not_in_force(self, ruling: str) -> str:
        """Why no case is decided by a ruling: it never was, or another one has taken its place."""
        decided = (
            case.case_id
            for outcome in outcomes_of(self.reading, self.state.game_id)
            for case in outcome.verdict.cases
            if case.decided_by == ruling
        )
        case_id = next(decided, "")
        if not case_id:
            return f"no case was decided by {ruling!r}; see caipan cases {self.state.game_id} --closed"
        asked = GetCaseRequest(game_id=self.state.game_id, case_id=case_id)
        now = self.reading.call(self.reading.cases.GetCase, asked).case
        if not now.case.decided_by:
            return f"{ruling!r} decided case {case_id}, which is {closed_of(now)} now"
        return f"{ruling!r} was superseded by {now.case.decided_by!r} in case {case_id}: name that one"

    def _decided_by(self, ruling: str) -> HallCase | None:
        request = ListCasesRequest(game_id=self.state.game_id, page_size=1000)
        page: ListCasesResponse = self.reading.call(self.reading.cases.ListCases, request)
        return next((told for told in page.cases if told.case.decided_by == ruling), None)

    def _case(self) -> Case | None:
        return next((case for case in self.state.cases if case.case_id == self.ruling.case_id), None)

    def _told(self, case: Case) -> tuple[HallCase, Sequence[HallCase]]:
        """The case with who has the side, and what that person did before."""
        asked = GetCaseRequest(game_id=self.state.game_id, case_id=case.case_id, min_seq=self.state.seq)
        told: GetCaseResponse = self.reading.call(self.reading.cases.GetCase, asked)
        told.case.case.CopyFrom(case)  # as it was when the ruling was begun
        return told.case, told.earlier

    def _line(self, case: Case) -> str:
        keys = ", ".join(f"{candidate.key} {title_of(candidate.key)}" for candidate in case.candidates)
        return printable(f"{keys}, after move {case.move}")

    def _keys(self, case: Case, clause: str) -> list[str]:
        """The keys of a case that a clause names."""
        names = self._names(clause)
        return [each.key for each in case.candidates if names & {each.key, each.clause}]

    def _names(self, clause: str) -> set[str]:
        return {clause, f"{self.edition.id} {clause}"}

    def choose_option(self, clause: str, option: str) -> _Offer | None:
        """Sets clause and option; None where the option given is none that is listed: the fold says what is."""
        if not clause and self._case() is None and not self.ruling.case_id and is_terminal():
            clause = ask_until("no case is open; the clause", "--clause", self._known)
        choices = self._choices(clause)
        self.ruling.clause = next((each.key for each in choices if each.name == option), self._clause(clause))
        self.ruling.option = option
        self.ruling.offered_options.extend(dict.fromkeys(each.name for each in choices))
        if option:
            return next((each for each in choices if each.name == option), None)
        if not choices:
            raise typer.BadParameter(
                f"missing: {'what is ruled' if clause else 'no case is open: name the clause'}",
                param_hint="--option" if clause else "--clause",
            )
        listed = [
            Choice(
                each,
                f"{each.name}  {option_title(each.key, each.name)}  ({role_of(each.role)}; {each.key})",
                (each.name, each.key, each.key.partition(" ")[2]),
            )
            for each in choices
        ]
        choice = choose("what is ruled", "--option", listed)
        self.ruling.clause, self.ruling.option = choice.key, choice.name
        return choice

    def checked(self, clause: str) -> str:
        """The clause that was given. Raises BadParameter."""
        try:
            return self._known(clause) if clause else ""
        except ValueError as error:
            raise typer.BadParameter(str(error), param_hint="--clause") from None

    def _known(self, clause: str) -> str:
        """A clause under which something may be ruled. Raises ValueError."""
        if any(self._keys(case, clause) for case in self.state.cases):
            return clause
        found = [each for each in self.edition.clauses.values() if self._names(clause) & {each.key, each.id}]
        if not found:
            raise ValueError(why_unknown(self.edition, clause))
        if not self._choices(clause):
            raise ValueError(f"under {clause} nothing is ruled; see caipan clauses {clause}")
        return clause

    def _clause(self, clause: str) -> str:
        """The clause as the edition has it, or as it was given."""
        return next((name for name in self._names(clause) if name in self.edition.clauses), clause)

    def _choices(self, clause: str) -> list[_Offer]:
        """What the case lists, under one clause or all; without a case what the clause has."""
        case = self._case()
        if case is not None:
            keys = self._keys(case, clause) if clause else [each.key for each in case.candidates]
            listed = [each for each in case.candidates if each.key in keys]
            return [_Offer(each.key, option.name, option.required_role) for each in listed for option in each.options]
        edition, regulations = self.edition, self.state.opened.pins.regulations
        found = [each for each in edition.clauses.values() if self._names(clause) & {each.key, each.id}]
        return [
            _Offer(each.key, offer.name, edition.required_role(each.key, offer, regulations))
            for each in found
            for offer in each.options
        ]

    def preview(self, person: str) -> Verdict:
        """The verdict that the ruling would get; asks for what the fold misses. Raises CommandError for a refusal."""
        while True:
            request = PreviewRulingRequest(
                game_id=self.state.game_id, person=person, at_ms=self.at_ms, ruling=self.ruling
            )
            verdict: Verdict = self.reading.call(self.reading.cases.PreviewRuling, request).verdict
            missing, _, what = verdict.reason.partition(": ")
            if verdict.status == STATUS_FOLDED:
                return verdict
            if missing == "against" and not self.ruling.against:
                sides = [Choice(Seat.B, "Black", ("Black", "B")), Choice(Seat.W, "White", ("White", "W"))]
                self.ruling.against = seat(choose("which side it is about", "--against", sides))
            elif missing == "effects" and "enter" in what and is_terminal():
                question = f"{what}, several with ; between (e.g. {example_for(what)})"
                self.ruling.effects.extend(ask_until(question, "--effect", parse_effects))
            elif missing == "effects" and "enter" in what:
                raise typer.BadParameter(f"missing: {what}, e.g. {example_for(what)}", param_hint="--effect")
            else:
                why = verdict.reason.replace("set from_here", "give --from-here")
                raise CommandError(f"it would be refused: {why}")

    def show(self, verdict: Verdict, person: str) -> None:
        """What the ruling would change."""
        ruling = self.ruling
        title = option_title(ruling.clause, ruling.option)
        self._say(
            printable(f"{ruling.option}  {title}  under {ruling.clause} {title_of(ruling.clause)}"),
            printable(f"  decided by {person} as {role_of(ruling.role)}: {ruling.reason}"),
            *preview_lines(verdict, self.state.penalties),
        )

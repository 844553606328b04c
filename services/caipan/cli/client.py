"""The running service as the commands call it: its stubs, a token, errors as sentences, patience where it restarts."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from caipan.cli.console import CommandError, say_error
from caipan.cli.options import PRIVATE_KEY_FILE
from caipan.cli.synthetic import RECORDER
from caipan.serving.errors import detail_of, retry_delay_s
from caipan.serving.tokens import ALL, KeyFileError, load_private_key, make_token, role_name
from caipan.v1.case_service_pb2 import WatchCasesRequest, WatchCasesResponse
from caipan.v1.case_service_pb2_grpc import CaseServiceStub, PenaltyServiceStub
from caipan.v1.common_pb2 import Actor
from caipan.v1.errors_pb2 import (
    ERROR_CODE_GAME_UNKNOWN,
    ERROR_CODE_SHUTTING_DOWN,
    ERROR_CODE_SLOW_READER,
    ERROR_CODE_TOKEN_STALE,
    ERROR_CODE_UNSPECIFIED,
    ERROR_CODE_VERDICT_PENDING,
    ErrorDetail,
)
from caipan.v1.game_service_pb2 import WatchGameRequest, WatchGameResponse
from caipan.v1.game_service_pb2_grpc import GameServiceStub
from caipan.v1.intake_service_pb2 import StreamEventsRequest
from caipan.v1.intake_service_pb2_grpc import IntakeServiceStub
from caipan.v1.operation_service_pb2_grpc import OperationServiceStub
from caipan.v1.ruling_service_pb2_grpc import RulingServiceStub

_CALL_S = 30.0
PATIENCE_S = 60.0  # how long a service that does not answer is asked again
_PAUSE_S = 0.5  # before that, where the service does not say how long
_TOKEN_S = 3600
_OPTIONS = [
    ("grpc.initial_reconnect_backoff_ms", 200),
    ("grpc.max_reconnect_backoff_ms", 2000),
    ("grpc.keepalive_time_ms", 20_000),  # a network that is gone says no farewell
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.http2.ping_timeout_ms", 10_000),
    ("grpc.http2.max_pings_without_data", 0),
]

T = TypeVar("T")


class Service:
    """The service at ``address`` (HOST:PORT). ``token`` goes with every call where it is given; ``acting``: in which of
    its roles.
    """

    def __init__(self, address: str, token: str = "", acting: str = "") -> None:
        self.address = address
        self.channel = grpc.insecure_channel(address, options=_OPTIONS)
        self.games = GameServiceStub(self.channel)
        self.intake = IntakeServiceStub(self.channel)
        self.operations = OperationServiceStub(self.channel)
        self.rulings = RulingServiceStub(self.channel)
        self.cases = CaseServiceStub(self.channel)
        self.penalties = PenaltyServiceStub(self.channel)
        self._metadata = [("authorization", f"Bearer {token}")] if token else []
        if acting:
            self._metadata.append(("caipan-role", acting))

    def call(self, method: Callable[..., T], request: Any) -> T:
        """One call. Raises CommandError."""
        try:
            return method(request, timeout=_CALL_S, metadata=self._metadata)
        except grpc.RpcError as error:
            raise self.explained(error) from None

    def insist(self, method: Callable[..., T], request: Any) -> T:
        """A call that may be repeated: asked again while the service is away or not ready. Raises grpc.RpcError."""
        give_up, said = time.monotonic() + PATIENCE_S, False
        while True:
            try:
                return method(request, timeout=_CALL_S, metadata=self._metadata)
            except grpc.RpcError as error:
                if not is_passing(error) or time.monotonic() > give_up:
                    raise
                if not said:
                    say_error(f"{self.explained(error)} (trying again)")
                said = True
                time.sleep(pause_s(error))

    def watch(self, game_id: str) -> Iterator[WatchGameResponse]:
        """A snapshot of the game, then every outcome and heartbeats, for ever. Raises CommandError."""
        return self._resumed(self.games.WatchGame, WatchGameRequest(game_id=game_id))

    def watch_cases(self, tournament_id: str) -> Iterator[WatchCasesResponse]:
        """The open cases of a tournament or of all, then those that change and heartbeats, for ever. Raises
        CommandError."""
        return self._resumed(self.cases.WatchCases, WatchCasesRequest(tournament_id=tournament_id))

    def _resumed(self, method: Callable[[Any], Iterator[Any]], request: Any) -> Iterator[Any]:
        """A stream with resume tokens that is taken up again when it breaks; from its beginning where it cannot be."""
        began, said = False, False
        while True:
            wait_s = _PAUSE_S
            try:
                for update in method(request):
                    request.resume_token = update.resume_token or request.resume_token
                    began, said = True, False
                    yield update
            except grpc.RpcError as error:
                detail = detail_of(error)
                code = detail.code if detail else ERROR_CODE_UNSPECIFIED
                if not began or not (is_passing(error) or code in (ERROR_CODE_SLOW_READER, ERROR_CODE_TOKEN_STALE)):
                    raise self.explained(error) from None
                wait_s = pause_s(error)
                if code == ERROR_CODE_TOKEN_STALE:
                    request.resume_token = ""
                if not said:
                    say_error(f"{self.explained(error)} (taking it up again)")
            said = True
            time.sleep(wait_s)

    def insist_or_say(self, method: Callable[..., T], request: Any) -> T:
        """As ``insist``. Raises CommandError."""
        try:
            return self.insist(method, request)
        except grpc.RpcError as error:
            raise self.explained(error) from None

    def stream(self, requests: Iterator[StreamEventsRequest], token: str) -> Any:
        """One stream of events: an iterator of StreamEventsResponse that raises grpc.RpcError, and may be cancelled."""
        return self.intake.StreamEvents(requests, metadata=[("authorization", f"Bearer {token}")])

    def health(self) -> str:
        """SERVING, NOT_SERVING, ... as the service itself says. Raises CommandError."""
        answer = self.call(health_pb2_grpc.HealthStub(self.channel).Check, health_pb2.HealthCheckRequest())
        return str(health_pb2.HealthCheckResponse.ServingStatus.Name(answer.status))

    def explained_by_line(self, error: grpc.RpcError, numbers: Sequence[int]) -> CommandError:
        """As ``explained``; ``events[2].x`` is told as the line of that event."""
        detail = detail_of(error)
        named = re.match(r"events\[([0-9]+)\]\.?", detail.field) if detail else None
        if named is None or detail is None:
            return self.explained(error)
        return self.explained(error, f"line {numbers[int(named[1])]}: {detail.field[named.end() :]}".rstrip(": "))

    def explained(self, error: grpc.RpcError, where: str = "") -> CommandError:
        """The error of a call as a sentence; ``where`` stands in the place of the field it names."""
        detail, code = detail_of(error), error.code()
        if detail is not None:
            place = where or detail.field
            return CommandError(f"{f'{place}: ' if place else ''}{detail.reason}; {_remedy(detail)}")
        if code is grpc.StatusCode.UNAVAILABLE:
            return CommandError(
                f"{self.address}: no service answers; start one with caipan up, or name another with --address"
            )
        if code is grpc.StatusCode.DEADLINE_EXCEEDED:
            return CommandError(f"{self.address}: no answer within {_CALL_S:g} s; try again")
        if code is grpc.StatusCode.UNIMPLEMENTED:
            return CommandError(
                f"{self.address}: another kind of service; what writes goes to a gateway, what reads to a query: "
                "name the right one with --address, or with --query where a command reads and writes"
            )
        return CommandError(f"{self.address}: {code.name}: {error.details()}")


def _remedy(detail: ErrorDetail) -> str:
    """What to do about an error, without what a program can do and a command has no option for."""
    if detail.code == ERROR_CODE_GAME_UNKNOWN:
        return "check the id, or open the game"
    return detail.remedy.partition("; where it has several")[0]


def pause_s(error: grpc.RpcError) -> float:
    """How long to wait before a call that ended in this way is repeated, seconds: as long as the service asks for."""
    return retry_delay_s(error) or _PAUSE_S


def is_passing(error: grpc.RpcError) -> bool:
    """Whether the same call may go well a little later."""
    detail = detail_of(error)
    if detail is not None and detail.code in (ERROR_CODE_VERDICT_PENDING, ERROR_CODE_SHUTTING_DOWN):
        return True
    # A call that a stopping server had not taken up yet ends as CANCELLED, though nobody cancelled it.
    return error.code() in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED)


def token_for(token: str | None, data: Path, actor: Actor = RECORDER) -> str:
    """The token given, else one of ``actor`` made with the development key in ``data``. Raises CommandError."""
    if token is not None and not token.strip():
        raise CommandError("the token is empty: give one, or leave --token and CAIPAN_TOKEN out")
    if token is not None:
        if not re.fullmatch(r"[!-~]+", token.strip()):
            raise CommandError("the token has characters that no token has: give all of one line, as it was made")
        return token.strip()
    key = data / PRIVATE_KEY_FILE
    if not key.exists():
        raise CommandError(
            f"no token: give one with --token or CAIPAN_TOKEN, or name the folder of the service with --data ({key} is "
            "not there)"
        )
    try:
        private_key = load_private_key(key)
    except KeyFileError as error:
        raise CommandError(str(error)) from error
    return make_token(private_key, actor.person, [role_name(actor.role)], [ALL], [ALL], _TOKEN_S)

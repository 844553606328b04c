"""Events to the service over one stream, as they come; a stream that breaks is taken up again where it was."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from threading import Condition, Thread

import grpc

from caipan.cli.client import PATIENCE_S, Service, is_passing, pause_s
from caipan.cli.console import CommandError, say_error
from caipan.cli.lines import Line
from caipan.serving.errors import detail_of
from caipan.v1.errors_pb2 import ERROR_CODE_TOKEN_INVALID, ERROR_CODE_VERDICT_PENDING, ErrorDetail
from caipan.v1.intake_service_pb2 import (
    WAIT_LOG,
    Acknowledged,
    Appended,
    Judged,
    StreamEventsRequest,
    StreamEventsResponse,
    Wait,
)

_OPEN_MOST = 1000  # events that are read ahead; as many are without their answers in the service

_TOKEN_GOOD_S = 10.0  # a stream as old as that began with a good token, which has expired since


@dataclass(slots=True)
class _Event:
    """An event without all of its answers, and what is known of it."""

    line: Line
    result: Appended


@dataclass(slots=True)
class _Attempt:
    """One stream: numbers of the events sent on it that are not acknowledged, and of those without a verdict by id."""

    storing: deque[int] = field(default_factory=deque)
    judging: dict[tuple[str, str], deque[int]] = field(default_factory=dict)
    began_s: float = field(default_factory=time.monotonic)
    acknowledged: bool = False  # anything
    is_over: bool = False


class EventStream:
    """Sends the events of ``lines`` in their order, as they come; what has no answer when a stream breaks, once more.

    ``token`` gives the one for the next stream; ``wait`` says when an event is done.
    """

    def __init__(
        self, service: Service, token: Callable[[], str], wait: Wait.ValueType, lines: Iterable[Line], name: str
    ) -> None:
        """``name`` of the file is for messages."""
        self._service = service
        self._token = token
        self._wait = wait
        self._name = name
        self._changed = Condition()  # guards all that follows, for three threads have to do with it
        self._open: dict[int, _Event] = {}  # by number, in order
        self._numbers = 0
        self._no_more = False
        self._wrong: CommandError | None = None  # why no more lines are sent
        self._began = False
        Thread(target=self._read, args=(lines,), daemon=True).start()

    def results(self) -> Iterator[Appended]:
        """What became of each event, once it is done. Raises CommandError for the first line that cannot be sent."""
        give_up_s, said = time.monotonic() + PATIENCE_S, False
        while self._has_more():
            attempt = _Attempt()
            answers = self._service.stream(self._requests(attempt), self._token())
            try:
                for answer in answers:
                    self._began, said = True, False
                    yield from self._take(attempt, answer)
            except grpc.RpcError as error:
                if not self._can_go_on(error, attempt) or (not self._began and time.monotonic() > give_up_s):
                    raise self._explained(error, attempt) from None
                if not said and self._wrong is None:
                    say_error(f"{self._service.explained(error)} (taking it up again)")
                said = True
                time.sleep(pause_s(error))
            finally:
                self._end(attempt)
                answers.cancel()
        if self._wrong is not None:
            raise self._wrong

    def unanswered(self) -> str:
        """The lines that are not known to be done, "" for none."""
        with self._changed:
            numbers = [event.line.number for event in self._open.values()]
        return f"{len(numbers)} events are without their answer, from line {numbers[0]} on" if numbers else ""

    def _read(self, lines: Iterable[Line]) -> None:
        """Takes in lines while there is room, on a thread of its own: whoever writes them may take long."""
        wrong: CommandError | None = None
        try:
            for line in lines:
                if line.error:
                    wrong = CommandError(f"{self._name}: line {line.number}: {line.error}")
                    break
                if not self._put(line):
                    return
        except CommandError as error:
            wrong = error
        with self._changed:
            self._no_more, self._wrong = True, self._wrong or wrong
            self._changed.notify_all()

    def _put(self, line: Line) -> bool:
        """Whether lines are still wanted."""
        with self._changed:
            self._changed.wait_for(lambda: self._no_more or len(self._open) < _OPEN_MOST)
            if self._no_more:
                return False
            self._open[self._numbers] = _Event(line, Appended(event_id=line.event.event_id))
            self._numbers += 1
            self._changed.notify_all()
            return True

    def _has_more(self) -> bool:
        """Waits until there is something to send; False if nothing comes any more."""
        with self._changed:
            self._changed.wait_for(lambda: self._open or self._no_more)
            return bool(self._open)

    def _requests(self, attempt: _Attempt) -> Iterator[StreamEventsRequest]:
        """The events without answers, then those that come. Runs on a thread of grpc."""
        number = 0
        while True:
            with self._changed:
                while number not in self._open and not attempt.is_over:
                    if number < self._numbers:
                        number += 1
                    elif self._no_more:
                        return
                    else:
                        self._changed.wait()
                if attempt.is_over:
                    return
                event = self._open[number].line.event
                attempt.storing.append(number)
                attempt.judging.setdefault((event.game_id, event.event_id), deque()).append(number)
            yield StreamEventsRequest(event=event, wait=self._wait)
            number += 1

    def _take(self, attempt: _Attempt, answer: StreamEventsResponse) -> Iterator[Appended]:
        """What an answer says of an event that is done by it."""
        with self._changed:
            if answer.HasField("acknowledged"):
                done = self._acknowledge(attempt, answer.acknowledged)
            else:
                done = self._judge(attempt, answer.judged)
            self._changed.notify_all()
        if done is not None:
            yield done

    def _acknowledge(self, attempt: _Attempt, said: Acknowledged) -> Appended | None:
        number = attempt.storing.popleft()
        attempt.acknowledged = True
        result = self._open[number].result
        result.partition, result.offset = said.partition, said.offset
        return self._done(attempt, said, result) if self._wait == WAIT_LOG else None

    def _judge(self, attempt: _Attempt, said: Judged) -> Appended:
        result = Appended(event_id=said.event_id, partition=said.outcome.partition, offset=said.outcome.offset)
        result = self._done(attempt, said, result)  # or it was PARKED, and is judged now
        result.status = said.status
        if said.HasField("outcome"):
            result.outcome.CopyFrom(said.outcome)
        return result

    def _done(self, attempt: _Attempt, said: Acknowledged | Judged, unknown: Appended) -> Appended:
        """What is known of the event that was spoken of; it need not be sent again. ``unknown`` where it is none."""
        key = (said.game_id, said.event_id)
        numbers = attempt.judging.get(key)
        if not numbers:
            return unknown
        number = numbers.popleft()
        if not numbers:
            del attempt.judging[key]
        return self._open.pop(number).result

    def _end(self, attempt: _Attempt) -> None:
        with self._changed:
            attempt.is_over = True
            self._changed.notify_all()

    def _can_go_on(self, error: grpc.RpcError, attempt: _Attempt) -> bool:
        """Whether another stream helps: with what is left, or at least with what came before the line at fault."""
        detail = detail_of(error)
        if detail is None or detail.code == ERROR_CODE_VERDICT_PENDING:
            return detail is None and is_passing(error)  # all is stored; the service has waited long
        if detail.code == ERROR_CODE_TOKEN_INVALID:
            return attempt.acknowledged or time.monotonic() - attempt.began_s > _TOKEN_GOOD_S  # the next one is newer
        if is_passing(error) or not attempt.storing or not _is_about_event(detail):
            return is_passing(error)
        with self._changed:
            self._wrong, self._no_more = self._explained(error, attempt), True
            for number in range(attempt.storing[0], self._numbers):
                self._open.pop(number, None)
            self._changed.notify_all()
        return True

    def _explained(self, error: grpc.RpcError, attempt: _Attempt) -> CommandError:
        """The error, with the line it is about where there is one."""
        detail = detail_of(error)
        if detail is None or not attempt.storing or not _is_about_event(detail):
            return self._service.explained(error)
        place = f"line {self._open[attempt.storing[0]].line.number}: {detail.field.partition('.')[2]}".rstrip(": ")
        return self._service.explained(error, f"{self._name}: {place}")


def _is_about_event(detail: ErrorDetail) -> bool:
    """Whether an error is about the first event that is not acknowledged."""
    return detail.field.partition(".")[0] == "event"

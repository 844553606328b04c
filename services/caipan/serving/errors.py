"""Errors as the proto lists them: a status code, and a detail with field, reason and remedy."""

from __future__ import annotations

from typing import NoReturn, TypeVar

import grpc
from google.protobuf.any_pb2 import Any
from google.protobuf.message import Message
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status
from grpc_status import rpc_status

from caipan.v1 import errors_pb2 as pb

STATUS_CODES = {
    pb.ERROR_CODE_TOKEN_MISSING: grpc.StatusCode.UNAUTHENTICATED,
    pb.ERROR_CODE_TOKEN_INVALID: grpc.StatusCode.UNAUTHENTICATED,
    pb.ERROR_CODE_NOT_PERMITTED: grpc.StatusCode.PERMISSION_DENIED,
    pb.ERROR_CODE_MALFORMED: grpc.StatusCode.INVALID_ARGUMENT,
    pb.ERROR_CODE_TOO_LARGE: grpc.StatusCode.RESOURCE_EXHAUSTED,
    pb.ERROR_CODE_LOG_UNAVAILABLE: grpc.StatusCode.UNAVAILABLE,
    pb.ERROR_CODE_VERDICT_PENDING: grpc.StatusCode.DEADLINE_EXCEEDED,
    pb.ERROR_CODE_GAME_UNKNOWN: grpc.StatusCode.NOT_FOUND,
    pb.ERROR_CODE_GAME_DIVERGED: grpc.StatusCode.DATA_LOSS,
    pb.ERROR_CODE_NOT_YET: grpc.StatusCode.DEADLINE_EXCEEDED,
    pb.ERROR_CODE_TOKEN_STALE: grpc.StatusCode.FAILED_PRECONDITION,
    pb.ERROR_CODE_SLOW_READER: grpc.StatusCode.RESOURCE_EXHAUSTED,
    pb.ERROR_CODE_SHUTTING_DOWN: grpc.StatusCode.UNAVAILABLE,
    pb.ERROR_CODE_PERSON_UNKNOWN: grpc.StatusCode.NOT_FOUND,
    pb.ERROR_CODE_QUARANTINE_UNKNOWN: grpc.StatusCode.NOT_FOUND,
    pb.ERROR_CODE_INTERNAL: grpc.StatusCode.INTERNAL,
    pb.ERROR_CODE_STILL_UNREADABLE: grpc.StatusCode.FAILED_PRECONDITION,
    pb.ERROR_CODE_CATCHING_UP: grpc.StatusCode.UNAVAILABLE,
    pb.ERROR_CODE_REFUSED: grpc.StatusCode.FAILED_PRECONDITION,
    pb.ERROR_CODE_STALE: grpc.StatusCode.ABORTED,
    pb.ERROR_CODE_ALREADY_DECIDED: grpc.StatusCode.ALREADY_EXISTS,
    pb.ERROR_CODE_EVENT_ID_TAKEN: grpc.StatusCode.INVALID_ARGUMENT,
    pb.ERROR_CODE_CASE_UNKNOWN: grpc.StatusCode.NOT_FOUND,
}

# What passes by itself: how long a caller does well to wait before the call is repeated.
RETRY_DELAYS_MS = dict.fromkeys(
    (pb.ERROR_CODE_LOG_UNAVAILABLE, pb.ERROR_CODE_SHUTTING_DOWN, pb.ERROR_CODE_CATCHING_UP), 1000
)

M = TypeVar("M", bound=Message)


class ServiceError(Exception):
    """An error that the caller is told: ``code`` is one of the proto's list, the rest says what, where, what to do."""

    def __init__(
        self, code: pb.ErrorCode.ValueType, reason: str, remedy: str, field: str = "", resume_token: str = ""
    ) -> None:
        super().__init__(f"{field}: {reason}; {remedy}" if field else f"{reason}; {remedy}")
        self.detail = pb.ErrorDetail(code=code, field=field, reason=reason, remedy=remedy, resume_token=resume_token)


async def abort(context: grpc.aio.ServicerContext, error: ServiceError) -> NoReturn:
    """Ends the call with the error, its detail, and a hint when to repeat where it passes. Raises, as grpc does."""
    code = error.detail.code
    status = Status(code=STATUS_CODES[code].value[0], message=str(error), details=[_packed(error.detail)])
    if code in RETRY_DELAYS_MS:
        hint = RetryInfo()
        hint.retry_delay.FromMilliseconds(RETRY_DELAYS_MS[code])
        status.details.append(_packed(hint))
    trailing = rpc_status.to_status(status)
    await context.abort(trailing.code, trailing.details, trailing.trailing_metadata)
    raise AssertionError("abort returned")


def detail_of(error: grpc.RpcError) -> pb.ErrorDetail | None:
    """The detail of an error as a client receives it; None where it carries none."""
    return _unpacked(error, pb.ErrorDetail())


def retry_delay_s(error: grpc.RpcError) -> float | None:
    """How long a client is asked to wait before it repeats the call, seconds; None where nothing is said."""
    hint = _unpacked(error, RetryInfo())
    return hint.retry_delay.ToMilliseconds() / 1000 if hint is not None else None


def _packed(message: Message) -> Any:
    packed = Any()
    packed.Pack(message)
    return packed


def _unpacked(error: grpc.RpcError, message: M) -> M | None:
    """The first detail of an error that is of the type of ``message``, unpacked into it."""
    for key, value in error.trailing_metadata() or ():
        if key == "grpc-status-details-bin":
            for packed in Status.FromString(value).details:
                if packed.Unpack(message):
                    return message
    return None

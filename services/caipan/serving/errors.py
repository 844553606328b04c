"""Errors as the proto lists them: a status code, and a detail with field, reason and remedy."""

from __future__ import annotations

from typing import NoReturn

import grpc
from google.protobuf.any_pb2 import Any
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
}


class ServiceError(Exception):
    """An error that the caller is told: ``code`` is one of the proto's list, the rest says what, where, what to do."""

    def __init__(
        self, code: pb.ErrorCode.ValueType, reason: str, remedy: str, field: str = "", resume_token: str = ""
    ) -> None:
        super().__init__(f"{field}: {reason}; {remedy}" if field else f"{reason}; {remedy}")
        self.detail = pb.ErrorDetail(code=code, field=field, reason=reason, remedy=remedy, resume_token=resume_token)


async def abort(context: grpc.aio.ServicerContext, error: ServiceError) -> NoReturn:
    """Ends the call with the error and its detail. Raises, as grpc does."""
    packed = Any()
    packed.Pack(error.detail)
    status = Status(code=STATUS_CODES[error.detail.code].value[0], message=str(error), details=[packed])
    trailing = rpc_status.to_status(status)
    await context.abort(trailing.code, trailing.details, trailing.trailing_metadata)
    raise AssertionError("abort returned")


def detail_of(error: grpc.RpcError) -> pb.ErrorDetail | None:
    """The detail of an error as a client receives it; None where it carries none."""
    for key, value in error.trailing_metadata() or ():
        if key == "grpc-status-details-bin":
            for packed in Status.FromString(value).details:
                detail = pb.ErrorDetail()
                if packed.Unpack(detail):
                    return detail
    return None

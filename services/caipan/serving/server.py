"""The gRPC server: health, reflection, typed errors for every service on it, an orderly stop."""

from __future__ import annotations

import errno
import secrets
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, suppress
from traceback import format_exception
from typing import Any

import grpc
import structlog
from google.protobuf.descriptor import ServiceDescriptor
from google.protobuf.message import DecodeError
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from caipan.serving.calls import CountedCalls
from caipan.serving.errors import ServiceError, abort
from caipan.v1.errors_pb2 import ERROR_CODE_INTERNAL, ERROR_CODE_MALFORMED, ERROR_CODE_TOO_LARGE

REQUEST_BYTES = 4 << 20
# Beyond this grpc itself hangs up, with the same status but no detail.
_WIRE_BYTES = 4 * REQUEST_BYTES
# A caller whose network is gone says no farewell: within a minute its streams are ended. Callers may ask as often.
_KEEPALIVE = [
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 20_000),
    ("grpc.http2.ping_timeout_ms", 20_000),  # this one counts for keepalive too, and is a minute by itself
    ("grpc.http2.max_pings_without_data", 0),
    ("grpc.http2.min_ping_interval_without_data_ms", 10_000),
]
# What of a stream is taken in before it is read: left to itself grpc takes megabytes of each that waits.
_WINDOW = [("grpc.http2.bdp_probe", 0), ("grpc.http2.lookahead_bytes", 256 << 10)]
_IN_USE = "the port is in use; stop the program that has it, or choose another port"

_log = structlog.get_logger()


class CannotListen(Exception):  # noqa: N818 - named after what the caller finds
    """The address cannot be listened on; the message says why and what to do."""


class Server:
    """A server for one or several services. SERVING from ``serving()`` to ``stop()``; it cannot be started again."""

    def __init__(self) -> None:
        self._grpc = grpc.aio.server(
            interceptors=[_Written(), CountedCalls(), _TypedErrors()],
            options=[("grpc.max_receive_message_length", _WIRE_BYTES), ("grpc.so_reuseport", 0), *_KEEPALIVE, *_WINDOW],
        )
        self._health = health.aio.HealthServicer()
        self._names: list[str] = [""]  # the server as a whole

    def add(self, service: ServiceDescriptor, register: Callable[[Any], None]) -> None:
        """Takes a service in: ``register`` is given the grpc.aio.Server. Before ``start``.

        Streams are answered by async generators, whether one request came or a stream. A ServiceError raised by a
        handler, or where it reads the next request, reaches the caller as it is.
        """
        register(self._grpc)
        self._names.append(service.full_name)

    async def start(self, host: str, port: int) -> int:
        """Listens, not SERVING yet. Returns the port: a free one where ``port`` is 0. Raises CannotListen."""
        address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        try:
            _check_free(host, port)
            bound = self._grpc.add_insecure_port(address)
        except OSError as error:
            why = _IN_USE if error.errno == errno.EADDRINUSE else f"{error}; choose another host or port"
            raise CannotListen(f"{address}: {why}") from error
        except RuntimeError as error:
            raise CannotListen(f"{address}: {error}; choose another host or port") from error
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._grpc)
        reflection.enable_server_reflection(
            [*self._names[1:], health.SERVICE_NAME, reflection.SERVICE_NAME], self._grpc
        )
        await self._set_health(health_pb2.HealthCheckResponse.NOT_SERVING)
        await self._grpc.start()
        return int(bound)

    async def serving(self) -> None:
        """Tells that every service is ready: after recovery."""
        await self._set_health(health_pb2.HealthCheckResponse.SERVING)

    async def stop(self, grace_s: float) -> None:
        """Takes no more calls; those under way have ``grace_s`` seconds to end, then they are cancelled."""
        await self._health.enter_graceful_shutdown()
        await self._grpc.stop(grace_s)

    async def _set_health(self, status: health_pb2.HealthCheckResponse.ServingStatus) -> None:
        for name in self._names:
            await self._health.set(name, status)


def _check_free(host: str, port: int) -> None:
    """Raises OSError if the address cannot be had: grpc itself would not say why."""
    socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET).close()


class _Written(grpc.aio.ServerInterceptor):  # type: ignore[misc]
    """Writes what the generators of streams yield, so that each of them is closed with its stream, not some time later.

    A reader who is gone is no error: grpc alone would log every one with a traceback.
    """

    async def intercept_service(
        self, continuation: Callable[[Any], Awaitable[Any]], details: grpc.HandlerCallDetails
    ) -> Any:
        handler = await continuation(details)
        if handler is None or not handler.response_streaming or not details.method.startswith("/caipan."):
            return handler
        kind = "stream_stream" if handler.request_streaming else "unary_stream"
        return handler._replace(**{kind: _writing(getattr(handler, kind))})


def _writing(behaviour: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Awaitable[None]]:
    async def call(request: Any, context: Any) -> None:
        with suppress(grpc.aio.InternalError):
            async with aclosing(behaviour(request, context)) as responses:
                async for response in responses:
                    await context.write(response)

    return call


class _TypedErrors(grpc.aio.ServerInterceptor):  # type: ignore[misc]
    """Every call of a caipan service ends well or with an ErrorDetail. Cancellation always passes through."""

    async def intercept_service(
        self, continuation: Callable[[Any], Awaitable[Any]], details: grpc.HandlerCallDetails
    ) -> Any:
        handler = await continuation(details)
        if handler is None or not details.method.startswith("/caipan."):
            return handler
        serializer = handler.response_serializer
        if not handler.response_streaming:
            return grpc.unary_unary_rpc_method_handler(
                _typed_unary(details.method, handler), response_serializer=serializer
            )
        call = _typed_stream(details.method, handler)
        if handler.request_streaming:
            return grpc.stream_stream_rpc_method_handler(call, response_serializer=serializer)
        return grpc.unary_stream_rpc_method_handler(call, response_serializer=serializer)


def _typed_unary(method: str, handler: Any) -> Callable[[bytes, Any], Awaitable[Any]]:
    async def call(request: bytes, context: Any) -> Any:
        try:
            return await handler.unary_unary(_parsed(handler, request), context)
        except grpc.aio.AbortError:
            raise
        except Exception as error:
            return await abort(context, _typed(method, error))

    return call


def _typed_stream(method: str, handler: Any) -> Callable[[Any, Any], AsyncIterator[Any]]:
    """``call`` is given one request, or a stream of them, as bytes."""

    def answer(sent: Any, context: Any) -> Any:
        if handler.request_streaming:
            return handler.stream_stream(_each_parsed(handler, sent), context)
        return handler.unary_stream(_parsed(handler, sent), context)

    async def call(sent: Any, context: Any) -> AsyncIterator[Any]:
        try:
            async with aclosing(answer(sent, context)) as responses:
                async for response in responses:
                    yield response
        except grpc.aio.AbortError:
            raise
        except Exception as error:
            await abort(context, _typed(method, error))

    return call


async def _each_parsed(handler: Any, requests: AsyncIterator[bytes]) -> AsyncIterator[Any]:
    async for request in requests:
        yield _parsed(handler, request)


def _parsed(handler: Any, request: bytes) -> Any:
    if len(request) > REQUEST_BYTES:
        raise ServiceError(
            ERROR_CODE_TOO_LARGE,
            f"the request has {len(request)} bytes, {REQUEST_BYTES} are the most",
            "send less at a time",
        )
    try:
        return handler.request_deserializer(request)
    except DecodeError:
        raise ServiceError(
            ERROR_CODE_MALFORMED, "the request is no message of this call", "use the published proto files"
        ) from None


def _typed(method: str, error: Exception) -> ServiceError:
    if isinstance(error, ServiceError):
        return error
    number = secrets.token_hex(4)
    # As text: renderers that print the variables of each frame would print tokens.
    _log.error("unexpected error", number=number, method=method, exception="".join(format_exception(error)))
    return ServiceError(
        ERROR_CODE_INTERNAL, f"a fault of the service, entry {number} of its log", "report it with this number"
    )

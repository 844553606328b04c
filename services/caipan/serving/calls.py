"""Counting gRPC calls: how many there are, how they end, how long they take."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import aclosing, contextmanager
from typing import Any

import grpc
from prometheus_client import Counter, Gauge, Histogram

_KINDS = ("unary_unary", "unary_stream", "stream_unary", "stream_stream")
_LABELS = ("service", "method")
_CALLS = Counter("caipan_grpc_calls", "Calls that ended, by the code of their status.", (*_LABELS, "code"))
_SECONDS = Histogram("caipan_grpc_call_seconds", "How long calls took; streams until their end.", _LABELS)
_OPEN = Gauge("caipan_grpc_open_calls", "Calls under way: of streams, those that are open.", _LABELS)


class CountedCalls(grpc.aio.ServerInterceptor):  # type: ignore[misc]
    """Counts the calls of caipan's services, each once it has ended. The first of the interceptors sees the codes."""

    async def intercept_service(
        self, continuation: Callable[[Any], Awaitable[Any]], details: grpc.HandlerCallDetails
    ) -> Any:
        handler = await continuation(details)
        if handler is None or not details.method.startswith("/caipan."):
            return handler
        kind = next(kind for kind in _KINDS if getattr(handler, kind) is not None)
        counted = _stream if handler.response_streaming else _unary
        return handler._replace(**{kind: counted(details.method, getattr(handler, kind))})


def _unary(method: str, behaviour: Callable[[Any, Any], Awaitable[Any]]) -> Callable[[Any, Any], Awaitable[Any]]:
    async def call(request: Any, context: Any) -> Any:
        with _counted(method, context):
            return await behaviour(request, context)

    return call


def _stream(
    method: str, behaviour: Callable[[Any, Any], AsyncIterator[Any]]
) -> Callable[[Any, Any], AsyncIterator[Any]]:
    async def call(request: Any, context: Any) -> AsyncIterator[Any]:
        with _counted(method, context):
            async with aclosing(behaviour(request, context)) as responses:  # type: ignore[type-var]
                async for response in responses:
                    yield response

    return call


@contextmanager
def _counted(method: str, context: Any) -> Iterator[None]:
    """``method``: "/package.Service/Method"."""
    labels = method[1:].split("/", 1)
    under_way, began_s = _OPEN.labels(*labels), time.monotonic()
    code = "OK"
    under_way.inc()
    try:
        yield
    except grpc.aio.AbortError:
        code = context.code().name
        raise
    except (asyncio.CancelledError, GeneratorExit):
        code = "CANCELLED"
        raise
    except BaseException:
        code = "UNKNOWN"
        raise
    finally:
        under_way.dec()
        _SECONDS.labels(*labels).observe(time.monotonic() - began_s)
        _CALLS.labels(*labels, code).inc()

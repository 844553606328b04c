"""What Prometheus is told of the way in: what was appended, how long that took, and who waits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from prometheus_client import Counter, Histogram

_EVENTS = Counter("caipan_gateway_appended_events", "Events that the log has taken, repeated ones too.", ("topic",))
_SECONDS = Histogram("caipan_gateway_append_seconds", "How long the log took to make a request's events durable.")


@contextmanager
def appending(topic: str, events: int) -> Iterator[None]:
    """Counts an append of so many events, once the log has them."""
    with _SECONDS.time():
        yield
    _EVENTS.labels(topic).inc(events)

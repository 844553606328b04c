"""The way in: who calls, is the message well formed, into the log with it, and the verdict if the caller waits."""

from __future__ import annotations

from caipan.gateway.service import Gateway

__all__ = ["Gateway"]

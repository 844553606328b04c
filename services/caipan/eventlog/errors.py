"""What can go wrong with a log. Every message names the log, what was wrong and what to do."""

# ruff: noqa: N818 - they are named after what the caller finds

from __future__ import annotations


class LogError(Exception):
    """Base of all errors of a log; no error of the underlying store escapes as anything else."""


class LogUnavailable(LogError):
    """The log cannot be used now (locked, closed, unreachable, I/O error). Trying again may succeed."""


class LogFull(LogError):
    """There is no room for what was to be written. Works again once there is."""


class UnknownTopic(LogError):
    """There is no such topic or partition, or the topic is of the other kind (records, states)."""


class WrongLog(LogError):
    """Not the log asked for: no caipan log at all, damaged, another partition count or schema version."""


class Fenced(LogError):
    """Another writer has taken this partition over: what this one holds of it is out of date, drop it."""

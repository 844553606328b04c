"""The log: one small port and its adapters. The only part of caipan that knows SQLite or Kafka as a log."""

from __future__ import annotations

from caipan.eventlog.errors import Fenced, LogError, LogFull, LogUnavailable, UnknownTopic, WrongLog
from caipan.eventlog.guard import DeliveryGuard
from caipan.eventlog.opening import KAFKA, open_log
from caipan.eventlog.partition import partition_of
from caipan.eventlog.port import TOPICS, EventLog, NewRecord, Record, TopicSpec

__all__ = [
    "KAFKA",
    "TOPICS",
    "DeliveryGuard",
    "EventLog",
    "Fenced",
    "LogError",
    "LogFull",
    "LogUnavailable",
    "NewRecord",
    "Record",
    "TopicSpec",
    "UnknownTopic",
    "WrongLog",
    "open_log",
    "partition_of",
]

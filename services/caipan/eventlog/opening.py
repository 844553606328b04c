"""Which log an address names."""

from __future__ import annotations

from pathlib import Path

from caipan.eventlog.port import EventLog

KAFKA = "kafka://"


def open_log(target: str | Path, *, batches: bool = False, read_only: bool = False) -> EventLog:
    """The log at "kafka://host:port[,host:port]", or in the file of that path; not open yet.

    `batches` as of KafkaLog, `read_only` as of EmbeddedLog. Raises ValueError for an address that names none.
    """
    if str(target).startswith(KAFKA):
        from caipan.eventlog.kafka import KafkaLog, KafkaSettings  # a laptop needs no client of Kafka

        return KafkaLog(KafkaSettings.of_url(str(target)), batches=batches)
    from caipan.eventlog.embedded import EmbeddedLog

    return EmbeddedLog(target, read_only=read_only)

"""Which partition a record belongs to: the same one on every log."""

from __future__ import annotations

from functools import lru_cache

from kafka.partitioner import murmur2

from caipan.eventlog.errors import UnknownTopic
from caipan.eventlog.port import NewRecord


@lru_cache(maxsize=8192)  # the hash is pure Python, and a game repeats its key some hundred times
def partition_of(key: bytes, partitions: int) -> int:
    """The partition that Kafka's default partitioner gives `key`: (murmur2 & 0x7fffffff) mod `partitions`."""
    return int(murmur2(key) & 0x7FFFFFFF) % partitions


def place(topic: str, record: NewRecord, partitions: int) -> int:
    """The partition of a new record: the one it names, else the one of its key.

    Raises UnknownTopic for a partition that is not there, ValueError for a record with neither partition nor key
    (Kafka would scatter such records at random, and a replay would not find them again).
    """
    if record.partition is not None:
        check_partition(topic, record.partition, partitions)
        return record.partition
    if record.key is None:
        raise ValueError(f"{topic}: a record needs a key or a partition; give one of the two")
    return partition_of(record.key, partitions)


def check_partition(topic: str, partition: int, partitions: int) -> None:
    """Raises UnknownTopic unless 0 <= partition < partitions."""
    if not 0 <= partition < partitions:
        raise UnknownTopic(f"{topic} has no partition {partition}: this log has partitions 0 to {partitions - 1}")

"""The topics on a cluster: created by a command, verified whenever a log is opened, never changed."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any, TypeVar

from kafka import KafkaAdminClient
from kafka.admin import ConfigResource, ConfigResourceType

from caipan.eventlog.errors import WrongLog
from caipan.eventlog.kafka.entry import enter
from caipan.eventlog.kafka.faults import translated
from caipan.eventlog.kafka.settings import KafkaSettings
from caipan.eventlog.port import TOPICS, TopicSpec

RECORD_BYTES = 2 << 20  # the largest batch a topic takes: an event of 1 MB in quarantine, and room for its frame
_TIMEOUT_MS = 10_000
_DAY_MS = 86_400_000

# Why each: docs/kafka.md.
_ALWAYS = {
    "compression.type": "uncompressed",
    "max.message.bytes": str(RECORD_BYTES),
    "message.timestamp.type": "LogAppendTime",
    "unclean.leader.election.enable": "false",
}
_RECORDS = {"cleanup.policy": "delete", "retention.ms": "-1", "retention.bytes": "-1"}
_STATES = {
    "cleanup.policy": "compact",
    "segment.bytes": str(16 << 20),
    "min.cleanable.dirty.ratio": "0.1",
    "max.compaction.lag.ms": str(_DAY_MS),
}

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic as it is on the cluster, by its name there; `wrong` says what must be otherwise, one line each."""

    name: str
    partitions: int
    replication: int
    settings: Mapping[str, str]
    wrong: tuple[str, ...] = ()


def wanted_settings(spec: TopicSpec, replication: int) -> dict[str, str]:
    """The settings a topic must have. With three replicas or more, two must have a record before it is acknowledged."""
    insync = {"min.insync.replicas": str(min(2, max(1, replication - 1)))}
    return {**_ALWAYS, **insync, **(_STATES if spec.compacted else _RECORDS)}


async def create_topics(settings: KafkaSettings, partitions: int, replication: int) -> list[str]:
    """Creates the topics that are missing and returns their names, as they are on the cluster.

    Changes nothing that is there. Raises WrongLog, with nothing created, if a topic is there with other settings or
    another partition count; LogUnavailable.
    """

    def create(admin: KafkaAdminClient) -> list[str]:
        found = _found(admin, settings)
        wrong = [f"{topic.name}: {line}" for topic in found.values() for line in topic.wrong] + [
            f"{topic.name}: it has {topic.partitions} partitions, not {partitions}, and the count never changes"
            for topic in found.values()
            if topic.partitions != partitions
        ]
        if wrong:
            raise _wrong(settings, wrong)
        missing = {
            settings.topic(spec.name): {
                "num_partitions": partitions,
                "replication_factor": replication,
                "configs": wanted_settings(spec, replication),
            }
            for spec in TOPICS.values()
            if spec.name not in found
        }
        if missing:
            admin.create_topics(missing, timeout_ms=_TIMEOUT_MS, wait_for_metadata=True)
        return list(missing)

    return await _administered(settings, "creating the topics", create)


async def describe_topics(settings: KafkaSettings) -> list[Topic]:
    """All topics of caipan, each with what is wrong with it; a missing one has no partitions. Raises LogUnavailable."""

    def describe(admin: KafkaAdminClient) -> list[Topic]:
        found = _found(admin, settings)
        return _with_equal_partitions(found.get(name) or _missing(settings, name) for name in TOPICS)

    return await _administered(settings, "looking at the topics", describe)


async def verify_topics(settings: KafkaSettings) -> int:
    """The partition count of the topics, the same for all. Raises WrongLog that names all that is wrong."""
    topics = await describe_topics(settings)
    wrong = [f"{topic.name}: {line}" for topic in topics for line in topic.wrong]
    if wrong:
        raise _wrong(settings, wrong)
    return topics[0].partitions


async def _administered(settings: KafkaSettings, what: str, work: Callable[[KafkaAdminClient], T]) -> T:
    def connected() -> T:
        with closing(KafkaAdminClient(**settings.client(), **_ADMIN)) as admin:
            return work(admin)

    await enter(settings)
    with translated(settings, what):
        return await asyncio.to_thread(connected)


_ADMIN: dict[str, Any] = {
    "client_id": "caipan-admin",
    "request_timeout_ms": _TIMEOUT_MS,
    "bootstrap_timeout_ms": _TIMEOUT_MS,
}


def _found(admin: KafkaAdminClient, settings: KafkaSettings) -> dict[str, Topic]:
    """The topics of caipan that are there, by their bare names."""
    present = set(admin.list_topics())
    names = {settings.topic(name): name for name in TOPICS if settings.topic(name) in present}
    if not names:
        return {}
    resources = [ConfigResource(ConfigResourceType.TOPIC, name) for name in names]
    described = admin.describe_configs(resources, config_filter="all")["topic"]
    return {
        names[each["name"]]: _topic(TOPICS[names[each["name"]]], each, described[each["name"]])
        for each in admin.describe_topics(list(names))
    }


def _topic(spec: TopicSpec, found: Mapping[str, Any], described: Mapping[str, Any]) -> Topic:
    partitions: list[dict[str, Any]] = found["partitions"]
    replication = min(len(partition["replica_nodes"]) for partition in partitions)
    wanted = wanted_settings(spec, replication)
    settings = {setting: str(described[setting]["value"]) for setting in wanted}
    wrong = [
        f"{setting} is {settings[setting]}, must be {value}: set it with kafka-configs --alter, or make new topics"
        for setting, value in wanted.items()
        if not _serves(setting, settings[setting], value)
    ]
    return Topic(found["name"], len(partitions), replication, settings, tuple(wrong))


def _serves(setting: str, found: str, wanted: str) -> bool:
    """Whether a setting serves: as wanted, or stricter."""
    if setting in ("max.message.bytes", "min.insync.replicas"):
        return int(found) >= int(wanted)
    if setting in ("segment.bytes", "max.compaction.lag.ms"):
        return int(found) <= int(wanted)
    if setting == "min.cleanable.dirty.ratio":
        return float(found) <= float(wanted)
    return found == wanted


def _with_equal_partitions(topics: Iterable[Topic]) -> list[Topic]:
    topics = list(topics)
    counts = Counter(topic.partitions for topic in topics if topic.partitions)
    count = max(counts, key=lambda each: (counts[each], each), default=0)  # that of the most
    return [
        topic
        if topic.partitions in (0, count)
        else Topic(
            topic.name,
            topic.partitions,
            topic.replication,
            topic.settings,
            (*topic.wrong, f"it has {topic.partitions} partitions, most have {count}; all must have as many"),
        )
        for topic in topics
    ]


def _missing(settings: KafkaSettings, name: str) -> Topic:
    wrong = f"there is no such topic; create it: caipan topics create --log {settings.name}"
    return Topic(settings.topic(name), 0, 0, {}, (wrong,))


def _wrong(settings: KafkaSettings, lines: list[str]) -> WrongLog:
    return WrongLog("\n".join([f"{settings.name}: the topics are not as they must be", *lines]))

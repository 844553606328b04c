"""Kafka as a log: the only part of caipan that knows it, and faust with it."""

from __future__ import annotations

import logging

from caipan.eventlog.kafka.log import KafkaLog
from caipan.eventlog.kafka.settings import SCHEME, KafkaSettings
from caipan.eventlog.kafka.topics import create_topics, describe_topics, verify_topics

__all__ = ["SCHEME", "KafkaLog", "KafkaSettings", "create_topics", "describe_topics", "verify_topics"]

for _client in ("kafka", "aiokafka"):
    logging.getLogger(_client).setLevel(logging.WARNING)  # at DEBUG they write passwords down

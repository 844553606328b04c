"""A real Kafka for development and tests: KRaft nodes on loopback, fetched by Maven, run by Java."""

from __future__ import annotations

from support.kafka.broker import Broker, BrokerFailed, Cluster
from support.kafka.tools import KafkaMissing, check, fetch

__all__ = ["Broker", "BrokerFailed", "Cluster", "KafkaMissing", "check", "fetch"]

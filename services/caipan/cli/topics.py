"""The subcommands for the topics on Kafka. What they load is loaded when they run."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import asdict
from typing import Annotated, Any, TypeVar

import typer
from rich.table import Column, Table

from caipan.cli.console import CommandError, print_json, say_error, stdout
from caipan.cli.options import AsJson, Cluster

PARTITIONS = 12

T = TypeVar("T")


def create(
    log: Cluster,
    partitions: Annotated[
        int, typer.Option(help="Of each topic; the count never changes. As many referees can be at work.", min=1)
    ] = PARTITIONS,
    replication: Annotated[
        int, typer.Option(help="How many brokers hold each record; 3 where one may fail.", min=1)
    ] = 1,
    json: AsJson = False,
) -> None:
    """Create the topics that are missing; those that are there are left as they are.

    If one of them is not as it must be, nothing is created: all that is wrong is named, and the command ends with 1.
    """
    from caipan.eventlog.kafka import KafkaSettings, create_topics

    created = _done(create_topics(KafkaSettings.of_url(log), partitions, replication))
    if json:
        print_json({"created": created})
        return
    for name in created:
        print(f"created {name} with {partitions} partitions")
    print("the topics are ready" if created else "all topics are there, and as they must be")


def verify(log: Cluster, json: AsJson = False) -> None:
    """Compare the topics with what they must be: settings, and as many partitions each. Ends with 1 if any is wrong."""
    from caipan.eventlog.kafka import KafkaSettings, describe_topics

    topics = _done(describe_topics(KafkaSettings.of_url(log)))
    table = Table("topic", "partitions", "replicas", "", Column("settings", overflow="fold"), box=None, pad_edge=False)
    for topic in topics:
        settings = " ".join(f"{name}={value}" for name, value in topic.settings.items())
        is_right = "wrong" if topic.wrong else "ok"
        table.add_row(topic.name, str(topic.partitions), str(topic.replication), is_right, settings)
        if json:
            print_json(asdict(topic))
    if not json:
        stdout().print(table)
    wrong = [f"{topic.name}: {line}" for topic in topics for line in topic.wrong]
    for line in wrong:
        say_error(line)
    if wrong:
        raise typer.Exit(1)


def _done(work: Coroutine[Any, Any, T]) -> T:
    """Raises CommandError with a line for each thing that is wrong."""
    from caipan.eventlog import LogError

    try:
        return asyncio.run(work)
    except LogError as error:
        raise CommandError(*str(error).splitlines()) from error

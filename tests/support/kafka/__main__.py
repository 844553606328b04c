"""A Kafka to develop with, as the Makefile calls it: ``python -m support.kafka fetch|up|down``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from support.kafka import tools
from support.kafka.broker import Broker, BrokerFailed


def main() -> None:
    """Exits with 1 and one message if it cannot be done."""
    parser = argparse.ArgumentParser(prog="python -m support.kafka", description=__doc__)
    parser.add_argument("what", choices=["fetch", "up", "down"])
    parser.add_argument("--folder", type=Path, default=tools.HOME / "node", help="data and log of the node")
    parser.add_argument("--port", type=int, default=0, help="0: a free one, then the same again")
    told = parser.parse_args()
    try:
        if told.what == "fetch":
            tools.fetch()
        elif told.what == "up":
            up(told.folder, told.port)
        else:
            down(told.folder)
    except (tools.KafkaMissing, BrokerFailed) as reason:
        sys.exit(f"kafka: {reason}")


def up(folder: Path, port: int) -> None:
    """Starts the node unless it is running, and tells its address."""
    with tools.locked(folder / "lock"):
        node = Broker(folder)
        if not node.running:
            node = Broker(folder, port=port)
            node.start(lifeline=None)
        elif port in (0, node.port):
            node.wait()
        else:
            raise BrokerFailed(f"the node runs on port {node.port}: stop it first, with `make kafka-down`")
    print(node.url)
    print(f"  once:  .venv/bin/caipan topics create --log {node.url}")
    print(f"  then:  .venv/bin/caipan up --log {node.url}")
    print(f"  stop:  make kafka-down    (data and log stay in {folder})")


def down(folder: Path) -> None:
    """Stops the node if it is running."""
    if not folder.exists():
        return
    with tools.locked(folder / "lock"):
        Broker(folder).stop()


if __name__ == "__main__":
    main()

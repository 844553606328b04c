"""`make bench`: each figure beside a yardstick taken in the same run, and the goal. Nothing here is a test."""

from __future__ import annotations

import gc

from support.kafka import KafkaMissing

from bench import cases, core, kafka, service
from bench.report import table


def main() -> None:
    gc.freeze()
    print("core: the fold, in this process")
    print(table(core.figures()))
    print("service: one process, the embedded log, gRPC on loopback")
    print(table(service.figures()))
    print(table(cases.figures()))
    print("kafka: a process for each service, a broker of its own")
    try:
        for figures in kafka.figures():
            print(table(figures), flush=True)
    except KafkaMissing as reason:
        print(f"  LEFT OUT: {', '.join(kafka.PARTS)}: Kafka cannot run here: {reason}")


if __name__ == "__main__":
    main()

"""`make bench`: each figure beside a yardstick taken in the same run, and the goal. Nothing here is a test."""

from __future__ import annotations

import gc

from bench import core, service
from bench.report import table


def main() -> None:
    gc.freeze()
    print("core: the fold, in this process")
    print(table(core.figures()))
    print("service: one process, the embedded log, gRPC on loopback")
    print(table(service.figures()))


main()

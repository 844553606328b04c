"""Game records of others, read as far as they go: `read_record`, and the units of komi and result.

Knows nothing of the rules or the service; imports the standard library and sgfmill only.
"""

from caipan.record.sgf import Colour, GameRecord, Move, read_record
from caipan.record.units import Komi, Result, ResultKind, Unit, parse_komi, parse_result

__all__ = [
    "Colour",
    "GameRecord",
    "Komi",
    "Move",
    "Result",
    "ResultKind",
    "Unit",
    "parse_komi",
    "parse_result",
    "read_record",
]

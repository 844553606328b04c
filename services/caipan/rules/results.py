"""What a count comes to: area, territory, group tax or roads, with komi and warnings (rules 2, 6.2 to 6.6).

All in quarter-zi: 4 are a zi, 2 a point [目, 路], so that a margin of one zi is one of two points whatever is counted.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from caipan.rules.board import Board
from caipan.rules.clauses import Counting
from caipan.rules.edition import Edition
from caipan.rules.points import BLACK, WHITE, Colour
from caipan.rules.scoring import MU, ZI, Assigned, Ground, area, living_groups, surrounded
from caipan.v1 import outcome_pb2 as pb
from caipan.v1.regulations_pb2 import Regulations
from caipan.v1.rulings_pb2 import RESULT_KIND_B_WIN, RESULT_KIND_DRAW, RESULT_KIND_W_WIN, ResultKind

Groups = tuple[int, int]  # living groups of Black and of White

OF_AREA = (Counting.AREA, Counting.GROUP_TAX)  # stones count, against half of the board; else points against points
BY_GROUPS = (Counting.GROUP_TAX, Counting.ROADS)  # living groups cost something


def loss_of(side: Colour) -> ResultKind.ValueType:
    """The result of a game that one side has lost: the other wins."""
    return RESULT_KIND_W_WIN if side == BLACK else RESULT_KIND_B_WIN


def result_of(
    text: Edition,
    regulations: Regulations,
    board: Board,
    dead: Collection[int],
    captured: Sequence[int],
    warnings: Mapping[Colour, int],
    assigned: Assigned,
    groups: Groups | None,
) -> pb.Result:
    """The result of a game that is counted.

    ``captured``: stones of each colour that moves took, ``[0, black, white]``; the ``dead`` come to them here.
    ``warnings``: of each side. ``assigned``: shared points that a ruling gave to a side. ``groups``:
    as the players confirm them, None = as the board has them. What was counted stands in the result as it lay on the
    board; what is handed over for groups and warnings only moves the margin.
    """
    counting = text.counting_for(regulations)
    ground = Ground(board.size, board.cells(), dead)
    black_qz, white_qz = _counted(counting, board, ground, dead, captured, assigned)
    black_groups, white_groups = (groups or living_groups(ground)) if counting in BY_GROUPS else (0, 0)
    penalty_qz = _cost_qz(text, regulations, counting, warnings.get(BLACK, 0))
    penalty_qz -= _cost_qz(text, regulations, counting, warnings.get(WHITE, 0))
    against_qz = ZI // 2 * board.size**2 if counting in OF_AREA else white_qz
    margin_qz = black_qz - against_qz - ZI * (black_groups - white_groups) - regulations.komi_qz - penalty_qz
    return pb.Result(
        kind=RESULT_KIND_B_WIN if margin_qz > 0 else RESULT_KIND_W_WIN if margin_qz < 0 else RESULT_KIND_DRAW,
        how=pb.RESULT_HOW_COUNT,
        clause=_clause(text, regulations, counting),
        black_qz=black_qz,
        white_qz=white_qz,
        komi_qz=regulations.komi_qz,
        penalty_qz=penalty_qz,
        margin_qz=margin_qz,
        black_groups=black_groups,
        white_groups=white_groups,
        in_mu=counting not in OF_AREA,
    )


def handicap_return_qz(counting: Counting, stones: int) -> int:
    """What Black gives back for handicap stones: half a zi each where stones count (`S0 H`), else nothing."""
    return ZI // 2 * stones if counting in OF_AREA else 0


def _counted(
    counting: Counting, board: Board, ground: Ground, dead: Collection[int], captured: Sequence[int], assigned: Assigned
) -> tuple[int, int]:
    """What is counted for Black and for White, before groups and warnings."""
    if counting in OF_AREA:
        return area(ground, assigned)
    black, white = surrounded(ground, assigned)
    if counting is Counting.TERRITORY:
        dead_black = sum(board.colour_at(index) == BLACK for index in dead)
        black += captured[WHITE] + len(dead) - dead_black
        white += captured[BLACK] + dead_black
    return MU * black, MU * white


def _cost_qz(text: Edition, regulations: Regulations, counting: Counting, warnings: int) -> int:
    """What so many warnings of a side hand over: zi (CN2002 24.1); under territory prisoners (KBA2024 18.2)."""
    if counting is Counting.TERRITORY:
        return MU * text.ladder.costs_points(warnings, regulations)
    return text.ladder.costs_qz(warnings, regulations)


def _clause(text: Edition, regulations: Regulations, counting: Counting) -> str:
    """The clause by which the sides are compared: with komi, or where groups or roads are, not half of the board."""
    if regulations.handicap and counting in OF_AREA:
        return text.cite("handicap")
    return text.cite("11" if regulations.komi_qz or counting in BY_GROUPS else "9.3")

"""Which function judges which fact."""

from __future__ import annotations

from collections.abc import Callable

from caipan.rules import (
    adoption,
    claims,
    colours,
    conduct,
    ending,
    hands,
    moves,
    officials,
    reading_aloud,
    rulings,
    sealing,
    sessions,
    signing,
    timing,
)
from caipan.rules.act import Act
from caipan.rules.table import Table

# A handler changes the table, or returns another one in its place.
HANDLERS: dict[str, Callable[[Table, Act], Table | None]] = {
    "stone_placed": moves.stone_placed,
    "stone_lifted": hands.stone_lifted,
    "stones_captured": hands.stones_captured,
    "clock_pressed": hands.clock_pressed,
    "pass_declared": ending.pass_declared,
    "game_resigned": ending.game_resigned,
    "end_proposed": ending.end_proposed,
    "end_answered": ending.end_answered,
    "dead_proposed": ending.dead_proposed,
    "dead_answered": ending.dead_answered,
    "count_taken": ending.count_taken,
    "lot_drawn": colours.lot_drawn,
    "official_appointed": officials.official_appointed,
    "ruling_decided": rulings.ruling_decided,
    "appeal_decided": rulings.appeal_decided,
    "claim_raised": claims.claim_raised,
    "consent_given": claims.consent_given,
    "conduct_observed": conduct.conduct_observed,
    "board_discrepancy": conduct.board_discrepancy,
    "session_marked": sessions.session_marked,
    "presence_changed": sessions.presence_changed,
    "point_shown": sessions.point_shown,
    "move_sealed": sealing.move_sealed,
    "seal_opened": sealing.seal_opened,
    "result_signed": signing.result_signed,
    "regulations_adopted": adoption.regulations_adopted,
    "clock_reading": timing.clock_reading,
    "clock_expired": timing.clock_expired,
    "count_announced": reading_aloud.count_announced,
}

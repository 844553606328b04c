"""Verdicts in words."""

from __future__ import annotations

import pytest

from caipan.cli.words import amount_of, details_of, kind_of, outcome_of, result_of, sentence_of, title_of
from caipan.v1 import outcome_pb2 as pb
from caipan.v1.rulings_pb2 import RESULT_KIND_B_WIN, RESULT_KIND_DRAW, RESULT_KIND_W_WIN


@pytest.mark.parametrize("kind", [kind for kind in pb.FindingKind.values() if kind])
def test_every_kind_of_finding_has_a_sentence_of_its_own(kind: pb.FindingKind.ValueType) -> None:
    finding = pb.Finding(kind=kind, clause="CN2002 6", side=1, points=["Q16"], of_move=3, cycle=6, ref="e7")
    sentence = sentence_of(finding)
    assert "{" not in sentence
    assert not sentence.startswith(kind_of(finding).replace("_", " ") + " (")


def test_a_kind_of_a_later_version_is_told_by_its_number() -> None:
    finding = pb.Finding.FromString(pb.Finding(clause="XX 1").SerializeToString() + b"\x10\xe7\x07")
    assert kind_of(finding) == "kind_999"
    assert sentence_of(finding) == "kind 999 (XX 1)"


def test_a_clause_has_its_titles_in_both_languages() -> None:
    assert title_of("CN2002 6") == "禁止全局同形 No position of the whole board may come again"
    assert title_of("REG max_step_s") == title_of("S0 H") == title_of("") == title_of("CN2002 99") == ""


def test_a_repetition_names_the_move_it_is_told() -> None:
    finding = pb.Finding(kind=pb.FINDING_KIND_REPETITION, clause="CN2002 6", side=2, points=["D5"], of_move=3)
    assert sentence_of(finding).startswith("White's D5 makes the position after move 3 again (CN2002 6 禁")
    assert "after move 12 again" in sentence_of(finding, 12)
    assert "after the set-up again" in sentence_of(finding, 0)


@pytest.mark.parametrize(
    ("qz", "unit", "text"),
    [(9, "zi", "2.25"), (1, "zi", "0.25"), (4, "zi", "1"), (40, "zi", "10"), (1, "mu", "0.5"), (737, "mu", "368.5")],
)
def test_quarter_zi_as_a_number_of_the_unit(qz: int, unit: str, text: str) -> None:
    assert amount_of(qz, unit) == text


def test_nothing_of_others_can_steer_a_terminal() -> None:
    finding = pb.Finding(kind=pb.FINDING_KIND_ID_CONFLICT, clause="REG order", ref="\x1b[2J\x07e\u202e1")
    assert (
        sentence_of(finding) == "the event_id \ufffd[2J\ufffde\ufffd1 stands for another event; no effect (REG order)"
    )
    refused = pb.Verdict(seq=1, event_type=45, status=pb.STATUS_REFUSED, reason="no\x9b1m")
    assert outcome_of(refused).endswith("refused: no\ufffd1m")


def test_results_in_words() -> None:
    counted = {"how": pb.RESULT_HOW_COUNT, "black_qz": 728, "white_qz": 716, "komi_qz": 15}
    white = pb.Result(kind=RESULT_KIND_W_WIN, margin_qz=-9, **counted)
    assert result_of(white) == "White wins by 2.25 zi (Black 182 zi, White 179, komi 3.75)"
    draw = pb.Result(kind=RESULT_KIND_DRAW, how=pb.RESULT_HOW_COUNT, black_qz=722, white_qz=722)
    assert result_of(draw) == "a draw (Black 180.5 zi, White 180.5)"
    half = {"how": pb.RESULT_HOW_COUNT, "black_qz": 150, "white_qz": 136, "komi_qz": 13, "in_mu": True}
    black = pb.Result(kind=RESULT_KIND_B_WIN, margin_qz=1, **half)
    assert result_of(black) == "Black wins by 0.5 mu (Black 75 mu, White 68, komi 6.5)"
    taxed = {"how": pb.RESULT_HOW_COUNT, "black_qz": 732, "white_qz": 712, "black_groups": 4, "white_groups": 2}
    black = pb.Result(kind=RESULT_KIND_B_WIN, margin_qz=2, **taxed)
    assert result_of(black) == "Black wins by 0.5 zi (Black 183 zi, White 178, groups 4 to 2)"
    warned = pb.Result(kind=RESULT_KIND_W_WIN, margin_qz=-5, penalty_qz=-4, **counted)
    assert result_of(warned).endswith("(Black 182 zi, White 179, komi 3.75, White gives 1 for warnings)")
    resigned = pb.Result(kind=RESULT_KIND_B_WIN, how=pb.RESULT_HOW_RESIGNATION)
    assert result_of(resigned) == "Black wins by resignation"


def test_an_outcome_is_one_line() -> None:
    verdict = pb.Verdict(
        seq=12, event_type=17, status=pb.STATUS_FOLDED, added_black=["Q16"], removed=["R16"], move_number=9, turn=2
    )
    verdict.phase = pb.PHASE_PLAY
    assert outcome_of(verdict) == "  12  stone_placed     X Q16  - R16     move 9, White to move"


def test_what_was_not_folded_says_why() -> None:
    refused = pb.Verdict(seq=3, event_type=45, status=pb.STATUS_REFUSED, reason="not_in_this_version")
    assert outcome_of(refused) == "   3  ruling_decided   refused: not_in_this_version"
    again = pb.Verdict(event_type=17, status=pb.STATUS_DUPLICATE, original=pb.Original(seq=2))
    assert outcome_of(again) == "   -  stone_placed     duplicate of 2"
    parked = pb.Verdict(event_type=17, status=pb.STATUS_PARKED, original=pb.Original())
    assert "parked" in outcome_of(parked)


def test_a_correction_tells_how_earlier_verdicts_read_now() -> None:
    verdict = pb.Verdict(seq=9)
    verdict.revised.add(seq=7).before.move_number = 5
    reread = verdict.revised.add(seq=8)
    reread.after.findings.add(kind=pb.FINDING_KIND_OCCUPIED, clause="CN2002 2.3", side=1, points=["Q16"])
    assert details_of(verdict)[0] == "~ 7 did not happen"
    assert details_of(verdict)[1].startswith("~ 8 now reads: Black sets a stone on Q16, where one lies (CN2002 2.3")

"""A token is either as it was given out, or it is told from one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caipan.query import tokens
from caipan.query.tokens import game_digest, page_place, page_token, resume_position, resume_token
from caipan.serving.errors import ServiceError
from caipan.v1.errors_pb2 import ERROR_CODE_MALFORMED

HEAD = bytes(range(32))


@given(st.text(max_size=128), st.integers(1, 2**63 - 1))
def test_a_resume_token_leads_back_to_its_outcome(game_id: str, seq: int) -> None:
    token = resume_token(game_id, seq, HEAD)
    assert len(token) <= 512  # what a request may carry
    assert resume_position(token) == (game_digest(game_id), seq, HEAD)


@given(st.text(max_size=128), st.text(max_size=128))
def test_a_page_token_leads_back_to_its_place(place: str, filter_: str) -> None:
    token = page_token(place, "games", filter_)
    assert len(token) <= 512
    assert page_place(token, "games", filter_) == place


def test_every_damage_is_found() -> None:
    token = resume_token("game", 12, HEAD)
    damaged = {token[:at] + sign + token[at + 1 :] for at in range(len(token)) for sign in "0a." if token[at] != sign}
    for text in [*damaged, token[:-1], token + "0", token[::-1], "", "x"]:
        with pytest.raises(ServiceError) as caught:
            resume_position(text)
        assert caught.value.detail.code == ERROR_CODE_MALFORMED
        assert caught.value.detail.field == "resume_token"


@pytest.mark.parametrize(
    "about", [("games", "t2"), ("games",), ("games", "t", "1"), ("gamest", "1"), ("outcomes", "t1")]
)
def test_a_page_token_is_good_for_its_list_alone(about: tuple[str, ...]) -> None:
    token = page_token("g7", "games", "t1")
    with pytest.raises(ServiceError) as caught:
        page_place(token, *about)
    assert caught.value.detail.field == "page_token"
    assert caught.value.detail.remedy


@pytest.mark.parametrize("place", ["a.b.c", "x.-1.00", f"x.{10**30}.00", "x.1.zz", "nothing"])
def test_a_token_with_a_right_sum_and_no_sense_is_damaged(place: str) -> None:
    with pytest.raises(ServiceError, match="damaged"):
        tokens.resume_position(tokens._sum(place, tokens._RESUME) + place)


@pytest.mark.parametrize("place", ["abc", str(10**30), "-1"])
def test_a_page_token_that_names_no_seq_is_damaged(place: str) -> None:
    with pytest.raises(ServiceError, match="damaged"):
        tokens.page_seq(tokens.page_token(place, "outcomes", "game"), "outcomes", "game")

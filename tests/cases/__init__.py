"""Incidents of real games, of software and of event streams, as scripts that are played and say what must come of them."""

import pytest

pytest.register_assert_rewrite("cases.real_games", "cases.software", "cases.streams")

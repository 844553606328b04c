"""Incidents of real games, software and event streams: scripts that are played and say what must come of them."""

import pytest

pytest.register_assert_rewrite("cases.real_games", "cases.software", "cases.streams")

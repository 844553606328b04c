"""Puts this folder on the path, so that every test can use ``support``; bounds the property tests."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# Derandomized: a run proves the same each time. `--hypothesis-profile=explore` looks for what nobody saw yet.
_SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large)
settings.register_profile(
    "caipan", deadline=None, max_examples=100, derandomize=True, database=None, suppress_health_check=_SLOW
)
settings.register_profile(
    "explore", deadline=None, max_examples=1500, database=None, print_blob=True, suppress_health_check=_SLOW
)
settings.load_profile("caipan")

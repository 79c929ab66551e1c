"""Hypothesis profiles: `default` for every run, `long` for `make test-all` (HYPOTHESIS_PROFILE=long)."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

_SLOW = (HealthCheck.too_slow, HealthCheck.function_scoped_fixture)
settings.register_profile("default", deadline=None, max_examples=100, suppress_health_check=_SLOW)
settings.register_profile("long", deadline=None, max_examples=2_000, suppress_health_check=_SLOW)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

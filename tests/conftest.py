"""What all tests share: helpers are imported as `tests.…`; hypothesis draws the same every time."""

import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
pytest.register_assert_rewrite("tests.checks.laws")

settings.register_profile(
    "lyceum",
    derandomize=True,
    deadline=None,
    max_examples=25,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("lyceum")

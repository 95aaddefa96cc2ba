"""Every kernel is tested in every build that this processor can run."""

import importlib

import numpy as np
import pytest
from lyceum._cpu import x86_level


def _builds():
    return [f"v{level}" for level in range(2, x86_level() + 1)] or ["plain"]


@pytest.fixture(params=_builds(), scope="session")
def native(request):
    return importlib.import_module(f"lyceum._native_{request.param}")


@pytest.fixture(params=[np.float32, np.float64], ids=["float32", "float64"])
def dtype(request):
    return request.param


@pytest.fixture
def rng():
    return np.random.default_rng(20)

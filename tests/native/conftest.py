"""Every kernel is tested in every build that there is and that this processor can run."""

import importlib
import importlib.util

import numpy as np
import pytest
from lyceum._cpu import x86_level


def _builds():
    levels = ["plain", *(f"v{level}" for level in range(2, x86_level() + 1))]
    return [
        level for level in levels if importlib.util.find_spec(f"lyceum._native_{level}")
    ]


@pytest.fixture(params=_builds(), scope="session")
def native(request):
    return importlib.import_module(f"lyceum._native_{request.param}")


@pytest.fixture(params=[np.float32, np.float64], ids=["float32", "float64"])
def dtype(request):
    return request.param


@pytest.fixture
def rng():
    return np.random.default_rng(20)

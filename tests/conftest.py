"""What all tests share: helpers are imported as `tests.…`; hypothesis draws the same every time."""

import gc
import os
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from _pytest.doctest import DoctestModule
from hypothesis import HealthCheck, settings

# pytest-xdist has a worker for every processor: their BLAS threads would only wait for one another
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# and the OpenMP threads of scikit-learn would spin while they wait for a processor that others have
os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # in Turkish, I is no capital i
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
pytest.register_assert_rewrite("tests.checks.laws")

# what collection makes stays to the end: the collector need not look through it again and again
gc.disable()

settings.register_profile(
    "lyceum",
    derandomize=True,
    deadline=None,
    max_examples=25,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("lyceum")
# or all modules would be parsed for constants to draw, and what is drawn would change with the code
with suppress(
    ImportError
):  # a private module of hypothesis: where it is moved, tests only begin later
    from hypothesis.internal.conjecture import providers

    providers.is_local_module_file = lambda path: False


@pytest.hookimpl(wrapper=True)
def pytest_collect_file():
    """Examples in docstrings are those of the package: test files are not searched for them too."""
    collectors = yield
    return [one for one in collectors if not isinstance(one, DoctestModule)]


def pytest_collection_modifyitems(items):
    """The slowest folder first: a long test that begins last would leave the other workers without
    work."""
    items.sort(key=lambda item: not item.nodeid.startswith("tests/fuzz/"))


def pytest_collection_finish():
    gc.freeze()
    gc.enable()


def pytest_unconfigure():
    """pytest and Python look for garbage at the end, where none is worth the search."""
    gc.freeze()

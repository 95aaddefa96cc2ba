"""What tests and doctests share."""

import sys

import pytest


@pytest.fixture(autouse=True)
def no_figure_stays_open():
    """Matplotlib keeps every figure of a process, and warns when there are many."""
    yield
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close("all")

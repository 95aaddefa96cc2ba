"""The migration page is what the classes and the tables say."""

import importlib.util
from pathlib import Path

import pytest
import sklearn
from packaging.version import Version

from lyceum.dropin import shared_classes
from lyceum.dropin.differences import DEFAULTS, KEPT, other_defaults

pytestmark = pytest.mark.skipif(
    Version(sklearn.__version__) < Version("1.9"),
    reason="the page and its tables are about scikit-learn 1.9",
)
ROOT = Path(__file__).parents[2]
# families whose parameters are not all scikit-learn's yet: their defaults are on the page
OPEN = ("cluster", "mixture", "neighbors", "semi_supervised")


def migration():
    path = ROOT / "tools/migration.py"
    spec = importlib.util.spec_from_file_location("migration", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_up_to_date():
    tool = migration()
    assert tool.PAGE.read_text(encoding="utf-8") == tool.page(), (
        "run python tools/migration.py"
    )


@pytest.mark.parametrize("name", sorted(shared_classes()))
def test_a_default_that_differs_has_a_reason(name):
    ours, theirs = shared_classes()[name]
    if name in KEPT or theirs.__module__.split(".")[1] in OPEN:
        return
    for parameter, (mine, other) in other_defaults(ours, theirs).items():
        assert (name, parameter) in DEFAULTS, (parameter, mine, other)


def test_every_reason_is_of_a_default_that_differs():
    shared = shared_classes()
    stale = [
        (name, parameter)
        for name, parameter in DEFAULTS
        if parameter not in other_defaults(*shared[name])
    ]
    assert stale == []

"""Every public name stands in the reference and shows an example that runs."""

import importlib.util
import inspect
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(
    not (ROOT / "tools").is_dir(), reason="an installed package"
)


def reference():
    spec = importlib.util.spec_from_file_location(
        "reference", ROOT / "tools" / "reference.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_reference_is_what_the_rooms_export():
    written = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    assert written == reference().page(), "run python tools/reference.py"


def test_every_public_name_has_an_example():
    tool = reference()
    without = {}
    for room in tool.public_rooms():
        values = {name: getattr(room, name) for name in tool.public_names(room)}
        shown = {name: value for name, value in values.items() if is_described(value)}
        names = [
            name for name, value in shown.items() if ">>>" not in (value.__doc__ or "")
        ]
        if names:
            without[room.__name__] = names
    assert without == {}


def is_described(value):
    """Whether help shows a text of its own: constants and names of types have none."""
    return inspect.isclass(value) or inspect.isfunction(value)

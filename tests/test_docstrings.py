"""Every public class describes what it is made of, in its own room."""

import importlib
import inspect
import pkgutil

import pytest
from tests.checks.docstrings import names_in, section

import lyceum

# `tree_core` is public inside the package only: its values say what they hold beside their fields
ROOMS = [room.name for room in pkgutil.iter_modules(lyceum.__path__) if not room.name.startswith("_")]
ROOMS = [room for room in ROOMS if room not in ("tree_core", "cli")]


def classes(room):
    module = importlib.import_module(f"lyceum.{room}")
    found = [getattr(module, name) for name in getattr(module, "__all__", ())]
    return [one for one in found if inspect.isclass(one) and one.__module__.startswith("lyceum.")]


def settings(kind):
    try:
        found = inspect.signature(kind).parameters.values()
    except ValueError:
        return set()
    named = [one.name for one in found if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]
    return {name for name in named if not name.startswith("_")}


@pytest.mark.parametrize("room", ROOMS)
def test_classes_describe_what_they_are_made_of(room):
    lacking = {}
    for kind in classes(room):
        described = names_in(section(kind, "Parameters")) | names_in(section(kind, "Attributes"))
        if missing := settings(kind) - described:
            lacking[kind.__name__] = sorted(missing)
    assert not lacking

"""Every public class says what it is made of, what stands near it, and shows an example that
runs."""

import importlib
import inspect
import pkgutil

import pytest
from tests.checks.docstrings import names_in, section

import lyceum

ROOMS = [
    room.name
    for room in pkgutil.iter_modules(lyceum.__path__)
    if not room.name.startswith("_")
]
ROOMS.remove("cli")
ROOMS.remove("web")  # for the rooms above it only
ROOMS.append("_core.trees")
# public inside the package only, but for what users hold: `tree_` of a model, and what `path`
# returns
INSIDE = {"_core.trees": ("Tree", "TreePath", "PathStep")}

SECTIONS = {"Examples": ">>>", "See Also": " : "}  # what a section holds at least


def classes(room):
    module = importlib.import_module(f"lyceum.{room}")
    found = [
        getattr(module, name)
        for name in INSIDE.get(room, getattr(module, "__all__", ()))
    ]
    return [
        one
        for one in found
        if inspect.isclass(one) and one.__module__.startswith("lyceum.")
    ]


def settings(kind):
    try:
        found = inspect.signature(kind).parameters.values()
    except ValueError:
        return set()
    named = [
        one.name
        for one in found
        if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)
    ]
    return {name for name in named if not name.startswith("_")}


@pytest.mark.parametrize("room", ROOMS)
def test_classes_describe_what_they_are_made_of(room):
    lacking = {}
    for kind in classes(room):
        described = names_in(section(kind, "Parameters")) | names_in(
            section(kind, "Attributes")
        )
        if missing := settings(kind) - described:
            lacking[kind.__name__] = sorted(missing)
    assert not lacking


@pytest.mark.parametrize("room", ROOMS)
def test_classes_show_an_example_and_name_their_relatives(room):
    lacking = {
        kind.__name__: absent
        for kind in classes(room)
        if (
            absent := [
                title
                for title, sign in SECTIONS.items()
                if sign not in section(kind, title)
            ]
        )
    }
    assert not lacking


@pytest.mark.parametrize("room", ROOMS)
def test_relatives_exist(room):
    unknown = {}
    for kind in classes(room):
        names = names_in(section(kind, "See Also"))
        if strangers := sorted(name for name in names if not exists(name, room)):
            unknown[kind.__name__] = strangers
    assert not unknown


def exists(name, room):
    """Whether a name stands for something in the room, or in a package that it begins with."""
    first, _, rest = name.partition(".")
    here = importlib.import_module(f"lyceum.{room}")
    if not hasattr(here, first):
        try:
            return bool(pkgutil.resolve_name(name))
        except (ImportError, AttributeError):
            return False
    inner = getattr(here, first)
    return (
        not rest
        or hasattr(inner, rest)
        or rest in getattr(inner, "__dataclass_fields__", ())
    )

"""Pages of the reference, and links to them."""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[2]


@cache
def _listing() -> ModuleType:
    """tools/reference.py, which writes docs/reference.md."""
    path = ROOT / "tools" / "reference.py"
    spec = importlib.util.spec_from_file_location("reference", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def public_names() -> dict[str, list[str]]:
    """The public names of every room, sorted; a room without any is left out."""
    rooms = {}
    for room in _listing().public_rooms():
        names = [n for n in _listing().public_names(room) if n != "__version__"]
        if names:
            rooms[room.__name__] = sorted(names, key=str.lower)
    return rooms


def reference_pages() -> dict[str, str]:
    """A page per room, which lists its names, and the page that lists the rooms."""
    pages = {}
    listed = []
    for room in _listing().public_rooms():
        title = room.__name__
        if title not in public_names():
            continue
        about = (room.__doc__ or "").strip().split("\n")[0]
        names = "\n".join(f"   {title}.{name}" for name in public_names()[title])
        pages[f"{title}.md"] = (
            f"# {title}\n\n{about}\n\n```{{eval-rst}}\n.. autosummary::\n"
            f"   :toctree: names\n\n{names}\n```\n"
        )
        listed.append(title)
    trees = "\n".join(listed)
    pages["index.md"] = (
        f"# Reference\n\nEvery public name, by room.\n\n"
        f"```{{toctree}}\n:maxdepth: 1\n\n{trees}\n```\n"
    )
    return pages


@cache
def all_names() -> frozenset[str]:
    return frozenset(
        f"{room}.{name}" for room, names in public_names().items() for name in names
    )


def where_it_lives(name: str) -> str:
    """A link to the page of a name of the syllabus, such as trees.ID3(attribute_costs)."""
    dotted = f"lyceum.{name.partition('(')[0]}"
    while dotted not in all_names():
        if "." not in dotted:
            raise ValueError(f"{name} has no page in the reference")
        dotted = dotted.rpartition(".")[0]
    return f"{{doc}}`{name} <../reference/names/{dotted}>`"

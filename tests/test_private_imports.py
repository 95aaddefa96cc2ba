"""A room uses only the public names of other rooms."""

import ast
import gc
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

import lyceum

SOURCE = Path(lyceum.__file__).parent

# rooms without learners of their own; in the others, what `lyceum.base` defines is for learners to
# use
READERS = {
    "_core.data",
    "catalog",
    "cli",
    "evaluate",
    "export",
    "persist",
    "plot",
    "studies",
    "syllabus",
    "workflows",
}
PROTOCOL = {  # what a room asks of the classes of the rooms above it
    ("catalog", "_needs_scaling"),
    ("catalog", "_parts"),
    ("catalog", "_reads_rows"),
    ("catalog", "_takes_kinds"),
    ("_core.base", "_decide_posteriors"),
    ("_core.base", "_from_posteriors"),
    ("_core.data", "_coding"),
    ("_core.data", "_takes_sparse"),
    ("persist", "_check_model"),
    ("evaluate", "_n_parameters"),  # of scikit-learn's mixtures too
    ("_core.trees", "_router"),
    ("export", "_operations"),
}


PUBLIC_MODULES = ("lyceum.plot.style",)
LOOKED_AT = (
    ast.Import,
    ast.ImportFrom,
    ast.FunctionDef,
    ast.ClassDef,
    ast.Name,
    ast.Attribute,
)


@pytest.fixture(autouse=True, scope="module")
def no_garbage_collection():
    """The syntax of all files is a million objects: to look through them again and again takes
    longest."""
    gc.disable()
    yield
    syntax_nodes.cache_clear()
    gc.enable()


def room_of(path: Path) -> str:
    return room_of_module(["lyceum", *path.relative_to(SOURCE).with_suffix("").parts])[
        0
    ]


def room_of_module(parts: list[str]) -> tuple[str, list[str]]:
    """The room of a module, on the private floor with the floor's name, and what is inside of
    it."""
    inner = parts[1:]
    if inner[:1] == ["_core"]:
        return ".".join(inner[:2]), inner[2:]
    return inner[0] if inner else "", inner[1:]


@cache
def syntax_nodes() -> list[tuple[str, list[ast.AST]]]:
    """(room, what is imported, defined and named) of every file."""
    trees = (
        (room_of(path), ast.parse(path.read_text(encoding="utf-8")))
        for path in SOURCE.rglob("*.py")
    )
    return [
        (room, [node for node in ast.walk(tree) if isinstance(node, LOOKED_AT)])
        for room, tree in trees
    ]


def imported_names(node: ast.AST) -> list[str]:
    """The full names that an import asks for; those of a relative import begin with its dots."""
    if isinstance(node, ast.Import):
        return [f"{name.name}.*" for name in node.names]
    if isinstance(node, ast.ImportFrom):
        above = "." * node.level + (node.module or "")
        return [f"{above}.{name.name}" for name in node.names]
    return []


def crosses(room: str, name: str) -> bool:
    """Whether an imported name stands inside of another room, not at its door; so does a relative
    import."""
    if name.startswith("."):
        return True
    parts = name.split(".")
    if parts[0] != "lyceum":
        return False
    other, inner = room_of_module(parts)
    if other == room or name.startswith(PUBLIC_MODULES):
        return False
    return len(inner) > 1 or any(is_private(part) for part in inner)


def private_imports() -> set[tuple[str, str]]:
    """(importing room, imported name) where the name stands inside of another room."""
    names = (
        (room, name)
        for room, nodes in syntax_nodes()
        for node in nodes
        for name in imported_names(node)
    )
    return {(room, name) for room, name in names if crosses(room, name)}


def test_no_private_name_crosses_rooms():
    assert sorted(private_imports()) == []


@pytest.mark.parametrize(
    "line",
    [
        "from lyceum._core.data.scanner import scan",
        "from lyceum.data import _scan",
        "import lyceum._core.data.scanner",
        "import numpy, lyceum._core.data.scanner as reader",
        "from ..data._scan import scan",
        "from . import _scan",
        "from lyceum.ensemble.boosting.adaboost import AdaBoostClassifier",
    ],
)
def test_every_way_to_import_a_private_name_is_seen(line):
    (node,) = ast.parse(line).body
    assert any(crosses("bayes", name) for name in imported_names(node))


@pytest.mark.parametrize(
    "line",
    [
        "from lyceum.bayes.naive_bayes import NaiveBayes",
        "from lyceum._core.base import Learner",
        "from lyceum.ensemble import AdaBoostClassifier",
        "from lyceum.data import scan",
        "from lyceum._core.native import native",  # below all rooms
        "from lyceum import __version__",
        "from lyceum._core.constraints import Interval",
    ],
)
def test_what_is_public_or_of_the_same_room_may_be_imported(line):
    (node,) = ast.parse(line).body
    assert not any(crosses("bayes", name) for name in imported_names(node))


def defined_names() -> dict[str, set[str]]:
    """The names of files, functions, classes, variables and attributes that every room sets."""
    found: dict[str, set[str]] = defaultdict(set)
    for path in SOURCE.rglob("*.py"):
        found[room_of(path)].add(path.stem)
    for room, nodes in syntax_nodes():
        for node in nodes:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                found[room].add(node.name)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                found[room].add(node.id)
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                found[room].add(node.attr)
    return found


def private_attributes() -> set[tuple[str, str]]:
    """(room, private attribute of another object) where another room alone defines such a name."""
    known = defined_names()
    everywhere = set.union(*known.values())
    found = set()
    for room, nodes in syntax_nodes():
        others = (
            everywhere
            - known[room]
            - (set() if room in READERS else known["_core.base"])
        )
        for node in nodes:
            if (
                isinstance(node, ast.Attribute)
                and node.attr in others
                and is_private(node.attr)
            ):
                owner = ast.unparse(node.value)
                if owner not in ("self", "cls") and not owner.startswith("super("):
                    found.add((room, node.attr))
    return found


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def test_no_private_attribute_crosses_rooms():
    assert sorted(private_attributes() - PROTOCOL) == []

"""A room uses only the public names of other rooms."""

import ast
import gc
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

import lyceum

SOURCE = Path(lyceum.__file__).parent

# rooms without learners of their own; in the others, what `lyceum.base` defines is for learners to use
READERS = {"apply", "catalog", "cli", "data", "evaluate", "persist", "plot", "studies", "syllabus"}
PROTOCOL = {  # what a room asks of the classes of the rooms above it
    ("catalog", "_needs_scaling"),
    ("catalog", "_parts"),
    ("catalog", "_reads_rows"),
    ("catalog", "_takes_kinds"),
    ("data", "_coding"),
    ("data", "_takes_sparse"),
    ("evaluate", "_n_parameters"),  # of scikit-learn's mixtures too
    ("tree_core", "_router"),
}


LOOKED_AT = (ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Name, ast.Attribute)


@pytest.fixture(autouse=True, scope="module")
def no_garbage_collection():
    """The syntax of all files is a million objects: to look through them again and again takes longest."""
    gc.disable()
    yield
    syntax_nodes.cache_clear()
    gc.enable()


@cache
def syntax_nodes() -> list[tuple[str, list[ast.AST]]]:
    """(room, what is imported, defined and named) of every file."""
    rooms = {path: path.relative_to(SOURCE).with_suffix("").parts[0] for path in SOURCE.rglob("*.py")}
    trees = ((room, ast.parse(path.read_text())) for path, room in rooms.items())
    return [(room, [node for node in ast.walk(tree) if isinstance(node, LOOKED_AT)]) for room, tree in trees]


def room_of(module: str) -> str:
    return module.split(".")[1] if module.startswith("lyceum.") else ""


def private_imports() -> set[tuple[str, str]]:
    """(importing room, imported module) for modules and names that begin with an underscore."""
    found = set()
    for room, nodes in syntax_nodes():
        for node in nodes:
            if isinstance(node, ast.ImportFrom) and node.module and room_of(node.module) != room:
                inner = node.module.split(".")[2:]
                private = [f"{node.module}.{name.name}" for name in node.names if name.name.startswith("_")]
                if node.module.startswith("lyceum.") and any(part.startswith("_") for part in inner):
                    found.add((room, node.module))
                elif node.module.startswith("lyceum."):
                    found |= {(room, name) for name in private if not name.startswith("lyceum.__")}
    return found


def test_no_private_name_crosses_rooms():
    assert sorted(private_imports()) == []


def defined_names() -> dict[str, set[str]]:
    """The names of functions, classes, variables and attributes that every room sets."""
    found: dict[str, set[str]] = defaultdict(set)
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
        others = everywhere - known[room] - (set() if room in READERS else known["base"])
        for node in nodes:
            if isinstance(node, ast.Attribute) and node.attr in others and is_private(node.attr):
                owner = ast.unparse(node.value)
                if owner not in ("self", "cls") and not owner.startswith("super("):
                    found.add((room, node.attr))
    return found


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def test_no_private_attribute_crosses_rooms():
    assert sorted(private_attributes() - PROTOCOL) == []

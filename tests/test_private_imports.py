"""A room imports only the public names of other rooms."""

import ast
from pathlib import Path

import lyceum

SOURCE = Path(lyceum.__file__).parent


def room_of(module: str) -> str:
    return module.split(".")[1] if module.startswith("lyceum.") else ""


def private_imports() -> set[tuple[str, str]]:
    """(importing room, imported module) for modules and names that begin with an underscore."""
    found = set()
    for path in SOURCE.rglob("*.py"):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module and room_of(node.module) != parts[0]:
                inner = node.module.split(".")[2:]
                private = [f"{node.module}.{name.name}" for name in node.names if name.name.startswith("_")]
                if node.module.startswith("lyceum.") and any(part.startswith("_") for part in inner):
                    found.add((parts[0], node.module))
                elif node.module.startswith("lyceum."):
                    found |= {(parts[0], name) for name in private if not name.startswith("lyceum.__")}
    return found


def test_no_private_name_crosses_rooms():
    assert sorted(private_imports()) == []

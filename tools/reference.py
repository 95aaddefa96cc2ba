"""Writes docs/reference.md: every public name of every room with its first sentence.

`python tools/reference.py` writes it; `tests/docs/test_reference.py` compares.
"""

import importlib
import inspect
import pkgutil
from pathlib import Path
from types import ModuleType

import lyceum

PAGE = Path(__file__).parents[1] / "docs" / "reference.md"
COMMANDS = {"cli", "web"}  # the commands and what serves them, not names to import


def public_rooms() -> list[ModuleType]:
    names = [module.name for module in pkgutil.iter_modules(lyceum.__path__)]
    public = [
        name for name in names if not name.startswith("_") and name not in COMMANDS
    ]
    return [
        lyceum,
        *(importlib.import_module(f"lyceum.{name}") for name in sorted(public)),
    ]


def public_names(room: ModuleType) -> list[str]:
    return [
        name for name in room.__all__ if not isinstance(getattr(room, name), ModuleType)
    ]


def first_sentence(value: object) -> str:
    """The first paragraph of a docstring, up to the end of its sentence, on one line."""
    if not (inspect.isclass(value) or callable(value)) or value.__doc__ is None:
        return ""
    paragraph = inspect.cleandoc(value.__doc__).split("\n\n")[0]
    return " ".join(paragraph.split()).replace("|", "\\|")


def page() -> str:
    lines = [
        "# Reference",
        "",
        "Every public name. `help(name)` has parameters and an example.",
        "",
    ]
    for room in public_rooms():
        about = inspect.cleandoc(room.__doc__ or "").split("\n")[0]
        lines += [f"## {room.__name__}", "", about, "", "| name | |", "|---|---|"]
        for name in sorted(public_names(room), key=str.lower):
            lines.append(f"| `{name}` | {first_sentence(getattr(room, name))} |")
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")

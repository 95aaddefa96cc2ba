"""Write the types of the compiled module to src/lyceum/_native_module.pyi (`make stub`)."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from types import ModuleType

from nanobind.stubgen import StubGen

STUB = Path(__file__).parents[1] / "src" / "lyceum" / "_native_module.pyi"
HEADER = '"""Generated from the compiled module: run `make stub` after changing a binding."""\n'
# (pattern, replacement), in this order
PLAIN = (
    # mypy knows no shapes
    (r"Annotated\[(NDArray(?:\[numpy\.\w+\])?), dict\([^\]]*?\)\]", r"\1"),
    (r"from typing import Annotated, ", "from typing import "),
    (r"\n{2,}", r"\n"),
    (  # a field that can be read and set, with one type
        (
            r"( +)@property\n +def (\w+)\(self\) -> (\S+): \.\.\.\n +@\2\.setter\n.*arg: \3, /\) ->"
            r" None: \.\.\."
        ),
        r"\1\2: \3",
    ),
    (r"\nclass ", r"\n\nclass "),
)


def stub_of(module: ModuleType) -> str:
    """Return the stub of a build; it is the same for every instruction level."""
    generator = StubGen(module, include_docstrings=False)
    generator.put(module)
    text = generator.get().replace(f"{module.__name__}.", "")
    for pattern, replacement in PLAIN:
        text = re.sub(pattern, replacement, text)
    # overloads that differ in their dimensions alone are one
    text = re.sub(r"@overload\n(def .*\n)@overload\n\1(?!@overload\n\1)", r"\1", text)
    return HEADER + re.sub(
        r"(@overload\ndef (\w+)\(.*\n)(@overload\ndef \2\(.*\n){2,}", _merged, text
    )


def _merged(overloads: re.Match[str]) -> str:
    """One definition for overloads of the same parameters, with unions of their types."""
    definitions = re.findall(r"def (\w+)\((.*)\) -> (.*): \.\.\.", overloads.group())
    types: dict[str, dict[str, None]] = {}
    for _, parameters, _ in definitions:
        for parameter in re.split(r", (?=\w+: )", parameters):
            name, kind = parameter.split(": ", 1)
            types.setdefault(name, {})[kind] = None
    name, _, returned = definitions[0]
    unions = ", ".join(
        f"{parameter}: {' | '.join(kinds)}" for parameter, kinds in types.items()
    )
    return f"def {name}({unions}) -> {returned}: ...\n"


if __name__ == "__main__":
    from lyceum._core.native import level

    STUB.write_text(
        stub_of(importlib.import_module(f"lyceum._native_{level}")), encoding="utf-8"
    )

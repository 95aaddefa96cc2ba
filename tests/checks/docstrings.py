"""What the docstring of a learner says, in numpydoc's sections."""

from __future__ import annotations

import inspect
import re
from typing import Any

__all__ = ["names_in", "section", "sections"]

_HEAD = re.compile(r"^([A-Z][A-Za-z ]+)\n-{3,}$", re.M)


def sections(kind: type) -> dict[str, str]:
    """The sections of a docstring by title."""
    text = inspect.cleandoc(kind.__doc__ or "")
    heads = [*_HEAD.finditer(text)]
    ends = [head.start() for head in heads[1:]] + [len(text)]
    return {head.group(1): text[head.end() : end] for head, end in zip(heads, ends)}


def section(kind: type, title: str) -> str:
    return sections(kind).get(title, "")


def names_in(text: str) -> set[str]:
    """The names that a section describes: "a, b : type" begins with two of them."""
    found: set[str] = set()
    for line in text.splitlines():
        if line[:1].isidentifier() or line[:1] == "*":
            found |= {
                name.strip().lstrip("*") for name in line.partition(" : ")[0].split(",")
            }
    return found - {""}


def fitted_names(fitted: Any) -> set[str]:
    """Attributes that end in an underscore: set by `fit`, or properties of the class."""
    own = {
        name for name in vars(fitted) if name.endswith("_") and not name.startswith("_")
    }
    made = {
        name
        for name in dir(type(fitted))
        if name.endswith("_") and not name.startswith("_")
    }
    made = {
        name
        for name in made
        if isinstance(inspect.getattr_static(type(fitted), name), property)
    }
    return (own | made) - {
        "n_features_in_",
        "feature_names_in_",
        "n_classes_",
        "n_rows_",
        "schema_",
    }

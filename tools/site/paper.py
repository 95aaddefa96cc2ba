"""Sums of a page as on paper: every line is calculated again, to the digits that it shows.

A block that is fenced by ```paper holds lines such as

    H = −9/14·log2(9/14) − 5/14·log2(5/14) = 0.940
    gain = H − 5/14·0.971 − 4/14·0 − 5/14·0.971 = 0.247

All parts of a line between " = " must be equal, rounded to the digits of the last one. A first part
that is a plain name is kept for the lines below; a vector is written (1, 2). A line without " = "
is text. Words before a colon are passed over.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Mapping

import numpy as np

_SIGNS = {
    "·": "*",
    "×": "*",
    "−": "-",
    "²": "**2",
    "³": "**3",
    "√": "sqrt",
    "½": "(1/2)",
    "⅓": "(1/3)",
    "⅔": "(2/3)",
    "¼": "(1/4)",
    "¾": "(3/4)",
    "⅛": "(1/8)",
    "π": "pi",
    "…": "",
}
_KNOWN = {
    "ln": math.log,
    "log2": math.log2,
    "log10": math.log10,
    "exp": math.exp,
    "sqrt": math.sqrt,
    "pi": math.pi,
    "abs": abs,
    "max": max,
    "min": min,
    "comb": math.comb,
    "norm": np.linalg.norm,
    "dot": np.dot,
    "tanh": math.tanh,
}
_NUMBER = re.compile(r"\d+(?:\.(\d+))?")


class _Vectors(ast.NodeTransformer):
    """(1, 2) is a vector; the arguments of a function are not."""

    def visit_Tuple(self, node: ast.Tuple) -> ast.expr:
        self.generic_visit(node)
        listed = ast.List(node.elts, ast.Load())
        call = ast.Call(ast.Name("vector", ast.Load()), [listed], [])
        return ast.copy_location(call, node)


def value_of(text: str, names: Mapping[str, object]) -> object:
    """The value of an expression in the signs of paper; raises SyntaxError or NameError."""
    for sign, plain in _SIGNS.items():
        text = text.replace(sign, plain)
    tree = _Vectors().visit(ast.parse(text.strip(), mode="eval"))
    code = compile(ast.fix_missing_locations(tree), "paper", "eval")
    return eval(code, {"__builtins__": {}, "vector": np.array, **_KNOWN, **names})


def check_line(line: str, names: dict[str, object]) -> None:
    """Raise ValueError where the parts of a line are not equal to the digits shown."""
    body = line.partition(": ")[2] if ": " in line else line
    parts = [part.strip() for part in re.split(r" [=≈] ", body.split("   #")[0])]
    if len(parts) < 2:
        return
    name = parts[0] if parts[0].isidentifier() else None
    values = []
    for index, part in enumerate(parts):
        if index == 0 and name is not None:
            continue
        try:
            values.append(value_of(part, names))
        except (SyntaxError, NameError, TypeError, AttributeError):
            if index:  # only the first part may be words
                raise ValueError(f"{part!r} cannot be calculated: {line}") from None
    digits = max(len(match.group(1) or "") for match in _NUMBER.finditer(parts[-1]))
    for value in values:
        error = np.max(np.abs(np.asarray(value, float) - np.asarray(values[-1], float)))
        if not error <= 0.5 * 10.0**-digits + 1e-9:
            raise ValueError(f"{value} is not {parts[-1]}: {line}")
    if name is not None:
        names[name] = values[0]


def wrong_lines(block: str, names: dict[str, object]) -> list[str]:
    """What is wrong in the lines of a block."""
    wrong = []
    for line in block.splitlines():
        try:
            check_line(line, names)
        except ValueError as error:
            wrong.append(str(error))
    return wrong

"""A program written as a file: Python and JavaScript, with the runtime that it needs."""

from __future__ import annotations

import inspect
import json
import re
from importlib.resources import files
from typing import Any

from lyceum._core.types import Operation
from lyceum.export import runtime
from lyceum.export.program import Program, program_title

# what every program needs, whatever its operations are
_ALWAYS = ("read_cells", "run_operations", "decide_cells")
_CALLS = {  # operations, and functions that their functions call
    "trees": ("tree_step", "tree_value"),
    "activate": ("logistic",),
    "nearest": ("neighbor_votes",),
    "kernel": ("power",),
}


def _functions(program: Program) -> list[str]:
    """The names of the functions of the runtime that a program uses, each after what it calls."""
    used = _names(program.operations)
    helpers = [helper for name in used for helper in _CALLS.get(name, ())]
    costs = ["minimum_risk"] if program.costs is not None else []
    return [*helpers, *used, *costs, *_ALWAYS]


def _names(operations: list[Operation]) -> list[str]:
    """The operations of a program and of the branches in it, each once."""
    names: dict[str, None] = {}
    for name, constants in operations:
        names[name] = None
        for branch in constants.get("branches", ()):
            names.update(dict.fromkeys(_names(branch)))
    return list(names)


def _constants(program: Program) -> str:
    """The program as JSON; NaN and infinities are texts, which the reader turns back."""
    return json.dumps(_plain(program.as_dict()), allow_nan=False, separators=(",", ":"))


def _plain(value: Any) -> Any:
    if isinstance(value, float) and (
        value != value or value in (_INFINITY, -_INFINITY)
    ):
        return {"number": "NaN" if value != value else f"{'-' * (value < 0)}Infinity"}
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return value


_INFINITY = float("inf")

_PYTHON = '''"""{title}

decide(record) takes a dict of columns and values (None where one is missing) and gives the
prediction, the probabilities of the classes, and the action under costs, if the model has some. No
package is needed.
"""

import json
import math


{functions}


OPERATIONS = {{{table}}}


def _number(value):
    if len(value) == 1 and "number" in value:
        return float(value["number"].replace("Infinity", "inf"))
    return value


PROGRAM = json.loads({constants!r}, object_hook=_number)


def decide(record):
    """The answer to one record."""
    return decide_cells(read_cells(record, PROGRAM["columns"]), PROGRAM)
'''


def write_python(program: Program) -> str:
    names = _functions(program)
    functions = [inspect.getsource(getattr(runtime, name)).strip() for name in names]
    used = _names(program.operations)
    return _PYTHON.format(
        title=program_title(program),
        functions="\n\n\n".join(functions),
        table=", ".join(f'"{name}": {name}' for name in used),
        constants=_constants(program),
    )


_JAVASCRIPT = """// {title}
// decide(record) takes an object of columns and values (null where one is missing) and gives the
// prediction, the probabilities of the classes, and the action under costs, if the model has some.

{functions}

const operations = {{{table}}};

const program = JSON.parse({constants}, (key, value) =>
  value !== null && typeof value === "object" && typeof value.number === "string"
    && Object.keys(value).length === 1 ? Number(value.number) : value);

/** The answer to one record. */
export function decide(record) {{
  return decide_cells(read_cells(record, program.columns), program);
}}

/** The columns that a record has. */
export const columns = program.columns.map((column) => ({{
  name: column.name,
  categories: column.codes === null ? null : Object.keys(column.codes),
}}));
"""


def write_javascript(program: Program) -> str:
    """The text of a JavaScript module with `decide(record)` and `columns`.

    Parameters
    ----------
    program : Program

    Returns
    -------
    str

    See Also
    --------
    export_model : Checks a program and writes it to a file.

    Examples
    --------
    >>> from lyceum import datasets
    >>> from lyceum.export import Program, write_javascript
    >>> from lyceum.trees import C45
    >>> module = write_javascript(Program.of(C45().fit(datasets.load("weather"))))
    >>> "export function decide(record) {" in module
    True
    """
    source = files("lyceum.export").joinpath("runtime.js").read_text(encoding="utf-8")
    functions = [_javascript_function(source, name) for name in _functions(program)]
    used = _names(program.operations)
    return _JAVASCRIPT.format(
        title=program_title(program),
        functions="\n\n".join(functions),
        table=", ".join(used),
        # a text in a text: U+2028 and the like are escapes in both
        constants=json.dumps(_constants(program)),
    )


def _javascript_function(source: str, name: str) -> str:
    function = re.search(rf"^function {name}\(.*?^}}", source, re.M | re.S)
    assert function is not None, name
    return function.group()


def write_javascript_types(program: Program) -> str:
    """The types of `model.js` for TypeScript."""
    fields = [
        f"  {json.dumps(column['name'])}: {_javascript_type(column)} | null;"
        for column in program.columns
    ]
    predicted = "number"
    if program.labels is not None:
        predicted = " | ".join(
            dict.fromkeys(json.dumps(label) for label in program.labels)
        )
    return "\n".join(
        [
            f"// {program_title(program)}",
            "export interface Row {",
            *fields,
            "}",
            "export interface Answer {",
            f"  predicted: {predicted};",
            "  probabilities?: Record<string, number>;",
            "  action?: string | number | boolean;",
            "  risk?: number;",
            "  rejected?: boolean;",
            "}",
            "export function decide(record: Row): Answer;",
            "export const columns: { name: string; categories: string[] | null }[];",
            "",
        ]
    )


def _javascript_type(column: dict[str, Any]) -> str:
    if column["codes"] is None:
        return "number | boolean"
    return "string | number | boolean"

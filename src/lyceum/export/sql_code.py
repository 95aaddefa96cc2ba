"""A program as one SELECT that DuckDB, PostgreSQL and SQLite run: a step of a WITH per operation.

A missing cell is NULL, and so is the prediction of a row whose missing cells the model cannot take.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lyceum.errors import ExportError
from lyceum.export.program import Program, program_title

Constants = dict[str, Any]
_MOST_LEAVES = (
    500  # of all trees times classes: databases plan larger queries for minutes
)


def _number(value: float) -> str:
    if value != value:
        return "NULL"
    if value in (float("inf"), float("-inf")):
        raise ExportError(
            "the model holds an infinite number, which SQL has no word for"
        )
    # a plain literal would be a decimal, which is not what the model computes with
    return f"CAST({float(value)!r} AS DOUBLE PRECISION)"


def _name(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _string(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


class _Query:
    """The steps so far; `cells` are the expressions of the row in terms of the last step."""

    def __init__(self, names: list[str], cells: list[str]):
        self.names = names
        self.steps: list[list[str]] = [cells]
        self.width = len(cells)
        self.conditions: list[str] = []

    def cell(self, j: int) -> str:
        return f"c{j}"

    @property
    def cells(self) -> list[str]:
        return [self.cell(j) for j in range(self.width)]

    def step(self, expressions: list[str]) -> None:
        self.steps.append(expressions)
        self.width = len(expressions)

    def text(self, table: str, last: list[str]) -> str:
        """The whole query."""
        kept = ", ".join(map(_name, self.names))
        parts = []
        source = table
        for number, expressions in enumerate(self.steps):
            columns = [f"{each} AS c{j}" for j, each in enumerate(expressions)]
            # whether all cells are there that must be, from the step on that needs them
            fits = self.conditions[number] if number < len(self.conditions) else ""
            columns.append(fits or ("1 AS fits" if number == 0 else "fits"))
            listed = ",\n    ".join([kept, *columns])
            parts.append(
                f"s{number} AS MATERIALIZED (\n  SELECT {listed}\n  FROM {source}\n)"
            )
            source = f"s{number}"
        steps = ",\n".join(parts)
        answers = ",\n  ".join(last)
        return f"WITH {steps}\nSELECT {kept},\n  {answers}\nFROM {source};\n"


def _read(column: dict[str, Any]) -> str:
    name = _name(column["name"])
    codes = column["codes"]
    if codes is None:
        return f"CAST({name} AS DOUBLE PRECISION)"
    is_number = all(_is_number(text) for text in codes)
    cell = f"CAST({name} AS {'DOUBLE PRECISION' if is_number else 'VARCHAR'})"
    cases = [
        f"WHEN {cell} = {text if is_number else _string(text)} THEN {code}"
        for text, code in codes.items()
    ]
    return f"CASE WHEN {name} IS NULL THEN NULL {' '.join(cases)} ELSE -1 END"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _recode(query: _Query, p: Constants) -> None:
    cells = query.cells
    for j, kind, values in p["changes"]:
        if kind == "numbers to codes":
            pairs = [(_number(value), str(code)) for code, value in enumerate(values)]
        else:
            pairs = [(str(code), _number(value)) for code, value in enumerate(values)]
        other = {"numbers to codes": "-1", "codes to codes": cells[j]}.get(kind, "NULL")
        whens = " ".join(f"WHEN c{j} = {old} THEN {new}" for old, new in pairs)
        cells[j] = f"CASE WHEN c{j} IS NULL THEN NULL {whens} ELSE {other} END"
    query.step(cells)


def _pick(query: _Query, p: Constants) -> None:
    query.step([f"c{j}" for j in p["columns"]])


def _require(query: _Query, p: Constants) -> None:
    if p["takes_missing"]:
        return
    missing = " OR ".join(f"{cell} IS NULL" for cell in query.cells)
    query.step(query.cells)
    while len(query.conditions) < len(query.steps):
        query.conditions.append("")
    query.conditions[-1] = f"CASE WHEN {missing} THEN 0 ELSE fits END AS fits"


def _fill(query: _Query, p: Constants) -> None:
    filled = [
        cell if value != value else f"COALESCE({cell}, {_number(value)})"
        for cell, value in zip(query.cells, p["values"])
    ]
    flags = [f"CASE WHEN c{j} IS NULL THEN 1.0 ELSE 0.0 END" for j in p["flagged"]]
    query.step(filled + flags)


def _affine(query: _Query, p: Constants) -> None:
    cells = []
    for j, cell in enumerate(query.cells):
        value = f"({cell} - {_number(p['center'][j])}) / {_number(p['scale'][j])}"
        if p["gain"] is not None:
            value = f"{value} * {_number(p['gain'][j])} + {_number(p['offset'][j])}"
        cells.append(value)
    query.step(cells)
    if p["low"] is not None:
        bounds = zip(query.cells, map(_number, p["low"]), map(_number, p["high"]))
        clipped = [
            f"CASE WHEN {cell} < {low} THEN {low} WHEN {cell} > {high} THEN {high} ELSE {cell} END"
            for cell, low, high in bounds
        ]
        query.step(clipped)


def _expand(query: _Query, p: Constants) -> None:
    cells = []
    for j, (size, first) in zip(p["columns"], p["layout"]):
        if size == 0:
            cells.append(f"c{j}")
        for k in range(first, first + size):
            one = f"CASE WHEN c{j} IS NULL THEN NULL WHEN c{j} = {k} THEN 1.0 ELSE 0.0 END"
            cells.append(f"CAST({one} AS DOUBLE PRECISION)")
    query.step(cells)


def _linear(query: _Query, p: Constants) -> None:
    cells = []
    for row, intercept in zip(p["coef"], p["intercept"]):
        terms = [f"{_number(w)} * c{j}" for j, w in enumerate(row)]
        cells.append(" + ".join([_number(intercept), *terms]))
    query.step(cells)


def _trees(query: _Query, p: Constants) -> None:
    outputs = len(p["start"])
    size = sum(len(tree["value"]) * len(tree["value"][0]) for tree in p["trees"])
    if size > _MOST_LEAVES:
        raise ExportError(
            f"the trees have {size:,} values, more than the {_MOST_LEAVES:,} of a query: use .js,"
            " .py or .c"
        )
    sums = [[_number(value)] for value in p["start"]]
    for tree in p["trees"]:
        for k in range(len(tree["value"][0])):
            sums[tree["column"] + k].append(_leaves(tree, k))
    query.step([" + ".join(sums[k]) for k in range(outputs)])


def _leaves(tree: Constants, k: int) -> str:
    """Output k of a tree: a CASE of its leaves, each with the conditions on the way to it.

    Nested CASEs would be shorter, but parsers have a limit of depth. A row that no child takes
    stays at its node, so that a node follows the leaves below it.
    """
    whens: list[str] = []

    def visit(node: int, way: list[str]) -> None:
        for number, condition in enumerate(_conditions(tree, node)):
            if condition:
                visit(tree["child"][node] + number, [*way, condition])
        value = _number(tree["value"][node][k])
        whens.append(f"WHEN {' AND '.join(way) or '1 = 1'} THEN {value}")

    visit(0, [])
    return f"CASE {' '.join(whens)} END"


def _conditions(tree: Constants, node: int) -> list[str]:
    """When a row goes to each child; empty for a child of none."""
    kind = tree["kind"][node]
    if kind == 0:
        return []
    cell = f"c{tree['feature'][node]}"
    start = tree["table"][node]
    n_children = tree["n_children"][node]
    if kind in (1, 2):
        cuts = tree["cuts"][start : start + n_children - 1] if kind == 2 else []
        conditions = _between(cell, [tree["threshold"][node]] if kind == 1 else cuts)
    else:
        codes: list[list[str]] = [[] for _ in range(n_children)]
        for code in range(tree["n_codes"][node]):
            branch = tree["branches"][start + code]
            if branch >= 0:
                codes[branch].append(str(code))
        conditions = [
            f"{cell} IN ({', '.join(each)})" if each else "" for each in codes
        ]
    step = tree["missing"][node]
    if step >= 0:
        known = conditions[step]
        conditions[step] = (
            f"({cell} IS NULL OR {known})" if known else f"{cell} IS NULL"
        )
    return conditions


def _between(cell: str, cuts: list[float]) -> list[str]:
    """The conditions of the intervals that rising cuts part; an infinite cut parts known cells
    from missing ones."""
    if cuts == [float("inf")]:
        return [f"{cell} IS NOT NULL", ""]
    lower = ["", *(f"{cell} > {_number(cut)}" for cut in cuts)]
    upper = [*(f"{cell} <= {_number(cut)}" for cut in cuts), ""]
    return [" AND ".join(filter(None, pair)) for pair in zip(lower, upper)]


def _before(query: _Query, p: Constants) -> None:
    query.step([*map(_number, p["values"]), *query.cells])


def _sides(query: _Query, p: Constants) -> None:
    second = "CASE WHEN c0 >= 0 THEN 1.0 ELSE 0.0 END"
    query.step([f"1.0 - {second}", second])


def _softmax(query: _Query, p: Constants) -> None:
    cells = query.cells
    tops = []
    for cell in cells:
        others = " AND ".join(f"{cell} >= {other}" for other in cells if other != cell)
        tops.append(f"WHEN {others or '1 = 1'} THEN {cell}")
    top = f"CASE {' '.join(tops)} END"
    query.step([f"{cell} - {top}" for cell in cells])
    query.step([f"EXP({cell})" for cell in cells])
    _shares(query, p)


def _shares(query: _Query, p: Constants) -> None:
    total = " + ".join(query.cells)
    query.step([f"{cell} / ({total})" for cell in query.cells])


def _column_densities(query: _Query, p: Constants) -> None:
    sums = [[_number(value)] for value in p["log_prior"]]
    for j, means, halves, peaks in p["gaussians"]:
        for k, (mean, half, peak) in enumerate(zip(means, halves, peaks)):
            away = f"(c{j} - {_number(mean)})"
            term = f"{_number(peak)} - {_number(half)} * {away} * {away}"
            sums[k].append(f"COALESCE({term}, 0.0)")
    for j, table in p["tables"]:
        for k in range(len(sums)):
            whens = " ".join(
                f"WHEN c{j} = {code} THEN {_number(row[k])}"
                for code, row in enumerate(table)
            )
            sums[k].append(f"CASE {whens} ELSE 0.0 END")
    query.step([" + ".join(terms) for terms in sums])


_OPERATIONS: dict[str, Callable[[_Query, Constants], None]] = {
    "recode": _recode,
    "pick": _pick,
    "require": _require,
    "fill": _fill,
    "affine": _affine,
    "expand": _expand,
    "linear": _linear,
    "trees": _trees,
    "before": _before,
    "sides": _sides,
    "softmax": _softmax,
    "shares": _shares,
    "column_densities": _column_densities,
}


def write_sql(program: Program, table: str = "rows_to_predict") -> str:
    """The program as a query over a table with the model's columns."""
    if program.costs is not None:
        raise ExportError(
            "costs are not written in SQL: export the model inside, or as .js or .py"
        )
    names = [column["name"] for column in program.columns]
    query = _Query(names, [_read(column) for column in program.columns])
    for name, constants in program.operations:
        if name not in _OPERATIONS:
            raise ExportError(
                f"{program.name} ({name}) is not written in SQL: use .js or .py"
            )
        if name == "trees":
            _check_missing(program, constants)
        _OPERATIONS[name](query, constants)
    head = (
        f"-- {program_title(program)}\n-- Replace {table} by the table of your rows.\n"
    )
    return head + query.text(table, _answers(program, query))


def _check_missing(program: Program, constants: Constants) -> None:
    requires = [p for name, p in program.operations if name == "require"]
    if requires and not requires[-1]["takes_missing"]:
        return
    parted = any(
        kind != 0 and missing < 0
        for tree in constants["trees"]
        for kind, missing in zip(tree["kind"], tree["missing"])
    )
    if parted:
        raise ExportError(
            f"{program.name} parts rows with missing cells among branches, which SQL cannot: fit it"
            " with SimpleImputer, or use .js, .py or .c"
        )


def _answers(program: Program, query: _Query) -> list[str]:
    if program.labels is None:
        return ["CASE WHEN fits = 1 THEN c0 END AS predicted"]
    whens = []
    for k, label in enumerate(program.labels):
        ahead = [f"c{k} >= c{j}" for j in range(query.width) if j != k]
        value = _string(label) if isinstance(label, str) else str(label).lower()
        whens.append(f"WHEN {' AND '.join(ahead) or '1 = 1'} THEN {value}")
    answers = [f"CASE WHEN fits = 0 THEN NULL {' '.join(whens)} END AS predicted"]
    if program.has_posteriors:
        for k, label in enumerate(program.labels):
            named = _name(f"probability of {label}")
            answers.append(f"CASE WHEN fits = 1 THEN c{k} END AS {named}")
    return answers

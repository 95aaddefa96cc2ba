"""A program as one SELECT that DuckDB, PostgreSQL and SQLite run: a step of a WITH per operation.

A missing cell is NULL, and so is the prediction of a row whose missing cells the model cannot take.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Callable
from typing import Any

from lyceum.errors import ExportError
from lyceum.export.program import Program, program_title

Constants = dict[str, Any]
# of all trees times classes: databases plan larger expressions for minutes
_MOST_LEAVES = 500


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
    return '"' + _checked(text).replace('"', '""') + '"'


def _string(text: str) -> str:
    return "'" + _checked(text).replace("'", "''") + "'"


def _checked(text: str) -> str:
    if "\r" in text:
        raise ExportError(
            f"{text!r} holds a carriage return, which programs that read SQL may change:"
            " rename it, or use .js or .py"
        )
    return text


class _Query:
    """The steps so far. A step has the columns of the table as k0, k1, ..., the cells of the row so
    far as c0, c1, ..., and `fits`, whether all cells are there that must be."""

    def __init__(self, names: list[str], table: str):
        self.names = names
        self.parts: list[str] = []
        self.source = table
        # SQLite takes a name that is no column for a text, unless the table is named
        self.kept = [f"{table}.{_name(name)} AS k{j}" for j, name in enumerate(names)]
        self.fits = "1 AS fits"
        self.width = 0
        self.is_numbered = False

    @property
    def cells(self) -> list[str]:
        return [f"c{j}" for j in range(self.width)]

    def step(self, expressions: list[str], fits: str = "") -> None:
        columns = [f"{each} AS c{j}" for j, each in enumerate(expressions)]
        listed = ",\n    ".join([*self.kept, *columns, fits or self.fits])
        name = f"s{len(self.parts)}"
        select = f"SELECT {listed}\n  FROM {self.source}"
        self.parts.append(f"{name} AS MATERIALIZED (\n  {select}\n)")
        self.source = name
        self.width = len(expressions)
        self.fits = "fits"
        self.kept = [f"k{j}" for j in range(len(self.names))]
        if self.is_numbered:
            self.kept.append("row_id")

    def text(self, last: list[str]) -> str:
        """The whole query."""
        named = [f"k{j} AS {_name(name)}" for j, name in enumerate(self.names)]
        answers = ",\n  ".join([*named, *last])
        steps = ",\n".join(self.parts)
        order = f"\nORDER BY {self.source}.row_id" if self.is_numbered else ""
        recursive = "RECURSIVE " if self.is_numbered else ""
        first = f"WITH {recursive}{steps}\nSELECT {answers}"
        return f"{first}\nFROM {self.source}{order};\n"


def _read(column: dict[str, Any], table: str) -> str:
    name = f"{table}.{_name(column['name'])}"
    codes = column["codes"]
    if codes is None:
        return f"CAST({name} AS DOUBLE PRECISION)"
    # whole numbers that doubles round are told apart by their digits
    are_numbers = column["labels"] == "numbers" and all(
        abs(float(text)) < 2.0**53 for text in codes
    )
    cell = f"CAST({name} AS {'DOUBLE PRECISION' if are_numbers else 'VARCHAR'})"
    cases = []
    for text, code in codes.items():
        values = _number(float(text)) if are_numbers else _string(text)
        if column["labels"] == "true or false":
            # SQLite keeps them as 1 and 0
            values += ", '1'" if text == "true" else ", '0'"
        cases.append(f"WHEN {cell} IN ({values}) THEN {code}")
    return f"CASE WHEN {name} IS NULL THEN NULL {' '.join(cases)} ELSE -1 END"


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
    query.step(query.cells, f"CASE WHEN {missing} THEN 0 ELSE fits END AS fits")


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
    size = sum(len(tree["value"]) * len(tree["value"][0]) for tree in p["trees"])
    if size > _MOST_LEAVES:
        _walk(query, p)
        return
    sums = [[_number(value)] for value in p["start"]]
    for tree in p["trees"]:
        for k in range(len(tree["value"][0])):
            sums[tree["column"] + k].append(_leaves(tree, k))
    query.step([" + ".join(terms) for terms in sums])


# -- many or large trees: tables of branches and leaves, which rows walk through -------


class _Branches:
    """The branches of all trees as rows of a table: a cell in (low, high], or a missing one where
    `missing` is 1, leads from `parent` to `child`. Nodes of all trees are numbered through."""

    def __init__(self, p: Constants):
        self.roots: list[str] = []
        self.branches: list[str] = []
        self.leaves: list[str] = []
        self.features: set[int] = set()
        self.n_outputs = len(p["start"])
        self.n_nodes = 0
        for tree in p["trees"]:
            first = self.n_nodes
            self.n_nodes += len(tree["kind"])
            self.roots.append(f"({first})")
            for node in range(len(tree["kind"])):
                self._add(tree, node, first)

    def _add(self, tree: Constants, node: int, first: int) -> None:
        number = first + node
        if tree["kind"][node] == 0:
            self._add_leaf(tree, node, number)
            return
        feature = tree["feature"][node]
        self.features.add(feature)
        child = first + tree["child"][node]
        missing = tree["missing"][node]
        if missing >= 0:  # an interval without numbers
            self._add_branch(number, feature, "0e0", "0e0", 1, child + missing)
        stays = -1
        for low, high, branch in _intervals(tree, node):
            if branch < 0 and stays < 0:  # a category that ends at the node
                stays = self.n_nodes
                self.n_nodes += 1
                self._add_leaf(tree, node, stays)
            end = stays if branch < 0 else child + branch
            self._add_branch(number, feature, low, high, 0, end)

    def _add_branch(self, *values: Any) -> None:
        self.branches.append(f"({', '.join(map(str, values))})")

    def _add_leaf(self, tree: Constants, node: int, number: int) -> None:
        outputs = [0.0] * self.n_outputs
        for k, value in enumerate(tree["value"][node]):
            outputs[tree["column"] + k] += value
        self.leaves.append(f"({number}, {', '.join(map(_plain, outputs))})")


def _plain(value: float) -> str:
    """A literal that all databases read as a double: with an exponent."""
    text = repr(float(value))
    return text if "e" in text else f"{text}e0"


def _intervals(tree: Constants, node: int) -> list[tuple[str, str, int]]:
    """The intervals of cells and their branches, -1 for cells that end at the node."""
    start = tree["table"][node]
    n_children = tree["n_children"][node]
    if tree["kind"][node] in (1, 2):
        cuts = tree["cuts"][start : start + n_children - 1]
        if tree["kind"][node] == 1:
            cuts = [tree["threshold"][node]]
        if cuts == [float("inf")]:  # parts known cells from missing ones
            return [("NULL", "NULL", 0)]
        ends = ["NULL", *map(_plain, cuts), "NULL"]
        return [(ends[b], ends[b + 1], b) for b in range(n_children)]
    n_codes = tree["n_codes"][node]
    codes = [
        (_plain(code - 0.5), _plain(code + 0.5), tree["branches"][start + code])
        for code in range(n_codes)
    ]
    others = [("NULL", "-0.5e0", -1), (_plain(n_codes - 0.5), "NULL", -1)]
    return [*codes, *others]


def _walk(query: _Query, p: Constants) -> None:
    """Every row from the roots of all trees to a leaf of each, whose values are added."""
    query.is_numbered = True
    query.kept.append("ROW_NUMBER() OVER () AS row_id")
    query.step(query.cells)
    rows = query.source
    trees = _Branches(p)
    whens = " ".join(f"WHEN {j} THEN s.c{j}" for j in sorted(trees.features))
    cell = f"CASE e.feature {whens} END"
    outputs = [f"o{k}" for k in range(trees.n_outputs)]
    sums = ", ".join(f"SUM(l.{name}) AS {name}" for name in outputs)
    columns = "parent, feature, low, high, missing, child"
    goes = f"(e.low IS NULL OR {cell} > e.low) AND (e.high IS NULL OR {cell} <= e.high)"
    query.parts += [
        _table("roots", "node", trees.roots),
        _table("branches", columns, trees.branches),
        _table("leaves", ", ".join(["node", *outputs]), trees.leaves),
        "walk(row_id, node) AS (\n"
        f"  SELECT s.row_id, r.node FROM {rows} s CROSS JOIN roots r\n  UNION ALL\n"
        # SQLite takes cross joins in this order, and makes indexes for the last two
        f"  SELECT w.row_id, e.child FROM walk w CROSS JOIN {rows} s CROSS JOIN branches e\n"
        "  WHERE s.row_id = w.row_id AND e.parent = w.node AND ("
        f"({cell} IS NULL AND e.missing = 1) OR ({cell} IS NOT NULL AND {goes}))\n)",
        f"sums AS MATERIALIZED (\n  SELECT w.row_id AS of_row, {sums}\n"
        "  FROM walk w CROSS JOIN leaves l WHERE l.node = w.node GROUP BY w.row_id\n)",
    ]
    query.source = f"{rows} JOIN sums ON sums.of_row = {rows}.row_id"
    query.step([f"{_number(start)} + o{k}" for k, start in enumerate(p["start"])])


def _table(name: str, columns: str, rows: list[str]) -> str:
    listed = ",\n  ".join(rows)
    return f"{name}({columns}) AS MATERIALIZED (\n  VALUES {listed}\n)"


# -- a few small trees: one expression each --------------------------------------------


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
    # PostgreSQL refuses the whole query where a number is too small to be normal
    query.step(
        [f"CASE WHEN {cell} < -700 THEN 0.0 ELSE EXP({cell}) END" for cell in cells]
    )
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
            # PostgreSQL refuses the whole query where a number overflows
            reach = _number(1e150 / max(math.sqrt(half), 1e-150))
            far = f"WHEN ABS({away}) > {reach} THEN {_number(-1e300)}"
            sums[k].append(f"COALESCE(CASE {far} ELSE {term} END, 0.0)")
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
    _check_names(names)
    query = _Query(names, table)
    query.step([_read(column, table) for column in program.columns])
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
    if query.is_numbered:
        head += (
            "-- Rows walk through tables of branches: of large forests SQLite answers a row in"
            " seconds;\n-- for many rows take DuckDB or PostgreSQL.\n"
        )
    return head + query.text(_answers(program, query))


def _check_names(names: list[str]) -> None:
    """Raise an error if two names are one to databases, which do not look at capitals."""
    seen: dict[str, str] = {}
    for name in names:
        other = seen.setdefault(name.lower(), name)
        if other != name:
            raise ExportError(
                f"the columns {other!r} and {name!r} are one in SQL: rename one, or use .js or .py"
            )


def sql_answers(
    query: str, program: Program, records: list[dict[str, Any]]
) -> list[dict[str, Any] | str] | None:
    """What SQLite answers to some records, a text where it refuses; None if its build lacks the
    functions that the query calls."""
    names = [column["name"] for column in program.columns]
    rows = [[record[name] for name in names] for record in records]
    holes = ", ".join("?" * len(names))
    database = sqlite3.connect(":memory:")
    try:
        columns = ", ".join(map(_name, names))
        database.execute(f"CREATE TABLE rows_to_predict ({columns})")
        database.executemany(f"INSERT INTO rows_to_predict VALUES ({holes})", rows)
        answers = database.execute(query.rstrip().rstrip(";")).fetchall()
    except sqlite3.OperationalError as error:
        if "no such function" in str(error):
            return None
        raise ExportError(f"SQLite does not take the query: {error}") from error
    finally:
        database.close()
    return [_answer(row[len(names) :], program) for row in answers]


def _answer(row: tuple[Any, ...], program: Program) -> dict[str, Any] | str:
    predicted = row[0]
    if predicted is None:
        return "refused"
    labels = program.labels
    if labels is None:
        return {"predicted": predicted}
    if predicted not in labels:
        raise ExportError(f"SQLite answers {predicted!r}, which is no class")
    answer = {"predicted": labels[labels.index(predicted)]}
    if program.has_posteriors:
        answer["probabilities"] = dict(zip(labels, row[1:], strict=True))
    return answer


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

"""A program as C99: one function, constants as static arrays, no allocation, only math.h."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from lyceum.errors import ExportError
from lyceum.export.program import Program, comment_text, program_title

Constants = dict[str, Any]


def _number(value: float) -> str:
    if value != value:
        return "NAN"
    if value in (float("inf"), float("-inf")):
        return "INFINITY" if value > 0 else "-INFINITY"
    return repr(float(value))


def _text(value: Any) -> str:
    """A string of C; what is not ASCII is written as the bytes of UTF-8."""
    parts = []
    for byte in str(value).encode():
        plain = 32 <= byte < 127 and chr(byte) not in '"\\?'
        parts.append(chr(byte) if plain else f"\\{byte:03o}")
    return f'"{"".join(parts)}"'


class _Code:
    """C lines; arrays of constants get names of their own."""

    def __init__(self) -> None:
        self.constants: list[str] = []
        self.lines: list[str] = []
        self.width = 0

    def array(self, values: list[Any], kind: str = "double") -> str:
        name = f"k{len(self.constants)}"
        write = _number if kind == "double" else str
        cells = ", ".join(write(value) for value in values) or "0"
        size = max(1, len(values))
        self.constants.append(f"static const {kind} {name}[{size}] = {{{cells}}};")
        return name

    def add(self, *lines: str) -> None:
        self.lines += lines

    def to(self, width: int, *lines: str) -> None:
        """Lines that fill `y` from `x`; then y is x."""
        self.add(*lines, f"memcpy(x, y, {width} * sizeof(double));")
        self.width = width


def _recode(code: _Code, p: Constants) -> None:
    for j, kind, values in p["changes"]:
        name = code.array(values)
        size = len(values)
        if kind == "numbers to codes":
            code.add(f"x[{j}] = index_of(x[{j}], {name}, {size});")
        else:
            unknown = "NAN" if kind == "codes to numbers" else f"x[{j}]"
            known = f"x[{j}] >= 0 ? {name}[(int)x[{j}]] : {unknown}"
            code.add(f"if (!isnan(x[{j}])) x[{j}] = {known};")


def _pick(code: _Code, p: Constants) -> None:
    name = code.array(p["columns"], "int")
    width = len(p["columns"])
    code.to(width, f"for (j = 0; j < {width}; j++) y[j] = x[{name}[j]];")


def _require(code: _Code, p: Constants) -> None:
    bad = "isinf(x[j])" if p["takes_missing"] else "!isfinite(x[j])"
    code.add(f"for (j = 0; j < {len(p['names'])}; j++) if ({bad}) return -1 - j;")


def _fill(code: _Code, p: Constants) -> None:
    name = code.array(p["values"])
    n = len(p["values"])
    for k, j in enumerate(p["flagged"]):
        code.add(f"x[{n + k}] = isnan(x[{j}]) ? 1.0 : 0.0;")
    code.add(f"for (j = 0; j < {n}; j++) if (isnan(x[j])) x[j] = {name}[j];")
    code.width = n + len(p["flagged"])


def _affine(code: _Code, p: Constants) -> None:
    center = code.array(p["center"])
    scale = code.array(p["scale"])
    code.add(
        f"for (j = 0; j < {code.width}; j++) x[j] = (x[j] - {center}[j]) / {scale}[j];"
    )
    if p["gain"] is not None:
        gain = code.array(p["gain"])
        offset = code.array(p["offset"])
        code.add(
            f"for (j = 0; j < {code.width}; j++) x[j] = x[j] * {gain}[j] + {offset}[j];"
        )
    if p["low"] is not None:
        low = code.array(p["low"])
        high = code.array(p["high"])
        clip = f"x[j] < {low}[j] ? {low}[j] : x[j] > {high}[j] ? {high}[j] : x[j]"
        code.add(f"for (j = 0; j < {code.width}; j++) x[j] = {clip};")


def _expand(code: _Code, p: Constants) -> None:
    columns = code.array(p["columns"], "int")
    sizes = code.array([size for size, _ in p["layout"]], "int")
    firsts = code.array([first for _, first in p["layout"]], "int")
    width = sum(max(1, size) for size, _ in p["layout"])
    code.to(
        width,
        f"for (i = 0, n = 0; i < {len(p['columns'])}; i++) {{",
        f"  double cell = x[{columns}[i]];",
        f"  if ({sizes}[i] == 0) y[n++] = cell;",
        f"  for (k = 0; k < {sizes}[i]; k++)",
        f"    y[n++] = isnan(cell) ? NAN : (int)cell == {firsts}[i] + k;",
        "}",
    )


def _linear(code: _Code, p: Constants) -> None:
    coef = code.array([value for row in p["coef"] for value in row])
    intercept = code.array(p["intercept"])
    outputs = len(p["coef"])
    inputs = len(p["coef"][0])
    code.to(
        outputs,
        f"for (k = 0; k < {outputs}; k++) {{",
        "  double sum = 0;",
        f"  for (j = 0; j < {inputs}; j++) sum += {coef}[k * {inputs} + j] * x[j];",
        f"  y[k] = {intercept}[k] + sum;",
        "}",
    )


def _trees(code: _Code, p: Constants) -> None:
    outputs = len(p["start"])
    start = code.array(p["start"])
    code.add(f"memcpy(y, {start}, sizeof {start});")
    for tree in p["trees"]:
        arrays = [
            code.array(tree[name], kind)
            for name, kind in (
                ("feature", "int"),
                ("kind", "int"),
                ("child", "int"),
                ("n_children", "int"),
                ("threshold", "double"),
                ("table", "int"),
                ("n_codes", "int"),
                ("missing", "int"),
                ("cuts", "double"),
                ("branches", "int"),
                ("weight", "double"),
            )
        ]
        width = len(tree["value"][0])
        values = code.array([value for node in tree["value"] for value in node])
        name = f"t{len(code.constants)}"
        listed = ", ".join([*arrays, values, str(width)])
        code.constants.append(f"static const tree {name} = {{{listed}}};")
        code.add(f"walk(x, &{name}, 0, 1.0, y + {tree['column']});")
    code.to(outputs)


def _before(code: _Code, p: Constants) -> None:
    name = code.array(p["values"])
    n = len(p["values"])
    code.to(
        n + code.width,
        f"memcpy(y, {name}, sizeof {name});",
        f"memcpy(y + {n}, x, {code.width} * sizeof(double));",
    )


def _sides(code: _Code, p: Constants) -> None:
    code.to(2, "y[1] = x[0] >= 0;", "y[0] = 1 - y[1];")


def _activate(code: _Code, p: Constants) -> None:
    formula = {
        "sigmoid": "1.0 / (1.0 + exp(-x[j]))",
        "log_sigmoid": "fmin(x[j], 0.0) - log1p(exp(-fabs(x[j])))",
        "tanh": "tanh(x[j])",
        "relu": "fmax(x[j], 0.0)",
    }[p["function"]]
    code.add(f"for (j = 0; j < {code.width}; j++) x[j] = {formula};")


def _softmax(code: _Code, p: Constants) -> None:
    n = code.width
    code.add(
        "{",
        "  double top = x[0], sum = 0;",
        f"  for (k = 1; k < {n}; k++) if (x[k] > top) top = x[k];",
        f"  for (k = 0; k < {n}; k++) sum += x[k] = isinf(top) ? 1.0 : exp(x[k] - top);",
        f"  for (k = 0; k < {n}; k++) x[k] /= sum;",
        "}",
    )


def _shares(code: _Code, p: Constants) -> None:
    n = code.width
    code.add(
        "{",
        "  double sum = 0;",
        f"  for (k = 0; k < {n}; k++) sum += x[k];",
        f"  for (k = 0; k < {n}; k++) x[k] /= sum;",
        "}",
    )


def _column_densities(code: _Code, p: Constants) -> None:
    n = len(p["log_prior"])
    prior = code.array(p["log_prior"])
    code.add(f"memcpy(y, {prior}, sizeof {prior});")
    for j, means, halves, peaks in p["gaussians"]:
        m, h, q = (code.array(values) for values in (means, halves, peaks))
        term = f"{q}[k] - {h}[k] * (x[{j}] - {m}[k]) * (x[{j}] - {m}[k])"
        code.add(f"if (!isnan(x[{j}])) for (k = 0; k < {n}; k++) y[k] += {term};")
    for j, table in p["tables"]:
        cells = code.array([value for row in table for value in row])
        known = f"x[{j}] >= 0 && x[{j}] < {len(table)}"
        cell = f"{cells}[(int)x[{j}] * {n} + k]"
        code.add(f"if ({known}) for (k = 0; k < {n}; k++) y[k] += {cell};")
    code.to(n)


_OPERATIONS: dict[str, Callable[[_Code, Constants], None]] = {
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
    "activate": _activate,
    "softmax": _softmax,
    "shares": _shares,
    "column_densities": _column_densities,
}

_INDEX = """static double index_of(double value, const double *values, int n) {
  if (isnan(value)) return value;
  for (int i = 0; i < n; i++) if (values[i] == value) return i;
  return -1;
}
"""

_TREE = """typedef struct {
  const int *feature, *kind, *child, *n_children;
  const double *threshold;
  const int *table, *n_codes, *missing;
  const double *cuts;
  const int *branches;
  const double *weight, *value;
  int width;
} tree;

/* Adds the value of the leaf that x comes to; where a cell is missing, all children may share. */
static void walk(const double *x, const tree *t, int node, double share, double *out) {
  while (t->kind[node] != 0) {
    double cell = x[t->feature[node]];
    int first = t->child[node], step = 0;
    if (isnan(cell)) {
      step = t->missing[node];
      if (step < 0) {
        double whole = 0;
        for (int c = first; c < first + t->n_children[node]; c++) whole += t->weight[c];
        for (int c = first; c < first + t->n_children[node]; c++)
          if (t->weight[c] > 0) walk(x, t, c, share * (t->weight[c] / whole), out);
        return;
      }
    } else if (t->kind[node] == 1) {
      step = !(cell <= t->threshold[node]);
    } else if (t->kind[node] == 2) {
      while (step < t->n_children[node] - 1 && t->cuts[t->table[node] + step] < cell) step++;
    } else {
      step = cell >= 0 && cell < t->n_codes[node] ? t->branches[t->table[node] + (int)cell] : -1;
      if (step < 0) break;
    }
    node = first + step;
  }
  for (int k = 0; k < t->width; k++) out[k] += share * t->value[node * t->width + k];
}
"""


def write_c(program: Program) -> str:
    """The program as one file of C."""
    if program.costs is not None:
        raise ExportError(
            "costs are not written in C: export the model inside, or as .js or .py"
        )
    code = _Code()
    code.width = len(program.columns)
    widest = code.width
    for name, constants in program.operations:
        if name not in _OPERATIONS:
            raise ExportError(
                f"{program.name} ({name}) is not written in C: use .js or .py"
            )
        _OPERATIONS[name](code, constants)
        widest = max(widest, code.width)
    used = {name for name, _ in program.operations}
    lines = [
        *_head(program, code.width),
        *([_INDEX] if "recode" in used else []),
        *([_TREE] if "trees" in used else []),
        *code.constants,
        "",
        *_codes(program),
        "/* 0, or -1 - j where cell j is missing or infinite and may not be. */",
        "int model_decide(const double *cells, double *out) {",
        f"  double x[{widest + 1}], y[{widest + 1}];",
        "  int i = 0, j = 0, k = 0, n = 0;",
        "  (void)i; (void)j; (void)k; (void)n; (void)y;",
        f"  memcpy(x, cells, {len(program.columns)} * sizeof(double));",
        *(f"  {line}" for line in code.lines),
        f"  memcpy(out, x, {code.width} * sizeof(double));",
        "  return 0;",
        "}",
        "",
    ]
    return "\n".join(lines)


def _head(program: Program, n_outputs: int) -> list[str]:
    names = [
        json.dumps(column["name"]).replace("*/", "* /").replace("/*", "/ *")
        for column in program.columns
    ]
    return [
        f"/* {program_title(program)}",
        f"   {len(names)} cells in, in this order: a number, the code of a category",
        "   (model_code), or NAN where one is missing.",
        *(f"   {j}: {name}" for j, name in enumerate(names)),
        f"   {n_outputs} numbers out: {_outputs(program)}. */",
        "#include <math.h>",
        "#include <string.h>",
        "",
    ]


def _outputs(program: Program) -> str:
    if program.labels is None:
        return "the prediction"
    kind = "probabilities" if program.has_posteriors else "scores"
    labels = comment_text(", ".join(map(str, program.labels)))
    return f"{kind} of {labels}"


def _codes(program: Program) -> list[str]:
    """The function that finds the code of a category."""
    lines = [
        "/* The code of a category of a column; -1 if it is unknown. */",
        "double model_code(int column, const char *text) {",
        "  (void)text; /* not read where all columns are numbers */",
        "  switch (column) {",
    ]
    for j, column in enumerate(program.columns):
        if column["codes"] is not None:
            lines.append(f"  case {j}:")
            for text, value in column["codes"].items():
                lines.append(f"    if (!strcmp(text, {_text(text)})) return {value};")
            lines.append("    return -1;")
    return [*lines, "  default: return -1;", "  }", "}", ""]

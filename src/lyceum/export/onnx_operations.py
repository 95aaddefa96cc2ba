"""The operations of a program as nodes of ONNX.

A row of the table is a row of a matrix (N, d) in which NaN is a missing cell and -1 an unknown
category; every operation of `lyceum.export.runtime` turns one such matrix into the next. Trees are
the operator TreeEnsemble of ai.onnx.ml 5, which has doubles.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from lyceum.export.onnx_graph import Graph
from lyceum.export.onnx_trees import tree_sums

Constants = dict[str, Any]
_TINY = float(np.finfo(np.float64).tiny)  # below it numbers lose their digits


def _pick(graph: Graph, x: str, p: Constants) -> str:
    return graph.columns(x, p["columns"])


def _recode(graph: Graph, x: str, p: Constants) -> str:
    changes = {j: (kind, values) for j, kind, values in p["changes"]}
    d = max(changes) + 1
    parts = []
    for j in range(d):
        cells = graph.columns(x, j)
        if j in changes:
            kind, values = changes[j]
            if kind == "numbers to codes":
                cells = _codes_of(graph, cells, values)
            else:
                other = -1.0 if kind == "codes to codes" else math.nan
                cells = graph.entry(cells, values, math.nan, other)
        parts.append(graph.inserted(cells, 1))
    end = graph.index([np.iinfo(np.int64).max])
    parts.append(graph.node("Slice", x, graph.index([d]), end, graph.index([1])))
    return graph.beside(parts)


def _codes_of(graph: Graph, cells: str, values: list[float]) -> str:
    """The index of the value that a cell equals, -1 where there is none."""
    equal = graph.node("Equal", graph.inserted(cells, 1), graph.constant([values]))
    counts = graph.constant(np.arange(1.0, len(values) + 1.0)[:, None])
    codes = graph.node("MatMul", graph.number(equal), counts)
    codes = graph.node("Squeeze", codes, graph.index([1]))
    codes = graph.node("Sub", codes, graph.constant(1.0))
    return graph.node("Where", graph.node("IsNaN", cells), cells, codes)


def _require(graph: Graph, x: str, p: Constants) -> str:
    graph.refused.append(graph.any(graph.node("IsInf", x)))
    if not p["takes_missing"]:
        graph.refused.append(graph.any(graph.node("IsNaN", x)))
        graph.may_be_missing = False
    return x


def _fill(graph: Graph, x: str, p: Constants) -> str:
    graph.may_be_missing = False
    missing = graph.node("IsNaN", x)
    filled = graph.node("Where", missing, graph.constant([p["values"]]), x)
    if not p["flagged"]:
        return filled
    flags = graph.columns(graph.number(missing), p["flagged"])
    return graph.beside([filled, flags])


def _affine(graph: Graph, x: str, p: Constants) -> str:
    x = graph.node("Sub", x, graph.constant([p["center"]]))
    x = graph.node("Div", x, graph.constant([p["scale"]]))
    if p["gain"] is not None:
        x = graph.node("Mul", x, graph.constant([p["gain"]]))
        x = graph.node("Add", x, graph.constant([p["offset"]]))
    if p["low"] is None:
        return x
    cut = graph.node("Max", x, graph.constant([p["low"]]))
    cut = graph.node("Min", cut, graph.constant([p["high"]]))
    return graph.node("Where", graph.node("IsNaN", x), x, cut)


def _expand(graph: Graph, x: str, p: Constants) -> str:
    columns: list[int] = []
    kinds: list[float] = []
    for j, (size, first) in zip(p["columns"], p["layout"]):
        columns += [j] * max(size, 1)
        kinds += [math.nan] if size == 0 else range(first, first + size)
    cells = graph.columns(x, columns)
    codes = np.array(kinds, dtype=np.float64)
    equal = graph.number(graph.node("Equal", cells, graph.constant([codes])))
    as_it_is = graph.node(
        "Or",
        graph.node("IsNaN", cells),
        graph.constant([np.isnan(codes)], np.bool_),
    )
    return graph.node("Where", as_it_is, cells, equal)


def _linear(graph: Graph, x: str, p: Constants) -> str:
    coef = np.array(p["coef"], dtype=np.float64)
    if not coef.size:
        return graph.rows_like(x, p["intercept"])
    sums = graph.node("MatMul", x, graph.constant(coef.T))
    return graph.node("Add", sums, graph.constant([p["intercept"]]))


def _gaussians(graph: Graph, x: str, p: Constants) -> str:
    scores = []
    for mean, whiten, constant in zip(p["means"], p["whiten"], p["constant"]):
        away = graph.node("Sub", x, graph.constant([mean]))
        away = graph.node("MatMul", away, graph.constant(np.array(whiten).T))
        square = graph.total(graph.node("Mul", away, away), keep=True)
        half = graph.node("Mul", square, graph.constant(0.5))
        scores.append(graph.node("Sub", graph.constant(constant), half))
    return graph.beside(scores)


def _column_densities(graph: Graph, x: str, p: Constants) -> str:
    total = graph.constant([p["log_prior"]])
    if p["gaussians"]:
        columns, means, halves, peaks = zip(*p["gaussians"])
        cells = graph.inserted(graph.columns(x, columns), 2)
        away = graph.node("Sub", cells, graph.constant([means]))
        loss = graph.node(
            "Mul", graph.constant([halves]), graph.node("Mul", away, away)
        )
        density = graph.node("Sub", graph.constant([peaks]), loss)
        nothing = graph.constant(0.0)
        density = graph.node("Where", graph.node("IsNaN", cells), nothing, density)
        total = graph.node("Add", total, graph.total(density))
    zeros = [0.0] * len(p["log_prior"])
    for j, table in p["tables"]:
        entries = graph.entry(graph.columns(x, j), table, zeros, zeros)
        total = graph.node("Add", total, entries)
    return total


def _trees(graph: Graph, x: str, p: Constants) -> str:
    return graph.node("Add", graph.constant([p["start"]]), tree_sums(graph, x, p))


def _kernel(graph: Graph, x: str, p: Constants) -> str:
    rows = np.array(p["rows"], dtype=np.float64)
    if p["kind"] == "rbf":
        square = _squared_distances(graph, x, rows)
        return graph.node("Exp", graph.node("Mul", square, graph.constant(-p["gamma"])))
    product = graph.node("MatMul", x, graph.constant(rows.T))
    product = graph.node("Mul", product, graph.constant(p["gamma"]))
    product = graph.node("Add", product, graph.constant(p["shift"]))
    if p["kind"] == "polynomial":
        return graph.node("Pow", product, graph.constant(p["degree"]))
    return graph.node("Tanh", product) if p["kind"] == "sigmoid" else product


def _squared_distances(graph: Graph, x: str, rows: np.ndarray) -> str:
    """|x - row|² from the differences themselves: |x|² + |row|² - 2 x·row would lose digits."""
    away = graph.node("Sub", graph.inserted(x, 1), graph.constant(rows[None]))
    return graph.total(graph.node("Mul", away, away), axis=2)


def _cut(graph: Graph, x: str, p: Constants) -> str:
    parts = []
    for j, cuts in enumerate(p["cuts"]):
        cells = graph.columns(x, [j])
        if cuts is not None:
            above = graph.number(graph.node("Less", graph.constant([cuts]), cells))
            code = graph.total(above, keep=True)
            cells = graph.node("Where", graph.node("IsNaN", cells), cells, code)
        parts.append(cells)
    return graph.beside(parts)


def _branches(graph: Graph, x: str, p: Constants) -> str:
    may_be_missing = graph.may_be_missing
    parts = []
    for operations in p["branches"]:
        graph.may_be_missing = may_be_missing
        parts.append(add_operations(graph, x, operations))
    return graph.beside(parts)


def _vote(graph: Graph, x: str, p: Constants) -> str:
    best = graph.node("ArgMax", x, axis=1, keepdims=1)
    size = graph.node("Shape", x, start=1, end=2)
    size = graph.node("Squeeze", size, graph.index([0]))
    numbers = graph.node("Range", graph.index(0), size, graph.index(1))
    return graph.number(graph.node("Equal", best, numbers))


def _scatter(graph: Graph, x: str, p: Constants) -> str:
    spread = np.zeros((len(p["columns"]), p["size"]))
    spread[np.arange(len(spread)), p["columns"]] = 1.0
    return graph.node("MatMul", x, graph.constant(spread))


def _fuse(graph: Graph, x: str, p: Constants) -> str:
    answers = graph.node("Reshape", x, graph.index([0, -1, p["width"]]))
    if p["rule"] == "maximum":
        return graph.node("ReduceMax", answers, graph.index([1]), keepdims=0)
    if p["rule"] == "minimum":
        least = graph.node("ReduceMin", answers, graph.index([1]), keepdims=0)
        if p["width"] == 1:
            return least
        plain = graph.node("ReduceMean", answers, graph.index([1]), keepdims=0)
        return _where_some(graph, least, plain)
    weights = np.array(p["weights"], dtype=np.float64)[:, None]
    if p["rule"] == "median":
        return _median(graph, answers, len(weights))
    weighted = graph.node("Mul", answers, graph.constant(weights))
    mean = graph.total(weighted)
    if p["rule"] == "sum":
        return mean
    powers = np.ones_like(weights) if np.ptp(weights) == 0 else weights * len(weights)
    factors = graph.node("Pow", answers, graph.constant(powers))
    product = graph.columns(factors, 0)
    for i in range(1, len(weights)):
        product = graph.node("Mul", product, graph.columns(factors, i))
    return _where_some(graph, product, mean)


def _where_some(graph: Graph, fused: str, mean: str) -> str:
    """The mean decides where every class has zero, or next to it."""
    total = graph.total(fused, keep=True)
    some = graph.node("GreaterOrEqual", total, graph.constant(_TINY))
    return graph.node("Where", some, fused, mean)


def _median(graph: Graph, answers: str, n_members: int) -> str:
    ordered = _smallest(graph, answers, n_members // 2 + 1)[0]
    last = graph.columns(ordered, n_members // 2)
    if n_members % 2:
        return last
    sums = graph.node("Add", graph.columns(ordered, n_members // 2 - 1), last)
    return graph.node("Mul", sums, graph.constant(0.5))


def _smallest(graph: Graph, x: str, k: int) -> list[str]:
    """The k smallest along axis 1, ascending, the first of equals first, and where they are."""
    return graph.nodes_of("TopK", 2, x, graph.index([k]), axis=1, largest=0, sorted=1)


def _distances(graph: Graph, x: str, p: Constants) -> str:
    rows = np.array(p["rows"], dtype=np.float64)
    if p["metric"] == "manhattan":
        away = graph.node("Sub", graph.inserted(x, 1), graph.constant(rows[None]))
        return graph.total(graph.node("Abs", away), axis=2)
    return graph.node("Sqrt", _squared_distances(graph, x, rows))


def _nearest(graph: Graph, x: str, p: Constants) -> str:
    distances, rows = _smallest(graph, x, p["k"])
    votes = _neighbor_votes(graph, distances, p["votes"], p["bandwidth"])
    total = graph.total(votes, keep=True)
    some = graph.node("Greater", total, graph.constant(0.0))
    votes = graph.node("Where", some, votes, graph.constant(1.0))
    targets = graph.node("Gather", graph.constant(p["targets"]), rows, axis=0)
    sums = graph.total(graph.node("Mul", graph.inserted(votes, 2), targets))
    return graph.node("Div", sums, graph.total(votes, keep=True))


def _neighbor_votes(graph: Graph, d: str, kind: str, bandwidth: float | None) -> str:
    one = graph.constant(1.0)
    if kind == "uniform":
        return graph.node("Add", graph.node("Mul", d, graph.constant(0.0)), one)
    first = graph.columns(d, [0])
    if kind in ("distance", "inverse_square"):
        hit = graph.node("Equal", d, graph.constant(0.0))
        ratio = graph.node("Div", first, graph.node("Where", hit, one, d))
        if kind == "inverse_square":
            ratio = graph.node("Mul", ratio, ratio)
        hits = graph.node("Equal", first, graph.constant(0.0))
        return graph.node("Where", hits, graph.number(hit), ratio)
    width = graph.constant([[bandwidth or 0.0]])
    if not bandwidth:
        width = graph.largest(d)
        flat = graph.node("Equal", width, graph.constant(0.0))
        width = graph.node("Where", flat, one, width)
    if kind == "shifted_inverse_square":
        share = graph.node("Div", width, graph.node("Add", width, d))
        return graph.node("Mul", share, share)
    d = graph.node("Div", d, width)
    first = graph.node("Div", first, width)
    square = graph.node("Mul", d, d)
    away = graph.node("Sub", graph.node("Mul", first, first), square)
    factor = 0.5 if kind == "gaussian" else 1.0
    return graph.node("Exp", graph.node("Mul", away, graph.constant(factor)))


def _pairs(graph: Graph, x: str, p: Constants) -> str:
    signs = np.zeros((len(p["machines"]), p["size"]))
    for i, (against, favored) in enumerate(p["machines"]):
        signs[i, favored] = 1.0
        signs[i, against] = -1.0
    compare = "Greater" if p["strict"] else "GreaterOrEqual"
    won = graph.number(graph.node(compare, x, graph.constant(0.0)))
    lost = graph.node("Sub", graph.constant(1.0), won)
    votes = graph.node(
        "Add",
        graph.node("MatMul", won, graph.constant((signs > 0).astype(np.float64))),
        graph.node("MatMul", lost, graph.constant((signs < 0).astype(np.float64))),
    )
    if not p["breaks_ties"]:
        return votes
    sums = graph.node("MatMul", x, graph.constant(signs))
    size = graph.node("Add", graph.node("Abs", sums), graph.constant(1.0))
    size = graph.node("Mul", size, graph.constant(3.0))
    return graph.node("Add", votes, graph.node("Div", sums, size))


def _pair_shares(graph: Graph, x: str, p: Constants) -> str:
    """r_ij, (N, K, K), by where in x and 1 - x it is; zeros on the diagonal."""
    size = p["size"]
    one = graph.constant(1.0)
    both = graph.beside([x, graph.node("Sub", one, x), graph.rows_like(x, [0.0])])
    index = np.full((size, size), 2 * len(p["pairs"]))
    for number, (i, j) in enumerate(p["pairs"]):
        index[j, i] = number
        index[i, j] = len(p["pairs"]) + number
    r = graph.columns(both, index)
    r = graph.node("Max", r, graph.constant(p["least"]))
    r = graph.node("Min", r, graph.constant(1.0 - p["least"]))
    return graph.node("Mul", r, graph.constant(1.0 - np.eye(size)))


def _couple(graph: Graph, x: str, p: Constants) -> str:
    size = p["size"]
    one = graph.constant(1.0)
    r = _pair_shares(graph, x, p)
    product = graph.node("Mul", r, graph.node("Transpose", r, perm=[0, 2, 1]))
    squares = graph.inserted(graph.total(graph.node("Mul", r, r)), 2)
    diagonal = graph.node("Mul", squares, graph.constant(np.eye(size)))
    rows = graph.node("Add", graph.node("Sub", one, product), diagonal)
    right = graph.inserted(graph.rows_like(x, [1.0] * size), 2)
    rows = graph.node("Concat", rows, right, axis=2)
    known = _eliminate(graph, rows, size)
    known = graph.node("Div", known, graph.total(known, keep=True))
    return _shares(graph, graph.node("Max", known, graph.constant(p["floor"])), {})


def _eliminate(graph: Graph, rows: str, size: int) -> str:
    """The solutions of systems (N, K, K + 1) of positive definite matrices, (N, K)."""
    # elimination: every row less its cell of the pivot's column times the pivot's row
    for i in range(size):
        pivot = graph.columns(rows, [i])
        cell = graph.node("Gather", pivot, graph.index([i]), axis=2)
        pivot = graph.node("Div", pivot, cell)
        factors = graph.node("Gather", rows, graph.index([i]), axis=2)
        unit = np.eye(size)[:, [i]]
        factors = graph.node("Sub", factors, graph.constant(unit))
        rows = graph.node("Sub", rows, graph.node("Mul", factors, pivot))
    return graph.node("Gather", rows, graph.index(size), axis=2)


def _weighted_median(graph: Graph, x: str, p: Constants) -> str:
    ordered, order = _smallest(graph, x, len(p["weights"]))
    weights = graph.node("Gather", graph.constant(p["weights"]), order)
    reached = graph.node("CumSum", weights, graph.index(1))
    half = 0.5 * sum(p["weights"]) * (1.0 - 1e-12)
    enough = graph.node("GreaterOrEqual", reached, graph.constant(half))
    first = graph.node("ArgMax", graph.number(enough), axis=1, keepdims=1)
    return graph.node("GatherElements", ordered, first, axis=1)


def _cascade(graph: Graph, x: str, p: Constants) -> str:
    """From the last stage back: the answer of a stage, or that of the one which it asks."""
    width = p["width"]
    decided: list[str] = []
    for stage in reversed(range(len(p["thresholds"]))):
        columns = list(range(stage * width, (stage + 1) * width))
        answer = graph.columns(x, columns)
        sure = graph.node(
            "GreaterOrEqual",
            graph.largest(answer),
            graph.constant(p["thresholds"][stage]),
        )
        best = graph.node("ArgMax", answer, axis=1, keepdims=1)
        onward = graph.node("Gather", graph.index(p["next"][stage]), best)
        result = answer
        # `decided` has the later stages, the last one first
        for back, later in enumerate(decided):
            number = len(p["thresholds"]) - 1 - back
            goes = graph.node("Equal", onward, graph.index(number))
            goes = graph.node("And", goes, graph.node("Not", sure))
            result = graph.node("Where", goes, later, result)
        decided.append(result)
    return decided[-1]


def _radial(graph: Graph, x: str, p: Constants) -> str:
    square = _squared_distances(graph, x, np.array(p["centers"], dtype=np.float64))
    loss = graph.node("Mul", square, graph.constant([p["halves"]]))
    return graph.node("Sub", graph.constant([p["constants"]]), loss)


def _mix(graph: Graph, x: str, p: Constants) -> str:
    n = p["n"]
    shares = graph.inserted(graph.columns(x, list(range(n))), 2)
    answers = graph.columns(x, list(range(n, n + n * p["width"])))
    answers = graph.node("Reshape", answers, graph.index([0, n, p["width"]]))
    return graph.total(graph.node("Mul", shares, answers))


def _before(graph: Graph, x: str, p: Constants) -> str:
    return graph.beside([graph.rows_like(x, p["values"]), x])


def _sides(graph: Graph, x: str, p: Constants) -> str:
    first = graph.columns(x, [0])
    second = graph.number(graph.node("GreaterOrEqual", first, graph.constant(0.0)))
    return graph.beside([graph.node("Sub", graph.constant(1.0), second), second])


def _activate(graph: Graph, x: str, p: Constants) -> str:
    zero = graph.constant(0.0)
    if p["function"] == "tanh":
        return graph.node("Tanh", x)
    if p["function"] == "relu":
        return graph.node("Max", x, zero)
    if p["function"] == "exp":
        return graph.node("Exp", graph.node("Min", x, graph.constant(700.0)))
    if p["function"] == "sign":
        signs = (graph.constant(1.0), graph.constant(-1.0))
        return graph.node("Where", graph.node("Greater", x, zero), *signs)
    # e = exp(-|x|) cannot overflow
    power = graph.node("Exp", graph.node("Neg", graph.node("Abs", x)))
    more = graph.node("Add", power, graph.constant(1.0))
    if p["function"] == "log_sigmoid":
        return graph.node("Sub", graph.node("Min", x, zero), graph.node("Log", more))
    positive = graph.node("GreaterOrEqual", x, zero)
    top = graph.node("Where", positive, graph.constant(1.0), power)
    return graph.node("Div", top, more)


def _softmax(graph: Graph, x: str, p: Constants) -> str:
    top = graph.largest(x)
    # where every score is -inf the posteriors are equal
    hopeless = graph.node("Equal", top, graph.constant(-math.inf))
    top = graph.node("Where", hopeless, graph.constant(0.0), top)
    power = graph.node("Exp", graph.node("Sub", x, top))
    power = graph.node("Where", hopeless, graph.constant(1.0), power)
    return _shares(graph, power, p)


def _shares(graph: Graph, x: str, p: Constants) -> str:
    total = graph.total(x, keep=True)
    some = graph.node("GreaterOrEqual", total, graph.constant(_TINY))
    total = graph.node("Where", some, total, graph.constant(math.nan))
    shares = graph.node("Div", x, total)
    if "otherwise" not in p:
        return shares
    return graph.node("Where", some, shares, graph.constant([p["otherwise"]]))


_OPERATIONS: dict[str, Callable[[Graph, str, Constants], str]] = {
    "pick": _pick,
    "recode": _recode,
    "require": _require,
    "fill": _fill,
    "affine": _affine,
    "expand": _expand,
    "linear": _linear,
    "gaussians": _gaussians,
    "column_densities": _column_densities,
    "trees": _trees,
    "kernel": _kernel,
    "cut": _cut,
    "branches": _branches,
    "vote": _vote,
    "scatter": _scatter,
    "fuse": _fuse,
    "distances": _distances,
    "nearest": _nearest,
    "pairs": _pairs,
    "couple": _couple,
    "weighted_median": _weighted_median,
    "cascade": _cascade,
    "radial": _radial,
    "mix": _mix,
    "before": _before,
    "sides": _sides,
    "activate": _activate,
    "softmax": _softmax,
    "shares": _shares,
}


def add_operations(graph: Graph, x: str, operations: list[Any]) -> str:
    for name, constants in operations:
        x = _OPERATIONS[name](graph, x, constants)
    return x

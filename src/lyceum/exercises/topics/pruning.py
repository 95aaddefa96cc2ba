"""Pruning trees: the chi-square test, and the price of a leaf."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from scipy.stats import chi2, chi2_contingency

from lyceum.exercises.draw import Draw, few_decimals, no_ties
from lyceum.exercises.exercise import kind
from lyceum.exercises.sheet import Sheet, decimal, equals, tex
from lyceum.trees import ID3, DecisionTreeClassifier, cost_complexity_path


@kind("chi-square-pruning", "Test whether a split is more than chance", "6.5")
def chi_square_pruning(draw: Draw) -> Sheet:
    """Expected counts, the chi-square statistic, and whether the split is made."""
    n_branches = 2 if draw.level < 3 else 3
    counts = [draw.integers(2, 1, 12) for _ in range(n_branches)]
    totals = [sum(column) for column in zip(*counts)]
    n_rows = sum(totals)
    expected = [
        [Fraction(sum(row) * total, n_rows) for total in totals] for row in counts
    ]
    draw.require(
        few_decimals([v for row in expected for v in row], 1), "awkward counts"
    )
    cells = [
        (observed, e, (observed - e) ** 2 / e)
        for row, expected_row in zip(counts, expected)
        for observed, e in zip(row, expected_row)
    ]
    statistic = sum((cell[2] for cell in cells), Fraction(0))
    limit = float(chi2.isf(0.05, n_branches - 1))
    draw.require(abs(float(statistic) - limit) > 0.3, "too near to the limit")
    values = "abc"[:n_branches]
    X = np.array(
        [[v] for v, row in zip(values, counts) for count in row for _ in range(count)],
        dtype=object,
    )
    y = [
        k
        for row in counts
        for k, count in zip(("no", "yes"), row)
        for _ in range(count)
    ]
    tree = ID3(max_p_value=0.05, categorical_features=True).fit(X, y)
    sheet = Sheet()
    sheet.given.text("A column splits the rows of a node like this.")
    sheet.given.table(
        ["value", "no", "yes"], [[v, *row] for v, row in zip(values, counts)]
    )
    table = np.array(counts)
    learned = chi2_contingency(table, correction=False)
    first = expected[0][0]
    sheet.ask(
        "How many rows of class no does chance lead one to expect in the first branch?",
        first,
        float(learned.expected_freq[0, 0]),
        {"half of the rows of the branch": Fraction(sum(counts[0]), 2)},
    )
    no_division = sum((cell[2] * cell[1] for cell in cells), Fraction(0))
    sheet.ask(
        r"What is the statistic $\chi^2 = \sum (o - e)^2 / e$?",
        statistic,
        float(learned.statistic),
        {
            "not divided by the expected counts": no_division,
            "divided by the observed counts": sum(
                ((o - e) ** 2 / o for o, e, _ in cells), Fraction(0)
            ),
        },
    )
    answer = "yes" if statistic > limit else "no"
    sheet.choose(
        f"Is the split made at the level of 5 % (limit {limit:.2f})?",
        answer,
        "yes" if tree.tree_.n_nodes > 1 else "no",
        ["yes", "no"],
    )
    sheet.solution.text(
        "The expected count of a cell is the sum of its row times the sum of its column, over "
        "all rows; that of the first is"
    )
    sheet.solution.formula(
        rf"e = \frac{{{sum(counts[0])} \cdot {totals[0]}}}{{{n_rows}}} {equals(first)}"
    )
    sheet.solution.table(["observed", "expected", "$(o - e)^2 / e$"], cells)
    sheet.solution.formula(rf"\chi^2 {equals(statistic)}")
    relation = "above" if answer == "yes" else "below"
    sheet.solution.text(
        f"This is {relation} the limit for {n_branches - 1} degree"
        f"{'s' if n_branches > 2 else ''} of freedom."
    )
    return sheet


@kind("cost-complexity", "Prune a tree by its cost-complexity path", "6.6")
def cost_complexity(draw: Draw) -> Sheet:
    """The price α of every inner node, the order of pruning, the tree for a given α."""
    n_rows = 6 + 2 * draw.level
    labels = draw.choices([0, 1], n_rows)
    X = np.arange(1.0, n_rows + 1)[:, None]
    draw.require(len(set(labels)) == 2, "only one class")
    tree = DecisionTreeClassifier(criterion="gini").fit(X, labels).tree_
    path = cost_complexity_path(tree, "error")
    alphas = [float(alpha) for alpha in path.alphas]
    draw.require(
        len(alphas) in (3, 4) and no_ties(alphas), "too short or too long a path"
    )
    leaves = [int(count) for count in path.n_leaves]
    errors = [Fraction(round(float(risk) * n_rows), n_rows) for risk in path.risks]
    weakest = [
        (errors[i] - errors[i - 1]) / (leaves[i - 1] - leaves[i])
        for i in range(1, len(errors))
    ]
    draw.require(errors[0] == 0, "rows that cannot be told apart")
    sheet = Sheet()
    sheet.given.text(
        f"Pruning a tree of {n_rows} rows step by step gives these trees, each the best for "
        "its size:"
    )
    rows = [(i, n, tex(e * n_rows)) for i, (n, e) in enumerate(zip(leaves, errors))]
    sheet.given.table(["tree", "leaves", "rows wrong"], rows)
    for index, value in enumerate(weakest, start=1):
        sheet.ask(
            f"From which $\\alpha$ on is tree {index} better than tree {index - 1}, if a leaf "
            "costs $\\alpha$ and errors are counted as shares of the rows?",
            value,
            alphas[index],
            {
                "errors were not divided by the number of rows": value * n_rows,
                "not divided by the number of leaves saved": errors[index]
                - errors[index - 1],
            },
            decimals=4,
        )
        sheet.solution.formula(
            rf"\alpha_{index} = \frac{{{tex(errors[index])} - {tex(errors[index - 1])}}}"
            rf"{{{leaves[index - 1]} - {leaves[index]}}} {equals(value, 4)}"
        )
    best = draw.integer(0, len(weakest))
    prices = [Fraction(0), *weakest, weakest[-1] + Fraction(1, n_rows)]
    between = (prices[best] + prices[best + 1]) / 2
    chosen = int(np.searchsorted(path.alphas, float(between), side="right")) - 1
    sheet.choose(
        f"Which tree is the best for $\\alpha = {decimal(between, 4)}$?",
        best,
        chosen,
        range(len(leaves)),
    )
    limits = []
    if best > 0:
        limits.append(rf"above $\alpha_{best}$")
    if best < len(weakest):
        limits.append(rf"below $\alpha_{best + 1}$")
    sheet.solution.text(
        f"{decimal(between, 4)} is {' and '.join(limits)}: tree {best}."
    )
    return sheet

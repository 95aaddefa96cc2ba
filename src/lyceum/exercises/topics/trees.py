"""Growing trees: information gain, gain ratio, Gini, weighted variance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from lyceum.exercises.draw import (
    CategoryTable,
    Draw,
    category_table,
    clear_winner,
    few_decimals,
    no_ties,
)
from lyceum.exercises.exercise import kind
from lyceum.exercises.sheet import (
    Sheet,
    decimal,
    equals,
    fraction_and_decimal,
    tex,
    with_decimal,
)
from lyceum.trees import ID3, DecisionTreeClassifier, DecisionTreeRegressor

# The best column is ahead of the next by this much, so that rounding cannot change the choice.
MARGIN = 0.03


def entropy(counts: Sequence[int]) -> float:
    """H = −Σ p log₂ p of the shares of classes."""
    total = sum(counts)
    shares = [count / total for count in counts if count]
    return -sum(share * math.log2(share) for share in shares)


def entropy_tex(counts: Sequence[int]) -> str:
    """The same written out."""
    shares = [tex(Fraction(count, sum(counts))) for count in counts if count]
    if len(shares) == 1:
        return "0"
    terms = " - ".join(rf"{share}\log_2 {share}" for share in shares)
    return f"-{terms} {equals(entropy(counts))}"


def _branches(table: CategoryTable, name: str) -> dict[str, list[int]]:
    """Counts of classes for every value that a column has in the table."""
    values = table.theme.columns[name]
    counts = {value: table.where(**{name: value}).counts() for value in values}
    return {value: count for value, count in counts.items() if sum(count)}


def _remainder(table: CategoryTable, name: str) -> float:
    """Σ |branch| / N · H(branch)."""
    branches = _branches(table, name).values()
    return sum(sum(counts) * entropy(counts) for counts in branches) / len(table.rows)


def _gain(table: CategoryTable, name: str) -> float:
    return entropy(table.counts()) - _remainder(table, name)


def _work_gain(sheet: Sheet, table: CategoryTable, name: str) -> None:
    """The gain of a column, written out."""
    total = len(table.rows)
    rows = [
        (value, *counts, f"${entropy_tex(counts)}$")
        for value, counts in _branches(table, name).items()
    ]
    sheet.solution.text(f"**{name}**")
    sheet.solution.table([name, *table.theme.classes, "entropy"], rows)
    weighted = " + ".join(
        rf"{tex(Fraction(sum(counts), total))} \cdot {decimal(entropy(counts))}"
        for counts in _branches(table, name).values()
    )
    before = decimal(entropy(table.counts()))
    gain = equals(_gain(table, name))
    sheet.solution.formula(
        rf"\mathrm{{gain}} = {before} - \left({weighted}\right) {gain}"
    )


def _start(table: CategoryTable, task: str) -> Sheet:
    sheet = Sheet()
    theme = table.theme
    sheet.given.text(
        f"{len(table.rows)} {theme.row}s, and whether `{theme.target}` is "
        f"{theme.classes[1]} or {theme.classes[0]}. {task}"
    )
    sheet.given.table(table.header, table.shown)
    return sheet


def _ask_entropy(sheet: Sheet, table: CategoryTable, learner: float) -> None:
    counts = table.counts()
    value = entropy(counts)
    share = max(counts) / sum(counts)
    sheet.ask(
        f"What is the entropy of `{table.theme.target}`, in bits?",
        value,
        learner,
        {
            "the natural logarithm instead of the binary one": value * math.log(2),
            "the logarithm to base 10 instead of the binary one": value * math.log10(2),
            "only one of the classes was summed": -share * math.log2(share),
        },
    )
    sheet.solution.text("**Before any split**")
    sheet.solution.formula(f"H = {entropy_tex(counts)}")


def _ask_gain(
    sheet: Sheet, table: CategoryTable, name: str, by_hand: float, learner: float
) -> None:
    branches = _branches(table, name).values()
    plain_mean = sum(map(entropy, branches)) / len(branches)
    sheet.ask(
        f"What is the information gain of `{name}`?",
        by_hand,
        learner,
        {
            "the natural logarithm instead of the binary one": by_hand * math.log(2),
            "the entropy that is left, not what is gained": _remainder(table, name),
            "the branches were not weighted by their rows": entropy(table.counts())
            - plain_mean,
        },
    )


@kind("id3", "Grow a decision tree by information gain", "6.1", "6.3")
def id3(draw: Draw) -> Sheet:
    """Entropy, the gain of every column, the root, and the class of a row."""
    table = category_table(draw, 4 + 2 * draw.level, min(2 + draw.level // 2, 3))
    gains = {name: _gain(table, name) for name in table.names}
    draw.require(no_ties(gains.values()), "two columns have the same gain")
    draw.require(clear_winner(gains.values(), MARGIN), "the best gain is not clear")
    model = ID3(categorical_features=True, record=True).fit(
        np.array(table.rows, dtype=object), table.labels
    )
    first = model.record_[0]
    learned = {
        name: candidate["gain"]
        for name, candidate in zip(table.names, first["candidates"])
    }
    sheet = _start(table, "Grow a tree with ID3.")
    _ask_entropy(sheet, table, first["objective"])
    for name in table.names:
        _work_gain(sheet, table, name)
        _ask_gain(sheet, table, name, gains[name], learned[name])
    best = max(gains, key=gains.__getitem__)
    sheet.choose(
        "Which column does the root test?",
        best,
        max(learned, key=learned.__getitem__),
        table.names,
        {
            "the smallest gain was taken instead of the largest": min(
                gains, key=gains.__getitem__
            )
        },
    )
    sheet.solution.text(f"The largest gain is that of `{best}`: the root tests it.")
    _ask_row(sheet, draw, table, best, model)
    return sheet


def _ask_row(
    sheet: Sheet, draw: Draw, table: CategoryTable, best: str, model: ID3
) -> None:
    """Ask for the class of a row that falls into a pure branch of the root."""
    pure = {
        value: table.theme.classes[counts[1] > 0]
        for value, counts in _branches(table, best).items()
        if 0 in counts
    }
    draw.require(bool(pure), "no branch of the root is pure")
    value = draw.choice(list(pure))
    row = [
        value if name == best else table.theme.columns[name][0] for name in table.names
    ]
    predicted = model.predict(np.array([row], dtype=object))[0]
    described = ", ".join(f"{name} = {cell}" for name, cell in zip(table.names, row))
    sheet.choose(
        f"Which class has a {table.theme.row} with {described}?",
        pure[value],
        predicted,
        table.theme.classes,
    )
    sheet.solution.text(
        f"All rows with {best} = {value} have the class {pure[value]}, so that this "
        f"branch is a leaf, and so is the answer for {described}."
    )


def _split_information(table: CategoryTable, name: str) -> float:
    return entropy([sum(counts) for counts in _branches(table, name).values()])


@kind("gain-ratio", "Choose a column by its gain ratio", "6.3")
def gain_ratio(draw: Draw) -> Sheet:
    """Gain, split information and their ratio for every column."""
    table = category_table(draw, 6 + 2 * (draw.level - 1), 2 + draw.level // 2)
    draw.require(
        all(len(_branches(table, name)) > 1 for name in table.names),
        "a constant column",
    )
    ratios = {
        name: _gain(table, name) / _split_information(table, name)
        for name in table.names
    }
    draw.require(clear_winner(ratios.values(), MARGIN), "the best ratio is not clear")
    X = np.array(table.rows, dtype=object)
    model = DecisionTreeClassifier(
        criterion="gain_ratio",
        categorical_split="multiway",
        categorical_features=True,
        record=True,
    ).fit(X, table.labels)
    candidates = model.record_[0]["candidates"]
    sheet = _start(table, "Which column splits best by C4.5's gain ratio?")
    sheet.solution.text("**Before any split**")
    sheet.solution.formula(f"H = {entropy_tex(table.counts())}")
    for name, candidate in zip(table.names, candidates):
        _work_gain(sheet, table, name)
        sizes = [sum(counts) for counts in _branches(table, name).values()]
        sheet.solution.formula(
            rf"\mathrm{{split\ information}} = {entropy_tex(sizes)}, \quad "
            rf"\mathrm{{ratio}} = \frac{{{decimal(_gain(table, name))}}}"
            rf"{{{decimal(_split_information(table, name))}}} "
            f"{equals(ratios[name])}"
        )
        sheet.ask(
            f"What is the gain ratio of `{name}`?",
            ratios[name],
            candidate["score"],
            {
                "the gain was not divided by the split information": _gain(table, name),
                "the gain was multiplied by the split information": _gain(table, name)
                * _split_information(table, name),
                "the entropy of the classes was divided by, not the split "
                "information": _gain(table, name) / entropy(table.counts()),
            },
        )
    best = max(ratios, key=ratios.__getitem__)
    learned = table.names[
        max(range(len(candidates)), key=lambda index: candidates[index]["score"])
    ]
    sheet.choose("Which column is taken?", best, learned, table.names)
    sheet.solution.text(f"The largest ratio is that of `{best}`.")
    return sheet


def gini(counts: Sequence[int]) -> Fraction:
    """1 − Σ p² of the shares of classes."""
    total = sum(counts)
    return 1 - sum((Fraction(count, total) ** 2 for count in counts), Fraction(0))


def gini_tex(counts: Sequence[int]) -> str:
    """The same written out."""
    shares = [Fraction(count, sum(counts)) for count in counts if count]
    squares = " - ".join(rf"\left({tex(share)}\right)^2" for share in shares)
    return f"1 - {squares} = {tex(gini(counts))}"


@kind("cart", "Find the cut with the smallest Gini impurity", "6.2", "6.3")
def cart(draw: Draw) -> Sheet:
    """Gini before the split and after every cut between classes; the best cut."""
    classes = draw.theme.classes
    n_rows = 5 + draw.level
    values = sorted(draw.sample(range(1, 20), n_rows))
    labels = draw.choices(classes, n_rows)
    cuts = [i for i in range(1, n_rows) if labels[i - 1] != labels[i]]
    draw.require(2 <= len(cuts) <= 1 + draw.level, "too few or too many cuts")
    draw.require(
        all((values[i] + values[i - 1]) % 2 == 0 for i in cuts), "cuts with decimals"
    )
    before = gini(_class_counts(labels, classes))
    after = {i: _gini_after(labels, classes, i) for i in cuts}
    decreases = {i: before - value for i, value in after.items()}
    draw.require(clear_winner(decreases.values(), 0.02), "the best cut is not clear")
    best = max(decreases, key=decreases.__getitem__)
    threshold = (values[best - 1] + values[best]) // 2
    X = np.array(values, dtype=float)[:, None]
    record = DecisionTreeClassifier(record=True).fit(X, labels).record_[0]
    name = draw.theme.amounts[0]
    sheet = Sheet()
    sheet.given.text(
        f"The {name} of {n_rows} {draw.theme.row}s, and `{draw.theme.target}`. CART cuts "
        "half-way between neighboring values where the class changes."
    )
    sheet.given.table([name, draw.theme.target], zip(values, labels))
    sheet.ask(
        "What is the Gini impurity before any cut?",
        before,
        record["objective"],
        {
            "the sum of squares, not 1 minus it": 1 - before,
            "the share of the rarer class": min(_class_counts(labels, classes))
            / n_rows,
        },
    )
    sheet.solution.formula(f"G = {gini_tex(_class_counts(labels, classes))}")
    _work_cuts(sheet, values, labels, classes, after)
    candidate = record["candidates"][0]
    sheet.ask("At which value is the best cut?", threshold, candidate["threshold"])
    sheet.ask(
        "By how much does the best cut lower the impurity?",
        decreases[best],
        candidate["gain"],
        {
            "the impurity that is left, not what it is lowered by": after[best],
            "the two sides were not weighted by their rows": before
            - _plain_gini(labels, classes, best),
        },
    )
    sheet.solution.text(
        f"The smallest impurity is left by the cut at {threshold}; it is lower by "
        f"{with_decimal(decreases[best])}."
    )
    return sheet


def _class_counts(labels: Sequence[str], classes: Sequence[str]) -> list[int]:
    return [labels.count(label) for label in classes]


def _sides(
    labels: Sequence[str], classes: Sequence[str], cut: int
) -> tuple[list[int], list[int]]:
    return _class_counts(labels[:cut], classes), _class_counts(labels[cut:], classes)


def _gini_after(labels: Sequence[str], classes: Sequence[str], cut: int) -> Fraction:
    left, right = _sides(labels, classes, cut)
    return (sum(left) * gini(left) + sum(right) * gini(right)) / len(labels)


def _plain_gini(labels: Sequence[str], classes: Sequence[str], cut: int) -> Fraction:
    left, right = _sides(labels, classes, cut)
    return (gini(left) + gini(right)) / 2


def _work_cuts(
    sheet: Sheet,
    values: Sequence[int],
    labels: Sequence[str],
    classes: Sequence[str],
    after: dict[int, Fraction],
) -> None:
    for cut, value in after.items():
        left, right = _sides(labels, classes, cut)
        shares = [tex(Fraction(sum(side), len(labels))) for side in (left, right)]
        sheet.solution.text(
            f"Cut at {(values[cut - 1] + values[cut]) // 2}: "
            f"left $G = {gini_tex(left)}$, right $G = {gini_tex(right)}$."
        )
        sheet.solution.formula(
            rf"{shares[0]} \cdot {tex(gini(left))} + {shares[1]} \cdot {tex(gini(right))}"
            f" = {fraction_and_decimal(value)}"
        )


def _variance(values: Sequence[int]) -> Fraction:
    """Mean squared deviation: divided by the number of rows."""
    mean = Fraction(sum(values), len(values))
    return sum(((value - mean) ** 2 for value in values), Fraction(0)) / len(values)


@kind("regression-tree", "Split a regression tree by the weighted variance", "6.7")
def regression_tree(draw: Draw) -> Sheet:
    """The weighted variance that two or three columns leave; the best column."""
    theme = draw.theme
    n_rows = 5 + draw.level
    names = draw.sample(list(theme.columns), 1 + min(draw.level, 2))
    rows = [[draw.choice(theme.columns[name]) for name in names] for _ in range(n_rows)]
    targets = draw.integers(n_rows, 1, 12)
    groups = {
        name: _groups([row[index] for row in rows], targets)
        for index, name in enumerate(names)
    }
    draw.require(all(len(g) > 1 for g in groups.values()), "a constant column")
    means = [sum(g) / len(g) for parts in groups.values() for g in parts.values()]
    draw.require(few_decimals(means, 1), "means with many decimals")
    left = {
        name: sum((len(g) * _variance(g) for g in parts.values()), Fraction(0)) / n_rows
        for name, parts in groups.items()
    }
    reductions = {name: _variance(targets) - value for name, value in left.items()}
    draw.require(clear_winner(reductions.values(), 0.2), "the best column is not clear")
    model = DecisionTreeRegressor(
        categorical_split="multiway", categorical_features=True, record=True
    ).fit(np.array(rows, dtype=object), np.array(targets, dtype=float))
    record = model.record_[0]
    sheet = Sheet()
    sheet.given.text(
        f"{n_rows} {theme.row}s with a price. Which column does a regression tree test "
        "at the root, if every value of a column is a branch?"
    )
    sheet.given.table([*names, "price"], [[*r, t] for r, t in zip(rows, targets)])
    _ask_variance(sheet, targets, record["objective"])
    for name, candidate in zip(names, record["candidates"]):
        _ask_reduction(sheet, name, groups[name], targets, candidate["gain"])
    best = max(reductions, key=reductions.__getitem__)
    sheet.choose("Which column is taken?", best, record_column(record, names), names)
    sheet.solution.text(f"`{best}` leaves the smallest weighted variance.")
    return sheet


def record_column(record: dict, names: Sequence[str]) -> str:
    """The name of the column that a step of a tree's record took."""
    columns = [candidate["column"] for candidate in record["candidates"]]
    return names[columns.index(record["column"])]


def _groups(cells: Sequence[str], targets: Sequence[int]) -> dict[str, list[int]]:
    groups: dict[str, list[int]] = {}
    for cell, target in zip(cells, targets):
        groups.setdefault(cell, []).append(target)
    return groups


def _ask_variance(sheet: Sheet, targets: Sequence[int], learner: float) -> None:
    n_rows = len(targets)
    variance = _variance(targets)
    sheet.ask(
        "What is the variance of the prices (divided by the number of rows)?",
        variance,
        learner,
        {
            "divided by N − 1": variance * n_rows / (n_rows - 1),
            "the standard deviation, not the variance": math.sqrt(variance),
            "the sum of squares was not divided by the number of rows": variance
            * n_rows,
        },
    )
    mean = Fraction(sum(targets), n_rows)
    sheet.solution.text(
        f"The mean of all prices is {with_decimal(mean)}, their variance "
        f"{with_decimal(variance)}."
    )


def _ask_reduction(
    sheet: Sheet,
    name: str,
    groups: dict[str, list[int]],
    targets: Sequence[int],
    learner: float,
) -> None:
    rows = [
        (value, ", ".join(map(str, g)), Fraction(sum(g), len(g)), _variance(g))
        for value, g in groups.items()
    ]
    sheet.solution.table([name, "prices", "mean", "variance"], rows)
    terms = " + ".join(
        rf"{tex(Fraction(len(g), len(targets)))} \cdot {tex(_variance(g))}"
        for g in groups.values()
    )
    left = sum((len(g) * _variance(g) for g in groups.values()), Fraction(0))
    left /= len(targets)
    reduction = _variance(targets) - left
    sheet.solution.formula(
        rf"{terms} {equals(left)}, \quad \mathrm{{reduction}} {equals(reduction)}"
    )
    plain = sum((_variance(g) for g in groups.values()), Fraction(0)) / len(groups)
    sheet.ask(
        f"By how much does `{name}` lower the weighted variance?",
        reduction,
        learner,
        {
            "the variance that is left, not what it is lowered by": left,
            "the branches were not weighted by their rows": _variance(targets) - plain,
        },
    )

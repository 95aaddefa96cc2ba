"""Bayesian networks: queries, d-separation, and the score of a graph."""

from __future__ import annotations

import math
from fractions import Fraction

from lyceum._core.lazy_arrow import pa
from lyceum.bayesnets import (
    BayesNet,
    DSeparation,
    TableNode,
    d_separated,
    structure_score,
)
from lyceum.exercises.draw import Draw
from lyceum.exercises.exercise import kind
from lyceum.exercises.sheet import Sheet, decimal, equals

STATES = ("no", "yes")
STORIES = (
    ("rain", "sprinkler", "wet"),
    ("burglary", "earthquake", "alarm"),
    ("flu", "cold", "fever"),
)


def _tenth(draw: Draw) -> Fraction:
    return Fraction(draw.integer(1, 9), 10)


def _node(name: str, yes: list[Fraction], parents: tuple[str, ...] = ()) -> TableNode:
    """A node of the states no and yes; `yes` in the order of the parents' states."""
    rows = [[float(1 - p), float(p)] for p in yes]
    if not parents:
        return TableNode(name, STATES, table=rows[0])
    if len(parents) == 1:
        return TableNode(name, STATES, parents, rows)
    return TableNode(name, STATES, parents, [rows[:2], rows[2:]])


@kind("variable-elimination", "Answer a query by variable elimination", "5.4")
def variable_elimination(draw: Draw) -> Sheet:
    """P(cause | effect) in a network of two causes and an effect, by summing out."""
    first, second, effect = draw.choice(STORIES)
    a = _tenth(draw)
    b = _tenth(draw)
    table = [
        _tenth(draw) for _ in range(4)
    ]  # P(effect | first, second): nn, ny, yn, yy
    draw.require(table == sorted(table) and len(set(table)) == 4, "causes that prevent")
    net = BayesNet(
        [
            _node(first, [a]),
            _node(second, [b]),
            _node(effect, table, (first, second)),
        ]
    )
    summed = [(1 - b) * table[2 * state] + b * table[2 * state + 1] for state in (0, 1)]
    joint = [(1 - a) * summed[0], a * summed[1]]
    total = joint[0] + joint[1]
    posterior = joint[1] / total
    sheet = Sheet()
    cause, other, result = (rf"\mathrm{{{name}}}" for name in (first, second, effect))
    sheet.given.text(
        f"`{first}` and `{second}` are causes of `{effect}`. Each is yes or no; in "
        f"probabilities a name alone means yes: $P({cause}) = {decimal(a)}$, "
        f"$P({other}) = {decimal(b)}$."
    )
    sheet.given.table(
        [first, second, rf"$P({result} \mid {cause}, {other})$"],
        [
            (("no", "yes")[i // 2], ("no", "yes")[i % 2], float(value))
            for i, value in enumerate(table)
        ],
    )
    sheet.ask(
        rf"Sum out `{second}`: what is $P({result} \mid {cause})$?",
        summed[1],
        net.posterior(effect, {first: "yes"})["yes"],
        {"the plain mean of the two rows": (table[2] + table[3]) / 2},
    )
    sheet.ask(
        f"What is $P({result})$?",
        total,
        net.posterior(effect)["yes"],
        {"the plain mean of the table": sum(table, Fraction(0)) / 4},
    )
    sheet.ask(
        rf"What is $P({cause} \mid {result})$?",
        posterior,
        net.posterior(first, {effect: "yes"})["yes"],
        {
            "not divided by the probability of the evidence": joint[1],
            "the prior was forgotten": summed[1] / (summed[0] + summed[1]),
            "the query was turned around": summed[1],
        },
    )
    given = (rf"\mathrm{{not}}\ {cause}", cause)
    for state, row, value in zip(given, (table[:2], table[2:]), summed):
        sheet.solution.formula(
            rf"P({result} \mid {state}) = {decimal(1 - b)} \cdot {decimal(row[0])} + "
            rf"{decimal(b)} \cdot {decimal(row[1])} {equals(value)}"
        )
    sheet.solution.formula(
        rf"P({result}) = {decimal(1 - a)} \cdot {decimal(summed[0], 4)} + {decimal(a)} \cdot "
        rf"{decimal(summed[1], 4)} {equals(total, 4)}"
    )
    sheet.solution.formula(
        rf"P({cause} \mid {result}) = \frac{{{decimal(a)} \cdot {decimal(summed[1], 4)}}}"
        rf"{{{decimal(total, 4)}}} {equals(posterior)}"
    )
    if draw.level > 1:
        _ask_explaining_away(sheet, net, (first, second, effect), a, table)
    return sheet


def _ask_explaining_away(
    sheet: Sheet,
    net: BayesNet,
    names: tuple[str, str, str],
    a: Fraction,
    table: list[Fraction],
) -> None:
    first, second, effect = names
    cause, other, result = (rf"\mathrm{{{name}}}" for name in names)
    yes = a * table[3]
    no = (1 - a) * table[1]
    sheet.ask(
        rf"And $P({cause} \mid {result}, {other})$?",
        yes / (yes + no),
        net.posterior(first, {effect: "yes", second: "yes"})["yes"],
        {"not divided by the probability of the evidence": yes},
    )
    sheet.solution.formula(
        rf"P({cause} \mid {result}, {other}) = \frac{{{decimal(a)} \cdot "
        rf"{decimal(table[3])}}}{{{decimal(a)} \cdot {decimal(table[3])} + {decimal(1 - a)} "
        rf"\cdot {decimal(table[1])}}} {equals(yes / (yes + no))}"
    )
    sheet.solution.text(
        f"Given the effect the two causes depend on each other: to know `{second}` changes the "
        f"probability of `{first}`. Where it falls, this is called explaining away."
    )


GRAPHS = (
    {"B": ["A"], "C": ["B"], "D": ["C"]},
    {"B": ["A"], "C": ["A"], "D": ["B", "C"]},
    {"C": ["A", "B"], "D": ["C"]},
    {"B": ["A"], "C": ["B"], "D": ["B"], "E": ["C", "D"]},
    {"C": ["A", "B"], "D": ["B"], "E": ["C"]},
)


@kind("d-separation", "Read independence off a graph", "5.5")
def d_separation(draw: Draw) -> Sheet:
    """Whether sets of variables are d-separated, three times."""
    graph = draw.choice(GRAPHS if draw.level > 1 else GRAPHS[:3])
    names = sorted(
        {*graph, *(parent for parents in graph.values() for parent in parents)}
    )
    arrows = [
        f"{parent} → {child}" for child in sorted(graph) for parent in graph[child]
    ]
    sheet = Sheet()
    sheet.given.text(f"A network has the arrows {', '.join(arrows)}.")
    asked: list[tuple[str, str, tuple[str, ...]]] = []
    answers = []
    for _ in range(2 + draw.level):
        a, b, *others = draw.shuffled(names)
        first, second = sorted((a, b))
        given = tuple(sorted(others[: draw.integer(0, 2)]))
        draw.require((first, second, given) not in asked, "the same question twice")
        asked.append((first, second, given))
        verdict = d_separated(graph, first, second, given)
        by_hand = _is_separated(graph, first, second, set(given))
        answers.append(by_hand)
        condition = f" given {', '.join(given)}" if given else ""
        sheet.choose(
            f"Are {first} and {second} independent{condition}?",
            "yes" if by_hand else "no",
            "yes" if verdict else "no",
            ["yes", "no"],
        )
        _show_paths(sheet, verdict)
    draw.require(len(set(answers)) == 2, "all answers are the same")
    return sheet


def _show_paths(sheet: Sheet, verdict: DSeparation) -> None:
    """The verdict, and every path with what the variables on it do."""
    sheet.solution.text(f"**{str(verdict).splitlines()[0]}.**")
    paths = [
        (
            path.text,
            "blocked" if path.blocked else "open",
            "; ".join(path.reasons) or "neighbors",
        )
        for path in verdict.paths
    ]
    if paths:
        sheet.solution.table(["path", "it is", "because"], paths)


def _is_separated(graph: dict[str, list[str]], a: str, b: str, given: set[str]) -> bool:
    """By the moral graph of the ancestors: a and b are apart when `given` is taken out."""
    kept = {a, b, *given}
    grown = True
    while grown:
        parents = {p for name in kept for p in graph.get(name, [])}
        grown = not parents <= kept
        kept |= parents
    edges = set()
    for child in kept:
        causes = graph.get(child, [])
        edges |= {frozenset((parent, child)) for parent in causes}
        edges |= {frozenset((p, q)) for p in causes for q in causes if p != q}
    reached = {a}
    frontier = [a]
    while frontier:
        name = frontier.pop()
        for edge in edges:
            if name in edge:
                (other,) = edge - {name}
                if other not in reached and other not in given:
                    reached.add(other)
                    frontier.append(other)
    return b not in reached


@kind("structure-score", "Compare two graphs by their BIC score", "5.3")
def structure_score_exercise(draw: Draw) -> Sheet:
    """Log likelihood and BIC of two variables with and without an arrow."""
    counts = draw.integers(4, 1, 6 + 2 * draw.level)  # nn, ny, yn, yy of A and B
    n_rows = sum(counts)
    joint = [counts[:2], counts[2:]]
    a = [sum(row) for row in joint]
    b = [sum(column) for column in zip(*joint)]
    apart = _log_likelihood([a]) + _log_likelihood([b])
    arrow = _log_likelihood([a]) + _log_likelihood(joint)
    penalty = math.log(n_rows) / 2
    scores = {"apart": apart - 2 * penalty, "arrow": arrow - 3 * penalty}
    draw.require(abs(scores["apart"] - scores["arrow"]) > 0.2, "scores too close")
    cells = [(x, y) for x in (0, 1) for y in (0, 1) for _ in range(joint[x][y])]
    data = pa.table(
        {name: ["ny"[cell[i]] for cell in cells] for i, name in enumerate("AB")}
    )
    first = TableNode("A", ("n", "y"))
    graphs = {
        "apart": BayesNet([first, TableNode("B", ("n", "y"))]),
        "arrow": BayesNet([first, TableNode("B", ("n", "y"), ("A",))]),
    }
    learned = {name: structure_score(net, data, "bic") for name, net in graphs.items()}
    sheet = Sheet()
    sheet.given.text(
        "Two graphs over A and B: without an arrow, and with A → B. BIC is the log "
        "likelihood at its maximum less $\\frac{1}{2} \\ln N$ for every parameter (natural "
        "logarithms)."
    )
    sheet.given.table(
        ["", "B = no", "B = yes"],
        [["A = no", *joint[0]], ["A = yes", *joint[1]]],
    )
    for name, words, rows, value, n_parameters in (
        ("apart", "without an arrow", [a, b], apart, 2),
        ("arrow", "with the arrow", [a, *joint], arrow, 3),
    ):
        sheet.ask(
            f"What is the BIC of the graph {words}?",
            scores[name],
            learned[name],
            {
                "the log likelihood, without the penalty": value,
                "a penalty of 1 per parameter (AIC)": value - n_parameters,
                "logarithms to base 2": scores[name] / math.log(2),
                "the penalty was not halved": value - 2 * n_parameters * penalty,
            },
        )
        terms = " + ".join(
            rf"{count} \ln \frac{{{count}}}{{{sum(row)}}}"
            for row in rows
            for count in row
        )
        sheet.solution.text(f"**The graph {words}** has {n_parameters} parameters:")
        sheet.solution.formula(rf"\ln L = {terms} {equals(value)}")
        sheet.solution.formula(
            rf"\mathrm{{BIC}} = {decimal(value)} - {n_parameters} \cdot \frac{{1}}{{2}} "
            rf"\ln {n_rows} {equals(scores[name])}"
        )
    best = max(scores, key=scores.__getitem__)
    sheet.choose(
        "Which graph is taken, that without an arrow (apart) or that with it (arrow)?",
        best,
        max(learned, key=learned.__getitem__),
        ["apart", "arrow"],
        {"the larger likelihood, without the penalty": "arrow"},
    )
    sheet.solution.text("The larger BIC wins.")
    return sheet


def _log_likelihood(tables: list[list[int]]) -> float:
    """Σ n ln(n / total of its row) of every row of a table."""
    return sum(
        count * math.log(count / sum(row)) for row in tables for count in row if count
    )

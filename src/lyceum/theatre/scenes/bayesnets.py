"""A query of a Bayes net: variable elimination, rule by rule, with the factors in figures."""

from __future__ import annotations

import re
from typing import Any

from lyceum.bayesnets import BayesNet, TableNode, explain_query
from lyceum.errors import SettingError
from lyceum.report import StepColumn, Steps
from lyceum.theatre.marks import Mark, arrow, box, drawing
from lyceum.theatre.method import Performance, Stage, StageSetting, TheatreMethod
from lyceum.theatre.scene import Scene, SceneQuestion

_COLUMNS = (
    StepColumn("rule", "rule", "what is done"),
    StepColumn("text", "working", "the first line of it"),
)


def _alarm() -> BayesNet:
    """Pearl's alarm: a burglary or an earthquake sets it off, and two neighbors call."""
    states = ("no", "yes")
    return BayesNet(
        [
            TableNode("burglary", states, table=[0.999, 0.001]),
            TableNode("earthquake", states, table=[0.998, 0.002]),
            TableNode(
                "alarm",
                states,
                ("burglary", "earthquake"),
                [[[0.999, 0.001], [0.71, 0.29]], [[0.06, 0.94], [0.05, 0.95]]],
            ),
            TableNode("john", states, ("alarm",), [[0.95, 0.05], [0.1, 0.9]]),
            TableNode("mary", states, ("alarm",), [[0.99, 0.01], [0.3, 0.7]]),
        ]
    )


def _sprinkler() -> BayesNet:
    states = ("no", "yes")
    return BayesNet(
        [
            TableNode("cloudy", states, table=[0.5, 0.5]),
            TableNode("sprinkler", states, ("cloudy",), [[0.5, 0.5], [0.9, 0.1]]),
            TableNode("rain", states, ("cloudy",), [[0.8, 0.2], [0.2, 0.8]]),
            TableNode(
                "wet",
                states,
                ("sprinkler", "rain"),
                [[[1.0, 0.0], [0.1, 0.9]], [[0.1, 0.9], [0.01, 0.99]]],
            ),
        ]
    )


# a network, its query and its evidence
_NETS = {
    "alarm": (_alarm, "burglary", "john=yes mary=yes"),
    "sprinkler": (_sprinkler, "rain", "wet=yes"),
}


def perform(stage: Stage) -> Performance:
    """A scene per step of the working."""
    make, asked, given = _NETS[stage["network"]]
    net = make()
    query = stage["query"] or asked
    text = stage["evidence"]
    if text == "default":
        text = given
    evidence = {}
    for word in text.split():
        name, between, state = word.partition("=")
        if not between:
            raise SettingError(
                f"cannot read the evidence {word!r}: write NODE=STATE, with blanks between"
            )
        evidence[name] = state
    if query not in net.names:
        raise SettingError(
            f"the network has no node {query!r}; it has {', '.join(net.names)}"
        )
    working = explain_query(net, query, evidence)
    picture = _picture(net, query, evidence)
    lines = [
        "An arrow goes from a cause to its effect; every node has a table of its states given"
        " its parents.",
        f"Asked: {working.title}, a {working.kind} query.",
    ]
    scenes = [Scene(f"The question: {working.title}", lines, [picture])]
    records: list[dict[str, Any]] = [
        {"step": 0, "rule": "question", "text": working.title}
    ]
    for number, step in enumerate(working.steps, start=1):
        lines = step.text.split("\n")
        question = _question(lines, step.rule)
        scenes.append(Scene(step.rule, lines, [picture], question=question))
        records.append({"step": number, "rule": step.rule, "text": lines[0]})
    return Performance(
        scenes, Steps(working.title, "step", _COLUMNS, records, {}), working
    )


def _question(lines: list[str], rule: str) -> SceneQuestion | None:
    """The last number of a line that works it out: what stands before it is given."""
    for line in reversed(lines):
        match = re.fullmatch(r"(.*[·+/].*) = ([\d.e-]+)", line)
        if match:
            text = match[1].rpartition(" = ")[2] if " = " in match[1] else match[1]
            name = match[1].partition(" = ")[0] if " = " in match[1] else rule
            return SceneQuestion(
                f"{name}: what is {text.partition(': ')[2] or text}?", float(match[2])
            )
    return None


def _picture(net: BayesNet, query: str, evidence: dict[str, str]) -> dict[str, Any]:
    """The graph by generations, the query and the evidence marked."""
    depth: dict[str, int] = {}
    for name in net.names:
        depth[name] = 1 + max(
            (depth[parent] for parent in net.parents[name]), default=-1
        )
    levels: dict[int, list[str]] = {}
    for name, level in depth.items():
        levels.setdefault(level, []).append(name)
    widest = max(map(len, levels.values()))
    width = 170.0 * widest
    centers = {}
    for level, names in levels.items():
        for k, name in enumerate(names):
            centers[name] = (width * (k + 0.5) / len(names), 46 + 110.0 * level)
    marks: list[Mark] = []
    for name in net.names:
        x, y = centers[name]
        for parent in net.parents[name]:
            px, py = centers[parent]
            marks.append(arrow((px, py + 24), (x, y - 26), 5))
    for name, (x, y) in centers.items():
        state = evidence.get(name)
        lines = [name]
        if name == query:
            lines.append("asked")
        elif state is not None:
            lines.append(f"= {state}")
        series = 2 if state is not None else None
        tone = "now" if name == query else ""
        marks.append(box(x, y, lines, width=130, height=46, series=series, tone=tone))
    height = 90 + 110.0 * max(levels)
    return drawing(
        "The network: what is asked, and what is known", width, height, marks
    )


METHODS = (
    TheatreMethod(
        "network_query",
        "Query of a Bayes net",
        "Variable elimination: the factors that matter are multiplied, what is hidden is"
        " summed out, and the"
        " rest is divided by its sum.",
        perform,
        settings=(
            StageSetting("network", "alarm", "the network", tuple(_NETS)),
            StageSetting("query", "", "the node that is asked for (chosen if empty)"),
            StageSetting(
                "evidence", "default", "what is known, NODE=STATE with blanks between"
            ),
        ),
    ),
)

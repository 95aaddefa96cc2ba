"""ID3 and C4.5: the entropy of a node, the gain of every column, and the split that is chosen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from lyceum import datasets
from lyceum._core.lazy_arrow import pa
from lyceum.report import StepColumn, Steps, Table
from lyceum.theatre.marks import drawing, tree_marks
from lyceum.theatre.method import (
    Performance,
    Stage,
    StageSetting,
    StageTable,
    TheatreMethod,
    as_cells,
)
from lyceum.theatre.scene import Scene, SceneQuestion, figure
from lyceum.trees import C45, ID3

_COLUMNS = (
    StepColumn("node", "node", "the rows that come to it"),
    StepColumn("column", "column", "what the step looks at"),
    StepColumn("entropy", "H", "H = −Σ p log₂ p over the classes", "bits"),
    StepColumn("gain", "gain", "gain = H − Σ nᵢ/n · Hᵢ over the branches", "bits"),
    StepColumn("ratio", "gain ratio", "gain / −Σ nᵢ/n log₂ nᵢ/n"),
)


@dataclass(frozen=True)
class StageTree:
    """A fitted tree, and its rows by node."""

    table: StageTable
    model: Any

    @cached_property
    def frame(self) -> Any:
        return table_frame(self.table)

    @cached_property
    def reached(self) -> np.ndarray:
        """Whether a row comes to a node, (n_rows, n_nodes)."""
        return np.asarray(self.model.decision_path(self.frame).toarray()) > 0

    @cached_property
    def edges(self) -> list[str]:
        """The test that leads to every node."""
        nodes = self.model.summary().tables[0]
        at = list(nodes.columns).index("reached by")
        return [str(row[at]).rpartition(" and ")[2] for row in nodes.rows]

    def counts(self, rows: np.ndarray) -> list[int]:
        """How many of the rows are of each class."""
        target = self.table.target[rows]
        return [int((target == label).sum()) for label in self.table.classes]

    def picture(
        self, shown: Sequence[int], split: Sequence[int], now: int
    ) -> dict[str, Any]:
        """The tree so far: the nodes that are shown, with the columns of those that are split."""
        tree = self.model.tree_
        texts = []
        series: list[int | None] = []
        for node in range(tree.n_nodes):
            counts = self.counts(self.reached[:, node])
            first = self.table.classes[int(np.argmax(counts))]
            is_leaf = int(tree.feature[node]) < 0
            if node in split:
                first = self.table.names[int(tree.feature[node])] + "?"
            elif not is_leaf:
                first = "?"
            series.append(int(np.argmax(counts)) if is_leaf else None)
            texts.append([first, _counted(self.table.classes, counts)])
        edges = [edge.partition(" ")[2].removeprefix("= ") for edge in self.edges]
        width, height, marks = tree_marks(
            tree, texts, edges, shown=shown, now=now, series=series
        )
        return drawing("The tree so far", width, height, marks)


def table_frame(table: StageTable) -> Any:
    """The columns of a table as an Arrow table, which learners take with their kinds."""
    columns = {name: cells.tolist() for name, cells in zip(table.names, table.columns)}
    return pa.table(columns)


def entropy(counts: Sequence[int]) -> float:
    """The entropy of some counts in bits."""
    total = sum(counts)
    shares = np.array([count / total for count in counts if count])
    return float(-(shares * np.log2(shares)).sum()) + 0.0


def entropy_text(counts: Sequence[int]) -> str:
    """The entropy of some counts written out."""
    total = sum(counts)
    terms = [f"{count}/{total} log₂ {count}/{total}" for count in counts if count]
    return f"−{' − '.join(terms)} = {figure(entropy(counts))}"


def _counted(classes: Sequence[str], counts: Sequence[int]) -> str:
    pairs = [f"{count} {label}" for label, count in zip(classes, counts) if count]
    return ", ".join(pairs)


def _perform(stage: Stage, model: Any) -> Performance:
    """Scenes of every node where columns were considered: entropy, gains, choice."""
    table = stage.table
    grown = StageTree(table, model.fit(table_frame(table), table.target))
    tree = model.tree_
    scenes: list[Scene] = []
    records: list[dict[str, Any]] = []
    shown = [0]
    split: list[int] = []
    uses_ratio = isinstance(model, C45)
    for record in model.record_:
        node = int(record["node"])
        at = _Node(grown, node, record)
        picture = grown.picture(shown, split, node)
        name = "root" if node == 0 else grown.edges[node]
        base = {"node": name, "entropy": at.entropy}
        scenes.append(at.entropy_scene(picture))
        records.append({**base, "column": table.target_name})
        for candidate in record["candidates"]:
            scenes.append(at.gain_scene(candidate, picture))
            more = {"ratio": candidate["score"]} if uses_ratio else {}
            column = candidate["column"]
            records.append(
                {**base, "column": column, "gain": candidate["gain"], **more}
            )
        if record["column"] is not None:
            split.append(node)
            shown.extend(tree.children(node))
        scenes.append(at.choice_scene(grown.picture(shown, split, node), uses_ratio))
        records.append({**base, "column": record["column"] or "leaf"})
    records = [{**record, "step": i} for i, record in enumerate(records)]
    columns = [column for column in _COLUMNS if uses_ratio or column.name != "ratio"]
    title = f"Steps of {type(model).__name__} of {table.target_name}"
    return Performance(scenes, Steps(title, "step", columns, records, {}), model)


@dataclass(frozen=True)
class _Node:
    """A node where columns were considered."""

    grown: StageTree
    number: int
    record: dict[str, Any]

    @property
    def rows(self) -> np.ndarray:
        return self.grown.reached[:, self.number]

    @property
    def counts(self) -> list[int]:
        return self.grown.counts(self.rows)

    @property
    def entropy(self) -> float:
        return float(self.record["objective"])

    @property
    def name(self) -> str:
        return "all rows" if self.number == 0 else self.grown.edges[self.number]

    def branches(self, candidate: dict[str, Any]) -> list[tuple[str, list[int]]]:
        """What every branch of a candidate is called, and its class counts."""
        table = self.grown.table
        cells = table.columns[table.names.index(candidate["column"])]
        threshold = candidate["threshold"]
        if threshold is not None:
            below = cells <= threshold
            text = figure(threshold)
            parts = [(f"≤ {text}", below), (f"> {text}", ~below)]
        else:
            values = sorted(Counter(cells[self.rows].tolist()))
            parts = [(str(value), cells == value) for value in values]
        return [(name, self.grown.counts(self.rows & mask)) for name, mask in parts]

    def information(self, candidate: dict[str, Any]) -> float:
        """The entropy of the branches themselves, which a gain ratio divides by."""
        sizes = [sum(counts) for _, counts in self.branches(candidate)]
        return entropy(sizes) or 1.0

    def entropy_scene(self, picture: dict[str, Any]) -> Scene:
        table = self.grown.table
        n = sum(self.counts)
        lines = [
            f"{self.name[0].upper()}{self.name[1:]}: {_counted(table.classes, self.counts)}.",
            f"H = {entropy_text(self.counts)} bits",
        ]
        shares = np.array([count / n for count in self.counts if count])
        question = SceneQuestion(
            f"What is the entropy of {table.target_name} in these {n} rows, in bits?",
            self.entropy,
            [
                (self.entropy * np.log(2), "that is with the natural logarithm"),
                (float(1 - (shares**2).sum()), "that is the Gini impurity"),
            ],
        )
        title = f"{self.name[0].upper()}{self.name[1:]}: how mixed are the classes?"
        return Scene(title, lines, [picture], question=question)

    def gain_scene(self, candidate: dict[str, Any], picture: dict[str, Any]) -> Scene:
        column = candidate["column"]
        branches = self.branches(candidate)
        n = sum(self.counts)
        terms = [
            f"{sum(counts)}/{n} · {figure(entropy(counts))}" for _, counts in branches
        ]
        lines = [f"H of {column} {name}: {entropy_text(c)}" for name, c in branches]
        raw = self.entropy - sum(sum(c) / n * entropy(c) for _, c in branches)
        lines.append(
            f"gain = {figure(self.entropy)} − ({' + '.join(terms)}) = {figure(raw)} bits"
        )
        price = raw - candidate["gain"]
        if price > 1e-9:
            # Quinlan (1996): log₂(possible cuts) / rows
            lines.append(
                f"The cut was chosen among {round(2 ** (price * n))}: gain = {figure(raw)} −"
                f" log₂ {round(2 ** (price * n))} / {n} = {figure(candidate['gain'])} bits"
            )
        if isinstance(self.grown.model, C45):
            information = self.information(candidate)
            lines.append(
                f"gain ratio = {figure(candidate['gain'])} / {figure(information)} ="
                f" {figure(candidate['score'])}"
            )
        rest = self.entropy - candidate["gain"]
        question = SceneQuestion(
            f"What is the gain of {column} here, in bits? H is {figure(self.entropy)}.",
            candidate["gain"],
            [
                (rest, "that is the entropy that is left, not the gain"),
                (candidate["gain"] * np.log(2), "that is with the natural logarithm"),
            ],
        )
        classes = self.grown.table.classes
        rows = [[name, sum(c), *c, entropy(c)] for name, c in branches]
        heads = [column, "rows", *classes, "H"]
        table = Table(f"The branches of {column}", heads, rows)
        title = f"{self.name[0].upper()}{self.name[1:]}: the gain of {column}"
        return Scene(title, lines, [picture], [table], question)

    def choice_scene(self, picture: dict[str, Any], uses_ratio: bool) -> Scene:
        candidates = sorted(self.record["candidates"], key=lambda each: -each["gain"])
        heads = ["column", "gain"]
        if uses_ratio:
            heads.append("gain ratio")
        rows = []
        for each in candidates:
            ratio = [each["score"]] if uses_ratio else []
            rows.append([each["column"], each["gain"], *ratio])
        table = Table("All gains at this node", heads, rows)
        chosen = self.record["column"]
        if chosen is None:
            lines = ["No column gains anything: the node stays a leaf."]
            return Scene(f"{self.name}: a leaf", lines, [picture], [table])
        measure = "gain"
        if uses_ratio:
            measure = "gain ratio, among columns of at least average gain"
        n = len(self.grown.model.tree_.children(self.number))
        lines = [
            f"{chosen} has the largest {measure}: the node is split by it,"
            f" {n} branches."
        ]
        title = f"{self.name[0].upper()}{self.name[1:]}: split by {chosen}"
        return Scene(title, lines, [picture], [table])


def _id3(stage: Stage) -> Performance:
    return _perform(stage, ID3(record=True, max_depth=stage["depth"]))


def _c45(stage: Stage) -> Performance:
    return _perform(stage, C45(record=True, pruning=None, max_depth=stage["depth"]))


def weather_table() -> StageTable:
    """Quinlan's fourteen days."""
    lines = datasets.path("weather").read_text(encoding="utf-8").split()
    heads, *rows = [line.split(",") for line in lines]
    columns = [as_cells(cells) for cells in zip(*rows)]
    return StageTable(
        "the weather, Quinlan's fourteen days",
        tuple(heads[:-1]),
        tuple(columns[:-1]),
        heads[-1],
        columns[-1],
    )


_DEPTH = StageSetting(
    "depth", 4, "the most splits from the root to a leaf", low=1, high=8
)
METHODS = (
    TheatreMethod(
        "id3",
        "ID3",
        "A tree that asks first for the column that says most: the one whose split lowers the"
        " entropy of the classes by the largest gain.",
        _id3,
        weather_table(),
        takes="any",
        columns=(1, 6),
        target="class",
        most_rows=200,
        settings=(_DEPTH,),
    ),
    TheatreMethod(
        "c45",
        "C4.5",
        "ID3 with the gain ratio, which does not favor columns of many values, and with cuts of"
        " columns of numbers.",
        _c45,
        weather_table(),
        takes="any",
        columns=(1, 6),
        target="class",
        most_rows=200,
        settings=(_DEPTH,),
    ),
)

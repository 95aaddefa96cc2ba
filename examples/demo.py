"""Inspect the German credit table, compare two learners under its published costs, keep the better one.

Run by `make demo`. The table comes with Lyceum (Statlog German Credit Data, H. Hofmann, UCI, CC BY 4.0).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from rich.console import Console
from rich.rule import Rule
from rich.table import Table
from sklearn.model_selection import StratifiedKFold, cross_val_predict, cross_val_score

import lyceum
from lyceum import datasets
from lyceum.bayes import NaiveBayes
from lyceum.cli._inspect import render
from lyceum.data import read_table
from lyceum.data._inspect import inspect
from lyceum.linear import LogisticRegression

# Rows are the true class (bad, good), columns the action (bad, good): a bad customer called good costs 5.
LOSS = np.array([[0.0, 5.0], [1.0, 0.0]])

console = Console(highlight=False)


def decisions(proba: np.ndarray) -> np.ndarray:
    """The action of least expected cost for every row: argmin_a sum_k P(k|x) loss[k, a]."""
    return (proba @ LOSS).argmin(axis=1)


def compare(learners: dict[str, object], X, y: np.ndarray) -> tuple[Table, str]:
    """Accuracy and mean cost a customer, both on rows that the learner had not seen."""
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    truth = (y == "good").astype(int)
    table = Table(
        "learner", "accuracy", "± over folds", "cost at most probable", "cost at minimum risk", box=None
    )
    costs = {}
    for name, learner in learners.items():
        accuracy = cross_val_score(learner, X, y, cv=folds)
        proba = cross_val_predict(learner, X, y, cv=folds, method="predict_proba")
        plain = LOSS[truth, proba.argmax(axis=1)].mean()
        costs[name] = LOSS[truth, decisions(proba)].mean()
        row = accuracy.mean(), accuracy.std(ddof=1), plain, costs[name]
        table.add_row(name, *(f"{value:.3f}" for value in row))
    everyone_bad = LOSS[truth, 0].mean()
    table.add_row("[dim]refuse everyone[/]", f"{1 - truth.mean():.3f}", "", "", f"{everyone_bad:.3f}")
    return table, min(costs, key=costs.__getitem__)


def main() -> None:
    path = datasets.path("german_credit")
    console.print(Rule("the table"))
    render(inspect(path, target="class"))

    table = read_table(path)
    y = np.asarray(table.column("class").to_pylist())
    X = table.drop_columns("class").to_pandas()
    learners = {"NaiveBayes": NaiveBayes(), "LogisticRegression": LogisticRegression()}
    console.print(
        Rule("10-fold cross-validation; a bad customer called good costs 5, a good one called bad 1")
    )
    scores, best = compare(learners, X, y)
    console.print(scores)

    for name, learner in learners.items():
        console.print(Rule(f"what {name} learned from all rows"))
        learner.fit(lyceum.scan(path, target="class"))
        console.print(str(learner.summary()), markup=False, soft_wrap=True)

    console.print(Rule("the model file"))
    folder = Path("demo")
    folder.mkdir(exist_ok=True)
    kept = lyceum.save(learners[best], folder / "german_credit.skops", force=True)
    again = lyceum.load(kept)
    same = np.array_equal(again.predict_proba(X), learners[best].predict_proba(X))
    console.print(
        f"{best} has the lowest cost here. It is in [bold]{kept}[/] ({kept.stat().st_size:,} bytes);"
    )
    console.print(
        f"loaded again, it gives {'the same posteriors, bit for bit' if same else 'OTHER posteriors'}."
    )


if __name__ == "__main__":
    main()

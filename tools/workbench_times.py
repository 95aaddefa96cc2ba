"""How long pages of the workbench take to answer, by rows: workbench_times.py 100000 [1000000 ...]

Handlers are called as the server calls them, their answers encoded; processor time of all threads.
"First" reads and makes everything, "again" is what a click waits for.
"""

import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

import lyceum
from lyceum.web import JsonAnswer
from lyceum.workbench.address import Address
from lyceum.workbench.desk import Desk
from lyceum.workbench.pages import (
    ask,
    clusters,
    columns,
    data,
    decide,
    errors,
    question,
    study,
)

TABLE = {"file": ("table.csv",), "target": ("good",)}
STUDY = {"out": ("study",)}
ASKED = (
    ("Data: columns", data.show, TABLE),
    ("Data: rows", data.rows, {**TABLE, "start": ("50000",)}),
    ("Data: pair", data.pair, {**TABLE, "x": ("age",), "y": ("amount",)}),
    ("Data: points", data.pair_points, {**TABLE, "x": ("age",), "y": ("amount",)}),
    ("Question", question.show, TABLE),
    ("Study", study.show, STUDY),
    ("Study: a learner", study.learner, STUDY),
    ("Decide", decide.show, STUDY),
    ("Decide: posteriors", decide.posteriors, STUDY),
    ("Ask", ask.show_answers, STUDY),
    ("Errors", errors.show, STUDY),
    ("Errors: groups", errors.groups, STUDY),
    ("Errors: a row", errors.explain, {**STUDY, "row": ("7",)}),
    ("Columns", columns.show, {"file": ("table.csv",)}),
    ("Columns: points", columns.points, {"file": ("table.csv",)}),
    (
        "Clusters, 3 of them",
        clusters.show,
        {"file": ("table.csv",), "clusters": ("3",)},
    ),
)


def make_table(path, n):
    rng = np.random.default_rng(0)
    age = rng.integers(18, 80, n)
    amount = rng.gamma(2.0, 1500.0, n).round(2)
    town = rng.choice(["Ulm", "Bonn", "Kiel", "Jena"], n)
    logit = 0.05 * (age - 45) - 0.0004 * (amount - 3000) + (town == "Ulm")
    good = np.where(rng.random(n) < 1 / (1 + np.exp(-logit)), "yes", "no")
    cells = {"age": age, "amount": amount, "town": town, "good": good}
    cells |= {f"score{j}": rng.normal(size=n).round(4) for j in range(4)}
    pd.DataFrame(cells).to_csv(path, index=False)


def milliseconds(handler, desk, parameters):
    begin = time.process_time()
    value = handler(desk, Address(parameters))
    if not hasattr(value, "body"):
        JsonAnswer(value)
    return 1e3 * (time.process_time() - begin)


def main(*sizes):
    for size in map(int, sizes):
        with tempfile.TemporaryDirectory() as folder:
            make_table(Path(folder, "table.csv"), size)
            lyceum.study(
                Path(folder, "table.csv"),
                "good",
                learners=["NaiveBayes", "LogisticRegression"],
                folds=2,
                n_settings=1,
                committees=False,
                calibrate=False,
                out=Path(folder, "study"),
            )
            desk = Desk(Path(folder))
            print(
                f"\n{size:,} rows, ms of processor time\n\n| page | first | again |\n|---|--:|--:|"
            )
            for name, handler, parameters in ASKED:
                first = milliseconds(handler, desk, parameters)
                again = min(milliseconds(handler, desk, parameters) for _ in range(3))
                print(f"| {name} | {first:,.0f} | {again:,.0f} |", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])

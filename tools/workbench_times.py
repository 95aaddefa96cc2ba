"""How long pages of the workbench take to answer, by rows: workbench_times.py [--write] [ROWS ...]

A workbench is started and asked over HTTP, as its pages ask. "Answer" is the longest time until
any answer came: where more is to be done, the workbench says after a moment how far it is. "First"
is the time until everything was read and made, "again" what a click waits for. Milliseconds by the
clock: only on an idle machine do they mean anything. --write puts them into docs/workbench.md.
"""

import contextlib
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
import pandas as pd

import lyceum

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.workbench.started import opened  # noqa: E402

DOCUMENT = ROOT / "docs" / "workbench.md"
BEGIN = "<!-- times: tools/workbench_times.py --write -->\n"
END = "<!-- end of times -->\n"

TABLE = {"file": "table.csv", "target": "good"}
PAIR = {**TABLE, "x": "age", "y": "amount"}
STUDY = {"out": "study"}
PLAY = {"method": "kmeans", "table": "file", "file": "table.csv"}
ASKED = (
    ("Data: columns", "data", TABLE),
    ("Data: rows", "data/rows", {**TABLE, "start": "50000"}),
    ("Data: pair", "data/pair", PAIR),
    ("Data: points", "data/points", PAIR),
    ("Question", "question", TABLE),
    ("Study", "study", STUDY),
    ("Study: a learner", "study/learner", STUDY),
    ("Decide", "decide", STUDY),
    ("Decide: posteriors", "decide/posteriors", STUDY),
    ("Ask", "ask", {**STUDY, "row": "{}"}),
    ("Errors", "errors", STUDY),
    ("Errors: groups", "errors/groups", STUDY),
    ("Errors: a row", "errors/row", {**STUDY, "row": "7"}),
    ("Columns", "columns", {"file": "table.csv"}),
    ("Columns: points", "columns/points", {"file": "table.csv"}),
    ("Clusters, 3 of them", "clusters", {"file": "table.csv", "clusters": "3"}),
    ("Theatre: own columns", "theatre", PLAY),
    ("Networks: columns", "networks/columns", {"file": "table.csv"}),
    ("Networks: a query of alarm", "networks/posteriors", {"net": "alarm"}),
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


def ask(workbench, path):
    """Milliseconds until the value came, and the longest until an answer did."""
    begin = time.perf_counter()
    longest = 0.0
    while True:
        asked = time.perf_counter()
        status, _, answer = workbench.ask("GET", path, Prefer="respond-async")
        longest = max(longest, time.perf_counter() - asked)
        if status == 200:
            return 1e3 * (time.perf_counter() - begin), 1e3 * longest
        if status != 202:
            raise SystemExit(f"{path}: {answer}")
        time.sleep(0.02)


def measure(size):
    """The lines of a size: answer, first, again."""
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
        with opened(folder) as workbench:
            for name, path, parameters in ASKED:
                address = f"/api/{path}?{urlencode(parameters)}"
                first, longest = ask(workbench, address)
                again = min(ask(workbench, address)[0] for _ in range(3))
                print(f"{size:,} rows, {name}: {first:,.0f}, {again:,.0f}", flush=True)
                yield name, longest, first, again


def table_of(sizes):
    """The times of all sizes as a table in Markdown."""
    lines = {name: [f"| {name}"] for name, *_ in ASKED}
    for size in sizes:
        for name, *times in measure(size):
            lines[name] += [f"{each:,.0f}" for each in times]
    heads = [f"{size:,} rows: answer | first | again" for size in sizes]
    return "\n".join(
        [
            f"| page | {' | '.join(heads)} |",
            "|---|" + "--:|" * (3 * len(sizes)),
            *(" | ".join(cells) + " |" for cells in lines.values()),
        ]
    )


def main(*words):
    sizes = [int(word) for word in words if word != "--write"] or [100_000, 1_000_000]
    table = table_of(sizes)
    print(f"\n{table}")
    if "--write" in words:
        text = DOCUMENT.read_text(encoding="utf-8")
        before, _, rest = text.partition(BEGIN)
        _, _, after = rest.partition(END)
        DOCUMENT.write_text(f"{before}{BEGIN}\n{table}\n\n{END}{after}", "utf-8")


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        main(*sys.argv[1:])

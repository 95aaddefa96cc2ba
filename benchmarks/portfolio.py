"""What a study tries first, learned from tables that are not in the duel (`duel.py`).

Two things in the catalog come from here:

- `promise` of a learner: of the real tables of 500 rows or more in `tables.json`, the share on
  which its loss is near the least of all single learners, as those studies recorded it; the mean of
  the shares within 2 % and within 10 %.
- the settings of gradient boosting that are tried before any others (`portfolio`): every setting of
  GRID is run on three folds of tables of `tables.py` with 150 to 2,000 rows, in an order drawn by a
  seed; what was measured is in `portfolio.jsonl`. The loss of a setting on a table is divided by
  that of the best one; settings are then added one by one, each time the one that lowers the mean
  over tables of the least ratio among those added, so that the first is the best alone and the next
  ones are good where it is not.

    python benchmarks/portfolio.py promise
    python benchmarks/portfolio.py settings     # goes on where it was stopped: --out
    python benchmarks/portfolio.py choose       # the settings by the losses in --out
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
NEAR = (1.02, 1.10)
ROWS = (150, 2_000)
GRID = [
    {"learning_rate": rate, "max_iter": rounds, "max_leaf_nodes": leaves}
    for (rate, rounds), leaves in itertools.product(
        [(0.03, 100), (0.03, 300), (0.1, 30), (0.1, 100), (0.1, 300)], [4, 8, 31]
    )
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["promise", "settings", "choose"])
    parser.add_argument(
        "--out", type=Path, default=HERE / "portfolio.jsonl", help="losses"
    )
    asked = parser.parse_args()
    if asked.what == "promise":
        for task in ("classification", "regression"):
            for name, share in sorted(promise(task).items(), key=lambda item: -item[1]):
                print(f"{task:15} {name:34} {share:.2f}")
    elif asked.what == "settings":
        measure_all(asked.out)
    else:
        choose(asked.out)


def promise(task: str) -> dict[str, float]:
    """The share of tables on which every learner is near the best."""
    near: dict[str, float] = defaultdict(float)
    n_tables = 0
    for table in json.loads((HERE / "tables.json").read_text()):
        if table["hostile"] or table.get("task") != task or table["n_rows"] < 500:
            continue
        losses = {
            name: learner["loss"]
            for name, learner in table["learners"].items()
            if name not in ("Committee", "Stacking", "PriorClassifier", "MeanRegressor")
        }
        n_tables += 1
        for name, loss in losses.items():
            near[name] += np.mean([loss <= k * min(losses.values()) for k in NEAR])
    return {name: count / n_tables for name, count in near.items()}


# -- settings of boosting --------------------------------------------------------------


def measure_all(out: Path) -> None:
    from table_sources import tables

    out.parent.mkdir(parents=True, exist_ok=True)
    done = {record["table"] for record in read(out)}
    drawn = [table for table in tables() if not table.hostile]
    random.Random(35).shuffle(drawn)
    for table in drawn:
        if table.name in done:
            continue
        try:
            frame, target = table.make()
        except LookupError:
            continue
        if not ROWS[0] <= len(frame) <= ROWS[1]:
            continue
        start = time.process_time()
        record = {"table": table.name, **measure(frame, target)}
        record["processor_seconds"] = round(time.process_time() - start, 2)
        with open(out, "a") as file:
            file.write(json.dumps(record) + "\n")
        print(table.name, record["processor_seconds"], flush=True)


def measure(frame: Any, target: str) -> dict[str, Any]:
    """The mean loss of every setting over three folds, log loss or squared error."""
    from lyceum.studies import Recipe
    from lyceum.studies.plan.plan import Plan
    from lyceum.studies.plan.study_data import StudyData
    from lyceum.studies.run.pipelines import build_pipeline, row_predictions

    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/table.csv"
        frame.to_csv(path, index=False)
        recipe = Recipe(data=path, target=target, folds=3)
        data = StudyData.of(recipe)
        plan = Plan.of(recipe, data)
        candidate = next(c for c in plan.candidates if "HistGradient" in c.name)
        losses = np.zeros(len(GRID))
        for split in plan.splits(data.y).values():
            train = data.rows.take(split.train)
            test = data.rows.take(split.test)
            for i, settings in enumerate(GRID):
                model = build_pipeline(candidate, settings, 0).fit(train)
                predicted = row_predictions(model, test)
                losses[i] += plan.rule.inner_losses(
                    data.y[split.test], predicted
                ).mean()
    return {"task": data.task, "n_rows": len(data.y), "losses": losses.tolist()}


def read(out: Path) -> Iterator[dict[str, Any]]:
    if out.exists():
        for line in out.read_text().splitlines():
            yield json.loads(line)


def choose(out: Path) -> None:
    """Print the settings, best first, with the mean ratio to the best setting of each table."""
    for task in ("classification", "regression"):
        losses = np.array([r["losses"] for r in read(out) if r["task"] == task])
        losses = losses[losses.min(axis=1) > 0]
        ratio = losses / losses.min(axis=1, keepdims=True)
        if task == "regression":
            ratio = np.sqrt(ratio)  # of RMSE
        ratio = np.minimum(
            ratio, 2.0
        )  # a table where a setting fails does not decide all
        chosen: list[int] = []
        least = np.full(len(ratio), np.inf)
        print(f"{task}, {len(ratio)} tables")
        for _ in range(6):
            means = np.minimum(ratio, least[:, None]).mean(axis=0)
            best = int(means.argmin())
            chosen.append(best)
            least = np.minimum(least, ratio[:, best])
            print(
                f"  {means[best]:.4f}  alone {ratio[:, best].mean():.4f}  {GRID[best]}"
            )


if __name__ == "__main__":
    main()

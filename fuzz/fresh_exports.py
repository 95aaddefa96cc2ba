"""Attacks on exported models, the fourth set: names of columns, classes and categories that are
code of the language or of its comments, and cells at the ends of what numbers can be. The program
answers as the model does and runs nothing else, or the model is refused by name."""

from __future__ import annotations

import json
import math
import sqlite3
import subprocess
import tempfile
import warnings
from collections import Counter
from pathlib import Path
from shutil import which
from typing import Any

import numpy as np
import pandas as pd

import lyceum
from fuzz import Finding
from lyceum.bayes import NaiveBayes
from lyceum.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from lyceum.errors import LyceumError
from lyceum.export import export_model
from lyceum.linear import LogisticRegression, Ridge
from lyceum.neighbors import KNeighborsClassifier
from lyceum.trees import C45, CART, DecisionTreeRegressor

__all__ = ["case", "make"]

# what runs if it gets out of a text or a comment writes this file
CANARY = "canary"
PIECES = (
    f"open('{CANARY}','w')",
    f'"""\nopen("{CANARY}","w")\n"""',
    f"'''+str(open('{CANARY}','w'))+'''",
    f"*/ require('fs').writeFileSync('{CANARY}',''); /*",
    f"`${{require('fs').writeFileSync('{CANARY}','')}}`",
    f"\u2028import('fs').then(f=>f.writeFileSync('{CANARY}',''))//",
    f"\" ; ATTACH '{CANARY}' AS x; --",
    f"'; ATTACH '{CANARY}' AS x; --",
    f'*/\n#include "{CANARY}"\n/*',
    "??/\n", "*\\\n/", "\\", "\\u0022", "\\N{DIGIT ONE}", "{x}", "{{0}}", "%s", "%(a)s", "$$", "?1",
    "__proto__", "constructor", "toString", "hasOwnProperty", "length", "None", "null", "NaN",
    "undefined", "True", "select", "rowid", "predicted", "probability of a", "row_id", "node",
    "import", "def", "0", "-0", "1e3", "1.0", "a.b", "a[0]", "é", "e\u0301", "\u00df", "SS", "ss",
    "\u202e", "\ufeff", "\u0130", "\U0001f600", " a", "a ", "\t", "\r\n", "''", '""', "]]>",
    "</script>",
)  # fmt: skip
# not 1e150: queries take log densities below -1e300 for equal (`docs/exporting.md`)
NUMBERS = (0.0, -0.0, 1.0, -1.5, 1e-308, 5e-324, 1e15, 1e100, -1e300, 1.7e308, math.nan)
LEARNERS = (
    C45,
    lambda: CART(max_depth=5),
    NaiveBayes,
    LogisticRegression,
    lambda: RandomForestClassifier(5, random_state=0),
    lambda: HistGradientBoostingClassifier(max_iter=5),
    lambda: KNeighborsClassifier(3),
    lambda: DecisionTreeRegressor(max_depth=4),
    lambda: Ridge(1.0),
)
RUN = (
    "import {decide} from './model.mjs'; import fs from 'fs';"
    "const rows = JSON.parse(fs.readFileSync('records.json'));"
    "const said = (row) => { try { return decide(row); } catch (e) { return {refused: 1}; } };"
    "console.log(JSON.stringify(rows.map(said)));"
)
Answer = dict[str, Any]


def make() -> None:
    warnings.simplefilter("ignore")


def case(shared: None, rng: np.random.Generator) -> Counter[str]:
    counts = Counter[str]()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        frame = _draw(rng)
        target = list(frame)[-1]
        learner = LEARNERS[rng.integers(len(LEARNERS))]()
        if isinstance(learner, DecisionTreeRegressor | Ridge):
            frame[target] = rng.normal(size=len(frame))
        try:
            model = learner.fit(lyceum.scan(frame, target=target))
        except LyceumError:
            return Counter(["fit refused"])
        records = [_record(frame, target, rng) for _ in range(12)]
        expected = [_decided(model, record) for record in records]
        for ending, answers in (
            (".py", _python),
            (".mjs", _javascript),
            (".c", _c),
            (".sql", _sql),
        ):
            try:
                export_model(model, folder / f"model{ending}")
            except LyceumError:
                counts[f"{ending} refused"] += 1
                continue
            given = answers(folder, records)
            if given is not None:
                _compare(learner, ending, records, expected, given)
            counts[f"{ending} answers"] += 1
            if (folder / CANARY).exists() or Path(CANARY).exists():
                raise Finding(f"{ending} of {learner}: a name was run: {list(frame)}")
    return counts


def _draw(rng: np.random.Generator) -> pd.DataFrame:
    """A table of texts and numbers; the last column is the target."""
    n = int(rng.integers(30, 80))
    names = [
        PIECES[i]
        for i in rng.choice(len(PIECES), int(rng.integers(2, 5)), replace=False)
    ]
    columns: dict[str, Any] = {}
    for name in names[:-1]:
        if rng.random() < 0.5:
            levels = rng.choice(len(PIECES), int(rng.integers(2, 5)), replace=False)
            columns[name] = [PIECES[i] for i in rng.choice(levels, n)]
        else:
            columns[name] = rng.normal(size=n) * 10.0 ** rng.integers(-3, 9)
    labels = rng.choice(len(PIECES), int(rng.integers(2, 4)), replace=False)
    columns[names[-1]] = [PIECES[i] for i in rng.choice(labels, n)]
    return pd.DataFrame(columns)


def _record(
    frame: pd.DataFrame, target: str, rng: np.random.Generator
) -> dict[str, Any]:
    """A row of the table, with some cells that are far, missing or unknown."""
    record = frame.drop(columns=target).iloc[rng.integers(len(frame))].to_dict()
    for name, cell in record.items():
        if rng.random() < 0.7:
            continue
        is_text = isinstance(cell, str)
        other = rng.choice(PIECES) if is_text else rng.choice(NUMBERS)
        record[name] = str(other) if is_text else float(other)
        if record[name] != record[name] or rng.random() < 0.2:
            record[name] = None
    return record


def _decided(model: Any, record: dict[str, Any]) -> Answer:
    try:
        decision = lyceum.decide(model, record)
    except LyceumError:
        return {"refused": 1}
    return {"predicted": decision.predicted, "probabilities": decision.probabilities}


# -- languages -------------------------------------------------------------------------


def _python(folder: Path, records: list[dict[str, Any]]) -> list[Answer]:
    code = (
        "import json, runpy\n"
        "decide = runpy.run_path('model.py')['decide']\n"
        "def said(row):\n"
        "    try:\n"
        "        return decide(row)\n"
        "    except ValueError:\n"
        "        return {'refused': 1}\n"
        "print(json.dumps([said(row) for row in json.load(open('records.json'))]))\n"
    )
    return _run(["python3", "-c", code], folder, records)


def _javascript(folder: Path, records: list[dict[str, Any]]) -> list[Answer] | None:
    if which("node") is None:
        return None
    (folder / "run.mjs").write_text(RUN)
    return _run(["node", "run.mjs"], folder, records)


def _run(
    command: list[str], folder: Path, records: list[dict[str, Any]]
) -> list[Answer]:
    (folder / "records.json").write_text(json.dumps(records))
    run = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=60
    )
    if run.returncode:
        raise Finding(f"{command[0]} ends with {run.stderr[-800:]}")
    return json.loads(run.stdout)


def _c(folder: Path, records: list[dict[str, Any]]) -> None:
    """That it compiles; its answers are tested in `tests/export`."""
    if which("gcc") is None:
        return
    command = ["gcc", "-std=c99", "-Wall", "-Wextra", "-fsyntax-only", "model.c"]
    run = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=60
    )
    if run.returncode or "warning" in run.stderr:
        raise Finding(f"gcc: {run.stderr[-800:]}")


def _sql(folder: Path, records: list[dict[str, Any]]) -> list[Answer]:
    query = (folder / "model.sql").read_text(encoding="utf-8").rstrip().rstrip(";")
    frame = pd.DataFrame(records)
    lite = sqlite3.connect(":memory:")
    try:
        frame.to_sql("rows_to_predict", lite, index=False)
        cursor = lite.execute(query)
        names = [part[0] for part in cursor.description]
        rows = cursor.fetchall()
    finally:
        lite.close()
    answers: list[Answer] = []
    for row in rows:
        predicted = row[names.index("predicted", len(frame.columns))]
        answers.append(
            {"refused": 1} if predicted is None else {"predicted": predicted}
        )
    return answers


def _compare(
    learner: Any,
    ending: str,
    records: list[dict[str, Any]],
    expected: list[Answer],
    given: list[Answer],
) -> None:
    if len(given) != len(expected):
        raise Finding(f"{ending} of {learner}: {len(given)} answers to {len(expected)}")
    for record, ours, theirs in zip(records, expected, given):
        if not _agree(ours, theirs):
            raise Finding(
                f"{ending} of {learner} for {record}: {theirs} instead of {ours}"
            )


def _agree(ours: Answer, theirs: Answer) -> bool:
    """Whether both are refused, or name one class, unless two are as likely."""
    if "refused" in ours or "refused" in theirs:
        return ("refused" in ours) == ("refused" in theirs)
    shares = ours["probabilities"]
    if not shares:
        difference = abs(ours["predicted"] - theirs["predicted"])
        return bool(difference <= 1e-9 * max(1.0, abs(ours["predicted"])))
    others = theirs.get("probabilities", {})
    near = all(
        abs(share - others.get(str(name), share)) < 1e-9
        for name, share in shares.items()
    )
    best = max(shares.values())
    return near and shares.get(theirs["predicted"], 0.0) > best - 1e-9

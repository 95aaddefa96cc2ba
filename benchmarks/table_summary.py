"""TABLES.md: what the studies of `tables.py` came to."""

from __future__ import annotations

import json
import platform
import statistics
from collections import Counter
from pathlib import Path
from typing import Any

from table_sources import tables

ALPHA = 0.05


def write_summary(folder: Path, path: Path) -> None:
    """Write the summary of all results in a folder."""
    found = [json.loads(each.read_text()) for each in sorted(folder.glob("*.json"))]
    path.write_text("\n".join(_lines(found, len(tables()))) + "\n")
    print(f"{path}: {len(found)} tables")


def _lines(found: list[dict[str, Any]], n_tables: int) -> list[str]:
    n_run = len(found)
    found = [one for one in found if one["outcome"] != "passed"]
    real = [one for one in found if not one.get("hostile")]
    hostile = [one for one in found if one.get("hostile")]
    lines = [
        "# Studies of many tables",
        "",
        "Written by `python benchmarks/tables.py --record`; the rule by which the tables are picked, the "
        "peers and what counts as ended stand at the top of `tables.py`.",
        f"Python {platform.python_version()}, {platform.machine()}; {n_run} of {n_tables} tables were run.",
        "",
        f"- Real tables: **{_ended(real)} of {len(real)} studies ended** with a report.",
        f"- Hostile tables: {_ended(hostile)} of {len(hostile)} ended with a report, "
        f"{_count(hostile, 'refused')} were refused in one sentence, {_count(hostile, 'died')} died.",
    ]
    ended = [one for one in real if one["outcome"] == "ended"]
    if ended:
        seconds = sorted(one["seconds"] for one in ended)
        lines.append(
            f"- Seconds of a study: median {statistics.median(seconds):.0f}, longest {seconds[-1]:.0f}."
        )
        budgets = Counter(one["budget"] for one in ended if one.get("budget") is not None)
        for minutes, n in sorted(budgets.items()):
            lines.append(
                f"- {n} of them were given {minutes:g} minutes: a check that they end, no comparison."
            )
    # a study cut short by a budget was not run with default settings
    beside = [one for one in ended if one.get("peer") and one.get("budget") is None]
    lines += [*_beside(beside), *_not_ended(found), *_table(real), *_refused(hostile)]
    return lines


def _ended(found: list[dict[str, Any]]) -> int:
    return _count(found, "ended")


def _count(found: list[dict[str, Any]], outcome: str) -> int:
    return sum(one["outcome"] == outcome for one in found)


def ratio(one: dict[str, Any], ours: str = "choice_loss") -> float:
    """Our loss over that of the best peer; 1 where both are 0."""
    peer = one["peer"]["loss"]
    return one[ours] / peer if peer else (1.0 if one[ours] == 0 else float("inf"))


def is_worse(one: dict[str, Any]) -> bool:
    """Whether the choice is significantly worse than the best of the peers."""
    return one["peer"]["p"] < ALPHA and one["peer"]["difference"] > 0


def is_better(one: dict[str, Any]) -> bool:
    return one["peer"]["p"] < ALPHA and one["peer"]["difference"] < 0


def _beside(beside: list[dict[str, Any]]) -> list[str]:
    if not beside:
        return []
    ratios, best = [ratio(one) for one in beside], [ratio(one, "best_loss") for one in beside]
    worse = [one for one in beside if is_worse(one)]
    peers = Counter(one["peer"]["name"] for one in beside)
    lines = [
        "",
        "## Beside tuned scikit-learn models",
        "",
        "Error rate or RMSE of the chosen model over that of the best of boosting, forest, linear model and "
        "support vectors, picked after the fact, on the same folds; corrected resampled t test on the folds.",
        "",
        f"- Median ratio of the choice {statistics.median(ratios):.3f}, of the best learner "
        f"{statistics.median(best):.3f}, over {len(beside)} tables; the choice is ahead on "
        f"{sum(r < 1 for r in ratios)}, level on {sum(r == 1 for r in ratios)}.",
        f"- Significantly better on {sum(map(is_better, beside))}, significantly worse on {len(worse)} "
        f"(p < {ALPHA}, two-sided, not corrected for the number of tables).",
        f"- Best peer: {', '.join(f'{name} {n}' for name, n in peers.most_common())}.",
    ]
    if worse:
        lines += [
            "",
            "| significantly worse | ours | loss | best of ours | peer | loss | p |",
            "|---|---|---|---|---|---|---|",
        ]
    for one in worse:
        peer = one["peer"]
        lines.append(
            f"| {one['name']} | {one['choice']} | {one['choice_loss']:.4g} "
            f"| {one['best']} {one['best_loss']:.4g} "
            f"| {peer['name']} | {peer['loss']:.4g} | {peer['p']:.3f} |"
        )
    return lines


def _not_ended(found: list[dict[str, Any]]) -> list[str]:
    lost = [
        one
        for one in found
        if one["outcome"] == "died" or (one["outcome"] == "refused" and not one["hostile"])
    ]
    if not lost:
        return []
    return ["", "## Not ended", "", *(f"- {one['name']} {one['outcome']}: {one['why']}" for one in lost)]


def _table(real: list[dict[str, Any]]) -> list[str]:
    lines = [
        "",
        "## Real tables",
        "",
        "| table | rows × columns | task | s | choice | loss | best peer | loss | p |",
    ]
    lines.append("|---|---|---|---|---|---|---|---|---|")
    for one in real:
        if one["outcome"] != "ended":
            continue
        peer = one.get("peer")
        told = f"{peer['name']} | {peer['loss']:.4g} | {peer['p']:.2f}" if peer else " | | "
        size = f"{one['n_rows']} × {one['n_columns']}"
        lines.append(
            f"| {one['name']} | {size} | {one['task']} | {one['seconds']:.0f} | {one['choice']} | "
            f"{one['choice_loss']:.4g} | {told} |"
        )
    return lines


def _refused(hostile: list[dict[str, Any]]) -> list[str]:
    refused = [one for one in hostile if one["outcome"] == "refused"]
    if not refused:
        return []
    return [
        "",
        "## Hostile tables that were refused",
        "",
        *(f"- {one['name']}: {one['why']}" for one in refused),
    ]

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


def write_summary(folder: Path, path: Path, record: Path) -> None:
    """Write the summary of all results in a folder, and the results themselves in one file."""
    found = [json.loads(each.read_text()) for each in sorted(folder.glob("*.json"))]
    path.write_text("\n".join(_lines(found, len(tables()))) + "\n")
    record.write_text(
        "[\n" + ",\n".join(json.dumps(_rounded(one)) for one in found) + "\n]\n"
    )
    print(f"{path}: {len(found)} tables")


def _rounded(value: Any) -> Any:
    """All numbers to six digits, so that a result is one line that can be read."""
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_rounded(each) for each in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


def _lines(found: list[dict[str, Any]], n_tables: int) -> list[str]:
    n_run = len(found)
    found = [one for one in found if one["outcome"] != "passed"]
    real = [one for one in found if not one.get("hostile")]
    hostile = [one for one in found if one.get("hostile")]
    lines = [
        "# Studies of many tables",
        "",
        (
            "Written by `python benchmarks/tables.py --record`; the rule by which the tables are"
            " picked, the peers and what counts as ended stand at the top of `tables.py`."
        ),
        (
            f"Python {platform.python_version()}, {platform.machine()}; {n_run} of {n_tables}"
            f" tables were run, {_commits(found)}."
        ),
        "",
        f"- Real tables: **{_ended(real)} of {len(real)} studies ended** with a report.",
        (
            f"- Hostile tables: {_ended(hostile)} of {len(hostile)} ended with a report,"
            f" {_count(hostile, 'refused')} were refused in one sentence, {_count(hostile, 'died')}"
            " died."
        ),
    ]
    ended = [one for one in real if one["outcome"] == "ended"]
    if ended:
        seconds = sorted(one["seconds"] for one in ended)
        lines.append(
            f"- Seconds of a study: median {statistics.median(seconds):.0f}, longest"
            f" {seconds[-1]:.0f}."
        )
        budgets = Counter(
            one["budget"] for one in ended if one.get("budget") is not None
        )
        for minutes, n in sorted(budgets.items()):
            lines.append(
                f"- {n} of them were given {minutes:g} minutes: a check that they end, no"
                " comparison."
            )
    # a study cut short by a budget was not run with default settings
    beside = [one for one in ended if one.get("peer") and one.get("budget") is None]
    lines += [*_beside(beside), *_not_ended(found), *_table(real), *_refused(hostile)]
    return lines


def _commits(found: list[dict[str, Any]]) -> str:
    counts = Counter(one.get("commit", "unknown") for one in found)
    return ", ".join(f"{n} on commit {commit}" for commit, n in counts.most_common())


def _ended(found: list[dict[str, Any]]) -> int:
    return _count(found, "ended")


def _count(found: list[dict[str, Any]], outcome: str) -> int:
    return sum(one["outcome"] == outcome for one in found)


def ratio(one: dict[str, Any], ours: str = "choice_loss") -> float:
    """Our loss over that of the best peer; 1 where both are 0."""
    peer = one["peer"]["loss"]
    return one[ours] / peer if peer else (1.0 if one[ours] == 0 else float("inf"))


def holm(beside: list[dict[str, Any]]) -> dict[str, float]:
    """The p value of every table after Holm's correction over all of them, by name."""
    ordered = sorted(beside, key=lambda one: one["peer"]["p"])
    corrected, least = {}, 0.0
    for rank, one in enumerate(ordered):
        least = max(least, min(1.0, (len(ordered) - rank) * one["peer"]["p"]))
        corrected[one["name"]] = least
    return corrected


def is_behind(one: dict[str, Any]) -> bool:
    """Whether the choice is worse than the best of the peers with p below 0.05, before the
    correction."""
    return one["peer"]["p"] < ALPHA and one["peer"]["difference"] > 0


def is_ahead(one: dict[str, Any]) -> bool:
    return one["peer"]["p"] < ALPHA and one["peer"]["difference"] < 0


LEADS = (
    "The largest leads say little of the learners. A date is text to the peers, and days, months"
    " and weekdays to the study (coffee_price, xom). Row names such as 1.1, 1.2, ... hold the"
    " target, and quadratic borders find it (OBrienKaiserLong). In crossed designs every group of"
    " rows has every class once (Trucks, Loblolly): a row's class is probably read off as the one"
    " that its group lacks. An exact sum of other columns is found without a penalty only"
    " (science)."
)


def _beside(beside: list[dict[str, Any]]) -> list[str]:
    if not beside:
        return []
    ratios, best = (
        [ratio(one) for one in beside],
        [ratio(one, "best_loss") for one in beside],
    )
    corrected = holm(beside)
    behind = sorted(
        (one for one in beside if is_behind(one)), key=lambda one: one["peer"]["p"]
    )
    ahead = [one for one in beside if is_ahead(one)]
    worse = [one for one in behind if corrected[one["name"]] < ALPHA]
    better = [one for one in ahead if corrected[one["name"]] < ALPHA]
    peers = Counter(one["peer"]["name"] for one in beside)
    lines = [
        "",
        "## Beside tuned scikit-learn models",
        "",
        (
            "Error rate or RMSE of the chosen model over that of the best of boosting, forest,"
            " linear model and support vectors, picked after the fact, on the same folds; corrected"
            " resampled t test on the folds."
        ),
        "",
        (
            f"- Median ratio of the choice {statistics.median(ratios):.3f}, of the best learner "
            f"{statistics.median(best):.3f}, over {len(beside)} tables; the choice is ahead on "
            f"{sum(r < 1 for r in ratios)}, level on {sum(r == 1 for r in ratios)}."
        ),
        (
            f"- **Significantly worse on {len(worse)}**, significantly better on {len(better)} "
            f"(p < {ALPHA} after Holm's correction over {len(beside)} tables)."
        ),
        (
            f"- Before the correction p < {ALPHA}: worse on {len(behind)}, better on {len(ahead)};"
            " if there were no difference on any table, chance alone would give about"
            f" {ALPHA / 2 * len(beside):.1f} of each."
        ),
        f"- Best peer: {', '.join(f'{name} {n}' for name, n in peers.most_common())}.",
        f"- {LEADS}",
    ]
    if behind:
        lines += [
            "",
            (
                "| p < 0.05, uncorrected | choice | loss | our best | loss | best peer | loss | p |"
                " corrected |"
            ),
            "|---|---|---|---|---|---|---|---|---|",
        ]
    for one in behind:
        peer = one["peer"]
        lines.append(
            f"| {one['name']} | {one['choice']} | {one['choice_loss']:.4g} | {one['best']} |"
            f" {one['best_loss']:.4g} | {peer['name']} | {peer['loss']:.4g} | {peer['p']:.3f} |"
            f" {corrected[one['name']]:.3f} |"
        )
    return lines


def _not_ended(found: list[dict[str, Any]]) -> list[str]:
    lost = [
        one
        for one in found
        if one["outcome"] == "died"
        or (one["outcome"] == "refused" and not one["hostile"])
    ]
    if not lost:
        return []
    return [
        "",
        "## Not ended",
        "",
        *(f"- {one['name']} {one['outcome']}: {one['why']}" for one in lost),
    ]


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
        told = (
            f"{peer['name']} | {peer['loss']:.4g} | {peer['p']:.2f}"
            if peer
            else " | | "
        )
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

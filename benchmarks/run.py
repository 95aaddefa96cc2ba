"""Lyceum beside its peers: ratio and quality in one run.

python benchmarks/run.py                      every workload at full size
python benchmarks/run.py ols kmeans           those whose names contain "ols" or "kmeans"
python benchmarks/run.py --scale 0.01         a quick look
python benchmarks/run.py --record             also write RESULTS.md, after every workload
"""

from __future__ import annotations

import argparse
import subprocess
from dataclasses import asdict
from datetime import date
from importlib import import_module
from pathlib import Path

import csv_table  # noqa: F401  (registers its workload)
import imports
import outofcore
import report
from timing import OthersWatch, Outcome, isolated, race
from workloads import DATA, WORKLOADS

# each registers its workloads
for module in sorted(Path(__file__).parent.glob("*_workloads.py")):
    import_module(module.stem)

NAMES = [*WORKLOADS, "imports", "outofcore"]


def main() -> None:
    options = parse()
    for name in [
        name
        for name in NAMES
        if not options.only or any(part in name for part in options.only)
    ]:
        try:
            with OthersWatch() as others:
                record = run(name, options.scale, options.repeat)
        except Exception as error:
            record = {
                "group": "Failed",
                "title": name,
                "outcomes": [asdict(Outcome(name, note=f"error: {error}"))],
            }
        finally:
            if not options.keep:
                clean()
        when = {
            "date": str(date.today()),
            "commit": commit(),
            "scale": options.scale,
            "others": others.share,
        }
        report.show(record | when)
        if options.record and record["group"] != "Failed":
            report.record_result(name, record | when, NAMES)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="workloads: " + " ".join(NAMES),
    )
    parser.add_argument(
        "only", nargs="*", help="run the workloads whose names contain one of these"
    )
    parser.add_argument(
        "--scale",
        type=float,
        default=1.0,
        help="fraction of the full number of rows (default 1)",
    )
    parser.add_argument(
        "--repeat",
        type=int,
        default=3,
        help="rounds, of which the best counts (default 3)",
    )
    parser.add_argument(
        "--record", action="store_true", help="write them into RESULTS.md, one by one"
    )
    parser.add_argument(
        "--keep",
        action="store_true",
        help="keep and reuse the generated files in benchmarks/data",
    )
    options = parser.parse_args()
    if not 0 < options.scale <= 1 or options.repeat < 1:
        parser.error("--scale must be in (0, 1] and --repeat at least 1")
    for part in options.only:
        if not any(part in name for name in NAMES):
            parser.error(
                f"no workload has {part!r} in its name: choose from {' '.join(NAMES)}"
            )
    return options


def run(name: str, scale: float, repeat: int) -> dict:
    if name == "imports":
        outcomes = imports.measure(max(repeat, 5))
        return entry(
            "Import",
            imports.TITLE,
            outcomes,
            seconds_of(outcomes, "import sklearn.base"),
        )
    if name == "outofcore":
        n = outofcore.rows(scale)
        outcomes = outofcore.measure(DATA / f"rows-{n}.parquet", n, repeat)
        title = outofcore.TITLE.format(n=n)
        return entry(
            "Out of core", title, outcomes, seconds_of(outcomes, *outofcore.DECODERS)
        )
    return isolated(compete, name, scale, repeat)


def compete(name: str, scale: float, repeat: int) -> dict:
    """One workload in memory; runs in its own process."""
    work = WORKLOADS[name](scale)
    outcomes = race(work.contenders, work.quality, repeat)
    ours, peers = (
        seconds_of(outcomes, "lyceum"),
        [o for o in outcomes if not o.contender.startswith("lyceum")],
    )
    record = entry(work.group, work.title, outcomes, None)
    for outcome in record["outcomes"]:
        theirs = (
            seconds_of(peers)
            if outcome["contender"] == "lyceum"
            else outcome["seconds"]
        )
        outcome["ratio"] = theirs / ours if theirs and ours else None
    flag_quality(record["outcomes"], *work.compare)
    return record


def flag_quality(outcomes: list[dict], key: str, sign: int, tolerance: float) -> None:
    """A ratio means something only at equal quality: note contenders that fall short of the
    best."""
    values = [sign * o["quality"][key] for o in outcomes if key in o["quality"]]
    for outcome in outcomes:
        if key in outcome["quality"] and sign * outcome["quality"][key] < max(
            values
        ) - tolerance * abs(max(values)):
            outcome["note"] = " · ".join(
                filter(None, [outcome["note"], f"WORSE {key}"])
            )


def entry(group: str, title: str, outcomes: list[Outcome], base: float | None) -> dict:
    """A record; with a base time, each ratio is base / seconds."""
    rows = [asdict(outcome) for outcome in outcomes]
    for row in rows:
        row["ratio"] = base / row["seconds"] if base and row["seconds"] else None
    return {"group": group, "title": title, "outcomes": rows}


def seconds_of(outcomes: list[Outcome], *names: str) -> float | None:
    """The best time among these contenders (all, if none is named)."""
    return min(
        (
            o.seconds
            for o in outcomes
            if o.seconds and (not names or o.contender in names)
        ),
        default=None,
    )


def commit() -> str:
    """The checkout's commit, with a + if tracked files differ from it."""
    command = ["git", "describe", "--always", "--abbrev=7", "--dirty=+", "--exclude=*"]
    done = subprocess.run(
        command, cwd=Path(__file__).parent, capture_output=True, text=True
    )
    return done.stdout.strip() or "unknown"


def clean() -> None:
    for pattern in ("table-*.csv", "rows-*.parquet", "rows-*.moments.json", "*.part"):
        for path in DATA.glob(pattern):
            path.unlink()


if __name__ == "__main__":
    main()

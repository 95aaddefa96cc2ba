"""Tables of outcomes: on the terminal with rich, and in RESULTS.md."""

from __future__ import annotations

import json
import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median

HERE = Path(__file__).parent
RESULTS, RECORDS = HERE / "RESULTS.md", HERE / "results.json"
HEADINGS = ["contender", "seconds", "median", "ratio", "MiB", "quality"]
PACKAGES = [
    "numpy",
    "scipy",
    "scikit-learn",
    "scikit-learn-intelex",
    "faiss-cpu",
    "pandas",
    "polars",
    "pyarrow",
]
INTRO = """\
Written by `python benchmarks/run.py --record`. Seconds are the best of the rounds, contenders
interleaved. In lyceum's row the ratio is the fastest peer's seconds over lyceum's (above 1: lyceum
is faster), in a peer's row that peer's seconds over lyceum's. Import and out of core say in their
titles what theirs is. MiB is resident memory gained at the peak of a run; out of core, the peak of
the whole process. WORSE marks a quality that falls short of the best contender's by more than the
workload allows. Where other processes took more than a few percent of the cores, distrust the
times.
"""


def cells(record: dict) -> list[list[str]]:
    return [
        [
            outcome["contender"],
            "" if outcome["seconds"] is None else f"{outcome['seconds']:.3g}",
            f"{median(outcome['all_seconds']):.3g}"
            if outcome["seconds"] is not None
            else "",
            "" if outcome.get("ratio") is None else f"{outcome['ratio']:.2f}×",
            "" if outcome["mebibytes"] is None else f"{outcome['mebibytes']:.0f}",
            " · ".join(
                [
                    *map(quality_text, outcome["quality"].items()),
                    *filter(None, [outcome["note"]]),
                ]
            ),
        ]
        for outcome in record["outcomes"]
    ]


def quality_text(item: tuple[str, float]) -> str:
    name, value = item
    if name.startswith("max"):
        return f"{name} {value:.1e}"
    return (
        f"{name} {value:.0f}"
        if name in ("iterations", "sampled MiB")
        else f"{name} {value:.8g}"
    )


def subtitle(record: dict, machine: str = "") -> str:
    rounds = max(len(outcome["all_seconds"]) for outcome in record["outcomes"])
    parts = [
        f"scale {record['scale']:g}",
        f"best of {rounds}",
        record["date"],
        f"commit {record['commit']}",
    ]
    if machine:
        parts.append(f"machine {machine}")
    if record["others"] is not None:
        parts.append(f"other processes on {record['others']:.0%} of the cores")
    return ", ".join(parts)


def show(record: dict) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(
        title=escape(record["title"]), caption=subtitle(record), title_justify="left"
    )
    for heading in HEADINGS:
        table.add_column(
            heading,
            justify="right"
            if heading in ("seconds", "median", "ratio", "MiB")
            else "left",
        )
    for row in cells(record):
        table.add_row(*map(escape, row), style="bold" if "lyceum" in row[0] else None)
    Console(width=None if sys.stdout.isatty() else 140).print(table)


def record_result(name: str, record: dict, order: list[str]) -> None:
    """Replace one workload in RESULTS.md; the others stay as they are, each with the machine it ran
    on."""
    records = json.loads(RECORDS.read_text()) if RECORDS.exists() else {}
    records[name] = record | {"machine": machine()}
    records = {name: records[name] for name in order if name in records}
    write_file(RECORDS, json.dumps(records, indent=1, ensure_ascii=False) + "\n")
    write_file(RESULTS, markdown(records))


def write_file(path: Path, text: str) -> None:
    """Whole or not at all: an interrupted benchmark keeps what was recorded."""
    fresh = path.with_suffix(path.suffix + ".new")
    fresh.write_text(text)
    fresh.replace(path)


def markdown(records: dict[str, dict]) -> str:
    newest = max(record["date"] for record in records.values())
    machines: list[dict] = []
    for record in records.values():
        if record["machine"] not in machines:
            machines.append(record["machine"])
    letters = {str(here): chr(ord("A") + place) for place, here in enumerate(machines)}
    lines = ["# Benchmark results", "", INTRO, f"Newest: {newest}.", ""]
    for here in machines:
        lines += [
            f"Machine {letters[str(here)]}:",
            *(f"- {key}: {here[key]}" for key in here),
            "",
        ]
    for group in dict.fromkeys(record["group"] for record in records.values()):
        lines += [
            f"## {group}",
            "",
            "| workload | " + " | ".join(HEADINGS) + " |",
            "|---|---|--:|--:|--:|--:|---|",
        ]
        for record in records.values():
            if record["group"] != group:
                continue
            where = letters[str(record["machine"])] if len(machines) > 1 else ""
            for place, row in enumerate(cells(record)):
                if "lyceum" in row[0]:
                    row = [
                        f"**{cell}**" if cell and column < 4 else cell
                        for column, cell in enumerate(row)
                    ]
                first = (
                    f"{record['title']} ({subtitle(record, where)})"
                    if place == 0
                    else ""
                )
                lines.append(
                    "| "
                    + " | ".join(cell.replace("|", "\\|") for cell in [first, *row])
                    + " |"
                )
        lines.append("")
    return "\n".join(lines)


def machine() -> dict[str, str]:
    """What the numbers depend on; nothing that names the host."""
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    model, flags = processor()
    return {
        "processor": f"{model}, {os.cpu_count()} cores, instruction set {isa_level(flags)}",
        "memory": f"{pages / 2**30:.0f} GiB",
        "python": f"{platform.python_version()} on {platform.system()}",
        "packages": ", ".join(f"{name} {installed(name)}" for name in PACKAGES),
    }


def processor() -> tuple[str, set[str]]:
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.machine(), set()
    fields = dict(
        line.split(":", 1) for line in text.split("\n\n")[0].splitlines() if ":" in line
    )
    fields = {key.strip(): value.strip() for key, value in fields.items()}
    return fields.get("model name", platform.machine()), set(
        fields.get("flags", "").split()
    )


def isa_level(flags: set[str]) -> str:
    needed = {
        "x86-64-v4": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
        "x86-64-v3": {"avx2", "bmi1", "bmi2", "fma", "f16c", "movbe"},
        "x86-64-v2": {"sse4_2", "popcnt", "ssse3", "cx16"},
    }
    return next(
        (level for level, names in needed.items() if names <= flags), platform.machine()
    )


def installed(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"

"""`lyceum inspect` and `lyceum repair`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.table import Table
from rich.text import Text

from lyceum._core.data import (
    ColumnInspection,
    FileFormat,
    Inspection,
    inspect,
    inspect_pair,
    read_data,
    time_text,
)
from lyceum._core.files import spool
from lyceum._core.text import show as shown, show_count
from lyceum.cli.options import refuse_to_replace
from lyceum.cli.screen import console, print_json, progress_bar, table

_BARS = "▁▂▃▄▅▆▇█"
_WIDE = 110  # from this many columns on, the reason for each kind is shown too
_GRAVE = ("leak", "missing_target", "constant", "empty", "infinite")


def run(
    file: str,
    target: str | None,
    kinds: dict[str, Any],
    file_format: FileFormat,
    as_json: bool,
) -> None:
    with progress_bar(f"reading {Path(file).name}"), spool(file) as source:
        inspection = inspect(
            source, target, kinds=kinds or None, file_format=file_format
        )
    if as_json:
        print_json(inspection.as_dict())
    else:
        render(inspection)


def run_pair(
    file: str,
    pair: tuple[str, str],
    kinds: dict[str, Any],
    file_format: FileFormat,
    as_json: bool,
) -> None:
    with progress_bar(f"reading {Path(file).name}"), spool(file) as source:
        loaded = read_data(source, file_format)
        inspection = inspect_pair(loaded, *pair, kinds=kinds or None)
    if as_json:
        print_json(inspection.as_dict())
        return
    rows = f"{inspection.n_rows:,} rows"
    strength = f"{inspection.measure} {inspection.strength:.4g}"
    console.print(Text(f"{inspection.x} and {inspection.y}: {strength} on {rows}"))


def run_repair(
    file: str,
    steps: list[str],
    out: str,
    file_format: FileFormat,
    *,
    force: bool,
    as_json: bool,
) -> None:
    from lyceum.workflows import repair_table

    refuse_to_replace(out, force, (".csv", ".parquet"))
    with progress_bar(f"reading {Path(file).name}"), spool(file) as source:
        loaded = read_data(source, file_format)
        repaired = repair_table(loaded, steps, out=out, force=force)
    if as_json:
        print_json(repaired.as_dict())
    else:
        console.print(Text(str(repaired)))


def render(inspection: Inspection) -> None:
    """Print an inspection as wide as the terminal is."""
    cells = inspection.n_rows * len(inspection.columns)
    if inspection.n_missing:
        missing = f"{inspection.n_missing:,} missing cells ({inspection.n_missing / cells:.1%})"
    else:
        missing = "complete"
    facts = [
        show_count(inspection.n_rows, "row"),
        show_count(len(inspection.columns), "column"),
        missing,
    ]
    if inspection.n_repeated:
        facts.append(f"{inspection.n_repeated:,} repeated rows")
    name = escape(Path(inspection.source).name)
    console.print(f"[bold]{name}[/]  {' · '.join(facts)}", soft_wrap=True)
    for note in inspection.notes:
        console.print(Text(note, style="yellow"), soft_wrap=True)
    console.print()
    console.print(_columns(inspection))
    if inspection.target is not None:
        console.print()
        column = inspection[inspection.target]
        head = Text.assemble(
            "to predict: ", (column.name, "bold"), f", {column.kind} ({column.why})"
        )
        n_counted = sum(n for _, n in column.top)
        if n_counted and column.kind != "continuous":
            listed = [
                f"{_number(value)} {n:,} ({n / n_counted:.1%})"
                for value, n in column.top
            ]
            head.append(f": {', '.join(listed)}")
        console.print(head)
    console.print()
    console.print(_flags(inspection))


def _columns(inspection: Inspection) -> Table:
    wide = console.width >= _WIDE
    any_missing = inspection.n_missing > 0
    # the width of each column at most, 0 to leave it out; values take what is left
    heads = {
        "column": 30 if wide else 24,
        "kind": 11,
        "why": 32 * wide,
        "missing": 12 * any_missing,
        "values": None,
    }
    shown = table(*(head for head, width in heads.items() if width != 0), expand=True)
    for head in shown.columns:
        head.max_width = heads[str(head.header)]
        head.overflow = "ellipsis"
        head.no_wrap = True
        head.justify = "right" if head.header == "missing" else "left"
    shown.columns[-1].ratio = 1
    for column in inspection.columns:
        style = "bold" if column.name == inspection.target else ""
        cells: list[Text | str] = [Text(column.name, style), column.kind]
        if wide:
            cells.append(Text(column.why))
        if any_missing:
            n = column.n_missing
            cells.append(f"{n:,} {n / inspection.n_rows:>4.0%}" if n else "")
        shown.add_row(*cells, _values(column, inspection.n_rows, wide))
    return shown


def _values(column: ColumnInspection, n_rows: int, wide: bool) -> Text:
    if column.top:
        present = max(1, n_rows - column.n_missing)
        shares = [
            Text.assemble(_number(value), (f" {n / present:.0%}", "cyan"))
            for value, n in column.top
        ]
        more = (column.n_distinct or 0) - len(column.top)
        if more > 0:
            shares.append(Text(f"{more:,} more"))
        return Text(" · ").join(shares)
    if column.low is None or column.high is None:
        reason = "too many to list" if column.kind == "categorical" else "–"
        return Text(reason, style="dim")
    show = time_text if column.is_time else _number
    middle = f"  median {show(column.median)}" if wide else ""
    # a bar of one to eight eighths for every bin of the histogram that has rows
    most = max(column.histogram, default=0)
    bars = [_BARS[n * 8 // (most + 1)] if n else " " for n in column.histogram]
    extent = f"  {show(column.low)} … {show(column.high)}{middle}"
    return Text.assemble(("".join(bars), "cyan"), extent)


def _number(value: object) -> str:
    """Whole numbers in full, others to four digits."""
    # floats of at most 2⁵³ are exact: 1e15 stays well below
    is_integer = isinstance(value, float) and value.is_integer() and abs(value) < 1e15
    return shown(int(value) if is_integer else value)  # type: ignore[call-overload]


def _flags(inspection: Inspection) -> Table | str:
    flagged = [
        (column.name, flag) for column in inspection.columns for flag in column.flags
    ]
    if not flagged:
        return "[green]nothing looks wrong[/]"
    # two columns: the name, cut where it is long, and the sentence
    shown = Table.grid(padding=(0, 2))
    shown.title = "worth a look"
    shown.title_justify = "left"
    shown.title_style = "bold"
    shown.add_column(max_width=30, overflow="ellipsis", no_wrap=True)
    for name, flag in flagged:
        color = "red" if flag.code in _GRAVE else "yellow"
        shown.add_row(Text(name), Text(flag.text, style=color))
    return shown

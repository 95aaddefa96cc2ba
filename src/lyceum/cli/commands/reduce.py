"""`lyceum reduce`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.text import Text

from lyceum._core.data import FileFormat
from lyceum._core.files import replace_file, write_file
from lyceum._core.lazy_arrow import csv, pq
from lyceum._core.packages import check_installed
from lyceum.cli.options import refuse_to_replace
from lyceum.cli.screen import (
    console,
    notes,
    print_json,
    print_line,
    progress_bar,
    show_table,
)
from lyceum.workflows import reduce_table


def run(
    data: str,
    target: str | None,
    method: Any,
    components: float | None,
    keep: list[str],
    out: str | None,
    page: str | None,
    file_format: FileFormat,
    force: bool,
    as_json: bool,
) -> None:
    if out is not None:
        refuse_to_replace(out, force, (".csv", ".parquet"))
    if page is not None:
        refuse_to_replace(page, force)
        check_installed("the report of a reduction", "matplotlib")
    with notes(), progress_bar(f"reducing {Path(data).name}"):
        reduction = reduce_table(
            data,
            target,
            method=method,
            n_components=components,
            keep=keep,
            file_format=file_format,
        )
    if out is not None:
        with replace_file(out) as file:
            (pq.write_table if out.lower().endswith(".parquet") else csv.write_csv)(
                reduction.table, file
            )
    if page is not None:
        write_file(page, reduction.page(Path(data).name).encode())
    if as_json:
        print_json(reduction.as_dict())
        return
    summary = reduction.summary()
    console.print(Text(summary.title, style="bold"))
    if reduction.left_out:
        print_line(f"left out: {summary.facts['left out']}")
    for table in summary.tables:
        show_table(table)
    for path in (out, page):
        if path is not None:
            print_line(f"wrote {path}")

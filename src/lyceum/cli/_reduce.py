"""`lyceum reduce`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.csv as csv
import pyarrow.parquet as pq
from rich.text import Text

from lyceum.apply import reduce_table
from lyceum.cli._options import refuse_to_replace
from lyceum.cli._screen import console, notes, print_json, progress_bar, show_table
from lyceum.data import FileFormat

__all__ = ["run"]


def run(
    data: str,
    target: str | None,
    method: Any,
    components: float | None,
    out: str | None,
    page: str | None,
    form: FileFormat,
    force: bool,
    as_json: bool,
) -> None:
    for path in (out, page):
        if path is not None:
            refuse_to_replace(path, force)
    with notes(), progress_bar(f"reducing {Path(data).name}"):
        found = reduce_table(data, target, method=method, n_components=components, form=form)
    if out is not None:
        (pq.write_table if out.endswith(".parquet") else csv.write_csv)(found.table, out)
    if page is not None:
        Path(page).write_text(found.page(Path(data).name), encoding="utf-8")
    if as_json:
        print_json(found.as_dict())
        return
    summary = found.summary()
    console.print(Text(summary.title, style="bold"))
    for table in summary.tables:
        show_table(table)
    for path in (out, page):
        if path is not None:
            console.print(f"wrote {path}")

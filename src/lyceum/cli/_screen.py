"""What the commands print with: the console, plain JSON, and a bar for long reads."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

__all__ = ["console", "print_json", "reading", "table"]

console = Console(highlight=False)


def print_json(value: Any) -> None:
    print(json.dumps(value, indent=2, ensure_ascii=False))


def table(*heads: str, **options: Any) -> Table:
    """A table without lines but the one under its heads."""
    from rich import box

    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), show_edge=False, **options)
    for head in heads:
        made.add_column(head)
    return made


@contextmanager
def reading(what: str) -> Iterator[Callable[[int, int | None], None]]:
    """A bar on stderr while rows are read, gone afterwards; the callback takes (rows done, rows in all)."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    stderr = Console(stderr=True)
    with Progress(*columns, console=stderr, transient=True, disable=not stderr.is_terminal) as progress:
        task = progress.add_task(f"reading {what}", total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)

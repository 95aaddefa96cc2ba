"""The work on one part of a source: its blocks after the steps, summarized, mapped or gathered."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from lyceum._core.data.rows.block import Block, stack_rows
from lyceum._core.data.rows.gather import Gathered
from lyceum._core.data.rows.sources import Part
from lyceum._core.progress import report
from lyceum._core.threads import single_threaded_blas

if TYPE_CHECKING:
    from lyceum._core.data.rows.rows import Statistic, Step


Summary = TypeVar("Summary", bound="Statistic")


def after_steps(block: Block, steps: tuple[Step, ...]) -> Block:
    """The block after all steps."""
    for step in steps:
        block = step(block)
    return block


def count_and_fold(
    part: Part, of: Callable[[Block], Summary], steps: tuple[Step, ...]
) -> tuple[int, Summary | None]:
    """The number of rows read and their merged summary, None if none are left after the steps."""
    merged = None
    n_rows = 0
    for given in part.blocks():
        n_rows += len(given)
        block = after_steps(given, steps)
        if len(block):
            summary = of(block)
            if merged is None:
                merged = summary
            else:
                merged = merged.merge(summary)
    return n_rows, merged


def merge_all(summaries: Iterable[Any]) -> Any:
    """All summaries merged into one; None if all of them are None."""
    merged = None
    for summary in summaries:
        if merged is None:
            merged = summary
        elif summary is not None:
            merged = merged.merge(summary)
    return merged


def merge_and_report(summaries: Iterable[Any], n_rows: int | None = None) -> Any:
    """All summaries merged into one, None if all of them are None; reports the rows done."""
    merged = None
    for summary in summaries:
        merged = merge_all((merged, summary))
        if merged is not None:
            report("rows", merged.n_rows, n_rows)
    return merged


def fold_part(
    part: Part, of: Callable[[Block], Summary], steps: tuple[Step, ...]
) -> Summary | None:
    """The merged summary of one part, None if it has no rows."""
    with single_threaded_blas():
        return count_and_fold(part, of, steps)[1]


def map_part(
    part: Part, function: Callable[[Block], np.ndarray], steps: tuple[Step, ...]
) -> tuple[int, np.ndarray | None]:
    """The number of rows read and `function` of all blocks, None if there are none."""
    results = []
    n_rows = 0
    for given in part.blocks():
        n_rows += len(given)
        results.append(function(after_steps(given, steps)))
    if not results:
        return n_rows, None
    return n_rows, stack_rows(results)


def gather_part(part: Part, steps: tuple[Step, ...]) -> tuple[int, Gathered]:
    """The number of rows read and the blocks that are left after the steps."""
    gathered = Gathered()
    n_rows = 0
    for given in part.blocks():
        n_rows += len(given)
        block = after_steps(given, steps)
        if len(block):
            gathered = gathered.merge(Gathered.of(block, block.X is given.X))
    return n_rows, gathered

"""What the commands print with: the console, plain JSON, summaries, and a bar for long work."""

from __future__ import annotations

import json
import sys
import textwrap
import time
import warnings
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import timedelta
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from lyceum._core.packages import lacking_sentence
from lyceum.progress import Update, watch

if TYPE_CHECKING:
    from lyceum import report


# the control characters of ASCII and Latin-1, but for tab and line feed; marks that turn the
# direction of text around; separators of lines; marks and tags that are not seen
_STEERING = (
    *(code for code in (*range(32), *range(127, 160)) if code not in (9, 10)),
    0x61C,
    *range(0x200E, 0x2010),
    *range(0x2028, 0x202F),
    *range(0x2066, 0x2070),
    0xFEFF,
    *range(0xFFF9, 0xFFFC),
    *range(0xE0000, 0xE0080),
)
_CONTROLS = dict.fromkeys(_STEERING, "\ufffd")
# JSON has its own way to write them
_IN_JSON = {code: json.dumps(chr(code))[1:-1] for code in _STEERING}


def printable(text: str) -> str:
    """The text without characters that steer a terminal: names in data may hold any.

    All that a command writes to a screen comes through here, but for tables that a person sends to
    standard output.

    >>> printable("a\\x1b[31mb\\u202ec")
    'a�[31mb�c'
    """
    return text.translate(_CONTROLS)


def print_error(text: str) -> None:
    """Print a sentence on stderr."""
    print(f"lyceum: {printable(text)}", file=sys.stderr)


class _PlainConsole(Console):
    """Prints nothing that steers the terminal but what Rich itself adds."""

    def render(self, renderable: Any, options: Any = None) -> Iterator[Segment]:
        # control segments are Rich's own; text that is printable is passed on as it is
        for segment in super().render(renderable, options):
            plain = segment.control or segment.text.isprintable()
            yield segment if plain else Segment(printable(segment.text), segment.style)


console = _PlainConsole(highlight=False)


def print_json(value: object) -> None:
    """Print values of JSON's own types, as `as_dict()` and `lyceum.report.plain` give them."""
    text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
    print(text.translate(_IN_JSON))


def table(*heads: str, **options: Any) -> Table:
    """A table without lines but the one under its heads."""
    from rich import box

    made = Table(
        box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), show_edge=False, **options
    )
    for head in heads:
        made.add_column(head)
    return made


def print_paragraph(text: str, style: str = "") -> None:
    """Print a text in lines that fit the screen; a number stays on the line of its percent sign."""
    # a no-break space holds the two together while the text is wrapped
    joined = text.replace(" %", "\u00a0%")
    lines = textwrap.wrap(joined, max(20, console.width), break_on_hyphens=False)
    for line in lines:
        console.print(Text(line.replace("\u00a0%", " %"), style=style), soft_wrap=True)


def print_line(*parts: str | tuple[str, str], style: str = "") -> None:
    """Print texts, or texts with their styles, as they are: names of files may look like markup."""
    console.print(Text.assemble(*parts, style=style), soft_wrap=True)


def show_summary(summary: report.Summary) -> None:
    """Print a summary: its title, facts and tables."""
    from lyceum._core.text import show

    console.print(Text(summary.title, style="bold"), soft_wrap=True)
    if summary.facts:
        facts = Table.grid(padding=(0, 2))
        for name, value in summary.facts.items():
            facts.add_row(Text(f"  {name}"), Text(show(value)))
        console.print(facts)
    for part in summary.tables:
        console.print()
        show_table(part)


# characters that a column of text may be cut down to; numbers are shown whole
_NARROW = 14
_BETWEEN = 3  # characters between two columns


def show_table(shown: report.Table) -> None:
    """Print a table of `lyceum.report`, numbers to the right; columns beyond the screen are only
    counted."""
    from lyceum._core.text import show, show_count

    if shown.title:
        console.print(Text(shown.title, style="bold"), soft_wrap=True)
    cells = [[show(cell) for cell in row] for row in shown.rows]
    number = [shown.is_number_column(j) for j in range(len(shown.columns))]
    # numbers are shown whole, texts are cut to `_NARROW` where the screen is narrow
    least = []
    for j, head in enumerate(shown.columns):
        width = max([len(head), *(len(row[j]) for row in cells)])
        least.append(width if number[j] else min(width, _NARROW))
    # as many columns as the screen has room for, two at least
    ends = accumulate(least, lambda end, width: end + _BETWEEN + width)
    n_columns = max(2, sum(end <= console.width for end in ends))
    made = table(*shown.columns[:n_columns])
    for j, column in enumerate(made.columns):
        column.justify = "right" if number[j] else "left"
        column.min_width = least[j]
    for row in cells:
        made.add_row(*map(Text, row[:n_columns]))
    console.print(made)
    if n_columns < len(least):
        more = show_count(len(least) - n_columns, "more column")
        console.print(Text(f"and {more}", "dim"))


class _TimeLeft(TimeRemainingColumn):
    """The time that the work still takes at its speed, and never more than it may take."""

    def __init__(self, minutes: float | None) -> None:
        super().__init__()
        self.seconds = None if minutes is None else 60.0 * minutes
        # of the first stage of the work, on the clock of time.monotonic
        self.start: float | None = None

    def render(self, task: Task) -> Text:
        if task.total is None or self.seconds is None or self.start is None:
            return super().render(task)
        allowed = max(0.0, self.start + self.seconds - time.monotonic())
        if task.time_remaining is not None:
            allowed = min(task.time_remaining, allowed)
        left = timedelta(seconds=int(allowed))
        return Text(str(left), style="progress.remaining")


@contextmanager
def progress_bar(
    text: str, stages: Collection[str] = (), minutes: float | None = None
) -> Iterator[None]:
    """A bar on stderr for every stage that the work reports, gone afterwards; nothing off a
    terminal.

    Once one of the `stages` has begun, it alone is shown, not the stages of the work inside it; the
    time left is at most that of the `minutes` since the first of them began.
    """
    stderr = _PlainConsole(stderr=True)
    if not stderr.is_terminal:
        yield
        return
    left = _TimeLeft(minutes)
    description = TextColumn("{task.description}", markup=False)
    columns = (description, BarColumn(), MofNCompleteColumn(), left)
    with Progress(*columns, console=stderr, transient=True) as bar:
        bars = {"": bar.add_task(text, total=None)}

        def show(update: Update) -> None:
            if update.stage in stages:
                if left.start is None:
                    left.start = time.monotonic()
                for other in set(bars) - {update.stage}:
                    bar.remove_task(bars.pop(other))
            elif left.start is not None:
                return
            # the bar without a total stands until the first stage reports
            if "" in bars:
                bar.remove_task(bars.pop(""))
            if update.stage not in bars:
                # what an earlier session did says nothing about the speed
                bars[update.stage] = bar.add_task(
                    f"{text}: {update.stage}", total=update.total, completed=update.done
                )
            bar.update(bars[update.stage], completed=update.done, total=update.total)
            is_done = update.total is not None and update.done >= update.total
            if is_done and len(bars) > 1:
                bar.remove_task(bars.pop(update.stage))

        with watch(show):
            yield


def note_lacking(purpose: str, *packages: str) -> bool:
    """Say on stderr, before the work begins, what it will leave out because a package is not
    installed."""
    sentence = lacking_sentence(purpose, *packages)
    if sentence is not None:
        print_error(f"note: {sentence}; it is left out")
    return sentence is not None


@contextmanager
def notes() -> Iterator[None]:
    """Warnings as single lines on stderr, each once, when the work is done."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        yield
    texts = [" ".join(str(warning.message).split()) for warning in caught]
    for text in dict.fromkeys(texts):
        print_error(f"note: {text}")

"""`lyceum exercise`: exercises to solve by hand, sheets for a class, and answers checked.

What it works with is imported inside, so that `lyceum --help` answers at once.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lyceum.cli.help import Commands
from lyceum.cli.options import AsJson, Force, refuse_to_replace
from lyceum.errors import DataError, SettingError

if TYPE_CHECKING:
    from lyceum.exercises import Exercise

commands = Commands()


@commands.command(
    epilog="Example: lyceum exercise id3 --seed 7 --level 2 --solution",
)
def exercise(
    name: Annotated[
        str | None, typer.Argument(help="The kind of exercise; --list shows all.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Another seed gives other numbers.")] = 0,
    level: Annotated[int, typer.Option(help="1, 2 or 3: how long it is.")] = 1,
    form: Annotated[
        str,
        typer.Option("--format", help="md, html, pdf, tex, moodle, qti or ipynb."),
    ] = "md",
    students: Annotated[
        str | None,
        typer.Option(
            help="A CSV whose first column names the students: a sheet of its own for each."
        ),
    ] = None,
    solution: Annotated[
        bool, typer.Option("--solution", help="With the worked solution.")
    ] = False,
    out: Annotated[
        str | None,
        typer.Option(
            "--out", "-o", help="The file; with --students the folder (default: NAME)."
        ),
    ] = None,
    check: Annotated[
        str | None, typer.Option(help="A CSV of answers to check instead.")
    ] = None,
    show_list: Annotated[
        bool, typer.Option("--list", help="List all kinds of exercises.")
    ] = False,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Draw an exercise to solve by hand, with its worked solution, for one person or a class."""
    if show_list:
        return _show_kinds(as_json)
    if check is not None:
        return _check(check, as_json)
    if name is None:
        raise SettingError(
            "name a kind of exercise, e.g. lyceum exercise id3; --list shows all"
        )
    from lyceum.exercises import make_exercise, write_class

    if students is not None:
        folder = Path(out or name)
        listed = _students(students)
        written = write_class(
            name,
            listed,
            folder,
            seed=seed,
            level=level,
            format=form,
            solution=solution,
        )
        print(f"{len(written)} files for {len(listed)} students in {folder}")
        return None
    made = make_exercise(name, seed, level)
    if as_json:
        from lyceum.cli.screen import print_json

        return print_json(made.as_dict())
    return _write(made, form, solution, out, force)


def _show_kinds(as_json: bool) -> None:
    from lyceum.exercises import list_exercises

    kinds = list_exercises()
    if as_json:
        from lyceum.cli.screen import print_json

        return print_json([kind.as_dict() for kind in kinds])
    width = max(len(kind.name) for kind in kinds)
    for kind in kinds:
        print(f"{kind.name:<{width}}  {kind.title}")
    return None


def _check(path: str, as_json: bool) -> None:
    from lyceum.cli.screen import print_json, printable
    from lyceum.exercises import check_answers

    marks = check_answers(path)
    if as_json:
        return print_json(marks.as_dict())
    print(printable(str(marks)))
    return None


def _write(
    made: Exercise, form: str, solution: bool, out: str | None, force: bool
) -> None:
    from lyceum._core.files import write_file
    from lyceum.exercises import render_exercise

    content = render_exercise(made, form, solution)
    if out is None and isinstance(content, bytes):
        endings = {"pdf": ".pdf", "qti": ".zip"}
        out = f"{made.name}{endings[form]}"
    if out is None:
        sys.stdout.write(content)  # type: ignore[arg-type]
        return
    refuse_to_replace(out, force)
    write_file(out, content if isinstance(content, bytes) else content.encode())
    print(f"written to {out}")


def _students(path: str) -> list[str]:
    """The first column of a CSV; its first line is the header."""
    import csv

    with open(path, newline="", encoding="utf-8-sig") as file:
        rows = [row for row in csv.reader(file) if row]
    if len(rows) < 2:
        raise DataError(
            f"{path} names no student: give a header and one student per line"
        )
    return [row[0].strip() for row in rows[1:]]

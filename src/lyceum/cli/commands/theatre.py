"""`lyceum theatre`: a method step by step, as a page to open or as text.

What it works with is imported inside, so that `lyceum --help` answers at once.
"""

from __future__ import annotations

from typing import Annotated

import typer

from lyceum.cli.help import Commands
from lyceum.cli.options import (
    AsJson,
    Force,
    Seed,
    Settings,
    names_of,
    refuse_to_replace,
    settings_of,
)
from lyceum.errors import SettingError

commands = Commands()


@commands.command(epilog="Example: lyceum theatre id3 -o id3.html")
def theatre(
    method: Annotated[
        str | None, typer.Argument(help="The method; --list shows all.")
    ] = None,
    file: Annotated[
        str | None, typer.Argument(help="A table; by default the textbook's.")
    ] = None,
    columns: Annotated[
        str | None, typer.Option(help="Two or three columns, separated by commas.")
    ] = None,
    target: Annotated[
        str | None, typer.Option("--target", "-t", help="The column to predict.")
    ] = None,
    setting: Settings = None,
    seed: Seed = 0,
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            "-o",
            help="The page to write (.html); without it the steps are printed.",
        ),
    ] = None,
    show_list: Annotated[
        bool, typer.Option("--list", help="List all methods and their settings.")
    ] = False,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Play a method step by step: pictures, hand calculations and questions in one page."""
    from lyceum.cli.screen import print_json, printable
    from lyceum.theatre import list_methods, play

    if show_list:
        methods = list_methods()
        if as_json:
            return print_json([each.as_dict() for each in methods])
        width = max(len(each.name) for each in methods)
        for each in methods:
            options = [f"{one.name}={one.default}" for one in each.all_settings]
            print(f"{each.name:<{width}}  {each.title}  ({', '.join(options) or '-'})")
        return None
    if method is None:
        raise SettingError(
            "name a method, e.g. lyceum theatre id3 -o id3.html; --list shows all"
        )
    if out is not None:
        refuse_to_replace(out, force)
    made = play(
        method,
        file,
        columns=names_of(columns),
        target=target,
        settings=settings_of(setting),
        seed=seed,
    )
    if out is not None:
        from lyceum._core.files import write_file

        write_file(out, made.to_html().encode())
        print(f"{len(made.scenes)} steps, written to {out}")
    if as_json:
        return print_json(made.as_dict())
    if out is None:
        print(printable(str(made)))
    return None

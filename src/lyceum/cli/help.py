"""The help of commands as plain text: Rich takes longer to import than all else that help needs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup


class Commands(typer.Typer):
    """Commands whose help is plain text, with a section for every panel of options."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(
            cls=_GroupHelp,
            rich_markup_mode=None,
            context_settings={"help_option_names": ["-h", "--help"]},
            **settings,
        )

    def command(self, name: str | None = None, **settings: Any) -> Callable[..., Any]:
        return super().command(name, cls=_CommandHelp, **settings)


class _CommandHelp(TyperCommand):
    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments, options, and the options of every panel."""
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is None:
                continue
            is_argument = parameter.param_type_name == "argument"
            kind = "Arguments" if is_argument else "Options"
            panel = getattr(parameter, "rich_help_panel", None) or kind
            sections.setdefault(panel, []).append(record)
        for title, records in sections.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


class _GroupHelp(TyperGroup):
    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the whole first sentence of every command; it would be cut at the end of a line."""
        sentences = []
        for name, command in self.commands.items():
            first = (command.help or "").split("\n\n")[0]
            sentences.append((name, " ".join(first.split())))
        with formatter.section("Commands"):
            formatter.write_dl(sentences)

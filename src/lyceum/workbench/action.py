"""What a click does, as a command, as Python and as a recipe: three texts of one value."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Action:
    """One call of a public function, which is also a command.

    Attributes
    ----------
    command : str
        The subcommand of `lyceum`.
    function : str
        The function, as it is called in Python: "lyceum.study".
    arguments : tuple
        Positional arguments, those of the command and of the function alike.
    options : dict
        Keyword arguments of the function; what is None or empty is left out.
    flags : dict of str to str
        Options of the command that have another name than the argument.
    result : str
        The name of what the function returns.
    table : dict or None
        The tables of the recipe, where it has other keys than the function.
    before : Action or None
        A call that comes first: the repair of the table.
    positional : dict of int to str
        Options of the command for what the function takes by position, from that position on.
    takes_list : bool
        Whether the function takes all positional arguments of the command as one list.
    """

    command: str
    function: str
    arguments: tuple[Any, ...]
    options: Mapping[str, Any] = field(default_factory=dict)
    flags: Mapping[str, str] = field(default_factory=dict)
    result: str = "result"
    positional: Mapping[int, str] = field(default_factory=dict)
    before: Action | None = None
    table: Mapping[str, Any] | None = None
    takes_list: bool = False

    @property
    def given(self) -> dict[str, Any]:
        """The options that say something."""
        empty: tuple[Any, ...] = (None, (), [], {}, "")
        return {
            name: value
            for name, value in self.options.items()
            if not any(value is nothing or value == nothing for nothing in empty)
        }

    def as_command(self) -> str:
        """A line for the shell."""
        words = ["lyceum", *self.command.split()]
        for index, argument in enumerate(self.arguments):
            if index in self.positional:
                words.append(self.positional[index])
            words.append(str(argument))
        for name, value in self.given.items():
            words += _command_words(self.flags.get(name, f"--{name}"), value)
        line = shlex.join(words)
        return line if self.before is None else f"{self.before.as_command()}\n{line}"

    def as_python(self) -> str:
        """The same call in Python."""
        room = self.function.rpartition(".")[0]
        options = [f"{name}={value!r}" for name, value in self.given.items()]
        arguments = (list(self.arguments),) if self.takes_list else self.arguments
        parts = [*map(repr, arguments), *options]
        inside = ", ".join(parts)
        if len(inside) > 60:
            inside = "\n    " + ",\n    ".join(parts) + ",\n"
        text = f"import {room}\n\n{self.result} = {self.function}({inside})\n"
        return text if self.before is None else f"{self.before.as_python()}\n{text}"

    def as_recipe(self) -> str:
        """The same as TOML, for `lyceum study --recipe`, or to keep."""
        import tomli_w

        if self.table is not None:
            return tomli_w.dumps(dict(self.table))
        table = {name: _plain(value) for name, value in self.given.items()}
        # TOML has tables after plain values
        table = dict(sorted(table.items(), key=lambda item: isinstance(item[1], dict)))
        return tomli_w.dumps({"data": [str(each) for each in self.arguments], **table})

    def as_dict(self) -> dict[str, str]:
        return {
            "command": self.as_command(),
            "python": self.as_python(),
            "recipe": self.as_recipe(),
        }


def _command_words(flag: str, value: Any) -> Iterator[str]:
    """An option as it is typed: pairs as name=value, lists by repeating or by commas."""
    if value is True:
        yield flag
    elif isinstance(value, Mapping) and any(isinstance(key, tuple) for key in value):
        pairs = (f"{true}:{action}={cost:g}" for (true, action), cost in value.items())
        yield from (flag, ",".join(pairs))
    elif isinstance(value, Mapping):
        for name, text in value.items():
            yield from (flag, f"{name}={text}")
    elif isinstance(value, list):  # a choice of names
        yield from (flag, ",".join(map(str, value)))
    elif isinstance(value, tuple):
        for item in value:
            text = str(item)
            if isinstance(item, Mapping):
                text = json.dumps(item)
            elif isinstance(item, tuple):  # an edge of a graph
                text = "->".join(item)
            yield from (flag, text)
    else:
        yield from (flag, str(value))


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping) and any(isinstance(key, tuple) for key in value):
        return {f"{true}:{action}": cost for (true, action), cost in value.items()}
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    if value is None:  # TOML has none: an empty cell, as in a CSV file
        return ""
    return value

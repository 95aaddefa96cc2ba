"""BIF, the interchange format of Bayesian networks: read and written."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lyceum._core.files import write_file
from lyceum.bayesnets.net import BayesNet
from lyceum.bayesnets.nodes import TableNode
from lyceum.errors import DataError

_TOKEN = re.compile(
    r"""(?P<skip>\s+|//[^\n]*|/\*.*?\*/|\#[^\n]*)|(?P<text>"[^"]*")|(?P<mark>[{}()\[\];,|])|(?P<word>[^\s{}()\[\];,|"]+)""",
    re.DOTALL,
)
_MOST_CELLS = 1 << 26  # of one table
_NAMELESS = ("unknown", "unnamed")  # what programs call a network without a name
# published tables are rounded to a few digits: what sums to 1 within this is normalized
_ROUNDING = 0.02
# no comment sign, which other programs know anywhere in a word
_PLAIN = re.compile(r"[^\s{}()\[\];,|\"#/]+")


def read_bif(path: str | os.PathLike[str]) -> BayesNet:
    """A network from a BIF file, as in the Bayesian Network Repository.

    Comments, properties, quoted names, `default` rows, `table` blocks for nodes with parents, and
    rows in any order are understood. States are texts. Rows that sum to 1 up to the rounding of
    published figures are normalized; others are refused with the name of the node.

    Parameters
    ----------
    path : path
        Or the text itself, if it has a line break.

    Examples
    --------
    >>> from lyceum import datasets
    >>> from lyceum.bayesnets import read_bif
    >>> read_bif(datasets.path("asia"))
    <BayesNet: 8 nodes, 8 edges, 18 parameters>
    """
    if "\n" in str(path):
        text = str(path)
    else:
        # as it is: line breaks in quotes belong to a name
        content = Path(path).read_bytes()
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            raise DataError(
                f"{path}, line {line} is not UTF-8 text: write the file as UTF-8, as its names"
                " would be changed otherwise"
            ) from error
    return _Parser(text).network()


def write_bif(net: BayesNet, path: str | os.PathLike[str] | None = None) -> str:
    """A network as the text of a BIF file, written to `path` if one is given.

    Names and states with blanks, marks or comment signs of the format are put in quotes; read
    again, the network is the same, with states as texts. A name with a quote is refused, as the
    format has no way to write it (`lyceum.save` has). Numbers keep all their digits.

    Parameters
    ----------
    net : BayesNet
        All of whose nodes are discrete: the format has no others.
    path : path, optional

    Examples
    --------
    >>> from lyceum.bayesnets import BayesNet, TableNode, write_bif
    >>> print(write_bif(BayesNet([TableNode("coin", ["heads", "tails"], table=[0.5, 0.5])])))
    network unknown {
    }
    variable coin {
      type discrete [ 2 ] { heads, tails };
    }
    probability ( coin ) {
      table 0.5, 0.5;
    }
    <BLANKLINE>
    """
    if net.gaussian_names:
        raise DataError(
            f"a BIF file holds tables only, but {net.gaussian_names[0]!r} is Gaussian"
        )
    lines = [f"network {_network_name(net.name)} {{", "}"]
    for name in net.names:
        states = ", ".join(map(_quote, net.states(name)))
        lines += [
            f"variable {_quote(name)} {{",
            f"  type discrete [ {len(net.states(name))} ] {{ {states} }};",
            "}",
        ]
    for node in net.nodes:
        assert isinstance(node, TableNode)
        given = ""
        if node.parents:
            given = f" | {', '.join(map(_quote, node.parents))}"
        lines.append(f"probability ( {_quote(node.name)}{given} ) {{")
        # one row per combination of the parents' states
        for cell in np.ndindex(node.table.shape[:-1]):
            labels = [
                _quote(net.states(parent)[code])
                for parent, code in zip(node.parents, cell)
            ]
            row = f"({', '.join(labels)})" if labels else "table"
            numbers = ", ".join(repr(float(p)) for p in node.table[cell])
            lines.append(f"  {row} {numbers};")
        lines.append("}")
    text = "\n".join(lines) + "\n"
    if path is not None:
        write_file(Path(path), text.encode())
    return text


def _quote(label: object) -> str:
    text = str(label)
    if '"' in text:
        raise DataError(
            f"a BIF file cannot hold the name {text!r}, which has a quote: rename it, or keep the"
            " network by lyceum.save"
        )
    try:
        text.encode()
    except UnicodeEncodeError:
        raise DataError(
            f"a BIF file cannot hold the name {text!r}, which is no valid Unicode text: rename it"
        ) from None
    if _PLAIN.fullmatch(text):
        return text
    return f'"{text}"'


def _network_name(name: str) -> str:
    """The name in quotes if it is one of those that stand for none."""
    if name in _NAMELESS:
        return f'"{name}"'
    return _quote(name or "unknown")


class _Token(NamedTuple):
    """A word or mark of a file, with the number of its line; in quotes, a mark is none."""

    text: str
    line: int
    quoted: bool = False

    def is_mark(self, mark: str) -> bool:
        return self.text == mark and not self.quoted


class _Parser:
    """Reads the tokens of a file from left to right."""

    def __init__(self, text: str) -> None:
        self._tokens = list(_tokens(text))
        self._at = 0
        self.name = ""
        self.states: dict[str, list[str]] = {}
        self.parents: dict[str, list[str]] = {}
        self.rows: dict[str, dict[Any, list[float]]] = {}

    def network(self) -> BayesNet:
        while self._at < len(self._tokens):
            word = self._next().text
            if word == "network":
                self.name = ""
                if not self._peek("{"):
                    token = self._next()
                    if token.quoted or token.text not in _NAMELESS:
                        self.name = token.text
                self._skip_block()
            elif word == "variable":
                self._variable()
            elif word == "probability":
                self._probability()
            else:
                raise self._error(
                    f"expected network, variable or probability, found {word!r}"
                )
        if not self.states:
            raise DataError("the BIF file has no variable: is it a BIF file?")
        return BayesNet([self._node(name) for name in self.states], self.name)

    def _variable(self) -> None:
        name = self._next().text
        if name in self.states:
            raise self._error(f"the variable {name!r} appears twice")
        self._take("{")
        states: list[str] = []
        while not (token := self._next()).is_mark("}"):
            if token.text == "type":
                states = self._type()
            elif not token.is_mark(";"):
                self._skip_to(";")
        if not states:
            raise self._error(f"the variable {name!r} has no states")
        self.states[name] = states

    def _type(self) -> list[str]:
        kind = self._next().text
        if kind.lower() != "discrete":
            raise self._error(f"only discrete variables can be read, not {kind!r}")
        if self._peek("["):
            self._skip_to("]")
        self._take("{")
        states = self._list_to("}")
        if self._peek(";"):
            self._next()
        return states

    def _probability(self) -> None:
        self._take("(")
        name = self._next().text
        parents = []
        bar = False
        while not (token := self._next()).is_mark(")"):
            if token.is_mark("|"):
                bar = True
            elif not token.is_mark(","):
                parents.append(token.text)
        if parents and not bar:
            raise self._error(
                f"joint tables such as P({name}, {parents[0]}) cannot be read"
            )
        for member in (name, *parents):
            if member not in self.states:
                raise self._error(
                    f"P({name} | ...) names the variable {member!r}, which is not declared"
                )
        self._take("{")
        rows: dict[Any, list[float]] = {}
        while not (token := self._next()).is_mark("}"):
            if token.text in ("table", "default"):
                rows[token.text] = self._numbers()
            elif token.is_mark("("):
                key = tuple(self._list_to(")"))
                rows[key] = self._numbers()
            elif not token.is_mark(";"):
                self._skip_to(";")
        self.parents[name] = parents
        self.rows[name] = rows

    def _list_to(self, mark: str) -> list[str]:
        """The words up to a mark; commas part them."""
        words = []
        while not (token := self._next()).is_mark(mark):
            if not token.is_mark(","):
                words.append(token.text)
        return words

    def _numbers(self) -> list[float]:
        numbers = []
        for word in self._list_to(";"):
            try:
                numbers.append(float(word))
            except ValueError:
                raise self._error(f"{word!r} is not a number") from None
        return numbers

    def _node(self, name: str) -> TableNode:
        if name not in self.rows:
            raise DataError(f"the BIF file has no probabilities of {name!r}")
        states = self.states[name]
        parents = self.parents[name]
        rows = self.rows[name]
        shape = (*(len(self.states[parent]) for parent in parents), len(states))
        if (cells := math.prod(shape)) > _MOST_CELLS:
            raise DataError(
                f"the BIF file's table of {name!r} has {cells:.3g} cells: give it fewer parents"
            )
        # what no row, table or default gives stays NaN, which is refused below
        table = np.full(shape, np.nan)
        try:
            if "default" in rows:
                table[...] = rows["default"]
            if "table" in rows:
                # in a single list the states of the variable itself vary slowest, as its name comes
                # first
                slowest = np.reshape(rows["table"], (shape[-1], *shape[:-1]))
                table[...] = np.moveaxis(slowest, 0, -1)
            for key, numbers in rows.items():
                if isinstance(key, tuple):
                    cell = tuple(
                        self.states[parent].index(state)
                        for parent, state in zip(parents, key, strict=True)
                    )
                    table[cell] = numbers
        except ValueError as error:
            raise DataError(
                f"the BIF file's table of {name!r} does not fit its {shape} states: {error}"
            ) from None
        return TableNode(name, tuple(states), tuple(parents), _normalize(name, table))

    # -- tokens ------------------------------------------------------------------------

    def _peek(self, mark: str) -> bool:
        """Whether the next token is this mark."""
        return self._at < len(self._tokens) and self._tokens[self._at].is_mark(mark)

    def _next(self) -> _Token:
        if self._at >= len(self._tokens):
            raise DataError("the BIF file ends in the middle of a block")
        self._at += 1
        return self._tokens[self._at - 1]

    def _take(self, mark: str) -> None:
        token = self._next()
        if not token.is_mark(mark):
            raise self._error(f"expected {mark!r}, found {token.text!r}")

    def _skip_to(self, mark: str) -> None:
        while not self._next().is_mark(mark):
            pass

    def _skip_block(self) -> None:
        self._take("{")
        depth = 1
        while depth:
            token = self._next()
            depth += token.is_mark("{") - token.is_mark("}")

    def _error(self, message: str) -> DataError:
        return DataError(
            f"line {self._tokens[self._at - 1].line} of the BIF file: {message}"
        )


def _normalize(name: str, table: np.ndarray) -> np.ndarray:
    totals = table.sum(axis=-1, keepdims=True)
    if np.isnan(table).any():
        raise DataError(
            f"the BIF file lacks rows of the table of {name!r}, and has no default for them"
        )
    if (table < 0).any() or (np.abs(totals - 1.0) > _ROUNDING).any():
        wrong = float(totals.flat[np.abs(totals - 1.0).argmax()])
        raise DataError(
            f"the BIF file's table of {name!r} has a row that sums to {wrong:g}, not to 1"
        )
    return np.where(np.abs(totals - 1.0) > 1e-12, table / totals, table)


def _tokens(text: str) -> Iterator[_Token]:
    """The words and marks of a file, quotes removed, each with the number of its line."""
    start = 0
    line = 1
    while start < len(text):
        match = _TOKEN.match(text, start)
        if match is None:
            raise DataError(
                f"line {line} of the BIF file: cannot read {text[start : start + 20]!r}"
            )
        if match.lastgroup != "skip":
            word = match.group()
            if match.lastgroup == "text":
                yield _Token(word[1:-1], line, quoted=True)
            else:
                yield _Token(word, line)
        line += match.group().count("\n")
        start = match.end()

"""Mutation testing: small changes to the code of a room, each of which some test must notice.

    python tools/mutants.py cover MAP TEST...               which test runs which lines, into a file
    python tools/mutants.py run MAP ROOM... --count 100 --seed 0   that many mutants of the rooms

A mutant is one change at one place: another comparison, another operator, another number, a negated
condition, an operand or a statement left out, two arguments swapped. Only tests that run the
changed line are run, the quickest first, each mutant in a child process with a time limit. A test
that fails, an error, a crash or the end of the time kills the mutant; survivors are printed with
their change, to become tests or to be listed as equivalent.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib
import importlib.machinery
import json
import os
import random
import signal
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).parents[1]
SOURCE = REPOSITORY / "src/lyceum"
MOST_TESTS = 60  # tests of a mutant; a survivor is tried on all that run its line
SECONDS = 20  # of a mutant, beside five times what its tests take
_AT_IMPORT = "at import"

# -- mutants ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Mutant:
    """One change: the node from `start` to `end` of a file reads `after`."""

    path: str  # from the repository
    line: int
    start: int  # in characters of the file
    end: int
    before: str
    after: str

    def source(self) -> str:
        text = (REPOSITORY / self.path).read_text()
        return text[: self.start] + self.after + text[self.end :]

    def __str__(self) -> str:
        return f"{self.path}:{self.line}  {self.before}  ->  {self.after}"


_COMPARISONS = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),  # codespell:ignore
    ast.NotIn: (ast.In,),  # codespell:ignore
}
_OPERATORS = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}


def _changes(node: ast.AST) -> Iterator[ast.AST]:
    """The node with one change each."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        for kind in _COMPARISONS[type(node.ops[0])]:
            yield _changed(node, ops=[kind()])
    elif isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in _OPERATORS:
        yield _changed(node, op=_OPERATORS[type(node.op)]())
    elif isinstance(node, ast.UnaryOp):
        yield node.operand
    elif isinstance(node, ast.BoolOp):
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield _changed(node, op=other)
        for i in range(len(node.values)):
            rest = [value for j, value in enumerate(node.values) if j != i]
            yield rest[0] if len(rest) == 1 else _changed(node, values=rest)
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float):
        changed = not node.value if isinstance(node.value, bool) else node.value + 1
        yield ast.Constant(changed)
    elif isinstance(node, ast.IfExp):
        yield _changed(node, test=ast.UnaryOp(ast.Not(), node.test))
    elif isinstance(node, ast.Call) and _has_two_arguments(node):
        first, second, *others = node.args
        yield _changed(node, args=[second, first, *others])
    if isinstance(
        node, ast.Expr | ast.AugAssign | ast.Raise | ast.Break | ast.Continue
    ):
        yield ast.Pass()


def _changed(node: ast.AST, **fields: Any) -> ast.AST:
    made = copy.copy(node)
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def _has_two_arguments(node: ast.Call) -> bool:
    starred = any(isinstance(argument, ast.Starred) for argument in node.args)
    return (
        len(node.args) >= 2
        and not starred
        and ast.dump(node.args[0]) != ast.dump(node.args[1])
    )


def _mutable_nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes but annotations, docstrings, decorators, type aliases, texts and their parts."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.JoinedStr | ast.Import | ast.ImportFrom):
            continue
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue
        yield node
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list", "type_params"):
                continue
            children = value if isinstance(value, list) else [value]
            waiting.extend(child for child in children if isinstance(child, ast.AST))


def mutants_of(path: Path) -> list[Mutant]:
    """All mutants of a file, by place."""
    text = path.read_text()
    lines = text.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))

    def place(line: int, column: int) -> int:
        # columns are counted in bytes
        return starts[line - 1] + len(lines[line - 1].encode()[:column].decode())

    found = set()
    for node in _mutable_nodes(ast.parse(text)):
        for changed in _conditions_and_changes(node):
            target, after = changed
            start = place(target.lineno, target.col_offset)
            end = place(target.end_lineno, target.end_col_offset)
            name = str(path.relative_to(REPOSITORY))
            found.add(Mutant(name, target.lineno, start, end, text[start:end], after))
    return sorted(found, key=lambda mutant: (mutant.start, mutant.end, mutant.after))


def _conditions_and_changes(node: ast.AST) -> Iterator[tuple[Any, str]]:
    """The node that is replaced, and the text in its place; expressions in parentheses."""
    # a comparison or a `not` is negated by its own changes
    negated = ast.Compare | ast.UnaryOp
    if isinstance(node, ast.If | ast.While) and not isinstance(node.test, negated):
        yield node.test, f"(not ({ast.unparse(node.test)}))"
    for changed in _changes(node):
        text = ast.unparse(changed)
        yield node, text if isinstance(node, ast.stmt) else f"({text})"


# -- which test runs which lines -------------------------------------------------------


class Coverage:
    """A plugin of pytest that notes which lines of the package each test runs, and its time."""

    def __init__(self) -> None:
        self.lines: dict[str, set[tuple[str, int]]] = defaultdict(set)
        self.seconds: dict[str, float] = {}
        self.current = _AT_IMPORT
        self.names: dict[str, str | None] = {}

    def _trace(self, frame: Any, event: str, argument: Any) -> Any:
        file = frame.f_code.co_filename
        if file not in self.names:
            path = Path(file)
            inside = path.is_relative_to(SOURCE)
            self.names[file] = str(path.relative_to(REPOSITORY)) if inside else None
        name = self.names[file]
        if name is None:
            return None
        self.lines[self.current].add((name, frame.f_lineno))
        return self._trace

    def start(self) -> None:
        threading.settrace(self._trace)
        sys.settrace(self._trace)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: Any) -> Any:
        self.current = item.nodeid
        started = time.perf_counter()
        # pytest and hypothesis may have set another one
        self.start()
        try:
            return (yield)
        finally:
            self.seconds[item.nodeid] = time.perf_counter() - started
            self.current = _AT_IMPORT


def cover(tests: list[str], file: Path) -> int:
    """Run the tests once and write down which lines each of them runs."""
    coverage = Coverage()
    coverage.start()
    status = pytest.main([*_QUIET, *tests], plugins=[coverage])
    sys.settrace(None)
    by_line: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for test, lines in coverage.lines.items():
        for name, line in sorted(lines):
            by_line[name][str(line)].append(test)
    file.write_text(json.dumps({"lines": by_line, "seconds": coverage.seconds}))
    return int(status)


# plain asserts: pytest's own loader of modules would not see the mutant
_QUIET = ["-q", "--assert=plain", "-p", "no:cacheprovider", "-p", "no:xdist"]

# -- running ---------------------------------------------------------------------------


class Map:
    """Which tests run which lines, and how long they take."""

    def __init__(self, files: list[Path]) -> None:
        self.lines: dict[str, dict[str, set[str]]] = defaultdict(
            lambda: defaultdict(set)
        )
        self.seconds: dict[str, float] = {}
        for file in files:
            content = json.loads(file.read_text())
            self.seconds |= content["seconds"]
            for name, lines in content["lines"].items():
                for line, tests in lines.items():
                    self.lines[name][line] |= set(tests)

    def tests_of(self, mutant: Mutant) -> list[str]:
        """The tests that run the lines of a mutant, the quickest first."""
        n_lines = mutant.before.count("\n")
        lines = self.lines[mutant.path]
        tests: set[str] = set()
        for line in range(mutant.line, mutant.line + n_lines + 1):
            tests |= lines.get(str(line), set())
        if _AT_IMPORT in tests:
            # of a table or a default: every test that runs any line of the file may notice
            tests = set().union(*lines.values())
        tests.discard(_AT_IMPORT)
        return sorted(tests, key=lambda test: (self.seconds.get(test, 0.0), test))


def _install(mutant: Mutant) -> None:
    """Let the mutant be imported in place of its file."""
    path = str(REPOSITORY / mutant.path)
    source = mutant.source()
    original = importlib.machinery.SourceFileLoader.get_code

    def get_code(self: Any, name: str) -> Any:
        if self.path == path:
            return compile(source, path, "exec", dont_inherit=True)
        return original(self, name)

    importlib.machinery.SourceFileLoader.get_code = get_code  # type: ignore[method-assign]


def _passes(mutant: Mutant | None, tests: list[str], seconds: float) -> bool:
    """Whether the tests pass on a mutant (None: on the code as it is), in a child process within
    the time."""
    child = os.fork()
    if child == 0:
        os.setsid()
        silence = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silence, 1)
        os.dup2(silence, 2)
        status = 1
        try:
            if mutant is not None:
                _install(mutant)
            status = int(pytest.main([*_QUIET, "-x", *tests]))
        finally:
            os._exit(status)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status == 0
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def _verdict(mutant: Mutant, coverage: Map) -> str:
    """ "killed", "survived" or "not run"."""
    tests = coverage.tests_of(mutant)
    if not tests:
        return "not run"
    for part in (tests[:MOST_TESTS], tests[MOST_TESTS:]):
        if part:
            estimate = sum(coverage.seconds.get(test, 0.0) for test in part)
            if not _passes(mutant, part, SECONDS + 5 * estimate):
                return "killed"
    return "survived"


def sample(rooms: list[str], count: int, seed: int) -> list[Mutant]:
    """Mutants of the files of some rooms, drawn without replacement."""
    every = []
    for room in rooms:
        path = SOURCE / room
        files = sorted(path.rglob("*.py")) if path.is_dir() else [path]
        for file in files:
            every += mutants_of(file)
    return random.Random(seed).sample(every, min(count, len(every)))


def run(rooms: list[str], count: int, seed: int, files: list[Path], jobs: int) -> int:
    """Try a sample; print the survivors and the shares."""
    # what every child needs and no mutant changes, so that children begin at once
    for name in ("hypothesis", "pandas", "pyarrow", "scipy.stats", "sklearn.metrics"):
        importlib.import_module(name)
    coverage = Map(files)
    mutants = sample(rooms, count, seed)
    counts: dict[str, int] = defaultdict(int)
    with ThreadPoolExecutor(jobs) as pool:
        verdicts = pool.map(lambda mutant: _verdict(mutant, coverage), mutants)
        for mutant, verdict in zip(mutants, verdicts):
            counts[verdict] += 1
            if verdict != "killed":
                print(f"{verdict}: {mutant}", flush=True)
    n = len(mutants)
    share = counts["killed"] / max(n, 1)
    print(
        f"{n} mutants of {', '.join(rooms)}, seed {seed}: {dict(counts)}, {share:.1%} killed"
    )
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])  # type: ignore[union-attr]
    commands = parser.add_subparsers(dest="command", required=True)
    covering = commands.add_parser("cover")
    covering.add_argument("map", type=Path)
    covering.add_argument("tests", nargs="+")
    running = commands.add_parser("run")
    running.add_argument("map", type=Path, help="a file, or a folder of such files")
    running.add_argument("rooms", nargs="+", help="e.g. decision _core/statistics")
    running.add_argument("--count", type=int, default=100)
    running.add_argument("--seed", type=int, default=0)
    running.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    os.chdir(REPOSITORY)
    if given.command == "cover":
        return cover(given.tests, given.map)
    files = sorted(given.map.glob("*.json")) if given.map.is_dir() else [given.map]
    return run(given.rooms, given.count, given.seed, files, given.jobs)


if __name__ == "__main__":
    sys.exit(main())

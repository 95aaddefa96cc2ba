"""How the code reads, in numbers: `make house`, or `python tools/house.py PACKAGE_FOLDER ...` for
others beside it.

Every figure is a fact about source text: nothing is imported or run. Tests are left out. A line of
code is one that is neither blank, nor comment, nor docstring; a body starts after the docstring.
Nodes of annotations do not count, as most of the packages beside it have none. A function that is
used once, but as an entry of a table or an argument, is not called once.
"""

import argparse
import ast
import io
import json
import math
import statistics
import tokenize
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

NO_WORDS = {
    tokenize.NEWLINE,
    tokenize.NL,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.COMMENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}
ANCHORS = Path(__file__).with_name("anchors.json")
TEST_FOLDERS = {"tests", "test", "testing", "conftest.py"}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
WITH_DOCSTRINGS = (*FUNCTIONS, ast.ClassDef, ast.Module)


@dataclass
class Totals:
    """What is counted over the files of one package."""

    file_lines: list[int] = field(default_factory=list)
    folder_files: Counter = field(default_factory=Counter)
    bodies: list[int] = field(default_factory=list)
    nodes: list[int] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    widths: list[int] = field(default_factory=list)
    long_lines: int = 0
    docstring_lines: int = 0
    comment_lines: int = 0
    import_lines: int = 0
    conditionals: int = 0
    nested_conditionals: int = 0
    tuple_assignments: int = 0
    functions: int = 0
    functions_with_return: int = 0
    arguments: int = 0
    typed_arguments: int = 0
    any_arguments: int = 0
    private_functions: dict[tuple[str, str], int] = field(default_factory=dict)
    uses: Counter = field(default_factory=Counter)
    calls: Counter = field(default_factory=Counter)
    public_names: set[str] = field(default_factory=set)
    code: dict[str, list[str]] = field(default_factory=dict)


def python_files(package: Path) -> Iterator[Path]:
    for path in sorted(package.rglob("*.py")):
        inside = path.relative_to(package).parts
        if not TEST_FOLDERS.intersection(inside):
            yield path


def measure(package: Path) -> Totals:
    totals = Totals()
    for path in python_files(package):
        text = path.read_text(encoding="utf-8")
        measure_file(totals, path, text)
    for path in [
        *package.rglob("__init__.py"),
        *package.rglob("__init__.pyi"),
        *package.glob("*.py"),
    ]:
        totals.public_names |= public_names(path, package)
    return totals


def measure_file(totals: Totals, path: Path, text: str) -> None:
    tree = ast.parse(text)
    survey = Survey(tree)
    lines = text.splitlines()
    totals.file_lines.append(len(lines))
    totals.folder_files[str(path.parent)] += 1
    totals.long_lines += sum(len(line) > 100 for line in lines)
    docstrings = docstring_lines(survey)
    totals.docstring_lines += len(docstrings)
    measure_tokens(totals, path, text, lines, docstrings)
    measure_statements(totals, path, tree, survey)


class Survey:
    """All nodes of a file, looked through once, but for those that say whether a name is read or
    written; and how many stand in every statement, without annotations: packages with and without
    types compare."""

    def __init__(self, tree: ast.Module):
        self.nodes: list[ast.AST] = []
        self.sizes: dict[ast.AST, int] = {}
        self.count(tree)

    def count(self, node: ast.AST) -> int:
        self.nodes.append(node)
        size = 1
        for name in node._fields:
            value = getattr(node, name, None)
            if name == "ctx":
                size += 1
            elif isinstance(value, list):
                for child in value:
                    if isinstance(child, ast.AST):
                        size += self.count(child)
            elif isinstance(value, ast.AST):
                inside = self.count(value)
                if name not in {"annotation", "returns"}:
                    size += inside
        if isinstance(node, ast.stmt):
            self.sizes[node] = size
        return size


def docstring_lines(survey: Survey) -> set[int]:
    lines: set[int] = set()
    for node in survey.nodes:
        if (
            isinstance(node, WITH_DOCSTRINGS)
            and ast.get_docstring(node, clean=False) is not None
        ):
            text = node.body[0]
            lines.update(range(text.lineno, text.end_lineno + 1))
    return lines


def measure_tokens(
    totals: Totals, path: Path, text: str, lines: list[str], docstrings: set[int]
) -> None:
    per_line: Counter = Counter()
    comments = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        row = token.start[0]
        if token.type == tokenize.COMMENT and lines[row - 1].lstrip().startswith("#"):
            comments.add(row)
        if token.type not in NO_WORDS and row not in docstrings:
            per_line[row] += 1
    totals.comment_lines += len(comments)
    totals.tokens.extend(per_line.values())
    totals.widths.extend(len(lines[row - 1].strip()) for row in per_line)
    totals.code[str(path)] = [lines[row - 1].strip() for row in sorted(per_line)]


def measure_statements(
    totals: Totals, path: Path, tree: ast.Module, survey: Survey
) -> None:
    for node in survey.nodes:
        if isinstance(node, FUNCTIONS):
            measure_function(totals, node, survey)
        elif isinstance(node, ast.IfExp):
            totals.conditionals += 1
            inner = (
                child
                for part in (node.body, node.orelse, node.test)
                for child in ast.walk(part)
            )
            totals.nested_conditionals += any(
                isinstance(child, ast.IfExp) for child in inner
            )
        elif isinstance(node, ast.Assign):
            totals.tuple_assignments += isinstance(node.targets[0], ast.Tuple)
            if any(
                isinstance(name, ast.Name) and name.id == "__all__"
                for name in node.targets
            ):
                totals.import_lines += node.end_lineno - node.lineno + 1
        elif isinstance(node, ast.Import | ast.ImportFrom):
            totals.import_lines += node.end_lineno - node.lineno + 1
        if isinstance(node, ast.Name):
            totals.uses[str(path), node.id] += 1
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            totals.calls[str(path), node.func.id] += 1
    for node in tree.body:
        if (
            isinstance(node, FUNCTIONS)
            and node.name.startswith("_")
            and not node.name.startswith("__")
        ):
            totals.private_functions[str(path), node.name] = body_length(node)


def measure_function(
    totals: Totals, node: ast.FunctionDef | ast.AsyncFunctionDef, survey: Survey
) -> None:
    totals.functions += 1
    totals.functions_with_return += node.returns is not None
    totals.bodies.append(body_length(node))
    totals.nodes.append(sum(survey.sizes[part] for part in body_of(node)))
    every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    arguments = [argument for argument in every if argument.arg not in {"self", "cls"}]
    totals.arguments += len(arguments)
    totals.typed_arguments += sum(
        argument.annotation is not None for argument in arguments
    )
    totals.any_arguments += sum(
        isinstance(argument.annotation, ast.Name) and argument.annotation.id == "Any"
        for argument in arguments
    )


def body_of(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.stmt]:
    """The statements after the docstring."""
    return node.body[ast.get_docstring(node, clean=False) is not None :]


def body_length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    body = body_of(node)
    if not body:
        return 0
    return body[-1].end_lineno - body[0].lineno + 1


def public_names(path: Path, package: Path) -> set[str]:
    """Names in `__all__` of a package that is public by its path, or in the stub that stands for
    it."""
    room = path.parent.relative_to(package.parent)
    if path.stem != "__init__":
        room /= path.stem
    if any(part.startswith("_") for part in room.parts):
        return set()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            if node.targets[0].id == "__all__" and isinstance(
                node.value, ast.List | ast.Tuple
            ):
                names |= {
                    f"{room}.{name.value}"
                    for name in node.value.elts
                    if isinstance(name, ast.Constant)
                }
        elif path.suffix == ".pyi" and isinstance(node, ast.ImportFrom):
            names |= {
                f"{room}.{alias.name}"
                for alias in node.names
                if alias.asname == alias.name
            }
    return names


def repeated_share(code: dict[str, list[str]], run: int = 6) -> float:
    """Share of the lines of code that lie in a run of six lines which stands elsewhere too."""
    windows: dict[tuple[str, ...], list[tuple[str, int]]] = {}
    for path, lines in code.items():
        for start in range(len(lines) - run + 1):
            windows.setdefault(tuple(lines[start : start + run]), []).append(
                (path, start)
            )
    repeated = {
        (path, start + offset)
        for places in windows.values()
        if len(places) > 1
        for path, start in places
        for offset in range(run)
    }
    return len(repeated) / max(1, sum(map(len, code.values())))


def any_share(totals: Totals) -> float:
    """Percent of the typed arguments; no figure for a package that has hardly any types."""
    if totals.typed_arguments < 0.2 * totals.arguments:
        return math.nan
    return 100 * totals.any_arguments / totals.typed_arguments


def quantile(values: list[int], share: float) -> int:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


# name of a figure, and whether more of it is better (1), worse (-1) or neither (0)
FIGURES = {
    "files": 0,
    "lines": 0,
    "lines per file, p90": -1,
    "lines per file, longest": -1,
    "lines per body, p99": -1,
    "lines per body, longest": -1,
    "bodies above 40 lines, %": -1,
    "AST nodes per body, median": -1,
    "AST nodes per body, p90": -1,
    "bodies above 350 AST nodes, %": -1,
    "tokens per line of code, mean": -1,
    "tokens per line of code, p90": -1,
    "characters per line of code, mean": -1,
    "lines above 100 columns, %": -1,
    "conditional expressions per 1,000 lines": -1,
    "nested conditional expressions per 100,000 lines": -1,
    "tuple assignments per 1,000 lines": -1,
    "private functions called once per 1,000 lines": -1,
    "of these of 3 lines or fewer, per 1,000 lines": -1,
    "docstrings, % of lines": 1,
    "comments, % of lines": 1,
    "imports and __all__, % of lines": -1,
    "files per folder, median": -1,
    "files per folder, most": -1,
    "public names": 0,
    "functions with a return type, %": 1,
    "typed arguments that are Any, %": -1,
    "lines of code in repeated runs of six, %": -1,
}


def figures(totals: Totals) -> dict[str, float]:
    lines = sum(totals.file_lines)
    code = len(totals.tokens)
    folders = list(totals.folder_files.values())
    once = [
        length
        for (path, name), length in totals.private_functions.items()
        if totals.uses[path, name] == totals.calls[path, name] == 1
    ]
    short = [length for length in once if length <= 3]
    values = (
        len(totals.file_lines),
        lines,
        quantile(totals.file_lines, 0.9),
        max(totals.file_lines),
        quantile(totals.bodies, 0.99),
        max(totals.bodies),
        100 * sum(body > 40 for body in totals.bodies) / len(totals.bodies),
        quantile(totals.nodes, 0.5),
        quantile(totals.nodes, 0.9),
        100 * sum(count > 350 for count in totals.nodes) / len(totals.nodes),
        sum(totals.tokens) / code,
        quantile(totals.tokens, 0.9),
        sum(totals.widths) / code,
        100 * totals.long_lines / lines,
        1000 * totals.conditionals / lines,
        100_000 * totals.nested_conditionals / lines,
        1000 * totals.tuple_assignments / lines,
        1000 * len(once) / lines,
        1000 * len(short) / lines,
        100 * totals.docstring_lines / lines,
        100 * totals.comment_lines / lines,
        100 * totals.import_lines / lines,
        statistics.median(folders),
        max(folders),
        len(totals.public_names),
        100 * totals.functions_with_return / totals.functions,
        any_share(totals),
        100 * repeated_share(totals.code),
    )
    return dict(zip(FIGURES, map(float, values)))


def verdict(value: float, median: float, better: int) -> str:
    if better == 0:
        return ""
    if value == median:
        return "level"
    return "ahead" if (value - median) * better > 0 else "behind"


def print_table(package: Path, anchors: dict[str, dict[str, float]]) -> None:
    ours = figures(measure(package))
    names = list(anchors)
    print("| |", " | ".join([package.name, "median", "", *names]), "|")
    print("|---|" + "--:|" * (len(names) + 3))
    for name, better in FIGURES.items():
        others = [anchors[anchor][name] for anchor in names]
        median = statistics.median(value for value in others if not math.isnan(value))
        cells = [ours[name], median]
        shown = [f"{value:,.4g}" for value in cells]
        shown += [
            verdict(ours[name], median, better),
            *(f"{value:,.4g}" for value in others),
        ]
        print(f"| {name} |", " | ".join(shown), "|")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("package", nargs="?", type=Path, default=Path("src/lyceum"))
    parser.add_argument(
        "--anchors",
        nargs="+",
        type=Path,
        help="folders of packages to measure beside it",
    )
    options = parser.parse_args()
    if options.anchors:
        measured = {path.name: figures(measure(path)) for path in options.anchors}
        ANCHORS.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")
    print_table(options.package, json.loads(ANCHORS.read_text(encoding="utf-8")))

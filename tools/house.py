"""How the code reads, in numbers: `make house`, or `python tools/house.py PACKAGE_FOLDER ...` for
others beside it.

Every figure is a fact about source text: nothing is imported or run. Tests are left out. A line of
code is one that is neither blank, nor comment, nor docstring; a body starts after the docstring.
"""

import argparse
import ast
import io
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
    any_arguments: int = 0
    private_functions: dict[tuple[str, str], int] = field(default_factory=dict)
    uses: Counter = field(default_factory=Counter)
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
    for path in sorted(package.rglob("__init__.py*")):
        if path.suffix in {".py", ".pyi"}:
            totals.public_names |= public_names(path, package)
    return totals


def measure_file(totals: Totals, path: Path, text: str) -> None:
    tree = ast.parse(text)
    lines = text.splitlines()
    totals.file_lines.append(len(lines))
    totals.folder_files[str(path.parent)] += 1
    totals.long_lines += sum(len(line) > 100 for line in lines)
    docstrings = docstring_lines(tree)
    totals.docstring_lines += len(docstrings)
    measure_tokens(totals, path, text, lines, docstrings)
    measure_statements(totals, path, tree)


def docstring_lines(tree: ast.Module) -> set[int]:
    lines: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, WITH_DOCSTRINGS) and ast.get_docstring(node, clean=False) is not None:
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


def measure_statements(totals: Totals, path: Path, tree: ast.Module) -> None:
    for node in ast.walk(tree):
        if isinstance(node, FUNCTIONS):
            measure_function(totals, node)
        elif isinstance(node, ast.IfExp):
            totals.conditionals += 1
            inner = (
                child for part in (node.body, node.orelse, node.test) for child in ast.walk(part)
            )
            totals.nested_conditionals += any(isinstance(child, ast.IfExp) for child in inner)
        elif isinstance(node, ast.Assign):
            both = (node.targets[0], node.value)
            totals.tuple_assignments += all(isinstance(side, ast.Tuple) for side in both)
            if any(isinstance(name, ast.Name) and name.id == "__all__" for name in node.targets):
                totals.import_lines += node.end_lineno - node.lineno + 1
        elif isinstance(node, ast.Import | ast.ImportFrom):
            totals.import_lines += node.end_lineno - node.lineno + 1
        if isinstance(node, ast.Name):
            totals.uses[str(path), node.id] += 1
    for node in tree.body:
        if (
            isinstance(node, FUNCTIONS)
            and node.name.startswith("_")
            and not node.name.startswith("__")
        ):
            totals.private_functions[str(path), node.name] = body_length(node)


def measure_function(totals: Totals, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    totals.functions += 1
    totals.functions_with_return += node.returns is not None
    totals.bodies.append(body_length(node))
    totals.nodes.append(sum(1 for _ in ast.walk(node)))
    every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    arguments = [argument for argument in every if argument.arg not in {"self", "cls"}]
    totals.arguments += len(arguments)
    totals.any_arguments += sum(
        isinstance(argument.annotation, ast.Name) and argument.annotation.id == "Any"
        for argument in arguments
    )


def body_length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    body = node.body
    if ast.get_docstring(node, clean=False) is not None:
        body = body[1:]
    if not body:
        return 0
    return body[-1].end_lineno - body[0].lineno + 1


def public_names(path: Path, package: Path) -> set[str]:
    """Names in `__all__` of a package that is public by its path, or in the stub that stands for
    it."""
    room = path.parent.relative_to(package.parent)
    if any(part.startswith("_") for part in room.parts):
        return set()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            if node.targets[0].id == "__all__" and isinstance(node.value, ast.List | ast.Tuple):
                names |= {
                    f"{room}.{name.value}"
                    for name in node.value.elts
                    if isinstance(name, ast.Constant)
                }
        elif path.suffix == ".pyi" and isinstance(node, ast.ImportFrom):
            names |= {f"{room}.{alias.name}" for alias in node.names if alias.asname == alias.name}
    return names


def repeated_share(code: dict[str, list[str]], run: int = 6) -> float:
    """Share of the lines of code that lie in a run of six lines which stands elsewhere too."""
    windows: dict[tuple[str, ...], list[tuple[str, int]]] = {}
    for path, lines in code.items():
        for start in range(len(lines) - run + 1):
            windows.setdefault(tuple(lines[start : start + run]), []).append((path, start))
    repeated = {
        (path, start + offset)
        for places in windows.values()
        if len(places) > 1
        for path, start in places
        for offset in range(run)
    }
    return len(repeated) / max(1, sum(map(len, code.values())))


def quantile(values: list[int], share: float) -> int:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def figures(totals: Totals) -> dict[str, str]:
    lines = sum(totals.file_lines)
    thousands = lines / 1000
    folders = list(totals.folder_files.values())
    once = {
        name: length
        for (path, name), length in totals.private_functions.items()
        if totals.uses[path, name] == 1
    }
    short = sum(length <= 3 for length in once.values())
    return {
        "files / lines": f"{len(totals.file_lines)} / {lines}",
        "lines per file, median / p90 / max": spread(totals.file_lines, 0.5, 0.9, 1.0),
        "function bodies, median / p90 / p99 / max": spread(totals.bodies, 0.5, 0.9, 0.99, 1.0),
        "bodies above 40 lines": (
            f"{sum(body > 40 for body in totals.bodies)} of {len(totals.bodies)}"
        ),
        "AST nodes per function, median / p90 / max": spread(totals.nodes, 0.5, 0.9, 1.0),
        "functions above 350 AST nodes": f"{sum(count > 350 for count in totals.nodes)}",
        "tokens per line of code, mean / p90": average(totals.tokens),
        "characters per line of code, mean / p90": average(totals.widths),
        "lines above 100 columns": f"{totals.long_lines}",
        "conditional expressions per 1,000 lines": (
            f"{totals.conditionals / thousands:.1f} ({totals.conditionals})"
        ),
        "nested conditional expressions": f"{totals.nested_conditionals}",
        "tuple assignments per 1,000 lines": (
            f"{totals.tuple_assignments / thousands:.1f} ({totals.tuple_assignments})"
        ),
        "private functions used once per 1,000 lines": f"{len(once) / thousands:.1f} ({len(once)})",
        "of these of 3 lines or fewer": f"{short}",
        "docstrings, share of lines": f"{totals.docstring_lines / lines:.1%}",
        "comments, share of lines": f"{totals.comment_lines / lines:.2%}",
        "imports and __all__, share of lines": f"{totals.import_lines / lines:.1%}",
        "files per folder, median / max": f"{statistics.median(folders):.0f} / {max(folders)}",
        "public names": f"{len(totals.public_names)}",
        "functions with a return type": f"{totals.functions_with_return / totals.functions:.0%}",
        "arguments typed Any": (
            f"{totals.any_arguments / totals.arguments:.1%} ({totals.any_arguments})"
        ),
        "lines in repeated runs of six": f"{repeated_share(totals.code):.1%}",
    }


def spread(values: list[int], *shares: float) -> str:
    return " / ".join(str(quantile(values, share)) for share in shares)


def average(values: list[int]) -> str:
    return f"{statistics.mean(values):.1f} / {quantile(values, 0.9)}"


def print_table(packages: list[Path]) -> None:
    columns = [figures(measure(package)) for package in packages]
    print("| |", " | ".join(package.name for package in packages), "|")
    print("|---" * (len(packages) + 1) + "|")
    for name in columns[0]:
        print(f"| {name} |", " | ".join(column[name] for column in columns), "|")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("packages", nargs="*", type=Path, default=[Path("src/lyceum")])
    print_table(parser.parse_args().packages)

"""How the code reads: sizes, shapes of statements, and one word for one thing."""

import ast
import gc
import importlib
import inspect
import pkgutil
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import lyceum

SOURCE = Path(lyceum.__file__).parent
REPOSITORY = SOURCE.parents[1]
CLASS = re.compile(r"^ *class (\w+)[(:]", re.M)
FILES = sorted(SOURCE.rglob("*.py"))
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


LOOKED_AT = (*FUNCTIONS, ast.IfExp, ast.Assign, ast.Name, ast.arg)


@cache
def parsed() -> list[tuple[Path, list[ast.AST]]]:
    """The nodes that are looked at in every file."""
    # the syntax of all files is a million objects: looking for garbage among them takes longest
    gc.disable()
    files = []
    for path in FILES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        nodes = [node for node in ast.walk(tree) if isinstance(node, LOOKED_AT)]
        files.append((path.relative_to(SOURCE), nodes))
    gc.enable()
    return files


@pytest.fixture(autouse=True, scope="module")
def forget_syntax() -> Iterator[None]:
    yield
    parsed.cache_clear()
    functions.cache_clear()


@cache
def functions() -> list[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    return [
        (f"{path}:{node.lineno} {node.name}", node)
        for path, nodes in parsed()
        for node in nodes
        if isinstance(node, FUNCTIONS)
    ]


# -- sizes -----------------------------------------------------------------------------


def test_no_file_is_longer_than_600_lines():
    if not (REPOSITORY / "native").is_dir():  # an installed package
        return
    folders = (
        "src",
        "tests",
        "benchmarks",
        "native",
        "fuzz",
        "docs",
        "examples",
        "packaging",
    )
    files = (path for folder in folders for path in (REPOSITORY / folder).rglob("*"))
    code = [path for path in files if path.suffix in (".py", ".hpp", ".cpp")]
    lengths = {str(path): path.read_text(encoding="utf-8").count("\n") for path in code}
    assert {path: length for path, length in lengths.items() if length > 600} == {}


def test_no_folder_has_more_than_20_files():
    counts = Counter(path.parent.relative_to(SOURCE).as_posix() for path in FILES)
    assert {folder: count for folder, count in counts.items() if count > 20} == {}


def body_of(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.stmt]:
    """The statements of a function after its docstring."""
    return node.body[1:] if ast.get_docstring(node) is not None else node.body


# An exercise or a scene of the theatre is a document in one function: what is drawn, given, asked
# and worked out, from top to bottom. Cut into pieces, it would pass a dozen numbers on.
DOCUMENTS = ("exercises/topics/", "theatre/scenes/")


def is_document(name):
    return any(folder in name for folder in DOCUMENTS)


def plain_functions():
    """All functions but those that are documents."""
    return ((name, node) for name, node in functions() if not is_document(name))


def test_an_exercise_fits_on_two_screens():
    bodies = {name: body_of(node) for name, node in functions() if is_document(name)}
    lengths = {name: b[-1].end_lineno - b[0].lineno + 1 for name, b in bodies.items()}
    assert {name: length for name, length in lengths.items() if length > 80} == {}


def test_no_body_is_longer_than_40_lines():
    bodies = ((name, body_of(node)) for name, node in plain_functions())
    lengths = {
        name: body[-1].end_lineno - body[0].lineno + 1 for name, body in bodies if body
    }
    assert {name: length for name, length in lengths.items() if length > 40} == {}


def test_no_body_has_more_than_350_nodes():
    counts = {
        name: sum(1 for statement in body_of(node) for _ in ast.walk(statement))
        for name, node in plain_functions()
        if node.name != "__init__"  # which stores parameters, one statement each
    }
    assert {name: count for name, count in counts.items() if count > 350} == {}


# -- statements ------------------------------------------------------------------------


def test_no_conditional_expression_stands_in_another():
    nested = [
        f"{path}:{node.lineno}"
        for path, nodes in parsed()
        for node in nodes
        if isinstance(node, ast.IfExp)
        for inner in ast.walk(node)
        if isinstance(inner, ast.IfExp) and inner is not node
    ]
    assert nested == []


def test_unrelated_values_are_not_assigned_in_one_statement():
    """`a, b = x, y` stands only where one value depends on the other name, as in a swap."""
    packed = []
    for path, nodes in parsed():
        for node in nodes:
            if not isinstance(node, ast.Assign) or not isinstance(
                node.value, ast.Tuple
            ):
                continue
            target = node.targets[0]
            if isinstance(target, ast.Tuple) and not depends(target, node.value):
                packed.append(f"{path}:{node.lineno}")
    assert packed == []


def depends(targets: ast.Tuple, values: ast.Tuple) -> bool:
    """Whether a value reads what the same statement assigns."""
    if len(targets.elts) != len(values.elts):
        return True
    assigned = {ast.unparse(target) for target in targets.elts}
    parts = (node for value in values.elts for node in ast.walk(value))
    read = {ast.unparse(node) for node in parts if isinstance(node, ast.expr)}
    return bool(assigned & read)


# -- words -----------------------------------------------------------------------------


def test_no_class_name_stands_twice():
    names = (
        name
        for path in FILES
        for name in CLASS.findall(path.read_text(encoding="utf-8"))
    )
    assert [name for name, count in Counter(names).items() if count > 1] == []


# what a reader would have to infer, and the noun that says it
VAGUE = {
    "found": "what was found: rows, labels, splits",
    "place": "index",
    "places": "indices",
    "who": "caller",
}


def test_names_say_the_noun():
    vague = {}
    for path, nodes in parsed():
        for node in nodes:
            name = None
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                name = node.id
            elif isinstance(node, ast.arg):
                name = node.arg
            if name in VAGUE:
                vague[f"{path}:{node.lineno}"] = f"{name}: {VAGUE[name]}"
    assert vague == {}


# other words for a parameter, and the one that is used
SYNONYMS = {
    "members": "estimators",
    "final": "final_estimator",
    "intercept": "fit_intercept",
    "n_waves": "n_components",
    "max_words": "max_features",
    "max_share": "max_df",
    "mix": "pooling",
    "shrink": "shrinkage",
    "stored": "prototypes",
    "bins": "n_bins",
    "tolerance": "tol",
    "max_rows": "max_samples",
    "scale_columns": "standardize",
    "sizes": "train_sizes",
    "share": "train_size",
    "form": "file_format",
    "predicted": "y_pred",
    "who": "caller",
}


def public_callables() -> Iterator[tuple[str, object]]:
    for module in pkgutil.iter_modules(lyceum.__path__):
        if module.name.startswith("_") or module.name == "cli":
            continue
        room = importlib.import_module(f"lyceum.{module.name}")
        for name in room.__all__:
            value = getattr(room, name)
            if inspect.isfunction(value) or (
                inspect.isclass(value) and hasattr(value, "fit")
            ):
                yield f"{module.name}.{name}", value


@pytest.mark.parametrize(("name", "value"), [*public_callables()])
def test_one_word_for_one_parameter(name, value):
    every = inspect.signature(value).parameters.values()
    parameters = {
        parameter.name for parameter in every if parameter.kind != parameter.VAR_KEYWORD
    }
    assert {other: SYNONYMS[other] for other in parameters & SYNONYMS.keys()} == {}

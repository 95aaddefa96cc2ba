"""Attacks on what people write and what models are kept in, the third set: networks, recipes and
loss files that nest, repeat and count, and model files whose parts were swapped with those of
others. Each is read or refused by name, within limits of memory and time."""

from __future__ import annotations

import io
import json
import tempfile
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from fuzz import Finding
from fuzz.file_cases import ReadingProcess
from fuzz.fitted import fitted_files
from lyceum import persist

__all__ = ["ATTACKS", "case", "make"]

MEMORY = 1 << 30
Members = dict[str, bytes]
METHODS = ("predict", "predict_proba", "transform", "score_samples", "summary")


def read_document(path: str) -> str:
    """Read a document, or load a model and let it answer; what came of it."""
    from lyceum.bayesnets import read_bif, write_bif
    from lyceum.decision import LossMatrix
    from lyceum.errors import LyceumError
    from lyceum.studies import Recipe

    if path.endswith(".lyceum"):
        return _ask(persist.load(path), np.load(Path(path).with_suffix(".npy")))
    try:
        if path.endswith(".bif"):
            net = read_bif(Path(path))
            again = read_bif(write_bif(net))
            if again.names != net.names:
                raise AssertionError("other variables when it is written and read")
        elif path.endswith("recipe.toml"):
            Recipe.read(path)
        else:
            LossMatrix.read(path)
    except LyceumError as error:
        # a network that was read from text has no file to name
        raise type(error)(f"{path}: {error}") from error
    return "understood"


def _ask(model: Any, X: np.ndarray) -> str:
    from lyceum.errors import LyceumError

    for name in METHODS:
        method = getattr(model, name, None)
        if method is None:
            continue
        with np.errstate(all="ignore"):
            try:
                method() if name == "summary" else method(X)
            except LyceumError:
                return "a refusal"
    return "answers"


def _of(rng: np.random.Generator, *choices: Any) -> Any:
    return choices[rng.integers(len(choices))]


def _size(rng: np.random.Generator, most: float) -> int:
    return int(10 ** rng.uniform(0, most))


# -- networks --------------------------------------------------------------------------


def _bif(rng: np.random.Generator) -> tuple[str, bytes]:
    """Comments in comments, states that are many or none, tables that do not fit."""
    n = _size(rng, 4.5)
    states = ", ".join(f"s{i}" for i in range(n))
    a = "variable a { type discrete [ 2 ] { x, y }; }\n"
    b = "variable b { type discrete [ 2 ] { x, y }; }\n"
    table = "probability ( a ) { table 0.5, 0.5; }\n"
    given = "probability ( b | a ) { (x) 0.5, 0.5; (y) 0.1, 0.9; }\n"
    texts = [
        "/*" * n + a + "*/" * n + table,
        a + "/* never closed" + table,
        a + table + table,
        a + a + table,
        a + b + given + "probability ( a | b ) { (x) 1, 0; (y) 0, 1; }\n",
        f"variable a {{ type discrete [ {n} ] {{ {states} }}; }}\n"
        f"probability ( a ) {{ table {', '.join(['0'] * (n - 1) + ['1'])}; }}\n",
        f"variable a {{ type discrete [ {10**n if n < 4000 else n} ] {{ x, y }}; }}\n",
        "variable a { type discrete [ 0 ] { }; }\nprobability ( a ) { table ; }\n",
        a + "probability ( a ) { table 1e999, -1e999; }\n",
        a + "probability ( a ) { table nan, 1; }\n",
        a + "probability ( a ) { table 0.5, 0.4; }\n",
        a + b + table + "probability ( b | a, a ) { default 0.5, 0.5; }\n",
        a + b + table + "probability ( b | c ) { default 0.5, 0.5; }\n",
        a + b + table + "probability ( b | a ) { default 0.5, 0.5; (x) 1, 0; }\n",
        a + b + table + "probability ( b | a ) { (x) 1, 0; }\n",
        a + b + table + "probability ( b | a ) { (x, x) 1, 0; (z) 1, 0; }\n",
        "network x { " + "property p; " * n + "}\n" + a + table,
        "{" * n + "}" * n,
        "".join(f"variable v{i} {{ type discrete [ 2 ] {{ x, y }}; }}\n" for i in range(n // 10)),
        a + table + "\0" * n,
        'variable "a b" { type discrete [ 2 ] { "x, y", "}" }; }\n',
        a.replace("discrete", _of(rng, "continuous", "", "discrete discrete")) + table,
        "variable a { type discrete [ 2 ] { x, x }; }\n" + table,
        "".join(
            f"variable v{i} {{ type discrete [ 2 ] {{ x, y }}; }}\n" for i in range(40)
        )
        + f"probability ( v0 | {', '.join(f'v{i}' for i in range(1, 40))} ) {{ default 1, 0; }}\n",
    ]  # fmt: skip
    return "t.bif", _of(rng, *texts).encode()


# -- recipes and losses ----------------------------------------------------------------


def _toml(rng: np.random.Generator) -> str:
    n = _size(rng, 5)
    key = _of(
        rng, "target", "learners", "seed", "folds", "loss", "x", "losses", "columns"
    )
    values = [
        "[" * n + "]" * n,
        "{a=" * n + "1" + "}" * n,
        "9" * n,
        "0x" + "f" * n,
        "1e" + "9" * min(n, 4000),
        '"' + "\\u0000" * n + '"',
        "'''" + "x" * n + "'''",
        _of(rng, "nan", "inf", "-inf", "1979-05-27T07:32:00Z", "true", "[]", "{}"),
        "[" + ", ".join(['"a"'] * n) + "]",
    ]
    value = _of(rng, *values)
    forms = [
        f"{key} = {value}\n",
        f"[{key}]\nx = {value}\n",
        f"[[{key}]]\n" * n,
        ".".join(["a"] * n) + " = 1\n",
        f"[{'.'.join(['a'] * n)}]\n",
        "".join(f"k{i} = 1\n" for i in range(n)),
        f"{key} = 1\n{key} = 2\n",
        f"{key}.a = 1\n[{key}]\nb = 2\n",
        f'"" = {value}\n',
        f'"\\u001b[2J\\u202e" = {value}\n',
    ]
    return _of(rng, *forms)


def _recipe(rng: np.random.Generator) -> tuple[str, bytes]:
    start = 'data = "t.csv"\ntarget = "y"\n' if rng.random() < 0.7 else ""
    return "recipe.toml", (start + _toml(rng)).encode()


def _loss(rng: np.random.Generator) -> tuple[str, bytes]:
    if rng.random() < 0.5:
        return "loss.toml", _toml(rng).encode()
    n = _size(rng, 3.2)
    names = [f"c{i}" for i in range(n)]
    head = "," + ",".join(names) + "\n"
    cell = _of(rng, "1", "1e999", "nan", "-1", "x", "", "0x1", "1_0", "١", '"1\n2"')
    rows = "".join(f"{name}," + ",".join([cell] * n) + "\n" for name in names[:300])
    texts = [head + rows, rows, head * 3, head + rows[: len(rows) // 2], rows * 2]
    return "loss.csv", _of(rng, *texts).encode(_of(rng, "utf8", "utf-16", "utf-8-sig"))


# -- models ----------------------------------------------------------------------------


def _swapped(
    samples: list[tuple[str, Members, Any]], rng: np.random.Generator
) -> tuple[str, bytes, Any]:
    """A model with parts of another, or an archive that says things twice; its digest is right."""
    _, mine, X = samples[rng.integers(len(samples))]
    _, other, _ = samples[rng.integers(len(samples))]
    members = dict(mine)
    arrays = [name for name in members if name.endswith(".npy")]
    others = [name for name in other if name.endswith(".npy")]
    how = rng.integers(6)
    if how == 0:
        members["schema.json"] = other["schema.json"]
    elif how == 1 and others:
        members |= {name: other[name] for name in others}
    elif how == 2 and arrays and others:
        members[_of(rng, *arrays)] = other[_of(rng, *others)]
    elif how == 3 and arrays:
        # the arrays of one model, each in the place of another
        order = rng.permutation(len(arrays))
        members |= {arrays[i]: mine[arrays[j]] for i, j in enumerate(order)}
    elif how == 4:
        members["lyceum.json"] = other["lyceum.json"]
    else:
        return "t.lyceum", _odd_archive(mine, rng), X
    header = json.loads(members["lyceum.json"])
    header["sha256"] = persist._digest(members)
    members["lyceum.json"] = json.dumps(header).encode()
    return "t.lyceum", persist._archive(members), X


def _odd_archive(members: Members, rng: np.random.Generator) -> bytes:
    """Names twice, folders, links, packed bombs, deep and long headers."""
    stream = io.BytesIO()
    odd: list[tuple[str | zipfile.ZipInfo, bytes]] = [
        ("schema.json", members["schema.json"]),
        ("../schema.json", b"{}"),
        ("/etc/passwd", b"x"),
        ("lyceum.json", b'{"a":' * _size(rng, 5) + b"1"),
        ("zeros.npy", bytes(_size(rng, 8))),
        ("x" * 60_000, b""),
        ("a\0b", b"x"),
        ("schema.json/", b""),
        ("Schema.JSON", members["schema.json"]),
    ]
    link = zipfile.ZipInfo("link.npy")
    link.external_attr = 0o120777 << 16
    odd.append((link, b"/etc/passwd"))
    content = persist._archive(members)
    stream.write(content)
    with (
        warnings.catch_warnings(),
        zipfile.ZipFile(stream, "a", zipfile.ZIP_DEFLATED) as archive,
    ):
        warnings.simplefilter("ignore")
        name, data = _of(rng, *odd)
        archive.writestr(name, data)
    return stream.getvalue()


ATTACKS: dict[str, Callable[[np.random.Generator], tuple[str, bytes]]] = {
    "bif": _bif,
    "recipe": _recipe,
    "loss": _loss,
}


def make() -> tuple[Path, ReadingProcess, list[tuple[str, Members, Any]]]:
    """A folder, a process that reads, and models to take apart."""
    files = [(name, persist._members(data), X) for name, data, X in fitted_files()]
    numbers = [file for file in files if file[0].endswith("on numbers")]
    return Path(tempfile.mkdtemp()), ReadingProcess(read_document, MEMORY), numbers


def case(shared: tuple[Path, ReadingProcess, Any], rng: np.random.Generator) -> str:
    """One attack; nothing but its own files may stand in the folder afterwards."""
    folder, read, samples = shared
    for path in folder.iterdir():
        path.unlink()
    name = _of(rng, *ATTACKS, "model", "model")
    if name == "model":
        file, content, X = _swapped(samples, rng)
        np.save(folder / "t.npy", np.asarray(X, dtype=np.float64))
    else:
        file, content = ATTACKS[name](rng)
    (folder / file).write_bytes(content)
    before = {path.name for path in folder.iterdir()}
    outcome = read(folder / file)
    if {path.name for path in folder.iterdir()} != before:
        raise Finding(f"{name}: reading left other files in the folder")
    word = "refused" if outcome.refusal else outcome.value
    return f"{name} {word}"

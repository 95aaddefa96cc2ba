"""What every key of a recipe may be."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from typing import Any

from lyceum._core.data import KINDS, FileFormat
from lyceum.decision import LossMatrix
from lyceum.errors import LyceumError, StudyError
from lyceum.studies.plan.ranking_metric import RankingMetric

CHOOSE = ("simplest", "best")
TASKS = ("classification", "regression")


def _paths(name: str, value: object) -> tuple[str, ...]:
    values: list[Any] = [value]
    if isinstance(value, list | tuple):
        values = list(value)
    if not values or not all(isinstance(path, str | os.PathLike) for path in values):
        raise StudyError(f"{name} = {value!r}: give a path, or a list of paths")
    return tuple(os.fspath(path) for path in values)


def _text(name: str, value: object) -> str:
    if not isinstance(value, str) or not value:
        raise StudyError(f"{name} = {value!r}: give the name of a column")
    return value


def _names(name: str, value: object) -> tuple[str, ...]:
    if isinstance(value, list | tuple | set | frozenset):
        values = tuple(value)
    else:
        values = (value,)
    return tuple(_text(name, item) for item in values)


def _kinds(name: str, value: object) -> dict[str, str]:
    if not isinstance(value, Mapping):
        raise StudyError(
            f'{name} = {value!r}: give a table of columns and kinds, e.g. {{age = "continuous"}}'
        )
    for column, kind in dict(value).items():
        if not isinstance(kind, str) or kind not in (*KINDS, "text"):
            raise StudyError(
                f"{name}: {column!r} = {kind!r}: choose one of {', '.join(KINDS)}"
            )
    return dict(value)


def _file_format(name: str, value: Any) -> FileFormat:
    try:
        if isinstance(value, FileFormat):
            return value
        return FileFormat(**dict(value))
    except (TypeError, ValueError) as error:
        raise StudyError(f"{name} = {value!r}: {error}") from error


def _loss(name: str, value: Any) -> LossMatrix:
    try:
        if isinstance(value, LossMatrix):
            return value
        if isinstance(value, str | os.PathLike):
            return LossMatrix.read(value)
        if isinstance(value, Mapping):
            if all(isinstance(pair, tuple) for pair in value):
                return LossMatrix.from_costs(value)
            return LossMatrix.from_dict(value)
        return LossMatrix(value)
    except LyceumError as error:
        raise StudyError(f"{name}: {error}") from error


def _integer(least: int, most: int) -> Callable[[str, Any], int]:
    def check(name: str, value: Any) -> int:
        whole = not isinstance(value, bool) and hasattr(value, "__index__")
        if not whole or not least <= int(value) <= most:
            upper = ""
            if most < 10**9 or (whole and int(value) > most):
                upper = f" and at most {most:,}"
            raise StudyError(
                f"{name} = {value!r}: give a whole number of at least {least}{upper}"
            )
        return int(value)

    return check


def _number(low: float, high: float, why: str) -> Callable[[str, Any], float]:
    def check(name: str, value: Any) -> float:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        # not true of NaN either
        if not (is_number and low <= value < high):
            raise StudyError(f"{name} = {value!r}: {why}")
        return float(value)

    return check


def _yes(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise StudyError(f"{name} = {value!r}: give true or false")
    return value


def _metric(name: str, value: object) -> str:
    try:
        return str(RankingMetric.of(value))
    except ValueError as error:
        raise StudyError(f"{name} = {value!r}: {error}") from None


def _one_of(*choices: str) -> Callable[[str, Any], str]:
    def check(name: str, value: object) -> str:
        if value not in choices:
            raise StudyError(f"{name} = {value!r}: choose one of {', '.join(choices)}")
        return value

    return check


CHECKS: dict[str, Callable[[str, Any], Any]] = {
    "data": _paths,
    "target": _text,
    "task": _one_of(*TASKS),
    "kinds": _kinds,
    "ignore": _names,
    "keep": _names,
    "weight": _text,
    "group": _text,
    "time": _text,
    "loss": _loss,
    "metric": _metric,
    "doubt": _number(
        0.0, math.inf, "give the cost of rejecting a row, a number of at least 0"
    ),
    "folds": _integer(2, 10**9),
    "repeats": _integer(1, 10_000),
    "inner_folds": _integer(2, 10**6),
    "n_settings": _integer(1, 10_000),
    "calibrate": _yes,
    "committees": _yes,
    "holdout": _number(0.0, 0.9, "give the share of rows to hold out, from 0 to 0.9"),
    "bootstrap_632": _yes,
    "choose": _one_of(*CHOOSE),
    "seed": _integer(0, 2**63 - 1),
    "budget_minutes": _number(0.0, math.inf, "give minutes, a number of at least 0"),
    "memory_mb": _integer(1, 10**9),
    "dates": _yes,
    "text": _yes,
    "file_format": _file_format,
}

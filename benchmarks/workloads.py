"""The workloads in memory: data, contenders and a quality measure each. Sizes are those at --scale
1.

A workload is a function of the scale. Contenders are named; "lyceum" is ours, the others are peers.
Every contender gets the same arrays and its own defaults, unless the workload's title says
otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

DATA = Path(__file__).parent / "data"
WORKLOADS: dict[str, Callable[[float], Workload]] = {}


@dataclass
class Workload:
    group: str
    title: str
    contenders: dict[
        str, Callable
    ]  # name -> function that imports and returns the thunk to be timed
    quality: Callable[[Any], dict]  # what a thunk returned -> named numbers
    compare: tuple[
        str, int, float
    ]  # quality that must be equal: name, +1 if more is better, relative tolerance


def workload(function):
    WORKLOADS[function.__name__.replace("_", "-")] = function
    return function


def fit_predictor(make, *data, **more):
    """A contender that fits a fresh model and is judged by its `predict`."""

    def prepare():
        model = make()
        return lambda: model.fit(*data, **more).predict

    return prepare


def size(n: int, scale: float) -> int:
    return max(2_000, round(n * scale))


def learner(where: str, use: Callable[[Any], Any], **settings) -> Callable:
    """A contender that makes the class at `where` (imported untimed) and uses it (timed)."""
    module, _, name = where.rpartition(".")

    def prepare():
        cls = getattr(import_module(module), name)
        return lambda: use(cls(**settings))

    return prepare


def plain(function: Callable, *args) -> Callable:
    return lambda: lambda: function(*args)


def accuracy(y):
    return lambda predicted: {"accuracy": np.mean(np.asarray(predicted) == y)}

"""A row whose way through a model is watched, so that other records can go it again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lyceum._core.data.rows.block import Block
from lyceum._core.data.rows.rows import Rows
from lyceum._core.data.rows.sources import ArraySource


@dataclass(frozen=True, slots=True)
class Collected:
    """What was computed of rows.

    Attributes
    ----------
    steps : tuple of Step
        What the rows went through first.
    function : function of a block
    answer : Any
        What became of it; another step may have been taken, which `finish` does again.
    finish : function, optional
        From what `function` gave to the answer.
    """

    steps: tuple[Any, ...]
    function: Callable[[Block], np.ndarray]
    answer: Any
    finish: Callable[[np.ndarray], Any] | None = None


@dataclass(frozen=True, slots=True)
class WatchedSource(ArraySource):
    """One row of a model's columns; lists what is computed of it."""

    collected: list[Collected] = field(default_factory=list)


class WatchedRows(Rows):
    """Rows that keep the steps and the function of what is collected from them."""

    def collect(self, function: Callable[[Block], np.ndarray]) -> Any:
        answer = super().collect(function)
        self._watched.append(Collected(self.steps, function, answer))
        return answer

    def finished(self, answer: Any, finish: Callable[[np.ndarray], Any]) -> None:
        """Note what was made of the last array that was collected, and how."""
        last = self._watched[-1]
        self._watched[-1] = Collected(last.steps, last.function, answer, finish)

    @property
    def _watched(self) -> list[Collected]:
        return self.source.collected  # type: ignore[attr-defined]

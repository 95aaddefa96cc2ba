"""Training by epochs: steps, learning rates and when to stop."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from math import cos, pi
from typing import Any

import numpy as np

from lyceum._core.steps import StepColumn, StepKind
from lyceum.errors import DataError
from lyceum.neural.architecture import Architecture

SOLVERS = ("adam", "lbfgs", "sgd")
_RULES = {"plain": 0, "momentum": 1, "nesterov": 2, "adam": 3}  # the kernel's codes
MEMORIES = {"lbfgs": 0, "plain": 0, "momentum": 1, "nesterov": 1, "adam": 2}


# what `record=True` keeps of every epoch
EPOCH_STEPS = StepKind(
    "epoch",
    (
        StepColumn(
            "objective",
            "loss",
            "the mean loss over the epoch, half of the squared error of a standardized "
            "target, and the penalty ½ α Σ w² / B at its end, B the rows of a step",
        ),
        StepColumn("learning_rate", "η", "η of the epoch"),
        StepColumn(
            "validation_loss",
            "validation loss",
            "the mean loss of the rows held out",
        ),
        StepColumn(
            "validation_score", "validation score", "the score of the rows held out"
        ),
        StepColumn(
            "parameters",
            "w",
            "w ← w − η ∂E / ∂w",
            axes=("parameter",),
            ends_in="parameters_",
        ),
        StepColumn(
            "steps",
            "w after every step",
            "w ← w − η ∂E / ∂w",
            axes=("step", "parameter"),
        ),
    ),
)

# The factor on the learning rate in an epoch, counted from 1, of max_iter, with the exponent
# power_t; "adaptive" divides the rate on the way.
SCHEDULES: dict[str, Callable[[int, int, float], float]] = {
    "constant": lambda epoch, max_iter, power: 1.0,
    "invscaling": lambda epoch, max_iter, power: epoch**-power,
    "cosine": lambda epoch, max_iter, power: (
        0.5 * (1.0 + cos(pi * min(epoch - 1, max_iter) / max_iter))
    ),
    "adaptive": lambda epoch, max_iter, power: 1.0,
}


@dataclass(frozen=True, slots=True)
class Epoch:
    """The losses of one epoch."""

    loss: float
    rate: float
    validation_loss: float | None = None
    validation_score: float | None = None


@dataclass
class Training:
    """The parameters during training, with the memory of the optimizer."""

    architecture: Architecture
    rule: tuple[str, float, float, float]  # name, momentum or β₁, β₂, ε
    penalty: float  # α of the rows of a step: α / 2B Σw² beside their mean loss
    chance: tuple[float, float]  # dropout, noise
    batch_size: int | None  # None: all rows
    step_weight: float | None  # of the rows of a batch, as they are in the mean
    shuffle: bool
    seed: int
    dtype: Any
    trace: bool  # whether to keep the parameters after every step
    parameters: np.ndarray = field(repr=False)
    # (n_memories, n_parameters)
    memory: np.ndarray | None = field(default=None, repr=False)
    steps: int = 0

    def __post_init__(self) -> None:
        pad = self.architecture.pad
        self.theta = pad(self.parameters, self.dtype)
        memory = self.memory
        if memory is None:
            memory = np.zeros((MEMORIES[self.rule[0]], self.architecture.size))
        rows = [pad(row, self.dtype) for row in memory]
        self._memory = np.array(rows, self.dtype).reshape(len(memory), len(self.theta))

    def _rule(
        self, rate: float, shrinkage: float
    ) -> tuple[int, float, float, float, float, float]:
        name, first, second, epsilon = self.rule
        return _RULES[name], rate, first, second, epsilon, shrinkage

    def _shrinkage(self, weight: float) -> float:
        """α / B, in weights of rows; `weight` is that of all, where a step takes them all."""
        return self.penalty / (self.step_weight or weight)

    def epoch(self, windows: Iterable[np.ndarray], number: int, rate: float) -> float:
        """One pass over the rows; returns the mean training loss, plus the penalty at the end of
        the pass."""
        self._traced: list[np.ndarray] = []
        run = self._one_step if self.batch_size is None else self._by_batches
        loss_sum, weight = run(windows, number, rate)
        if weight == 0.0:
            raise DataError(
                "no rows are left to learn from: all have weight 0 or are held out for validation"
            )
        squares = self.architecture.squared_weights(self.theta)
        loss = loss_sum / weight + 0.5 * self._shrinkage(weight) * squares
        if not np.isfinite(loss) or not np.isfinite(self.theta).all():
            raise DataError(
                f"the loss became infinite or NaN in epoch {number}. Solver produced non-finite"
                " parameter weights. The input data may contain large values and need to be"
                " preprocessed: lower learning_rate_init, or keep standardize=True"
            )
        return loss

    def _by_batches(
        self,
        windows: Iterable[np.ndarray],
        number: int,
        rate: float,
    ) -> tuple[float, float]:
        loss_sum = weight = 0.0
        assert self.batch_size is not None
        assert self.step_weight is not None
        rule = self._rule(rate, self._shrinkage(self.step_weight))
        for number_of_window, window in enumerate(windows):
            # the order depends on seed, epoch and window alone, so that a fit can be repeated
            order = None
            if self.shuffle:
                rng = np.random.default_rng([self.seed, 1, number, number_of_window])
                order = rng.permutation(len(window))
            # the kernel takes a window at once, or one batch at a time to see every step
            parts: Iterable[tuple[np.ndarray, np.ndarray | None]] = [(window, order)]
            if self.trace:
                parts = self._step_by_step(window, order)
            for rows, turn in parts:
                loss_sum += self.architecture.network.descend(
                    self.theta,
                    self._memory,
                    rows,
                    turn,
                    self.batch_size,
                    rule,
                    (*self.chance, self.seed),
                    self.steps,
                )
                self.steps += -(-len(rows) // self.batch_size)
                self._keep_step()
            weight += float(window[:, -1].sum(dtype=np.float64))
        return loss_sum, weight

    def _step_by_step(
        self,
        window: np.ndarray,
        order: np.ndarray | None,
    ) -> Iterator[tuple[np.ndarray, None]]:
        """The rows of one step at a time, in their order."""
        assert self.batch_size is not None
        ordered = window if order is None else window[order]
        for first in range(0, len(ordered), self.batch_size):
            yield ordered[first : first + self.batch_size], None

    def _keep_step(self) -> None:
        if self.trace:
            self._traced.append(self.keep())

    def step_parameters(self) -> dict[str, np.ndarray]:
        """The parameters after every step of the last epoch, if they are kept."""
        if self.trace:
            return {"steps": np.array(self._traced)}
        return {}

    def _sums(self, windows: Iterable[np.ndarray]) -> tuple[float, float, np.ndarray]:
        """The loss of all rows, their weight and the gradient, summed over the windows."""
        # `first` numbers the rows, whose dropout and noise are drawn by their number
        loss_sum = 0.0
        weight = 0.0
        first = 0
        gradient = np.zeros(len(self.theta))
        chance = (*self.chance, (self.seed << 32) + self.steps)
        for window in windows:
            loss_sum += self.architecture.network.gradient(
                self.theta,
                window,
                gradient,
                chance,
                first,
            )
            weight += float(window[:, -1].sum(dtype=np.float64))
            first += len(window)
        return loss_sum, weight, gradient

    def loss_and_slopes(
        self, windows: Iterable[np.ndarray]
    ) -> tuple[float, np.ndarray]:
        """The mean loss of all rows with the penalty, and its gradient as one vector."""
        loss_sum, weight, gradient = self._sums(windows)
        squares = self.architecture.squared_weights(self.theta)
        shrinkage = self.penalty / weight
        loss = loss_sum / weight + 0.5 * shrinkage * squares
        if not np.isfinite(loss):
            raise DataError(
                "Solver produced non-finite parameter weights. The input data may contain large"
                " values and need to be preprocessed: keep standardize=True"
            )
        slopes = self.architecture.compact(gradient / weight)
        weights = self.architecture.weights_alone(self.keep())
        return loss, slopes + shrinkage * weights

    def _one_step(
        self,
        windows: Iterable[np.ndarray],
        number: int,
        rate: float,
    ) -> tuple[float, float]:
        loss_sum, weight, gradient = self._sums(windows)
        if weight:
            self.steps += 1
            mean = (gradient / weight).astype(self.dtype)
            self.architecture.network.step(
                self.theta,
                self._memory,
                mean,
                self._rule(rate, self.penalty / weight),
                self.steps,
            )
            self._keep_step()
        return loss_sum, weight

    def keep(self) -> np.ndarray:
        """The current parameters as one vector."""
        return self.architecture.compact(self.theta)

    def compact_memory(self) -> np.ndarray:
        rows = [self.architecture.compact(row) for row in self._memory]
        return np.array(rows).reshape(len(rows), self.architecture.size)

"""Passes of the perceptron over its rows: weights that are corrected row after row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from lyceum._core.data import Block, Rows
from lyceum._core.native import native
from lyceum.linear.linear_scores import class_leads
from lyceum.linear.row_passes import dense_blocks, dense_parts, row_windows

_WINDOW = 1 << 24  # cells that are shuffled together
_AT_ONCE = 1 << 20  # cells of shuffled rows that are copied at a time


@dataclass
class PerceptronPasses:
    """The weights θ of every class, their intercepts last and at `shift`, pass after pass.

    A problem is what has mistakes of its own: two classes; one class against the rest, for each of
    more than two; or all classes in one, if `joint`.
    """

    theta: np.ndarray  # (1 or K, d + 1)
    shift: np.ndarray  # (d,)
    rule: tuple[float, float, float, bool]  # rate, ridge, lasso, intercept
    joint: bool
    seed: int | None  # of the order of the rows; None: as they come
    trace: bool  # whether to keep the weights after every row
    # of the rows of every class, in its own problem
    class_factors: np.ndarray | None = None
    # what the weights have paid of the L1 penalty, and the sum asked for
    paid: np.ndarray = field(init=False, repr=False)
    n_rows: int = field(init=False, default=0)  # of the last pass
    # the mistakes of every problem in its last pass
    mistakes: np.ndarray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.paid = np.zeros_like(self.theta)
        self.mistakes = np.zeros(self.n_problems, dtype=np.int64)

    @property
    def n_problems(self) -> int:
        return 1 if self.joint else len(self.theta)

    def run(
        self, rows: Rows, number: int, problems: np.ndarray
    ) -> tuple[np.ndarray, list[np.ndarray]]:
        """One pass for some problems.

        Returns
        -------
        losses : array of shape (n_problems,)
            The mean loss and penalty, as the rows met them; 0 for the others.
        steps : list of arrays of the shape of θ
            The weights after every row, if they are kept.
        """
        counts = np.zeros(self.n_problems)
        losses = np.zeros(self.n_problems)
        self.mistakes[problems] = 0
        self.n_rows = 0
        steps: list[np.ndarray] = []
        for block in self._in_order(rows, number):
            self.n_rows += len(block)
            for part in self._parts(block):
                for problem in problems:
                    n_rows, n_mistakes, loss = self._correct(part, problem)
                    counts[problem] += n_rows
                    self.mistakes[problem] += n_mistakes
                    losses[problem] += loss
                if self.trace:
                    steps.append(self.theta.copy())
        return losses / np.maximum(counts, 1), steps

    def _in_order(self, rows: Rows, number: int) -> Iterator[Block]:
        """Dense blocks, the rows as they come or shuffled window by window."""
        if self.seed is None:
            yield from dense_blocks(rows)
            return
        d = max(1, len(self.shift))
        n_copied = max(1, _AT_ONCE // d)
        windows = row_windows(rows, max(n_copied, _WINDOW // d))
        for window_number, window in enumerate(windows):
            # the order depends on seed, pass and window alone, so that a fit can be repeated
            rng = np.random.default_rng([self.seed, number, window_number])
            order = rng.permutation(len(window))
            for first in range(0, len(order), n_copied):
                yield from dense_parts(window.take(order[first : first + n_copied]))

    def _parts(self, block: Block) -> Iterator[Block]:
        """The block itself, or its rows one by one, to keep the weights after each."""
        if not self.trace:
            yield block
            return
        for i in range(len(block)):
            yield block.take(slice(i, i + 1))

    def _correct(self, block: Block, problem: int) -> tuple[int, int, float]:
        """Correct the weights of one problem; how many rows count, the mistakes, and the loss."""
        codes = np.ascontiguousarray(block.y, dtype=np.int32)
        w = block.w
        outputs = slice(None)
        if self.n_problems > 1:
            outputs = slice(problem, problem + 1)
            is_class = codes == problem
            codes = np.where(codes < 0, codes, is_class.astype(np.int32))
            if self.class_factors is not None:
                w = block.weights * np.where(is_class, self.class_factors[problem], 1.0)
        theta = self.theta[outputs]
        paid = self.paid[outputs]
        X = np.ascontiguousarray(block.X)
        return native.perceptron_pass(X, codes, w, self.shift, self.rule, theta, paid)

    def right_shares(self, rows: Rows) -> np.ndarray:
        """The share of the rows that every problem decides rightly, (n_problems,)."""
        total = 0.0
        right = np.zeros(self.n_problems)
        for block in dense_blocks(rows):
            total += float(block.weights.sum())
            right += block.weights @ (self._leads(block) > 0)
        return right / max(total, 1e-300)

    def _leads(self, block: Block) -> np.ndarray:
        """How far every row is on its own side, in every problem, (n, n_problems)."""
        assert block.y is not None
        scores = (block.X - self.shift) @ self.theta[:, :-1].T + self.theta[:, -1]
        if self.n_problems == 1:
            return class_leads(scores, block.y)[:, None]
        is_class = block.y[:, None] == np.arange(len(self.theta))
        return np.where(is_class, scores, -scores)

    def reach(self, rows: Rows) -> tuple[float, np.ndarray]:
        """The longest row about the shift, and the margin of every problem's hyperplane."""
        reach = rows.reduce(partial(Reach.of, passes=self))
        lengths = np.linalg.norm(self.theta, axis=1)
        if self.joint:
            lengths = np.array([np.linalg.norm(self.theta)])
        margins = np.full(self.n_problems, np.nan)
        np.divide(reach.margins, lengths, out=margins, where=lengths > 0)
        return reach.radius, margins


@dataclass(frozen=True, slots=True)
class Reach:
    """The longest row and the least lead in every problem, both times the row's weight."""

    radius: float
    margins: np.ndarray  # (n_problems,)

    @classmethod
    def of(cls, block: Block, passes: PerceptronPasses) -> Reach:
        radius = 0.0
        margins = np.full(passes.n_problems, np.inf)
        # the intercept is a weight like the others, of the constant 1
        constant = float(passes.rule[-1])
        for part in dense_parts(block):
            assert part.y is not None
            part = part.take((part.weights > 0) & (part.y >= 0))
            if not len(part):
                continue
            w = part.weights
            Z = part.X - passes.shift
            lengths = np.sqrt(np.einsum("ij,ij->i", Z, Z) + constant)
            radius = max(radius, float((w * lengths).max()))
            leads = w[:, None] * passes._leads(part)
            margins = np.minimum(margins, leads.min(axis=0))
        return cls(radius, margins)

    def merge(self, other: Reach) -> Reach:
        radius = max(self.radius, other.radius)
        return Reach(radius, np.minimum(self.margins, other.margins))

"""The rounds of AdaBoost: errors, α, and the weights of the rows from one to the next."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import exp, inf, log, log1p
from typing import Any, Protocol

import numpy as np

from lyceum._core.types import Estimator
from lyceum.errors import SettingError

# rounds after which rounding is taken out of the sum of the weights
_ROUNDS_TO_NORMALIZE = 16
NEAR = 1e-12  # an error this close to that of chance is chance
ALL = "all rounds"
PERFECT = "a member without error"
CHANCE = "no better than chance"
UNCHANGED = "the error no longer changes"

_TRIES = 10  # rounds in a row that may fail before the rounds end


@dataclass(frozen=True)
class AlphaRule:
    """From the error ε of a round to its α, for K classes of equal standing.

    α = ν/2 · [ln((1 − ε)/ε) + ln(K − 1)] is positive below the error of chance, 1 − 1/K.
    AdaBoost.M1 is K = 2 whatever the number of classes: it wants members that are right more often
    than not.
    """

    n_classes: int
    learning_rate: float = 1.0

    @property
    def chance(self) -> float:
        return 1.0 - 1.0 / self.n_classes

    def alpha(self, error: float) -> float:
        """α of an error between 0 and 1, infinite at both ends."""
        if error <= 0.0:
            return inf
        if error >= 1.0:
            return -inf
        return self._half(log(1.0 - error) - log(error))

    def alpha_without_error(self, weight: float) -> float:
        """α of a member without error on rows of this weight: half a row counts as wrong, half as
        right."""
        # odds (n + ½) : ½, as counts with half a row added to either side
        share = 0.5 / max(1.0, weight)
        return self._half(log1p(share) - log(share))

    def _half(self, log_odds: float) -> float:
        return 0.5 * self.learning_rate * (log_odds + log(self.n_classes - 1))

    def factors(self, alpha: float) -> tuple[float, float]:
        """What the exponential loss of a row that is right and of one that is wrong is multiplied
        by."""
        # exp(−y·F/K) in SAMME's coding, 1 for the class and −1/(K − 1) for the others
        K = self.n_classes
        return exp(-2.0 * alpha * (K - 1) / K), exp(2.0 * alpha / K)


@dataclass
class RowWeights:
    """The weights D of the rows, which sum to 1, and the votes on the rows so far."""

    start: np.ndarray  # (n,) sums to 1
    target: np.ndarray  # (n,) class codes
    n_classes: int
    rule: AlphaRule
    now: np.ndarray = field(init=False)
    # (n, K), or (n,) of the second of two classes against the first
    votes: np.ndarray = field(init=False)
    loss: float = 1.0  # the exponential loss of the votes
    _losses: np.ndarray | None = None  # of every row, once D has been reset

    def __post_init__(self) -> None:
        n = len(self.start)
        self.now = self.start.copy()
        self.votes = np.zeros(n if self.n_classes == 2 else (n, self.n_classes))
        self.target = self.target.astype(np.intp)
        self._rows = np.arange(n)
        self._sign = np.where(self.target == 1, 1.0, -1.0)
        self._updates = 0

    def wrong(self, codes: np.ndarray) -> tuple[np.ndarray, float]:
        """1 for the rows that a member which predicts `codes` gets wrong, else 0; and their
        weight."""
        wrong = (codes != self.target).astype(np.float64)
        return wrong, float(self.now @ wrong)

    def update(
        self,
        codes: np.ndarray,
        wrong: np.ndarray,
        error: float,
        alpha: float,
    ) -> None:
        """After a member that predicts `codes` and is `wrong` on a weight of `error`."""
        # votes: α h = α y where the member is right, −α y where it is wrong
        if self.n_classes == 2:
            self.votes += _value_of_flags(wrong, alpha, -alpha) * self._sign
        else:
            self.votes[self._rows, codes] += 2.0 * alpha
        # Exponential loss: as long as D ∝ the losses of the rows, ε says by which factor their sum
        # changes; once D has been reset, the loss of every row is kept.
        right_by, wrong_by = self.rule.factors(alpha)
        if self._losses is None:
            self.loss *= (1.0 - error) * right_by + error * wrong_by
        else:
            self._losses *= _value_of_flags(wrong, right_by, wrong_by)
            self.loss = float(self._losses.sum())
        if error <= 0.0:
            return
        # D exp(2α [wrong]) / Z, with the right ones lowered instead, which cannot overflow
        least = exp(-2.0 * alpha)
        Z = (1.0 - error) * least + error
        self.now *= _value_of_flags(wrong, least / Z, 1.0 / Z)
        self._updates += 1
        if self._updates % _ROUNDS_TO_NORMALIZE == 0:
            self.now /= self.now.sum()

    def reset(self) -> None:
        """Back to the weights of the first round; the votes stay."""
        # until now D was the share of every row in the loss
        if self._losses is None:
            self._losses = self.loss * self.now
        self.now = self.start.copy()

    @property
    def training_error(self) -> float:
        """The weight of the rows that the members so far get wrong together."""
        if self.n_classes == 2:
            predicted = self.votes > 0
        else:
            predicted = self.votes.argmax(axis=1)
        return float(self.start @ (predicted != self.target).astype(np.float64))


def _value_of_flags(flags: np.ndarray, if_not: float, if_set: float) -> np.ndarray:
    """`if_not` where a flag is 0, `if_set` where it is 1; by arithmetic, as branches would often be
    mispredicted."""
    return if_not + (if_set - if_not) * flags


@dataclass
class RoundLog:
    """What came of the rounds so far."""

    n_rounds: int = 0
    stopped: str = ""
    members: list[Any] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)
    alphas: list[float] = field(default_factory=list)
    training: list[float] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    # the errors of rounds that failed
    failed: dict[int, float] = field(default_factory=dict)
    record: list[dict[str, Any]] = field(default_factory=list)
    first: Any = None  # the first member that failed

    @property
    def n_failed_last(self) -> int:
        """How many of the last rounds failed, one after the other."""
        number = self.n_rounds
        while number - 1 in self.failed:
            number -= 1
        return self.n_rounds - number

    def is_unchanged(self, n_rounds: int, tol: float) -> bool:
        """Whether the training errors of the last members differ by at most `tol`, over as many
        rounds."""
        last = self.training[-n_rounds - 1 :]
        return len(last) == n_rounds + 1 and max(last) - min(last) <= tol

    def add(
        self,
        member: Estimator,
        error: float,
        alpha: float,
        weights: RowWeights,
    ) -> None:
        self.members.append(member)
        self.errors.append(error)
        self.alphas.append(alpha)
        self.training.append(weights.training_error)
        self.losses.append(weights.loss)


class MemberFitter(Protocol):
    """Fits the member of a round, and predicts the training rows by a member."""

    weight: float  # of all rows

    def member(self, number: int, weights: np.ndarray) -> tuple[Any, np.ndarray]:
        """The member of a round, and its class codes for all rows."""

    def predict_rows(self, member: Estimator) -> np.ndarray:
        """The class codes of a member for all rows."""


def check_members_left(n_estimators: int, n_members: int) -> None:
    """Refuse a warm start that wants fewer members than there are."""
    if n_members > n_estimators:
        raise SettingError(
            f"n_estimators={n_estimators} is less than the {n_members} members there are, and"
            " warm_start=True only adds some"
        )


def run_round(
    weights: RowWeights,
    fitter: MemberFitter,
    log: RoundLog,
    reset: bool,
    record: bool,
) -> None:
    """One round; one that fails sets the weights back, or is the last."""
    # the number decides the draws, so that a round that failed is drawn anew
    number = log.n_rounds
    member, codes = fitter.member(number, weights.now)
    wrong, error = weights.wrong(codes)
    log.n_rounds = number + 1
    alpha, is_kept = _judge(error, weights.rule, fitter.weight, log)
    if record:
        log.record.append(
            {
                "step": len(log.record),
                "weights": weights.now.copy(),
                "error": error,
                "alpha": alpha,
                "kept": is_kept,
            }
        )
    if is_kept:
        weights.update(codes, wrong, error, alpha)
        log.add(member, error, alpha, weights)
        return
    if log.first is None:
        log.first = member
    log.failed[number] = error
    if reset and log.n_failed_last < _TRIES:
        weights.reset()
    else:
        log.stopped = CHANCE


def _judge(
    error: float,
    rule: AlphaRule,
    weight: float,
    log: RoundLog,
) -> tuple[float, bool]:
    """α, and whether the member is kept."""
    if error == 0.0:
        log.stopped = PERFECT
        return rule.alpha_without_error(weight) + sum(log.alphas), True
    if error < rule.chance - NEAR:
        return rule.alpha(error), True
    if error <= rule.chance + NEAR and not log.members:
        # there is nothing to learn: a member whose vote counts nothing is all there is
        log.stopped = CHANCE
        return 0.0, True
    return 0.0, False


def replay_rounds(
    weights: RowWeights,
    fitter: MemberFitter,
    log: RoundLog,
    before: RoundLog,
) -> None:
    """The rounds of an earlier fit again, without fitting."""
    # weights are not kept: they follow from the predictions and α of the members, round by round
    again = iter(zip(before.members, before.errors, before.alphas))
    for number in range(before.n_rounds):
        if number in before.failed:
            weights.reset()
            continue
        member, error, alpha = next(again)
        codes = fitter.predict_rows(member)
        weights.update(codes, weights.wrong(codes)[0], error, alpha)
        log.add(member, error, alpha, weights)
    log.n_rounds = before.n_rounds
    log.stopped = before.stopped
    log.failed = dict(before.failed)
    log.record = list(before.record)

"""Probability tables of discrete variables: sum rule, product rule, Bayes' theorem."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product as combinations
from typing import Any

import numpy as np

from lyceum._core.probability.labels import find_labels, unique_labels
from lyceum._core.probability.tables.factor import Factor, check_states, spread_axes
from lyceum._core.probability.tables.independence import Independence, compare_products
from lyceum._core.report import Table
from lyceum.errors import DataError

_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class ProbabilityTable:
    """P(A, B, ... | C, ...) of named discrete variables.

    Parameters
    ----------
    variables : dict of name to states
        In the order of the axes of `values`.
    values : array with one axis per variable
        Probabilities. For every combination of the given variables they sum to 1; a combination of
        probability 0 may hold NaN, where the conditional is not defined.
    given : name or names, default=()
        The variables on which the table is conditioned.

    Attributes
    ----------
    name : str
        The table as it is written: "P(A, B | C)".

    See Also
    --------
    Factor : The same without the condition that probabilities sum to 1, for inference.
    Independence : The verdict of `independent`.
    bayes_theorem : Bayes' theorem for one observation.

    Examples
    --------
    >>> fish = ProbabilityTable({"fish": ["salmon", "sea bass"]}, [0.3, 0.7])
    >>> size = ProbabilityTable(
    ...     {"size": ["70 cm", "other"], "fish": ["salmon", "sea bass"]},
    ...     [[0.4, 0.5], [0.6, 0.5]],
    ...     given="fish",
    ... )
    >>> joint = size * fish                                  # product rule
    >>> print(joint)
    P(size, fish)
    size \\ fish  salmon  sea bass
    ───────────  ──────  ────────
    70 cm          0.12      0.35
    other          0.18      0.35
    >>> joint.marginal("size").values                        # sum rule
    array([0.47, 0.53])
    >>> size.bayes(fish).probability(fish="salmon", size="70 cm") == 0.12 / 0.47
    True
    """

    variables: Mapping[str, tuple[Any, ...]]
    values: np.ndarray
    given: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        variables = {
            str(name): unique_labels(labels, f"variable {name!r}")
            for name, labels in self.variables.items()
        }
        given = (self.given,) if isinstance(self.given, str) else tuple(self.given)
        values = np.array(self.values, dtype=np.float64)
        shape = tuple(map(len, variables.values()))
        if values.shape != shape:
            raise DataError(
                f"the table has the shape {values.shape}, but its variables"
                f" ({', '.join(variables)}) have {shape} values"
            )
        _check_names(given, variables)
        if len(given) == len(variables):
            raise DataError(
                "a table needs a variable that is not given: leave one out of given"
            )
        object.__setattr__(self, "variables", variables)
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "given", given)
        self._check_sums()
        values.setflags(write=False)

    def _check_sums(self) -> None:
        defined = ~np.isnan(self.values)
        if (
            not np.isfinite(self.values[defined]).all()
            or (self.values[defined] < 0).any()
        ):
            raise DataError(
                f"{self.name} has a value below 0 or infinite: probabilities are from 0 to 1"
            )
        # a conditional may be undefined (NaN) as a whole, where its condition has probability 0
        free = self._axes(self._free_names)
        sums = self.values.sum(axis=free)
        undefined = np.isnan(sums)
        partly = bool((undefined & defined.any(axis=free)).any())
        if (undefined.any() and not self.given) or partly:
            raise DataError(f"{self.name} has missing values: give every probability")
        wrong = ~undefined & (np.abs(sums - 1.0) > _TOLERANCE)
        if wrong.any():
            raise DataError(
                f"{self.name} sums to {float(sums[wrong].flat[0]):g}, not to 1: correct the values,"
                " or give counts to ProbabilityTable.from_counts"
            )

    # -- other ways to make one --------------------------------------------------------

    @classmethod
    def from_counts(
        cls,
        variables: Mapping[str, Sequence[Any]],
        counts: Any,
        given: str | Sequence[str] = (),
    ) -> ProbabilityTable:
        """Relative frequencies: counts divided by their sum for every combination of the given
        variables."""
        names = [given] if isinstance(given, str) else list(given)
        _check_names(names, variables)
        counts = np.asarray(counts, dtype=np.float64)
        free = tuple(i for i, name in enumerate(variables) if name not in names)
        # counts of another shape are refused by the table that is made below
        total = counts
        if counts.ndim == len(variables):
            if not ((counts >= 0) & np.isfinite(counts)).all():
                raise DataError("counts must be finite and not negative")
            total = counts.sum(axis=free, keepdims=True)
        if not names and not (total > 0).all():
            raise DataError(
                "all counts are 0, so that no probability follows from them"
            )
        return cls(variables, _ratio(counts, total), tuple(names))  # type: ignore[arg-type]

    @classmethod
    def from_columns(cls, columns: Mapping[str, Sequence[Any]]) -> ProbabilityTable:
        """The joint relative frequencies of columns of equal length; values are sorted.

        >>> days = {"wind": ["weak", "weak", "strong"], "play": ["yes", "no", "no"]}
        >>> seen = ProbabilityTable.from_columns(days)
        >>> seen.conditional("play", given="wind").probability(wind="weak", play="yes")
        0.5
        """
        coded = {
            name: np.unique(np.asarray(column), return_inverse=True)
            for name, column in columns.items()
        }
        lengths = {name: len(codes) for name, (_, codes) in coded.items()}
        if len(set(lengths.values())) != 1 or not next(iter(lengths.values())):
            raise DataError(
                f"columns must have the same number of rows, at least one: {lengths}"
            )
        counts = np.zeros([len(labels) for labels, _ in coded.values()])
        np.add.at(counts, tuple(codes for _, codes in coded.values()), 1.0)
        variables = {name: labels.tolist() for name, (labels, _) in coded.items()}
        return cls.from_counts(variables, counts)

    @classmethod
    def from_factor(
        cls, factor: Factor, given: str | Sequence[str] = ()
    ) -> ProbabilityTable:
        """A factor divided by its sum over the variables that are not given."""
        linear = factor.to_linear()
        return cls.from_counts(linear.variables, linear.values, given)

    def factor(self, *, log: bool = False) -> Factor:
        """The table as a factor, in log space with `log`; undefined conditionals become 0."""
        factor = Factor(self.variables, np.nan_to_num(self.values, nan=0.0))
        if log:
            return factor.to_log()
        return factor

    # -- rules -------------------------------------------------------------------------

    def marginal(self, *names: str) -> ProbabilityTable:
        """Sum rule: P(A) = Σ_b P(A, b). Given variables stay given."""
        _check_names(names, self.variables)
        return self._sum_to(tuple(dict.fromkeys([*names, *self.given])))

    def conditional(self, *names: str, given: str | Sequence[str]) -> ProbabilityTable:
        """P(A | B) = P(A, B) / P(B) of a joint table; NaN where P(B) = 0, where it is not
        defined."""
        conditions = (given,) if isinstance(given, str) else tuple(given)
        _check_names((*names, *conditions), self.variables)
        if set(names) & set(conditions):
            raise DataError(
                f"{sorted(set(names) & set(conditions))[0]!r} is both wanted and given"
            )
        # P(A | B, given) of a table that is conditional itself; `names` are the first axes
        conditions = tuple(dict.fromkeys([*conditions, *self.given]))
        joint = self._sum_to(tuple(dict.fromkeys([*names, *conditions])))
        total = joint.values.sum(axis=tuple(range(len(names))), keepdims=True)
        return ProbabilityTable(
            joint.variables, _ratio(joint.values, total), conditions
        )

    def product(
        self, other: ProbabilityTable, *, independent: bool = False
    ) -> ProbabilityTable:
        """Product rule: P(A | B, C) · P(B | C) = P(A, B | C), either way round.

        The condition of one factor must be all of the other's variables. With `independent` the
        factors may have no variable in common: P(A) · P(B) = P(A, B) is then your assumption.
        """
        for left, right in ((self, other), (other, self)):
            names = set(right.variables)
            if set(left.given) == names and not set(left._free_names) & names:
                return left._multiply(right, right.given)
        if independent and not set(self.variables) & set(other.variables):
            return self._multiply(other, (*self.given, *other.given))
        raise DataError(
            f"{self.name} · {other.name} is not the product rule: one factor must be given exactly"
            " the variables of the other; for independent variables say independent=True"
        )

    def __mul__(self, other: ProbabilityTable) -> ProbabilityTable:
        if isinstance(other, ProbabilityTable):
            return self.product(other)
        return NotImplemented

    def bayes(self, prior: ProbabilityTable) -> ProbabilityTable:
        """Bayes' theorem: of this P(x|k) and the prior P(k), P(k|x) = P(x|k) P(k) / Σ_k P(x|k)
        P(k)."""
        joint = self.product(prior)
        causes = prior._free_names
        observed = [name for name in joint._free_names if name not in causes]
        return joint.conditional(*causes, given=observed)

    def at(self, /, **evidence: Any) -> ProbabilityTable:
        """P(the rest | evidence): the table with some variables fixed at a value and
        renormalized."""
        _check_names(tuple(evidence), self.variables)
        part = self._slice(evidence)
        rest = {
            name: labels
            for name, labels in self.variables.items()
            if name not in evidence
        }
        given = tuple(name for name in self.given if name not in evidence)
        if not set(rest) - set(given):
            raise DataError(
                f"{self.name}: the evidence fixes every variable; ask for probability(...) instead"
            )
        free = tuple(i for i, name in enumerate(rest) if name not in given)
        total = part.sum(axis=free, keepdims=True)
        if not given and not (total > 0).all():
            known = ", ".join(f"{name} = {value}" for name, value in evidence.items())
            raise DataError(
                f"{self.name}: P({known}) is 0, so nothing can be concluded from it"
            )
        return ProbabilityTable(rest, _ratio(part, total), given)

    def probability(self, /, **event: Any) -> float:
        """The probability of an event, summed over the other variables; given variables must be
        fixed."""
        _check_names(tuple(event), self.variables)
        open_given = [name for name in self.given if name not in event]
        if open_given:
            raise DataError(
                f"{self.name} is given {open_given[0]!r}: say at which value"
            )
        return float(self._slice(event).sum())

    def bayes_error(self, target: str) -> float:
        """1 - Σ_x max_k P(k, x): the error rate of the best rule that predicts `target` from all
        else."""
        _check_names((target,), self.variables)
        if self.given:
            raise DataError(f"the Bayes error needs a joint table, not {self.name}")
        return float(1.0 - self.values.max(axis=self._axes((target,))).sum())

    def independent(
        self,
        a: str | Sequence[str],
        b: str | Sequence[str],
        *,
        given: str | Sequence[str] = (),
        tol: float = 1e-9,
    ) -> Independence:
        """Whether P(A, B | C) = P(A | C) P(B | C) for all values, to within `tol`: shown by the
        numbers.

        Parameters
        ----------
        a, b : str or sequence of str
            The variables of A and of B.
        given : str or sequence of str, default=()
            The variables of C.
        tol : float, default=1e-9
            The largest difference that counts as none.

        Returns
        -------
        Independence
            True or false by itself; prints both sides for every combination of values.
        """
        A, B, C = (
            (names,) if isinstance(names, str) else tuple(names)
            for names in (a, b, given)
        )
        if self.given:
            raise DataError(
                f"independence needs a joint table, not {self.name}: use at(...) to fix what is"
                " given"
            )
        if not A or not B or len({*A, *B, *C}) < len(A) + len(B) + len(C):
            raise DataError(
                "independence is of two sets of variables, with none of them named twice"
            )
        if C:
            joint = self.conditional(*A, *B, given=C)
        else:
            joint = self.marginal(*A, *B)
        sides = [
            self.conditional(*names, given=C) if C else self.marginal(*names)
            for names in (A, B)
        ]
        first, second = (spread_axes(side, list(joint.variables)) for side in sides)
        what = f"{', '.join(A)} ⊥ {', '.join(B)}{' | ' + ', '.join(C) if C else ''}"
        return compare_products(
            what, dict(joint.variables), joint.values, first * second, tol
        )

    # -- parts -------------------------------------------------------------------------

    @property
    def _free_names(self) -> tuple[str, ...]:
        return tuple(name for name in self.variables if name not in self.given)

    def _axes(self, names: Sequence[str]) -> tuple[int, ...]:
        order = list(self.variables)
        return tuple(order.index(name) for name in names)

    def _sum_to(self, names: tuple[str, ...]) -> ProbabilityTable:
        if not set(names) - set(self.given):
            raise DataError(f"{self.name}: name a variable that is not given")
        summed = self._axes([name for name in self.variables if name not in names])
        left = [name for name in self.variables if name in names]
        order = [left.index(name) for name in names]
        values = self.values.sum(axis=summed).transpose(order)
        variables = {name: self.variables[name] for name in names}
        return ProbabilityTable(variables, values, self.given)

    def _slice(self, evidence: Mapping[str, Any]) -> np.ndarray:
        indices: list[Any] = [slice(None)] * len(self.variables)
        for name, value in evidence.items():
            (axis,) = self._axes([name])
            where = f"variable {name!r}: the value"
            (indices[axis],) = find_labels([value], self.variables[name], where)
        return self.values[tuple(indices)]

    def _multiply(
        self, other: ProbabilityTable, given: tuple[str, ...]
    ) -> ProbabilityTable:
        check_states(self.variables, other.variables)
        variables = {**self.variables, **other.variables}
        a = spread_axes(self, list(variables))
        b = spread_axes(other, list(variables))
        # an undefined conditional has weight 0
        values = np.where((a == 0) | (b == 0), 0.0, a * b)
        return ProbabilityTable(variables, values, tuple(dict.fromkeys(given)))

    # -- text --------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The table as it is written: "P(A, B | C)"."""
        free = ", ".join(self._free_names)
        if not self.given:
            return f"P({free})"
        return f"P({free} | {', '.join(self.given)})"

    def table(self) -> Table:
        """As a table of `lyceum.report`: two variables down and across, else one row per
        combination."""
        names = list(self.variables)
        labels = list(self.variables.values())
        if len(names) == 2:
            rows = [
                (str(label), *map(float, row))
                for label, row in zip(labels[0], self.values)
            ]
            heads = (f"{names[0]} \\ {names[1]}", *map(str, labels[1]))
            return Table(self.name, heads, rows)
        lines = zip(combinations(*labels), self.values.flat)
        rows = [(*map(str, combination), float(p)) for combination, p in lines]
        return Table(self.name, (*names, "P"), rows)

    def __str__(self) -> str:
        return str(self.table())

    def __repr__(self) -> str:
        sizes = " × ".join(map(str, self.values.shape))
        return f"<{self.name}, {sizes} values>"

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


def _check_names(names: Sequence[str], variables: Mapping[str, Any]) -> None:
    find_labels(list(names), list(variables), "the variable")


def _ratio(part: np.ndarray, total: np.ndarray) -> np.ndarray:
    """part / total, NaN where the total is 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(total > 0, part / total, np.nan)

"""What both kinds of stacking share: level-0 answers of rows not seen, and the final learner on
them."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import complexity, normalize_posteriors, parts_by_replacement, undefined
from lyceum._core.data import ArraySource, Column, Schema, dense_cells
from lyceum.ensemble.bagging.draws import set_seeds
from lyceum.ensemble.committees.base import CommitteeBase, CommitteeData
from lyceum.ensemble.members.answers import posteriors
from lyceum.ensemble.members.data import MemberData, takes_rows
from lyceum.ensemble.members.final_learner import coefficients_table, fit_final
from lyceum.errors import DataError
from lyceum.report import Summary, Table

_FINAL = 1_000_003  # the number of the final learner among the members, for its seed


class StackingBase(CommitteeBase):
    """Level 0: the members; level 1: the final learner, on their out-of-fold answers."""

    final: Any
    cv: Any
    passthrough: bool
    final_: Any
    level0_names_: list[str]
    typical_answers_: np.ndarray

    def _default_final(self) -> Any:
        raise undefined(self, "_default_final")

    def _final(self) -> Any:
        if self.final is None:
            return self._default_final()
        return self.final

    @property
    def _all_fitted(self) -> list[Any]:
        if self.passthrough:
            return [*self.estimators_, self.final_]
        return self.estimators_

    @property
    def _needs_codes(self) -> bool:
        return self.passthrough or super()._needs_codes

    # -- fit ---------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None):
        """Fit the final learner on the out-of-fold answers of the members, then every member on all
        rows.

        Parameters
        ----------
        X : array, frame or `scan(...)` of shape (n_samples, n_features)
        y : array of shape (n_samples,), if the target is not in the scan
        sample_weight : array of shape (n_samples,), optional
            Every member and the final learner must take weights then.
        """
        final = self._final()
        data, target, w = self._committee_data(X, y, sample_weight, extra=[final])
        self.level0_names_ = self._level0_names()
        answers = self._out_of_fold(data, target, w, self.cv)
        seen = np.flatnonzero(np.isfinite(answers).all(axis=(0, 2)))
        if not len(seen):
            raise DataError(
                "cv leaves no row out: there is nothing for the final learner to learn from"
            )
        columns = self._columns_of(answers[:, seen])
        table = self._level1(columns, data, seen)
        learner = set_seeds(clone(final), self.seed_, _FINAL)
        if w is None:
            part = None
        else:
            part = w[seen]
        self.typical_answers_ = np.average(columns, axis=0, weights=part)
        if part is None or part.all():
            keep = None
        else:
            keep = np.flatnonzero(part)
        if self._predicts_classes:
            known = self.classes_
        else:
            known = None
        self.final_ = fit_final(learner, table, target[seen], known, part, keep)
        self._fit_members(data, w)
        return self

    def _level0_names(self) -> list[str]:
        if not self._predicts_classes:
            return list(self.names_)
        if len(self.classes_) == 2:
            shown = self.classes_[1:]
        else:
            shown = self.classes_
        return [f"{name}: {label}" for name in self.names_ for label in shown]

    def _columns_of(self, answers: np.ndarray) -> np.ndarray:
        """Answers side by side, (n, columns); of two classes the first adds nothing."""
        if self._predicts_classes and answers.shape[2] == 2:
            answers = answers[:, :, 1:]
        return np.concatenate(list(answers), axis=1)

    def _level1(self, columns: np.ndarray, data: CommitteeData, rows: Any = None) -> ArraySource:
        """The table that the final learner sees, coded."""
        schema = Schema(
            tuple(Column(name, why="the answer of a member") for name in self.level0_names_)
        )
        if not self.passthrough:
            return ArraySource(columns, None, None, schema, coded=True)
        assert data.own is not None
        source = data.own.source
        assert source is not None
        if rows is None:
            X = source.X
        else:
            X = source.X[rows]
        X = dense_cells(X)
        both = Schema((*schema.columns, *source.schema.columns))
        return ArraySource(np.hstack([columns, X.astype(np.float64)]), None, None, both, coded=True)

    # -- predict -----------------------------------------------------------------------

    def _level1_data(self, data: CommitteeData) -> MemberData:
        """Level-1 rows, to ask the final learner about."""
        return self._for_final(self._level1(self._columns_of(self._answers(data)), data))

    def _for_final(self, table: ArraySource) -> MemberData:
        if takes_rows(self.final_):
            return MemberData(table)
        return MemberData(None, table.X)

    def _final_answer(self, level1: MemberData) -> np.ndarray:
        """The answers of the final learner for level-1 rows: posteriors (n, K), or numbers (n,)."""
        if self._predicts_classes:
            return normalize_posteriors(posteriors(self.final_, self.classes_, level1.ask))
        return np.asarray(level1.ask(self.final_.predict), dtype=np.float64)

    def _fused_answer(self, data: CommitteeData) -> np.ndarray:
        return self._final_answer(self._level1_data(data))

    def level0(self, X: Any) -> Any:
        """The answers of the members, one column per member (and class): the rows of level 1."""
        return self._apply_to_members(partial(_level0, self), X)

    # -- what was learned --------------------------------------------------------------

    def _member_heads(self) -> tuple[list[str], str, tuple[str, np.ndarray] | None]:
        if self.passthrough:
            also = ["(columns)"]
        else:
            also = []
        if self._predicts_classes:
            unit = "posterior"
        else:
            unit = self.schema_.target_name or "y"
        return [*self.names_, *also, "(base)"], f"adds to the {unit}", None

    def _member_parts(self, data: CommitteeData) -> np.ndarray:
        answers = self._answers(data)
        table = self._level1(self._columns_of(answers), data)
        width = len(self.level0_names_) // len(self.names_)
        own = len(self.level0_names_)
        groups: list[Any] = [slice(i, i + width) for i in range(0, own, width)]
        groups += [slice(own, table.X.shape[1])] if self.passthrough else []
        typical = np.append(self.typical_answers_, self.typical_ if self.passthrough else [])

        def answer(X: np.ndarray) -> np.ndarray:
            return self._final_answer(self._for_final(replace(table, X=X)))

        found = parts_by_replacement(np.asarray(table.X, dtype=np.float64), typical, answer, groups)
        n = len(found)
        L = len(self.names_)
        parts = np.full((n, len(groups) + 1, 3), np.nan)
        parts[:, :, 2] = np.column_stack([found[:, 2:], found[:, 1]])
        if self._predicts_classes:
            parts[:, :L, 0] = answers.argmax(axis=2).T
            parts[:, :L, 1] = answers[:, np.arange(n), found[:, 0].astype(int)].T
        else:
            parts[:, :L, 0] = answers[:, :, 0].T
        return parts

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return {"typical_": (self.n_features_in_,), "typical_answers_": (len(self.level0_names_),)}

    def complexity(self) -> int:
        """How many numbers a prediction needs: those of the members and of the final learner."""
        check_is_fitted(self)
        return sum(map(complexity, [*self.estimators_, self.final_]))

    def summary(self) -> Summary:
        """The members, and what the final learner made of them."""
        check_is_fitted(self)
        heads = ["member", "learner", "columns"]
        rows = [
            [name, type(one).__name__, self._columns_text(i)]
            for i, (name, one) in enumerate(zip(self.names_, self.estimators_))
        ]
        tables = [Table("Members", heads, rows)]
        coef = getattr(self.final_, "coef_", None)
        if coef is not None and np.ndim(coef) and np.shape(coef)[-1] == len(self.level0_names_):
            tables.append(coefficients_table(np.atleast_2d(coef), self.level0_names_))
        facts = {
            "final": type(self.final_).__name__,
            "cv": str(self.cv),
            "answers": len(self.level0_names_),
        }
        return Summary(self._title(), facts, tables)


def _level0(model: StackingBase, data: CommitteeData) -> np.ndarray:
    return model._columns_of(model._answers(data))

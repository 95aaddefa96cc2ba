"""Which learners are compared, how each is built, what is searched, and in what order it runs."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from lyceum import catalog
from lyceum.decision import LossMatrix
from lyceum.errors import LyceumError, StudyError
from lyceum.studies.compare.loss_rule import LossRule
from lyceum.studies.plan.candidate import Candidate, planned_committees
from lyceum.studies.plan.fold_counts import fold_counts, fold_notes, limited_folds
from lyceum.studies.plan.fold_scheme import FoldScheme
from lyceum.studies.plan.ranking_metric import (
    CLASS_METRICS,
    NUMBER_METRICS,
    RankingMetric,
)
from lyceum.studies.plan.recipe import LearnerChoice, Recipe
from lyceum.studies.plan.row_order import group_codes, time_values
from lyceum.studies.plan.settings import spread_settings
from lyceum.studies.plan.study_data import StudyData
from lyceum.studies.plan.table_notes import only_classes_text
from lyceum.studies.run.pipelines import build_pipeline, seed_of
from lyceum.studies.run.settings_search import SEARCH_ROWS

# rows up to which a learner whose cost grows faster than the rows is chosen
_IN_MEMORY = 20_000
_BASELINES = {
    "classification": (
        "PriorClassifier",
        "constant guess",
        "The shares of the classes, whatever the row.",
    ),
    "regression": (
        "MeanRegressor",
        "constant guess",
        "The mean of the target, whatever the row.",
    ),
}


@dataclass(frozen=True, slots=True)
class Task:
    """One task: a candidate on one fold of one repeat."""

    name: str
    repeat: int
    fold: int


@dataclass(frozen=True, slots=True, eq=False)
class RowSplit:
    """Places of training and test rows among the rows compared on."""

    train: np.ndarray
    test: np.ndarray


@dataclass(frozen=True, eq=False)
class Plan:
    """What will be run."""

    candidates: tuple[Candidate, ...]  # the baseline first
    # made of the candidates without fitting them again
    committees: tuple[Candidate, ...]
    rule: LossRule
    classes: tuple[Any, ...] | None
    folds: int
    drawn: int  # folds before those without enough rows to learn from are left out
    repeats: int
    scheme: FoldScheme
    seed: int
    compared: np.ndarray  # indices among the data's rows
    held_out: np.ndarray
    notes: tuple[str, ...]
    calibrates: bool
    left_out: tuple[str, ...]  # sentences on learners too slow for this number of rows

    @classmethod
    def of(cls, recipe: Recipe, data: StudyData) -> Plan:
        """The plan of a recipe for these rows."""
        classes, rule = _loss_rule(recipe, data)
        scheme = FoldScheme(
            recipe.inner_folds,
            classes is not None,
            group_codes(recipe, data),
            time_values(recipe, data),
        )
        compared, held_out = _held_out(recipe, data, scheme)
        folds, repeats = fold_counts(recipe, data, compared)
        folds, drawn, more = limited_folds(
            recipe, folds, scheme.take(compared), data.y[compared]
        )
        notes = fold_notes(recipe, data, compared, folds, repeats)
        chosen, left_out = _candidates(recipe, data)
        together = recipe.committees and folds * repeats > 1 and not data.is_sample
        plan = cls(
            (_baseline(data), *chosen),
            planned_committees(chosen, classes is not None) if together else (),
            rule,
            classes,
            folds,
            drawn,
            repeats,
            scheme,
            recipe.seed,
            compared,
            held_out,
            (*notes, *more, *_search_notes(recipe, len(compared), folds)),
            recipe.calibrate,
            tuple(left_out),
        )
        plan._check_metric(data.y)
        return plan

    def _check_metric(self, y: np.ndarray) -> None:
        """Raise where no fold can tell the metric: AUC takes rows of two classes."""
        if self.rule.metric is None or self.rule.metric.name != "auc":
            return
        if not any(
            self.rule.can_judge(y[split.test]) for split in self.splits(y).values()
        ):
            raise StudyError(
                "metric = 'auc': no fold tests rows of two classes; give fewer folds"
            )

    def __getitem__(self, name: str) -> Candidate:
        every = (*self.candidates, *self.committees)
        return next(candidate for candidate in every if candidate.name == name)

    def tasks(self) -> Iterator[Task]:
        """All tasks, fold by fold, so that every learner has its first fold early."""
        for repeat, fold in itertools.product(range(self.repeats), range(self.folds)):
            for candidate in self.candidates:
                yield Task(candidate.name, repeat, fold)

    def splits(self, y: np.ndarray) -> dict[tuple[int, int], RowSplit]:
        """The folds of the rows compared on, by repeat and fold; indices among all rows in
        memory."""
        scheme = self.scheme.take(self.compared)
        splits = {}
        for repeat in range(self.repeats):
            parts = scheme.splits(
                y[self.compared], self.drawn, seed_of(self.seed, "folds", repeat)
            )
            for fold, (train, test) in enumerate(parts):
                splits[repeat, fold] = RowSplit(
                    self.compared[train], self.compared[test]
                )
        return splits

    def seed_of(self, task: Task) -> int:
        return seed_of(self.seed, task.name, task.repeat, task.fold)


def _loss_rule(
    recipe: Recipe, data: StudyData
) -> tuple[tuple[Any, ...] | None, LossRule]:
    target = data.schema.target
    assert target is not None
    if target.categories is None:
        for key in ("loss", "doubt", "calibrate"):
            if getattr(recipe, key) not in (None, False):
                raise StudyError(only_classes_text(key, target.name))
        mean = np.average(data.y, weights=data.w)
        variance = float(np.average((data.y - mean) ** 2, weights=data.w))
        metric = _metric(recipe, target.name, False)
        scale = 1.0
        if metric is not None and metric.name == "r2" and variance > 0:
            scale = variance
        return None, LossRule(None, metric=metric, variance=scale)
    classes = tuple(target.categories.tolist())
    loss = None
    if recipe.loss is not None:
        loss = _loss_matrix(recipe, data, target.name, classes)
    metric = _metric(recipe, target.name, True)
    if metric is not None and metric.name == "balanced error":
        if loss is not None or recipe.doubt is not None:
            raise StudyError(
                "metric = 'balanced error' has costs of its own: leave out loss and doubt"
            )
        loss = _balanced_costs(classes, data)
    return classes, LossRule(len(classes), loss, recipe.doubt, metric)


def _loss_matrix(
    recipe: Recipe, data: StudyData, target: str, classes: tuple[Any, ...]
) -> LossMatrix:
    """The losses of the recipe for these classes."""
    assert recipe.loss is not None
    try:
        loss = LossMatrix.of(recipe.loss, classes)
    except LyceumError as error:
        raise StudyError(f"loss: {error}") from error
    names = {*map(str, classes), *map(str, data.rare_classes)}
    unknown = [label for label in recipe.loss.classes or () if str(label) not in names]
    if unknown:
        raise StudyError(
            f"loss: the matrix has a row for {unknown[0]!r}, which is no class of the target "
            f"{target!r}: its classes are {', '.join(map(repr, classes))}"
        )
    return loss


def _metric(recipe: Recipe, target: str, has_classes: bool) -> RankingMetric | None:
    if recipe.metric is None:
        return None
    metric = RankingMetric.of(recipe.metric)
    if metric.is_for_classes != has_classes:
        if has_classes:
            holds = "classes"
            others = CLASS_METRICS
        else:
            holds = "numbers"
            others = NUMBER_METRICS
        raise StudyError(
            f"metric = {recipe.metric!r}: the target {target!r} holds {holds}: choose one of "
            f"{', '.join(others)}"
        )
    return metric


def _balanced_costs(classes: tuple[Any, ...], data: StudyData) -> LossMatrix:
    """An error on a row of class k costs 1 / (K π_k), so that the mean cost is the mean error of
    classes."""
    shares = np.bincount(data.y, weights=data.w, minlength=len(classes)) / (
        len(data.y) if data.w is None else data.w.sum()
    )
    costs = np.where(shares > 0, 1.0 / (len(classes) * np.maximum(shares, 1e-300)), 0.0)
    return LossMatrix(costs[:, None] * (1.0 - np.eye(len(classes))), classes=classes)


def _held_out(
    recipe: Recipe, data: StudyData, scheme: FoldScheme
) -> tuple[np.ndarray, np.ndarray]:
    every = np.arange(len(data.y))
    if not recipe.holdout:
        return every, every[:0]
    return scheme.held_out(data.y, recipe.holdout, seed_of(recipe.seed, "holdout"))


def _search_notes(recipe: Recipe, n_rows: int, folds: int) -> tuple[str, ...]:
    if n_rows - n_rows // max(2, folds) <= SEARCH_ROWS or recipe.n_settings < 2:
        return ()
    if recipe.time:
        which = "the latest"
    else:
        which = "a random"
    return (
        (
            f"Settings were searched on {which} {SEARCH_ROWS:,} of the rows to learn from in every"
            " fold; the learners so set were fitted on all of them."
        ),
    )


# -- candidates ------------------------------------------------------------------------


def _baseline(data: StudyData) -> Candidate:
    learner, label, about = _BASELINES[data.task]
    return Candidate(
        learner,
        learner,
        label,
        about,
        (learner,),
        why="what others have to beat",
        is_baseline=True,
    )


def _candidates(recipe: Recipe, data: StudyData) -> tuple[list[Candidate], list[str]]:
    choices = recipe.learners or tuple(_default_choices(data))
    candidates: list[Candidate] = []
    left_out: dict[int, list[str]] = {}
    for choice in choices:
        entry = _entry(choice, data)
        in_memory = entry.scales == "in memory" and not entry.settings_in_passes
        limit = entry.study_rows or (_IN_MEMORY if in_memory else None)
        if limit is not None and data.n_rows > limit and not recipe.learners:
            left_out.setdefault(limit, []).append(readable(entry.name))
            continue
        if in_memory and data.is_sample:
            if not recipe.learners:
                left_out.setdefault(len(data.y), []).append(readable(entry.name))
                continue
            raise StudyError(
                f"learners: {entry.name} works in memory only, and the file does not fit: leave"
                " it out"
            )
        candidates.append(
            _candidate(choice, entry, data, recipe, [c.name for c in candidates])
        )
    return candidates, [
        f"Left out, because there are more than {limit:,} rows: {', '.join(names)}."
        for limit, names in sorted(left_out.items())
    ]


def _default_choices(data: StudyData) -> Iterator[LearnerChoice]:
    """The learners of a study that names none, built and searched as if they were named."""
    for entry in catalog.learners(data.task):
        if entry.in_study != "never":
            yield LearnerChoice(entry.name)


def _entry(choice: LearnerChoice, data: StudyData) -> catalog.Entry:
    try:
        entry = catalog.find(choice.name)
    except LyceumError as error:
        raise StudyError(f"learners: {error}") from error
    if entry.task != data.task:
        others = ", ".join(each.name for each in catalog.learners(data.task))
        raise StudyError(
            f"learners: {entry.name} is for {entry.task}, but the target {data.target!r} asks for "
            f"{data.task}: choose from {others}"
        )
    return entry


def _candidate(
    choice: LearnerChoice,
    entry: catalog.Entry,
    data: StudyData,
    recipe: Recipe,
    names: list[str],
) -> Candidate:
    steps, why = _steps(entry, data)
    space = dict(entry.space if choice.search is None else choice.search)
    # for the final fit on all rows
    in_passes = entry.settings_in_passes if data.is_sample else {}
    settings = {**entry.study_settings, **in_passes, **choice.settings}
    for name in settings:
        space.pop(name, None)
    search = spread_settings(space, recipe.n_settings, choice.search is None)
    number = 1 + sum(name.split(" ")[0] == entry.name for name in names)
    if number == 1:
        extra = ""
    else:
        extra = f" {number}"
    label = f"{readable(entry.name)}{extra}"
    candidate = Candidate(
        f"{entry.name}{extra}",
        entry.name,
        label,
        entry.about,
        steps,
        settings,
        search,
        why,
        sparse_text=entry.takes_sparse_text(data.schema),
    )
    _check_settings(candidate)
    return candidate


def _steps(entry: catalog.Entry, data: StudyData) -> tuple[tuple[str, ...], str]:
    """Only what the learner needs: missing cells filled, numbers scaled; and why."""
    before = entry.preparations(data.schema, missing=data.has_missing)
    return (*before, entry.name), "; ".join(before.values())


def _check_settings(candidate: Candidate) -> None:
    for settings in candidate.search or ({},):
        try:
            for _, step in build_pipeline(candidate, settings, 0).steps:
                step._validate_params()
        except (TypeError, ValueError) as error:
            raise StudyError(
                f"learners: {candidate.learner} cannot be set so: {error}"
            ) from error


def readable(name: str) -> str:
    """A class name as words, without "classifier" or "regressor", as a study has learners of one
    task.

    >>> readable("LogisticRegression"), readable("NaiveBayes"), readable("KNeighborsRegressor")
    ('logistic regression', 'naive Bayes', 'k nearest neighbors')
    """
    name = re.sub(r"(?<=.)(Classifier|Regressor)$", "", name)
    if name in _TERMS:
        return _TERMS[name]
    words = re.findall(r"AdaBoost|[A-Z]+[0-9]+|[A-Z]+(?![a-z])|[A-Z][a-z0-9]*", name)
    if len(words) > 1 and len(words[0]) == 1:
        words[0] = words[0].lower()
    return (
        " ".join(
            w if w in _NAMES or (len(w) > 1 and w.isupper()) else w.lower()
            for w in words
        )
        or name
    )


_TERMS = {
    "BayesNet": "Bayesian network",
    "BayesianGaussian": "Bayesian Gaussian classifier",
    "KNeighbors": "k nearest neighbors",
    "MLP": "neural network",
    "Parzen": "Parzen windows",
    "Ridge": "ridge regression",
}
_NAMES = ("AdaBoost", "Bayes", "Bayesian", "Gaussian", "Parzen")

"""Which learners are compared, how each is built, what is searched, and in what order it runs."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lyceum import catalog
from lyceum._core.data import Column
from lyceum.decision import LossMatrix
from lyceum.errors import LyceumError, StudyError
from lyceum.studies.compare.loss_rule import LossRule
from lyceum.studies.plan.candidate import (
    Candidate,
    planned_committees,
    portfolio_settings,
    spread_settings,
)
from lyceum.studies.plan.fold_scheme import (
    FoldScheme,
    fold_counts,
    fold_notes,
    limited_folds,
)
from lyceum.studies.plan.ranking_metric import (
    CLASS_METRICS,
    NUMBER_METRICS,
    RankingMetric,
)
from lyceum.studies.plan.recipe import LearnerChoice, Recipe
from lyceum.studies.plan.row_order import group_codes, time_values
from lyceum.studies.plan.study_data import StudyData
from lyceum.studies.plan.table_notes import only_classes_text
from lyceum.studies.run.pipelines import build_pipeline, seed_of
from lyceum.studies.run.settings_search import SEARCH_ROWS
from lyceum.studies.run.target_statistics import MANY_LEVELS

# rows up to which a learner whose cost grows faster than the rows is chosen
_IN_MEMORY = 20_000
# rows, times classes if there are more than two, up to which variants of a learner are tried
_VARIED_ROWS = 50_000
# rows of a search, times classes if there are more than two, up to which settings are searched
# without a budget: a fit of 300 classes takes as long as a hundred of two
_SEARCHED = 100_000
_MANY_CLASSES = (
    "With {:,} classes a fit takes many times as long as with two. So no settings were searched:"
    " learners have their defaults, and forests and boosting fewer trees. Learners that are named,"
    " and those of a study with a budget, have theirs searched."
)
_OF_VARIANT = 0.8  # times the promise of a learner, or of the variant before
_PRIOR = Candidate(
    name="PriorClassifier",
    learner="PriorClassifier",
    label="constant guess",
    about="The shares of the classes, whatever the row.",
    steps=("PriorClassifier",),
    why="what others have to beat",
    is_baseline=True,
)
_BASELINES = {
    "classification": _PRIOR,
    "regression": replace(
        _PRIOR,
        name="MeanRegressor",
        learner="MeanRegressor",
        about="The mean of the target, whatever the row.",
        steps=("MeanRegressor",),
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
            stratify=classes is not None,
            groups=group_codes(recipe, data),
            times=time_values(recipe, data),
        )
        seed = seed_of(recipe.seed, "holdout")
        compared, held_out = scheme.held_out(data.y, recipe.holdout, seed)
        n = len(compared)
        is_long = _has_long_fits(recipe, data)
        folds, repeats = fold_counts(recipe, n, is_hasty=is_long)
        tested = scheme.take(compared)
        folds, drawn, fewer = limited_folds(recipe, folds, tested, data.y[compared])
        notes = fold_notes(recipe, data, compared, folds, repeats)
        searched = _search_notes(recipe, n, folds, is_long)
        chosen, left_out = _candidates(recipe, data)
        committees: tuple[Candidate, ...] = ()
        if recipe.committees and folds * repeats > 1 and not data.is_sample:
            committees, more = planned_committees(chosen, rule.n_classes, n)
            left_out = (*left_out, *more)
        plan = cls(
            candidates=(_BASELINES[data.task], *chosen),
            committees=committees,
            rule=rule,
            classes=classes,
            folds=folds,
            drawn=drawn,
            repeats=repeats,
            scheme=scheme,
            seed=recipe.seed,
            compared=compared,
            held_out=held_out,
            notes=(*notes, *fewer, *searched),
            calibrates=recipe.calibrate,
            left_out=left_out,
        )
        plan._check_metric(data.y)
        return plan

    def _check_metric(self, y: np.ndarray) -> None:
        """Raise where no fold can tell the metric: AUC takes rows of two classes."""
        if self.rule.metric is None or self.rule.metric.name != "auc":
            return
        splits = self.splits(y).values()
        if not any(self.rule.can_judge(y[split.test]) for split in splits):
            raise StudyError(
                "metric = 'auc': no fold tests rows of two classes; give fewer folds"
            )

    def __getitem__(self, name: str) -> Candidate:
        every = (*self.candidates, *self.committees)
        return next(candidate for candidate in every if candidate.name == name)

    def tasks(self) -> Iterator[Task]:
        """All tasks, fold by fold, so that every learner has its first fold early.

        In a fold those come first that win most often: they take longest too, and no process waits
        at the end for another that began with them last.
        """
        order = sorted(self.candidates, key=lambda c: (not c.is_baseline, -c.promise))
        for repeat, fold in itertools.product(range(self.repeats), range(self.folds)):
            for candidate in order:
                yield Task(candidate.name, repeat, fold)

    def splits(self, y: np.ndarray) -> dict[tuple[int, int], RowSplit]:
        """The folds of the rows compared on, by repeat and fold; indices among all rows in
        memory."""
        scheme = self.scheme.take(self.compared)
        splits = {}
        for repeat in range(self.repeats):
            seed = seed_of(self.seed, "folds", repeat)
            parts = scheme.splits(y[self.compared], self.drawn, seed)
            for fold, (train, test) in enumerate(parts):
                split = RowSplit(self.compared[train], self.compared[test])
                splits[repeat, fold] = split
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
        # R² divides by the variance of the target
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
        holds = "numbers"
        others = NUMBER_METRICS
        if has_classes:
            holds = "classes"
            others = CLASS_METRICS
        raise StudyError(
            f"metric = {recipe.metric!r}: the target {target!r} holds {holds}: choose one of "
            f"{', '.join(others)}"
        )
    return metric


def _balanced_costs(classes: tuple[Any, ...], data: StudyData) -> LossMatrix:
    """An error on a row of class k costs 1 / (K π_k), so that the mean cost is the mean error of
    classes."""
    K = len(classes)
    counts = np.bincount(data.y, weights=data.w, minlength=K)
    shares = counts / (len(data.y) if data.w is None else data.w.sum())
    costs = np.where(shares > 0, 1.0 / (K * np.maximum(shares, 1e-300)), 0.0)
    return LossMatrix(costs[:, None] * (1.0 - np.eye(K)), classes=classes)


def _search_notes(
    recipe: Recipe, n_rows: int, folds: int, is_long: bool = False
) -> tuple[str, ...]:
    if (
        is_long
        or n_rows - n_rows // max(2, folds) <= SEARCH_ROWS
        or recipe.n_settings < 2
    ):
        return ()
    which = "the latest" if recipe.time else "a random"
    text = (
        f"Settings were searched on {which} {SEARCH_ROWS:,} of the rows to learn from in every"
        " fold; the learners so set were fitted on all of them."
    )
    return (text,)


# -- how much there is to do -----------------------------------------------------------


def _n_trees(data: StudyData) -> int:
    """The classes if there are more than two, else 1: boosting grows as many trees per round."""
    target = data.schema.target
    assert target is not None
    if target.categories is None or len(target.categories) <= 2:
        return 1
    return len(target.categories)


def _has_long_fits(recipe: Recipe, data: StudyData) -> bool:
    """Whether there are so many classes that only defaults are tried: a budget knows better, and
    learners that are named are tried as asked."""
    if recipe.learners or recipe.budget_minutes is not None:
        return False
    n_trees = _n_trees(data)
    return n_trees > 1 and min(data.n_rows, SEARCH_ROWS) * n_trees > _SEARCHED


# -- candidates ------------------------------------------------------------------------


def _candidates(
    recipe: Recipe, data: StudyData
) -> tuple[list[Candidate], tuple[str, ...]]:
    # built and searched as if they were named
    choices = recipe.learners or tuple(_default_choices(data))
    candidates: list[Candidate] = []
    left_out: dict[str, list[str]] = {}
    is_long = _has_long_fits(recipe, data)
    for choice in choices:
        entry = _entry(choice, data)
        limit = _limit(entry, data)
        # a learner that the recipe names is tried whatever the number of rows and classes
        if limit and not recipe.learners:
            left_out.setdefault(limit, []).append(readable(entry.name))
            continue
        if limit and data.is_sample and _is_in_memory(entry):
            raise StudyError(
                f"learners: {entry.name} works in memory only, and the file does not fit: leave"
                " it out"
            )
        n_before = sum(c.learner == entry.name for c in candidates)
        candidate = _candidate(choice, entry, data, recipe, n_before)
        if is_long:
            settings = {**candidate.settings, **entry.frugal}
            candidate = replace(candidate, settings=settings, search=(), hasty={})
        candidates.append(candidate)
    texts = [
        f"Left out, because there are more than {what}: {', '.join(names)}."
        for what, names in left_out.items()
    ]
    if is_long:
        texts.append(_MANY_CLASSES.format(_n_trees(data)))
    return candidates, tuple(texts)


def _is_in_memory(entry: catalog.Entry) -> bool:
    return entry.scales == "in memory" and not entry.settings_in_passes


def _limit(entry: catalog.Entry, data: StudyData) -> str:
    """What the table has more of than a learner that is not named is tried on; "" for nothing."""
    in_memory = _is_in_memory(entry)
    most_rows = entry.study_rows or (_IN_MEMORY if in_memory else math.inf)
    if data.n_rows > most_rows:
        return f"{most_rows:,} rows"
    if _n_trees(data) > (entry.study_classes or math.inf):
        return f"{entry.study_classes:,} classes"
    if in_memory and data.is_sample:
        return f"{len(data.y):,} rows"
    return ""


def _default_choices(data: StudyData) -> Iterator[LearnerChoice]:
    """Every learner that studies try, and on few rows its variants."""
    for entry in catalog.learners(data.task):
        if entry.in_study == "never":
            continue
        yield LearnerChoice(entry.name)
        if data.n_rows * _n_trees(data) <= _VARIED_ROWS:
            for settings in entry.variants.values():
                yield LearnerChoice(entry.name, settings=settings)


def _entry(choice: LearnerChoice, data: StudyData) -> catalog.Entry:
    try:
        entry = catalog.find(choice.name)
    except LyceumError as error:
        raise StudyError(f"learners: {error}") from error
    if entry.task != data.task:
        others = ", ".join(other.name for other in catalog.learners(data.task))
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
    n_before: int,
) -> Candidate:
    """The candidate of a choice; `n_before` candidates have the same learner."""
    # only what the learner needs: missing cells filled, numbers scaled; and why
    preparations = _preparations(entry, data)
    space = dict(entry.space if choice.search is None else choice.search)
    # for the final fit on all rows
    in_passes = entry.settings_in_passes if data.is_sample else {}
    settings = {**entry.study_settings, **in_passes, **choice.settings}
    for name in settings:
        space.pop(name, None)
    if entry.portfolio and choice.search is None:
        search = portfolio_settings(entry.portfolio, settings, recipe.n_settings)
    else:
        search = spread_settings(space, recipe.n_settings, choice.search is None)
    hasty: dict[str, Any] = {}
    if choice.search is None and not entry.hasty.keys() & settings.keys():
        hasty = dict(entry.hasty)
    number = f" {n_before + 1}" if n_before else ""
    candidate = Candidate(
        name=f"{entry.name}{number}",
        learner=entry.name,
        label=_label(entry, choice.settings, number),
        about=entry.about,
        steps=(*preparations, entry.name),
        settings=settings,
        search=search,
        why="; ".join(preparations.values()),
        sparse_text=entry.takes_sparse_text(data.schema),
        promise=entry.promise * _OF_VARIANT**n_before,
        hasty=hasty,
    )
    # settings that no learner takes are refused before anything is run
    for tried in (*(search or ({},)), hasty):
        try:
            for _, step in build_pipeline(candidate, tried, 0).steps:
                step._validate_params()
        except (TypeError, ValueError) as error:
            raise StudyError(
                f"learners: {entry.name} cannot be set so: {error}"
            ) from error
    return candidate


def _label(entry: catalog.Entry, settings: Mapping[str, Any], number: str) -> str:
    """What people read: the learner, and the name of a variant or the number of a repetition."""
    for variant, its_settings in entry.variants.items():
        if its_settings == settings:
            return f"{readable(entry.name)} {variant}"
    return readable(entry.name) + number


def _preparations(entry: catalog.Entry, data: StudyData) -> dict[str, str]:
    """The steps in front of a learner, and why: categories of many levels are encoded where each
    level would be a column of its own, and for boosting, which learns their rows by heart."""
    preparations = entry.preparations(data.schema, missing=data.has_missing)
    is_boosting = entry.name.startswith("HistGradientBoosting")
    learner: Any = entry.load()
    makes_columns = learner._coding != "codes"
    if not makes_columns and not is_boosting:
        return preparations
    if entry.takes_sparse_text(data.schema):
        return preparations
    is_wide = [
        not c.numeric
        and not c.is_free_text
        and c.categories is not None
        and len(c.categories) > MANY_LEVELS
        for c in data.schema
    ]
    if not any(is_wide):
        return preparations
    columns = tuple(
        Column(c.name) if wide else c for c, wide in zip(data.schema, is_wide)
    )
    encoded = replace(data.schema, columns=columns)
    return {
        "TargetStatistics": (
            f"categories of more than {MANY_LEVELS} levels are written as what the target is like"
            " among the rows of each, found on other rows"
        ),
        **entry.preparations(encoded, missing=data.has_missing),
    }


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
    for i, word in enumerate(words):
        is_acronym = len(word) > 1 and word.isupper()
        if word not in _NAMES and not is_acronym:
            words[i] = word.lower()
    return " ".join(words) or name


_TERMS = {
    "BayesNet": "Bayesian network",
    "BayesianGaussian": "Bayesian Gaussian classifier",
    "GradientBoosting": "exact gradient boosting",
    "HistGradientBoosting": "gradient boosting",
    "KNeighbors": "k nearest neighbors",
    "MLP": "neural network",
    "Parzen": "Parzen windows",
    "Ridge": "ridge regression",
}
_NAMES = ("AdaBoost", "Bayes", "Bayesian", "Gaussian", "Parzen")

"""Which learners are compared, how each is built, what is searched, and in what order it runs."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lyceum import catalog
from lyceum.apply import preparations
from lyceum.decision import LossMatrix
from lyceum.errors import LyceumError, StudyError
from lyceum.evaluate import Holdout, StratifiedFolds, error_interval
from lyceum.studies._candidate import Candidate
from lyceum.studies._loss_rule import LossRule
from lyceum.studies._pipelines import build_pipeline, seed_of
from lyceum.studies._recipe import LearnerChoice, Recipe
from lyceum.studies._study_data import StudyData

__all__ = ["Plan", "Split", "Task"]

_FEW_ROWS = 2_000  # below, ten folds are cheap and leave more rows to learn from
_TINY = 20  # rows below which folds are drawn several times
_TINY_REPEATS = 3
_IN_MEMORY = 20_000  # rows up to which a learner whose cost grows faster than the rows is chosen
_SETTINGS = 16
_BASELINES = {
    "classification": ("PriorClassifier", "constant guess", "The shares of the classes, whatever the row."),
    "regression": ("MeanRegressor", "constant guess", "The mean of the target, whatever the row."),
}


@dataclass(frozen=True, slots=True)
class Task:
    """One task: a candidate on one fold of one repeat."""

    name: str
    repeat: int
    fold: int


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """Places of training and test rows among the rows compared on."""

    train: np.ndarray
    test: np.ndarray


@dataclass(frozen=True, eq=False)
class Plan:
    """What will be run."""

    candidates: tuple[Candidate, ...]  # the baseline first
    rule: LossRule
    classes: tuple[Any, ...] | None
    folds: int
    repeats: int
    inner_folds: int
    seed: int
    compared: np.ndarray  # places among the data's rows
    held_out: np.ndarray
    notes: tuple[str, ...]

    @classmethod
    def of(cls, recipe: Recipe, data: StudyData) -> Plan:
        """The plan of a recipe for these rows."""
        classes, rule = _loss_rule(recipe, data)
        compared, held_out = _held_out(recipe, data)
        folds, repeats, notes = _folds(recipe, data, compared)
        chosen, left_out = _candidates(recipe, data)
        return cls(
            (_baseline(data), *chosen),
            rule,
            classes,
            folds,
            repeats,
            recipe.inner_folds,
            recipe.seed,
            compared,
            held_out,
            (*notes, *left_out),
        )

    def __getitem__(self, name: str) -> Candidate:
        return next(candidate for candidate in self.candidates if candidate.name == name)

    def tasks(self) -> Iterator[Task]:
        """All tasks, fold by fold, so that every learner has its first fold early."""
        for repeat, fold in itertools.product(range(self.repeats), range(self.folds)):
            for candidate in self.candidates:
                yield Task(candidate.name, repeat, fold)

    def splits(self, y: np.ndarray) -> dict[tuple[int, int], Split]:
        """Stratified folds of the rows compared on, by repeat and fold; places among all rows in memory."""
        found = {}
        by_class = self.classes is not None
        for repeat in range(self.repeats):
            folds = StratifiedFolds(
                self.folds, stratify=by_class, random_state=seed_of(self.seed, "folds", repeat)
            )
            y_here = y[self.compared]
            for fold, (train, test) in enumerate(folds.split(y_here, y_here)):
                found[repeat, fold] = Split(self.compared[train], self.compared[test])
        return found

    def seed_of(self, task: Task) -> int:
        return seed_of(self.seed, task.name, task.repeat, task.fold)


def _loss_rule(recipe: Recipe, data: StudyData) -> tuple[tuple[Any, ...] | None, LossRule]:
    target = data.schema.target
    assert target is not None
    if target.categories is None:
        for key in ("loss", "doubt"):
            if getattr(recipe, key) is not None:
                raise StudyError(
                    f"{key}: the target {target.name!r} holds numbers, and {key} is for classes: leave it "
                    f"out, or say kinds = {{{target.name} = 'categorical'}}"
                )
        return None, LossRule(None)
    classes = tuple(target.categories.tolist())
    loss = None
    if recipe.loss is not None:
        try:
            loss = LossMatrix.of(recipe.loss, classes)
        except LyceumError as error:
            raise StudyError(f"loss: {error}") from error
        known = {*map(str, classes), *map(str, data.rare_classes)}
        absent = [label for label in recipe.loss.classes or () if str(label) not in known]
        if absent:
            raise StudyError(
                f"loss: the matrix has a row for {absent[0]!r}, which is no class of the target "
                f"{target.name!r}: its classes are {', '.join(map(repr, classes))}"
            )
    return classes, LossRule(len(classes), loss, recipe.doubt)


def _held_out(recipe: Recipe, data: StudyData) -> tuple[np.ndarray, np.ndarray]:
    every = np.arange(len(data.y))
    if not recipe.holdout:
        return every, every[:0]
    scheme = Holdout(
        test_size=recipe.holdout,
        stratify=data.task == "classification",
        random_state=seed_of(recipe.seed, "holdout"),
    )
    [(rest, held_out)] = scheme.split(data.y, data.y)
    return rest, held_out


def _folds(recipe: Recipe, data: StudyData, compared: np.ndarray) -> tuple[int, int, tuple[str, ...]]:
    """The number of folds, how often they are drawn, and what to know about them."""
    n = len(compared)
    wanted = recipe.folds or (10 if n < _FEW_ROWS else 5)
    if recipe.folds and wanted > n:
        raise StudyError(f"folds = {wanted}: there are {n} rows; give fewer folds")
    notes: list[str] = []
    repeats = recipe.repeats
    if n < _TINY:
        wanted = recipe.folds or (5 if n >= 10 else 3)
        repeats = max(repeats, _TINY_REPEATS)
        notes.append(_tiny_note(n, wanted, repeats, data.task))
    if data.task == "classification":
        counts = np.bincount(data.y[compared])
        smallest = int(counts[counts > 0].min())
        if smallest < wanted:
            notes.append(
                f"The smallest class has {smallest} rows: of {wanted} folds, {wanted - smallest} "
                f"{'tests' if wanted - smallest == 1 else 'test'} no row of it, and its errors say little."
            )
    return wanted, repeats, tuple(notes)


def _tiny_note(n: int, folds: int, repeats: int, task: str) -> str:
    """How little so few rows support."""
    said = (
        f"There are only {n} rows: {folds} folds were drawn {repeats} times, so that less hangs on one draw"
    )
    if task == "regression":
        return f"{said}; the order of the learners may still be chance."
    half = error_interval(n // 2, n)
    return (
        f"{said}. An error rate measured on {n} rows is known to about ± {(half.high - half.low) / 2:.0%} "
        "only, and the order of the learners may be chance."
    )


# -- candidates ----------------------------------------------------------------------------------------------


def _baseline(data: StudyData) -> Candidate:
    learner, label, about = _BASELINES[data.task]
    return Candidate(
        learner, learner, label, about, (learner,), why="what others have to beat", is_baseline=True
    )


def _candidates(recipe: Recipe, data: StudyData) -> tuple[list[Candidate], list[str]]:
    asked = recipe.learners or tuple(_default_choices(data))
    found: list[Candidate] = []
    left_out = []
    for choice in asked:
        entry = _entry(choice, data)
        too_many = entry.scales == "in memory" and (data.n_rows > _IN_MEMORY or data.is_sample)
        if too_many and not recipe.learners:
            left_out.append(
                f"{entry.name} was left out: it keeps all rows in memory, and there are {data.n_rows:,}."
            )
            continue
        if too_many and data.is_sample:
            raise StudyError(
                f"learners: {entry.name} works in memory only, and the file does not fit: leave it out"
            )
        found.append(_candidate(choice, entry, data, recipe, [c.name for c in found]))
    return found, left_out


def _default_choices(data: StudyData) -> Iterator[LearnerChoice]:
    """The learners of a study that names none; where a fit takes long, settings are not searched."""
    for entry in catalog.learners(data.task):
        if entry.in_study != "never":
            yield LearnerChoice(entry.name, {}, {} if entry.in_study == "fixed" else None)


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
    choice: LearnerChoice, entry: catalog.Entry, data: StudyData, recipe: Recipe, taken: list[str]
) -> Candidate:
    steps, why = _steps(entry, data)
    space = dict(entry.space if choice.search is None else choice.search)
    for name in choice.settings:
        space.pop(name, None)
    search = _grid(space, seed_of(recipe.seed, entry.name), choice.search is None)
    number = 1 + sum(name.split(" ")[0] == entry.name for name in taken)
    extra = "" if number == 1 else f" {number}"
    label = f"{readable(entry.name)}{extra}"
    candidate = Candidate(
        f"{entry.name}{extra}", entry.name, label, entry.about, steps, dict(choice.settings), search, why
    )
    _check_settings(candidate)
    return candidate


def _steps(entry: catalog.Entry, data: StudyData) -> tuple[tuple[str, ...], str]:
    """Only what the learner needs: missing cells filled, numbers scaled; and why."""
    before = preparations(entry, data.schema, missing=data.has_missing)
    return (*before, entry.name), "; ".join(before.values())


def _check_settings(candidate: Candidate) -> None:
    for settings in candidate.search or ({},):
        try:
            for _, step in build_pipeline(candidate, settings, 0).steps:
                step._validate_params()
        except (TypeError, ValueError) as error:
            raise StudyError(f"learners: {candidate.learner} cannot be set so: {error}") from error


def _grid(space: Mapping[str, Any], seed: int, with_defaults: bool) -> tuple[dict[str, Any], ...]:
    """Settings to choose from: the defaults, then all combinations, or a random part of them if too many."""
    if not space:
        return ()
    points = 7 if len(space) == 1 else 5 if len(space) == 2 else 3
    choices = [_points(values, points) for values in space.values()]
    every = [dict(zip(space, values)) for values in itertools.product(*choices)]
    if len(every) > _SETTINGS:
        drawn = np.sort(np.random.default_rng(seed).permutation(len(every))[: _SETTINGS - 1])
        every = [every[i] for i in drawn]
    return (*([{}] if with_defaults else []), *every)


def _points(values: Any, n: int) -> list[Any]:
    if not isinstance(values, tuple):
        return list(values)
    low, high, scale = values
    points = np.geomspace(low, high, n) if scale == "log" else np.linspace(low, high, n)
    if isinstance(low, int) and isinstance(high, int):
        return sorted({round(point) for point in points.tolist()})
    return [float(f"{point:.6g}") for point in points]


def readable(name: str) -> str:
    """A class name as words.

    >>> readable("LogisticRegression"), readable("NaiveBayes"), readable("C45")
    ('logistic regression', 'naive Bayes', 'C45')
    """
    words = re.findall(r"AdaBoost|[A-Z]+[0-9]+|[A-Z]+(?![a-z])|[A-Z][a-z0-9]*", name)
    if len(words) > 1 and len(words[0]) == 1:
        words[0] = words[0].lower()
    return " ".join(w if w in _NAMES or (len(w) > 1 and w.isupper()) else w.lower() for w in words) or name


_NAMES = ("AdaBoost", "Bayes", "Bayesian", "Gaussian", "Parzen")

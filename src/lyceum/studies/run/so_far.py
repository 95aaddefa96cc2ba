"""A study while it runs: the ranking of what is finished so far, and learners added afterwards."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from lyceum._core.report import Shown
from lyceum._core.text import plain
from lyceum.errors import StudyError
from lyceum.studies.compare.metrics import loss_and_interval
from lyceum.studies.compare.out_of_sample import OutOfSample
from lyceum.studies.compare.trials import Trial
from lyceum.studies.plan.candidate import Candidate
from lyceum.studies.plan.facts import StudyPlanRecord
from lyceum.studies.plan.plan import Task
from lyceum.studies.plan.recipe import LearnerChoice, Recipe
from lyceum.studies.report.format import metric_interval, metric_name, metric_value
from lyceum.studies.run.store import Store, StudyKey, TaskResult


@dataclass(frozen=True, slots=True)
class LearnerSoFar(Shown):
    """How one learner has done on the folds that are finished.

    Attributes
    ----------
    name, label : str
        As in `Candidate`.
    value : float or None
        The metric of the study over these folds, None before the first.
    interval : (float, float) or None
        Its 95 % interval.
    fold_values : tuple of float
        The metric of every fold.
    folds_done : int
        How many are finished.
    seconds : float
        The time they took.
    is_baseline : bool
        Whether it is the constant guess.
    reason : str or None
        Why it failed.

    See Also
    --------
    RankingSoFar : All learners of a study.

    Examples
    --------
    >>> learner = LearnerSoFar("Ridge", "ridge regression", 2.1, (1.8, 2.4), (2.0, 2.2), 2, 0.3)
    >>> learner.folds_done, learner.is_baseline
    (2, False)
    """

    name: str
    label: str
    value: float | None
    interval: tuple[float, float] | None
    fold_values: tuple[float, ...]
    folds_done: int
    seconds: float
    is_baseline: bool = False
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class RankingSoFar(Shown):
    """The learners of a study on the folds that are finished, best first.

    Attributes
    ----------
    question : str
        What is predicted from what.
    metric : str
        What the values are: "error rate", "mean cost", "AUC".
    n_folds : int
        The planned folds of every learner, over all repeats.
    n_done : int
        Finished tasks, of all learners.
    n_tasks : int
        All tasks.
    learners : tuple of LearnerSoFar
        Best first; those that have no fold yet, or failed, come last.

    See Also
    --------
    ranking_so_far : Reads it from the folder of a study.
    follow_study : Hears of it while a study runs.
    Study.comparison : That of a finished study, with tests.

    Examples
    --------
    >>> RankingSoFar("What is y?", "RMSE", 10, 0, 20, ()).as_dict()["n_tasks"]
    20
    """

    question: str
    metric: str
    n_folds: int
    n_done: int
    n_tasks: int
    learners: tuple[LearnerSoFar, ...]

    def as_dict(self) -> dict[str, Any]:
        """All fields in JSON's own types."""
        return plain(asdict(self))


_followers: ContextVar[tuple[_Follower, ...]] = ContextVar("lyceum_study", default=())


@contextmanager
def follow_study(show: Callable[[RankingSoFar], None]) -> Iterator[None]:
    """Hear of the ranking of a study in a `with` block whenever a fold is finished.

    Parameters
    ----------
    show : function of a RankingSoFar
        Called in the thread and process that runs the study.

    See Also
    --------
    lyceum.progress.watch : Counts steps, and can cancel them.

    Examples
    --------
    >>> import tempfile, lyceum
    >>> rankings = []
    >>> geyser = lyceum.datasets.path("old_faithful")
    >>> with tempfile.TemporaryDirectory() as folder, follow_study(rankings.append):
    ...     out = f"{folder}/study"
    ...     result = lyceum.study(geyser, "waiting", learners=["Ridge"], folds=3, out=out)
    >>> rankings[-1].n_done, rankings[-1].learners[0].name, rankings[-1].metric
    (6, 'Ridge', 'RMSE')
    """
    token = _followers.set((*_followers.get(), _Follower(show, {})))
    try:
        yield
    finally:
        _followers.reset(token)


def tell_followers(store: Store) -> None:
    """Show the ranking to whoever follows the study."""
    for follower in _followers.get():
        follower.show(_ranking(store, follower.parts))


def ranking_so_far(folder: str | Path) -> RankingSoFar:
    """The ranking of the finished folds of a study that is not running.

    Parameters
    ----------
    folder : path
        The folder of the study, finished or not.

    Returns
    -------
    RankingSoFar

    See Also
    --------
    lyceum.studies.Study.open : A study that has come to its conclusions.

    Examples
    --------
    >>> ranking_so_far("no_such_study")
    Traceback (most recent call last):
        ...
    lyceum.errors.StudyError: there is no study in no_such_study: run one first, lyceum study ... \
--out no_such_study
    """
    with Store.read(Path(folder)) as store:
        return _ranking(store, {})


def add_learners(folder: str | Path, learners: Sequence[Any]) -> Recipe:
    """Add learners to a study: the next run goes on with them, on the same folds.

    What is finished stays; the committees and the conclusions are made again.

    Parameters
    ----------
    folder : path
        The folder of a study.
    learners : sequence
        Names of the catalog, or learners with settings, as for `lyceum.study`.

    Returns
    -------
    Recipe
        That of the study with them, which is in its folder too.

    See Also
    --------
    lyceum.study : Goes on with the recipe in the folder.

    Examples
    --------
    >>> import tempfile, lyceum
    >>> geyser = lyceum.datasets.path("old_faithful")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     out = f"{folder}/study"
    ...     first = lyceum.study(geyser, "waiting", learners=["Ridge"], folds=3, out=out)
    ...     recipe = add_learners(out, ["LinearRegression"])
    ...     second = lyceum.study(recipe=recipe, out=out)
    >>> sorted(learner.name for learner in second.comparison.learners)
    ['LinearRegression', 'MeanRegressor', 'Ridge']
    """
    folder = Path(folder)
    with Store.read(folder) as store:
        record = _record(store)
        key = store.get(StudyKey)
        assert key is not None
        recipe = Recipe.read(folder / "recipe.toml")
        before = recipe.learners
        if not before:  # they were chosen for the table
            own = (c for c in record.candidates if not (c.is_baseline or c.members))
            before = tuple(LearnerChoice(candidate.name) for candidate in own)
        names = {choice.name for choice in before}
        added = [LearnerChoice.of(learner) for learner in learners]
        for choice in added:
            if choice.name in names:
                raise StudyError(f"{choice.name} is in the study in {folder} already")
        recipe = replace(recipe, learners=(*before, *added))
        store.put(replace(key, recipe=recipe.digest))
    recipe.relative_to(folder).write(folder / "recipe.toml")
    return recipe


# -- the ranking -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Follower:
    show: Callable[[RankingSoFar], None]
    parts: dict[Task, tuple[TaskResult, OutOfSample]]  # read once


def _record(store: Store) -> StudyPlanRecord:
    record = store.get(StudyPlanRecord)
    if record is None:
        raise StudyError(
            f"the study in {store.folder} was ended before it began: run it again"
        )
    return record


def _ranking(
    store: Store, parts: dict[Task, tuple[TaskResult, OutOfSample]]
) -> RankingSoFar:
    record = _record(store)
    done = store.finished_tasks()
    for task, result in done.items():
        # a searched fold takes the place of one with the defaults
        if not result.failed and parts.get(task, (None,))[0] != result:
            parts[task] = (result, store.predictions(task))
    own = [c for c in record.candidates if not c.members]
    learners = [_learner(c, record, done, parts) for c in own]
    is_better_large = metric_value(record.rule.criterion, 0.0) == 1.0

    def order(learner: LearnerSoFar) -> float:
        if learner.value is None or learner.reason is not None:
            return math.inf
        return -learner.value if is_better_large else learner.value

    names = {candidate.name for candidate in own}
    return RankingSoFar(
        question=record.question,
        metric=metric_name(record.rule.criterion),
        n_folds=record.folds * record.repeats,
        n_done=sum(task.name in names for task in done),
        n_tasks=len(own) * record.folds * record.repeats,
        learners=tuple(sorted(learners, key=order)),
    )


def _learner(
    candidate: Candidate,
    record: StudyPlanRecord,
    done: dict[Task, TaskResult],
    parts: dict[Task, tuple[TaskResult, OutOfSample]],
) -> LearnerSoFar:
    results = [result for task, result in done.items() if task.name == candidate.name]
    folds = [parts[r.task][1] for r in results if not r.failed]
    reasons = [result.reason for result in results if result.failed]
    value = None
    interval = None
    fold_values: tuple[float, ...] = ()
    if folds:
        rule = record.rule
        trial = Trial.from_parts(candidate, folds, rule, results)
        loss, span, _ = loss_and_interval(rule, trial.sample, trial.losses)
        value = float(metric_value(rule.criterion, loss))
        interval = metric_interval(rule.criterion, span)
        losses = trial.fold_losses.tolist()
        if rule.is_root:
            losses = [math.sqrt(loss) for loss in losses]
        fold_values = tuple(metric_value(rule.criterion, loss) for loss in losses)
    return LearnerSoFar(
        candidate.name,
        candidate.label,
        value,
        interval,
        fold_values,
        len(folds),
        sum(result.seconds for result in results),
        candidate.is_baseline,
        reasons[0] if reasons else None,
    )

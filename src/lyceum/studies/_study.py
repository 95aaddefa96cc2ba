"""`study`: from a table and a question to a comparison, a report and a model file."""

from __future__ import annotations

import io
import json
import os
import platform
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

import lyceum
from lyceum.data import Rows, is_frame, to_arrow
from lyceum.errors import DataError, StudyError
from lyceum.studies import _finish
from lyceum.studies._compare import Board, compare, pooled
from lyceum.studies._files import explain_full_disk, write_whole
from lyceum.studies._json import Facts, as_example, as_results, candidate_as_dict, schema_as_dict
from lyceum.studies._material import Material, fingerprint
from lyceum.studies._plan import Plan
from lyceum.studies._problems import Problems
from lyceum.studies._recipe import Recipe
from lyceum.studies._results import Comparison, Failure, Study
from lyceum.studies._run import Budget, Progress, run
from lyceum.studies._store import Store
from lyceum.studies._words import statements

__all__ = ["reopened", "study"]

_DATA = "data.parquet"
_LATER = ("learning curve", "final model", "report")


def study(
    data: Any = None,
    target: str | None = None,
    *,
    recipe: Recipe | str | os.PathLike[str] | None = None,
    learners: Sequence[Any] | None = None,
    loss: Any = None,
    doubt: float | None = None,
    kinds: Mapping[str, str] | None = None,
    ignore: Sequence[str] | None = None,
    keep: Sequence[str] | None = None,
    weight: str | None = None,
    folds: int | None = None,
    repeats: int | None = None,
    inner_folds: int | None = None,
    holdout: float | None = None,
    bootstrap_632: bool | None = None,
    choose: str | None = None,
    seed: int | None = None,
    budget: float | None = None,
    memory_mb: int | None = None,
    out: str | os.PathLike[str] = "study",
    force: bool = False,
    progress: Progress | None = None,
) -> Study:
    """Compare learners on a table honestly, and fit the one to use.

    Every learner is built with only the preparation that it needs, its settings are chosen by inner folds,
    and all are judged on the same outer folds. Each finished fold is stored: the same call goes on where a
    killed one was. The simplest learner within one standard error of the best is fitted on all rows and
    saved; a report and results.json say what was found.

    Parameters
    ----------
    data : path, glob, list of paths, or frame
        A frame is written into the study's folder.
    target : str
        The column to predict: classes or numbers.
    recipe : Recipe or path of a TOML file, optional
        Whatever else is given here takes the place of what the recipe says.
    learners : sequence, optional
        Names of the catalog, learners with settings (`Ridge(alpha=3.0)`), or `Choice`s; by default those
        that suit the task and the number of rows.
    loss : LossMatrix, array, dict of (true class, action) to cost, or path, optional
        Rows = true class, columns = action; 0/1 by default.
    doubt : float, optional
        The cost of rejecting a row.
    kinds, ignore, keep, weight
        Declared kinds, columns to leave out, suspicious columns to keep, the column of row weights.
    folds, repeats, inner_folds : int, optional
        Outer folds (10 below 2,000 rows, else 5), how often they are drawn (1), inner folds (3).
    holdout : float, optional
        Share of rows that nothing is chosen by.
    bootstrap_632 : bool, optional
        Whether the .632 estimate is computed too.
    choose : {"simplest", "best"}, optional
    seed : int, optional
    budget : float, optional
        Minutes after which no fold is started; what is finished is compared.
    memory_mb : int, optional
        Larger files are compared on a sample of their rows.
    out : path, default="study"
        The folder of the study.
    force : bool, default=False
        Whether another study in that folder is replaced.
    progress : callable, optional
        Called as `progress(steps_done, steps_in_all, what)`.

    Returns
    -------
    Study

    Examples
    --------
    >>> import tempfile, lyceum
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     penguins, out = lyceum.datasets.path("penguins"), f"{folder}/study"
    ...     found = lyceum.study(penguins, "species", learners=["NaiveBayes"], folds=3, out=out)
    ...     found.best.name, found.best.error < 0.1
    ...     found.model.predict_proba(found.examples[0].frame()).shape
    ('NaiveBayes', True)
    (1, 3)
    """
    given = {
        "target": target, "learners": learners, "loss": loss, "doubt": doubt, "kinds": kinds,
        "ignore": ignore, "keep": keep, "weight": weight, "folds": folds, "repeats": repeats,
        "inner_folds": inner_folds, "holdout": holdout, "bootstrap_632": bootstrap_632, "choose": choose,
        "seed": seed, "budget_minutes": budget, "memory_mb": memory_mb,
    }  # fmt: skip
    with ExitStack() as stack:
        asked = _asked(
            data, recipe, {name: value for name, value in given.items() if value is not None}, stack
        )
        return _run(asked, Path(out), force, progress)


# -- what is asked -------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Asked:
    """A recipe whose data can be read, and the bytes of the data if they came as a frame."""

    recipe: Recipe
    frame: bytes | None


def _asked(data: Any, recipe: Any, given: dict[str, Any], stack: ExitStack) -> _Asked:
    base = Recipe.read(recipe) if isinstance(recipe, str | os.PathLike) else recipe
    if base is not None and not isinstance(base, Recipe):
        raise StudyError(f"recipe: cannot take a {type(recipe).__name__}: give a Recipe, or the path of one")
    if data is None and base is None:
        raise StudyError("there are no data: give a path or a frame, or a recipe")
    if isinstance(data, Rows):
        raise StudyError("these are rows already: give study the file or the frame itself")
    frame = None
    if data is not None and (is_frame(data) or isinstance(data, np.ndarray)):
        frame, data = _as_bytes(data), _draft(stack)
        write_whole(Path(data), frame)
    if "target" not in given and base is None:
        raise StudyError(f"say which column to predict, target=...{_columns(data)}")
    if base is None:
        return _Asked(Recipe(data=data, **given), frame)
    kept = {each.name: getattr(base, each.name) for each in fields(base)}
    return _Asked(Recipe(**{**kept, **({} if data is None else {"data": data}), **given}), frame)


def _columns(data: Any) -> str:
    """The columns there are to choose from, if the data can be read."""
    from lyceum.data import scan

    try:
        names = scan(data).schema.names
    except DataError:
        return ""
    return f": the columns are {', '.join(map(repr, names[:20]))}{', ...' * (len(names) > 20)}"


def _as_bytes(frame: Any) -> bytes:
    import pyarrow.parquet as pq

    if isinstance(frame, np.ndarray):
        raise StudyError("an array has no names for its columns: give a frame, e.g. pandas.DataFrame(X)")
    buffer = io.BytesIO()
    pq.write_table(to_arrow(frame), buffer)
    return buffer.getvalue()


def _draft(stack: ExitStack) -> str:
    """A path for the data until the folder of the study is known to be good."""
    import tempfile

    return os.path.join(stack.enter_context(tempfile.TemporaryDirectory(prefix="lyceum-")), _DATA)


# -- run -----------------------------------------------------------------------------------------------------


def _run(asked: _Asked, folder: Path, force: bool, progress: Progress | None) -> Study:
    recipe = asked.recipe
    budget = Budget.of(recipe.budget_minutes)
    # nothing is written before all of this is known to be good
    material = Material.of(recipe).checked()
    plan = Plan.of(recipe, material)
    key = {"recipe": recipe.digest, "data": fingerprint(recipe.data), "lyceum": lyceum.__version__}
    steps = _Steps(progress, plan)
    try:
        with Store.create(folder, key, force=force) as store:
            _begin(asked, folder, store, plan, material)
            steps.skip(len(store.done()))
            run(plan, material, store, budget, steps.next)
            _conclude(plan, material, store, recipe, budget, steps)
            store.forget("report_problems")
        steps.next(_LATER[2])
        found = reopened(folder)
        with explain_full_disk(folder):
            found = _write_results(found)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"stopped; what is finished is kept in {folder}: run the same study again and it goes on from "
            "there"
        ) from None
    steps.end()
    return found


class _Steps:
    """Steps done out of all, told to whoever listens."""

    def __init__(self, progress: Progress | None, plan: Plan):
        self._tell: Callable[..., Any] = progress or (lambda *step: None)
        self._done = -1
        self._total = sum(1 for _ in plan.turns()) + len(_LATER)

    def skip(self, n: int) -> None:
        self._done += n

    def next(self, what: str) -> None:
        """A step begins, so that the one before is done."""
        self._done = min(self._done + 1, self._total - 1)
        self._tell(self._done, self._total, what)

    def end(self) -> None:
        self._tell(self._total, self._total, "done")


def _begin(asked: _Asked, folder: Path, store: Store, plan: Plan, material: Material) -> None:
    recipe = asked.recipe
    if asked.frame is not None:
        write_whole(folder / _DATA, asked.frame)
        recipe = replace(recipe, data=(_DATA,))
    else:
        recipe = recipe.relative_to(folder)
    recipe.write(folder / "recipe.toml")
    if plan.judge.loss is not None:
        plan.judge.loss.write(folder / "loss.csv", force=True)
    store.put("facts", _facts(plan, material).as_dict())


def _facts(plan: Plan, material: Material) -> Facts:
    judge = plan.judge
    return Facts(
        task=material.task,
        schema=schema_as_dict(material.schema),
        classes=None if plan.classes is None else list(plan.classes),
        loss=None if judge.loss is None else judge.loss.to_dict(),
        doubt=judge.doubt,
        n_rows=material.n_rows,
        n_studied=len(plan.compared),
        n_without_target=material.n_without_target,
        n_missing=material.n_missing,
        folds=plan.folds,
        repeats=plan.repeats,
        candidates=[candidate_as_dict(candidate) for candidate in plan.candidates],
        suspects=[asdict(suspect) for suspect in material.suspects],
        notes=[*material.notes, *plan.notes],
        versions=_versions(),
    )


def _versions() -> dict[str, str]:
    packages = ("numpy", "scipy", "scikit-learn", "pyarrow", "skops")
    return {
        "lyceum": lyceum.__version__,
        "python": platform.python_version(),
        **{name: metadata.version(name) for name in packages},
    }


def _conclude(
    plan: Plan, material: Material, store: Store, recipe: Recipe, budget: Budget, steps: _Steps
) -> None:
    """What follows the folds; each part is kept by the choice and the folds that it rests on."""
    facts = Facts.read(store.get("facts"))
    board = Board.of(plan.candidates, store, plan.folds, plan.repeats)
    extra = _bootstrapped(plan, material, store, recipe, board, budget, steps)
    comparison = compare(store, board, facts.judge, recipe.choose, extra)
    choice, at = comparison[comparison.choice], f"{comparison.choice}/{comparison.n_folds}"
    store.put("choice", {"choose": recipe.choose, "at": at, "error_632": extra})
    steps.next(_LATER[0])
    if not choice.is_baseline and not budget.spent:
        baseline = comparison.baseline.loss if comparison.baseline else choice.loss
        squared = baseline**2 if plan.classes is None else baseline
        _finish.kept(store, f"curve/{at}", lambda: _finish.curve_of(plan, material, choice, squared))
    if len(plan.held_out):
        _finish.kept(store, f"holdout/{choice.name}", lambda: _finish.held_out(plan, material, choice.name))
    steps.next(_LATER[1])
    if not (store.folder / "model.lyceum").is_file() or store.get("model") != at:
        store.forget(f"final/{at}")
    sample = pooled(store, choice.name, comparison.n_folds)
    _finish.kept(store, f"final/{at}", lambda: _finish.fit_choice(plan, material, comparison, sample, store))
    store.put("model", at)


def _bootstrapped(
    plan: Plan, material: Material, store: Store, recipe: Recipe, board: Board, budget: Budget, steps: _Steps
) -> dict[str, float]:
    """The .632 estimates that were asked for, as far as the budget goes."""
    found: dict[str, float] = {}
    for candidate in board.compared if recipe.bootstrap_632 and board.folds else ():
        if budget.spent:
            break
        chosen = {k: v for k, v in board.params(candidate).items() if k not in candidate.settings}
        steps.next(f"{candidate.label}, .632 bootstrap")
        work = partial(_finish.bootstrap_errors, plan, material, chosen, candidate.name)
        error = _finish.kept(store, f"632/{candidate.name}/{len(board.folds)}", work)
        if _finish.failure_of(error) is None:
            found[candidate.name] = error
    return found


# -- what came out -------------------------------------------------------------------------------------------


def reopened(folder: str | os.PathLike[str]) -> Study:
    """The study in a folder."""
    folder = Path(folder)
    with Store.read(folder) as store:
        if store.get("model") is None:
            raise StudyError(f"the study in {folder} is not finished: run it again and it goes on from there")
        return _gathered(store, folder)


def _gathered(store: Store, folder: Path) -> Study:
    """The study as the store has it."""
    facts, chosen = Facts.read(store.get("facts")), store.get("choice")
    recipe = Recipe.read(folder / "recipe.toml")
    board = Board.of(facts.all_candidates, store, facts.folds, facts.repeats)
    problems = Problems()
    comparison = compare(store, board, facts.judge, chosen["choose"], chosen["error_632"], problems)
    labels = {candidate.name: candidate.label for candidate in facts.all_candidates}
    failures = tuple(
        Failure(task.turn.name, labels[task.turn.name], task.turn.repeat, task.turn.fold, task.reason or "")
        for task in board.failures
    )
    comparison = _told(comparison, store, facts, board, failures, problems)
    final = store.get(f"final/{chosen['at']}") or {}
    _name_failures(store, facts, comparison, final, problems)
    return Study(
        folder=folder,
        recipe=recipe,
        task=facts.task,
        schema=facts.whole_schema,
        classes=None if facts.classes is None else tuple(facts.classes),
        loss=facts.loss_matrix,
        doubt=facts.doubt,
        n_rows=facts.n_rows,
        n_studied=facts.n_studied,
        n_without_target=facts.n_without_target,
        n_missing=facts.n_missing,
        candidates=facts.all_candidates,
        suspects=facts.all_suspects,
        failures=failures,
        skipped=board.skipped,
        comparison=comparison,
        problems=(*problems, *store.get("report_problems", ())),
        examples=tuple(map(as_example, final.get("examples", ()))),
        versions=facts.versions,
        seconds=sum(task.seconds for task in board.done.values()) + store.extra_seconds(),
        finished=board.finished,
    )


def _told(
    comparison: Comparison,
    store: Store,
    facts: Facts,
    board: Board,
    failures: tuple[Failure, ...],
    problems: Problems,
) -> Comparison:
    """The comparison with the learning curve, the holdout and its statements."""
    choice = comparison.choice
    curve = store.get(f"curve/{choice}/{comparison.n_folds}")
    comparison = replace(
        comparison,
        learning_curve=_finish.as_curve(curve, comparison.criterion),
        holdout=_finish.as_holdout(store.get(f"holdout/{choice}")),
    )
    said = statements(
        comparison,
        pooled(store, choice, comparison.n_folds),
        facts.judge,
        suspects=facts.all_suspects,
        failures=failures,
        skipped=board.skipped,
        notes=facts.notes,
        finished=board.finished,
        folds_planned=len(board.order),
        problems=problems,
    )
    return replace(comparison, statements=said)


def _name_failures(
    store: Store, facts: Facts, comparison: Comparison, final: Mapping[str, Any], problems: Problems
) -> None:
    """What followed the folds and failed."""
    label, at = comparison[comparison.choice].label, f"{comparison.choice}/{comparison.n_folds}"
    parts = {
        f"final model ({label})": final,
        f"learning curve of {label}": store.get(f"curve/{at}"),
        f"test of {label} on the rows held out": store.get(f"holdout/{comparison.choice}"),
    }
    for candidate in facts.all_candidates:
        kept = store.get(f"632/{candidate.name}/{comparison.n_folds}")
        parts[f".632 estimate of {candidate.label}"] = kept
    for part, kept in parts.items():
        reason = _finish.failure_of(kept)
        if reason is not None:
            problems.add(part, reason)
    problems.extend(final.get("problems", ()))


def _write_results(found: Study) -> Study:
    """Write the report and results.json; the study with the problems met on the way."""
    from lyceum.studies import _report  # Matplotlib is not needed before

    problems = Problems()
    page = _report.render(found, problems)
    write_whole(found.report_path, page.encode())
    with Store.read(found.folder) as store:
        store.put("report_problems", list(problems))
    found = replace(found, problems=tuple(dict.fromkeys((*found.problems, *problems))))
    text = json.dumps(as_results(found), indent=1, ensure_ascii=False, allow_nan=False, default=str)
    write_whole(found.results_path, text.encode())
    return found

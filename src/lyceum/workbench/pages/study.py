"""Study: a ranking that grows as folds finish; stop, continue, add a learner, look at one."""

from __future__ import annotations

from typing import Any

from lyceum import catalog
from lyceum.errors import StudyError
from lyceum.studies import (
    Recipe,
    Study,
    add_learners,
    ranking_so_far,
)
from lyceum.web import Refused
from lyceum.workbench.action import Action
from lyceum.workbench.address import Address
from lyceum.workbench.desk import Desk, stamp
from lyceum.workbench.page_parts import Page, answers
from lyceum.workbench.pages.data import save
from lyceum.workbench.question import StudyQuestion
from lyceum.workbench.study_jobs import StudyJob, job_of, start_job


def folder_of(address: Address) -> str:
    """The folder of the study that an address names."""
    out = address.text("out")
    if out is None:
        raise Refused(422, "the address names no study: ask a question first")
    return out


def study_of(desk: Desk, address: Address) -> Study:
    """The finished study of an address, opened once."""
    folder = desk.file(folder_of(address))
    results = folder / "results.json"
    if not results.is_file():
        raise Refused(409, f"the study in {address.text('out')} has no results yet")
    return desk.once(("study", stamp(results)), lambda: Study.open(folder))


def show(desk: Desk, address: Address) -> dict[str, Any]:
    """What is known of a study: the job that runs it, its ranking so far, its results."""
    out = folder_of(address)
    folder = desk.path(out)
    job = job_of(desk, out)
    if job is not None and job.is_running:
        return {**job.as_dict(), "results": None, "action": _action(folder, out)}
    if not (folder / "study.sqlite").is_file():
        message = job.message if job is not None else ""
        return {"out": out, "status": "none", "message": message, "ranking": None}
    key = ("ranking", stamp(folder / "study.sqlite"))
    ranking = desk.once(key, lambda: ranking_so_far(folder).as_dict())
    recipe = Recipe.read(folder / "recipe.toml")
    names = {learner["name"] for learner in ranking["learners"]}
    task = next(e.task for e in catalog.learners() if e.name in names)
    status = "ended"
    results = None
    if (folder / "results.json").is_file():
        study = study_of(desk, address)
        results = _results(study)
        is_whole = study.finished and ranking["n_done"] >= ranking["n_tasks"]
        status = "finished" if is_whole else "ended"
    message = job.message if job is not None else ""
    if message:
        status = "failed"
    return {
        "out": out,
        "status": status,
        "message": message,
        "ranking": ranking,
        "seconds_left": None,
        "results": results,
        "addable": [e.name for e in catalog.learners() if e.task == task],
        "target": recipe.target,
        "action": _action(folder, out),
    }


def _results(study: Study) -> dict[str, Any]:
    """What the page shows of a study, out of what its report has."""
    comparison = study.comparison
    rows = [
        {
            "name": learner.name,
            "label": learner.label,
            "value": comparison.loss_text(learner),
            "interval": comparison.interval_text(learner),
            "gap": comparison.gap_cell(learner),
            "seconds": learner.seconds,
            "verdict": learner.verdict,
            "is_choice": learner.name == comparison.choice,
            "is_baseline": learner.is_baseline,
        }
        for learner in comparison.learners
    ]
    return {
        "question": study.question,
        "answer": study.answer,
        "choice": study.choice_sentence,
        "metric": comparison.metric,
        "learners": rows,
        "statements": list(comparison.statements),
        "problems": list(study.problems),
        "finished": study.finished,
        "classes": None if study.classes is None else [str(c) for c in study.classes],
        "model": "model.lyceum" if study.model_path.is_file() else None,
        "report": study.report_path.is_file(),
    }


def _action(folder: Any, out: str) -> dict[str, str] | None:
    """The call that makes, or continues, the study in a folder."""
    if not (folder / "recipe.toml").is_file():
        return None
    recipe = Recipe.read(folder / "recipe.toml", relative=False)
    table = {name: value for name, value in recipe.as_dict().items() if name != "data"}
    action = Action(
        "study",
        "lyceum.study",
        (),
        {"recipe": f"{out}/recipe.toml", "out": out},
        result="study",
    )
    texts = action.as_dict()
    return {**texts, "recipe": Action("", "", recipe.data, table).as_recipe()}


# -- what can be done ------------------------------------------------------------------


def start(desk: Desk, address: Address) -> dict[str, Any]:
    """Run the study of a question; the same question again continues it."""
    return begin_study(desk, address).as_dict()


def begin_study(desk: Desk, address: Address) -> StudyJob:
    """The running study of a question."""
    question = StudyQuestion.of(desk, address)
    out = question.out
    folder = desk.path(out)
    if address.texts("repair"):
        save(desk, address)
    recipe = question.recipe(str(desk.file(question.data)))
    if (folder / "study.sqlite").is_file():
        before = Recipe.read(folder / "recipe.toml")
        if before.digest != recipe.digest:
            raise Refused(
                409, f"{out} holds another study: choose another name for its folder"
            )
    else:
        folder.mkdir(parents=True, exist_ok=True)
        recipe.relative_to(folder).write(folder / "recipe.toml")
    return start_job(desk, out, folder / "recipe.toml")


def go_on(desk: Desk, address: Address) -> dict[str, Any]:
    """Continue a study that was stopped or killed."""
    out = folder_of(address)
    return start_job(desk, out, desk.file(f"{out}/recipe.toml")).as_dict()


def stop(desk: Desk, address: Address) -> dict[str, Any]:
    """Run no more folds, and answer from those that are finished."""
    out = folder_of(address)
    job = job_of(desk, out)
    if job is None or not job.is_running:
        raise Refused(409, f"the study in {out} is not running")
    job.stop()
    return job.as_dict()


def add(desk: Desk, address: Address) -> dict[str, Any]:
    """Add a learner, and go on."""
    out = folder_of(address)
    name = address.text("learner")
    if name is None:
        raise Refused(422, "choose a learner to add")
    job = job_of(desk, out)
    if job is not None and job.is_running:
        raise Refused(409, "stop the study first, or wait for its end")
    add_learners(desk.file(out), [name])
    return go_on(desk, address)


# -- one learner -----------------------------------------------------------------------


def learner(desk: Desk, address: Address) -> dict[str, Any]:
    """One learner of a study: its numbers and, of the choice, its model and what moves it."""
    study = study_of(desk, address)
    name = address.text("learner") or study.choice.name
    try:
        ranked = study.comparison[name]
    except KeyError as error:
        raise Refused(404, str(error.args[0])) from None
    entry = next((e for e in catalog.learners() if e.name == name), None)
    details: dict[str, Any] = {
        "learner": ranked.as_dict(),
        "about": "" if entry is None else entry.about,
        "actions": [str(action) for action in study.actions],
        "classes": None if study.classes is None else [str(c) for c in study.classes],
        "summary": None,
        "effects": None,
        "examples": [],
        "action": _fit_action(study, desk, name).as_dict(),
    }
    if name == study.comparison.choice:
        results = study.as_dict()
        details["effects"] = results["effects"]
        details["examples"] = results["examples"]
        try:
            details["summary"] = str(study.model_summary())
        except (OSError, StudyError):
            details["summary"] = None
    return details


def _fit_action(study: Study, desk: Desk, name: str) -> Action:
    """The call that fits the learner on all rows by itself."""
    ranked = study.comparison[name]
    data = desk.name_of(desk.folder / study.recipe.data[0])
    settings = {key: value for key, value in ranked.params.items() if value is not None}
    return Action(
        "fit",
        "lyceum.workflows.fit_file",
        (data,),
        {
            "target": study.recipe.target,
            "learner": name,
            "settings": settings,
        },
        {"settings": "--set"},
        result="model",
    )


PAGE = Page(
    "study",
    "Study",
    [
        answers("/api/study", show),
        answers("/api/study/learner", learner),
        answers("/api/study/start", start, methods=["POST"]),
        answers("/api/study/continue", go_on, methods=["POST"]),
        answers("/api/study/stop", stop, methods=["POST"]),
        answers("/api/study/add", add, methods=["POST"]),
    ],
)

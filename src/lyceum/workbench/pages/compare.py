"""Compare: studies of several tables with the same learners, their ranks, and what is level."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import Any, Literal

from lyceum import catalog
from lyceum.studies import compare_studies
from lyceum.web import Refused
from lyceum.workbench.action import Action
from lyceum.workbench.address import Address
from lyceum.workbench.desk import Desk
from lyceum.workbench.page_parts import Page, answers
from lyceum.workbench.pages.data import repaired_table
from lyceum.workbench.pages.study import begin_study, study_of
from lyceum.workbench.question import StudyQuestion
from lyceum.workbench.study_jobs import job_of
from lyceum.workbench.study_queue import StudyQueue

_NOT_IN_A_NAME = re.compile(r"[^\w.-]+")


def show(desk: Desk, address: Address) -> dict[str, Any]:
    """The ranks of the learners over the studies, and the call that says so."""
    names = address.texts("study")
    if len(names) < 2:
        raise Refused(422, "choose two studies at least")
    studies = [study_of(desk, Address({"out": (name,)})) for name in names]
    learners = _learners(address)
    comparison = compare_studies(studies, learners=learners)
    return {
        **comparison.as_dict(),
        "cells": [
            {
                "study": name,
                "target": study.recipe.target,
                "metric": study.comparison.metric,
                "learners": {
                    learner.name: {
                        "label": learner.label,
                        "value": study.comparison.loss_text(learner),
                        "gap": study.comparison.gap_cell(learner),
                    }
                    for learner in study.comparison.learners
                },
            }
            for name, study in zip(names, studies)
        ],
        "action": _ranks_action(names, learners).as_dict(),
    }


def _learners(address: Address) -> list[str] | None:
    text = address.text("learners")
    return None if text is None else text.split(",")


def _ranks_action(names: tuple[str, ...], learners: list[str] | None) -> Action:
    return Action(
        "ranks",
        "lyceum.studies.compare_studies",
        names,
        {"learners": learners},
        result="comparison",
        takes_list=True,
    )


# -- studies of several tables ---------------------------------------------------------


def plan(desk: Desk, address: Address) -> dict[str, Any]:
    """The tables that were chosen, how far their studies are, and the learners to choose from."""
    tables = [_table(desk, address, *pair) for pair in _pairs(address)]
    tasks = {table["task"] for table in tables if table["task"]}
    learners = []
    if len(tasks) == 1:
        (task,) = tasks
        learners = [
            {"name": entry.name, "about": entry.about}
            for entry in catalog.learners(task)
        ]
    queue = desk.queues.get(_folder(address))
    is_ready = len(tables) > 1 and all(table["target"] for table in tables)
    return {
        "tables": tables,
        "folder": _folder(address),
        "learners": learners,
        "problem": _problem(tables, tasks, _learners(address)),
        "queue": None if queue is None else queue.as_dict(),
        "action": _action(desk, address).as_dict() if is_ready else None,
    }


def start(desk: Desk, address: Address) -> dict[str, Any]:
    """Run the studies that are not finished, one after the other."""
    planned = plan(desk, address)
    if planned["problem"]:
        raise Refused(422, planned["problem"])
    name = planned["folder"]
    before = desk.queues.get(name)
    if before is not None and before.is_running:
        raise Refused(409, f"the studies in {name} are running")
    begins = {
        table["out"]: partial(begin_study, desk, _study_address(address, *pair))
        for pair, table in zip(_pairs(address), planned["tables"])
        if not table["is_finished"]
    }
    outs = [table["out"] for table in planned["tables"]]
    queue = StudyQueue(desk, name, begins, outs)
    desk.queues[name] = queue
    return queue.as_dict()


def stop(desk: Desk, address: Address) -> dict[str, Any]:
    """Begin no more studies; the one that runs answers from what is finished."""
    queue = desk.queues.get(_folder(address))
    if queue is None or not queue.is_running:
        raise Refused(409, f"no study in {_folder(address)} is running")
    queue.stop()
    answer: dict[str, Any] = queue.as_dict()
    return answer


def _pairs(address: Address) -> list[tuple[str, str]]:
    """The tables and their targets, `on=loans.csv=class`; a target may be open yet."""
    pairs = []
    for text in address.texts("on"):
        file, between, target = text.rpartition("=")
        if not between:
            raise Refused(422, f"cannot read on={text}: write FILE=TARGET")
        pairs.append((file, target))
    return pairs


def _folder(address: Address) -> str:
    return address.text("into") or "compare"


def _study_address(address: Address, file: str, target: str) -> Address:
    """The question that is asked of one of the tables."""
    name = _NOT_IN_A_NAME.sub("_", f"{file}-{target}")
    asked: dict[str, tuple[str, ...]] = {
        "file": (file,),
        "target": (target,),
        "out": (f"{_folder(address)}/{name}",),
    }
    for option in ("learners", "budget", "folds"):
        asked[option] = address.texts(option)
    return Address({key: texts for key, texts in asked.items() if any(texts)})


def _table(desk: Desk, address: Address, file: str, target: str) -> dict[str, Any]:
    """A table, what is asked of it, and how far its study is."""
    asked = _study_address(address, file, target)
    told: dict[str, Any] = {
        "file": file,
        "target": target,
        "columns": repaired_table(desk, asked).data.table.column_names,
        "task": None,
        "out": asked.text("out"),
        "is_finished": False,
        "status": "none",
    }
    if not target:
        return told
    task: Literal["regression", "classification"] = "regression"
    if StudyQuestion.of(desk, asked).classes is not None:
        task = "classification"
    out = told["out"]
    folder = desk.path(out)
    job = job_of(desk, out)
    status = "ended" if (folder / "study.sqlite").is_file() else "none"
    is_finished = False
    if (folder / "results.json").is_file():
        is_finished = study_of(desk, asked).finished
        status = "finished" if is_finished else "partly"
    if job is not None and (job.is_running or job.status == "failed"):
        told |= job.as_dict()
        status = job.status
    return {**told, "task": task, "is_finished": is_finished, "status": status}


def _problem(
    tables: list[dict[str, Any]], tasks: set[str], learners: list[str] | None
) -> str:
    """Why the studies cannot be run yet, "" if they can."""
    if len(tables) < 2:
        return "choose two tables at least"
    if not all(table["target"] for table in tables):
        return "choose the column to predict in every table"
    if len(tasks) > 1:
        return (
            "choose columns of one kind: some of these are classes and some are numbers"
        )
    if learners is None or len(learners) < 2:
        return "choose two learners at least"
    return ""


def _action(desk: Desk, address: Address) -> Action:
    """One study after the other, and then the ranks."""
    before = None
    names = []
    recipes = []
    for pair in _pairs(address):
        question = StudyQuestion.of(desk, _study_address(address, *pair))
        before = replace(question.action(), before=before)
        names.append(question.out)
        recipes.append({**(before.table or {}), "out": question.out})
    ranks = _ranks_action(tuple(names), _learners(address))
    return replace(ranks, before=before, table={"study": recipes})


PAGE = Page(
    "compare",
    "Compare",
    [
        answers("/api/compare", show),
        answers("/api/compare/plan", plan),
        answers("/api/compare/start", start, methods=["POST"]),
        answers("/api/compare/stop", stop, methods=["POST"]),
    ],
)

"""Compare: several studies side by side, the ranks of their learners, and what is level."""

from __future__ import annotations

from typing import Any

from lyceum.studies import compare_studies
from lyceum.web import Refused
from lyceum.workbench.action import Action
from lyceum.workbench.address import Address
from lyceum.workbench.desk import Desk
from lyceum.workbench.page_parts import Page, answers
from lyceum.workbench.pages.study import study_of


def show(desk: Desk, address: Address) -> dict[str, Any]:
    """The ranks of the learners over the studies, and the call that says so."""
    names = address.texts("study")
    if len(names) < 2:
        raise Refused(422, "choose two studies at least")
    studies = [study_of(desk, Address({"out": (name,)})) for name in names]
    learners = address.text("learners")
    chosen = None if learners is None else learners.split(",")
    comparison = compare_studies(studies, learners=chosen)
    action = Action(
        "ranks",
        "lyceum.studies.compare_studies",
        names,
        {"learners": chosen},
        result="comparison",
        takes_list=True,
    )
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
        "action": action.as_dict(),
    }


PAGE = Page("compare", "Compare", [answers("/api/compare", show)])

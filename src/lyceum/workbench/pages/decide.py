"""Decide: costs, class shares and doubt over the stored out-of-sample posteriors of a study."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from starlette.responses import Response

from lyceum.decision import LossMatrix, complete_loss, read_loss
from lyceum.studies import OutOfSample, Study
from lyceum.web import Refused
from lyceum.workbench.action import Action
from lyceum.workbench.address import Address
from lyceum.workbench.blocks import block_answer
from lyceum.workbench.desk import Desk, stamp
from lyceum.workbench.page_parts import Page, answers
from lyceum.workbench.pages.study import folder_of, study_of
from lyceum.workbench.question import cost_pairs
from lyceum.workflows import set_costs

_OUT = "model-decides.lyceum"


def show(desk: Desk, address: Address) -> dict[str, Any]:
    """The classes, the learners and the operating point to begin with."""
    study = _classifying(desk, address)
    assert study.classes is not None
    loss = _loss(study, address)
    sample = _sample(desk, address, study, study.choice.name)
    doubt = address.number("doubt")
    if doubt is None and "loss" not in address.parameters:
        doubt = study.doubt
    return {
        "classes": [str(label) for label in study.classes],
        "actions": [str(action) for action in loss.actions or study.classes],
        "loss": loss.values.tolist(),
        "is_zero_one": loss.is_zero_one,
        "doubt": doubt,
        "priors": _shares(sample, len(study.classes)).tolist(),
        "choice": study.choice.name,
        "n_rows": len(sample.y),
        "learners": [
            {"name": learner.name, "label": learner.label}
            for learner in study.comparison.learners
        ],
    }


def posteriors(desk: Desk, address: Address) -> Response:
    """The truth, the weight and the posteriors of every out-of-sample row of one learner."""
    study = _classifying(desk, address)
    name = address.text("learner") or study.choice.name
    sample = _sample(desk, address, study, name)
    columns = {"y": sample.y.astype(np.float64)}
    if sample.weight is not None:
        columns["weight"] = sample.weight
    for k in range(sample.predicted.shape[1]):
        columns[f"p{k}"] = sample.predicted[:, k]
    return block_answer(columns, exact=True)


def action(desk: Desk, address: Address) -> dict[str, str]:
    """The call that saves the operating point."""
    study = _classifying(desk, address)
    return _action(desk, address, study).as_dict()


def save(desk: Desk, address: Address) -> dict[str, Any]:
    """Write the model of the study with the operating point of the address."""
    study = _classifying(desk, address)
    options = _action(desk, address, study).given
    out = desk.path(options.pop("out"))
    set_costs(study.model_path, **{**options, "out": out, "force": True})
    desk.events.add("files", {"name": desk.name_of(out)})
    return {"name": desk.name_of(out)}


# -- parts -----------------------------------------------------------------------------


def _classifying(desk: Desk, address: Address) -> Study:
    study = study_of(desk, address)
    if study.classes is None:
        raise Refused(422, "this study predicts numbers: only classes are decided on")
    return study


def _sample(desk: Desk, address: Address, study: Study, name: str) -> OutOfSample:
    key = stamp(Path(study.folder) / "results.json")
    if name not in {learner.name for learner in study.comparison.learners}:
        raise Refused(404, f"{name} was not compared in {folder_of(address)}")
    return desk.once(("posteriors", key, name), lambda: study.out_of_sample(name))


def _shares(sample: OutOfSample, n_classes: int) -> np.ndarray:
    counts = np.bincount(sample.y.astype(np.intp), sample.weight, minlength=n_classes)
    return counts / counts.sum()


def _loss(study: Study, address: Address) -> LossMatrix:
    """The costs of the address, else those of the study, else 0 and 1."""
    classes = list(study.classes or ())
    text = address.text("loss")
    if text is not None:
        return complete_loss(read_loss(text), classes)[0]
    return study.loss or LossMatrix.zero_one(classes)


def _prior_of(address: Address) -> dict[str, float]:
    priors = {}
    for text in address.texts("prior"):
        name, between, share = text.rpartition("=")
        try:
            priors[name] = float(share)
        except ValueError:
            between = ""
        if not between:
            raise Refused(422, f"cannot read prior={text}: write CLASS=0.5")
    return priors


def _action(desk: Desk, address: Address, study: Study) -> Action:
    loss = _loss(study, address)
    classes = [str(label) for label in study.classes or ()]
    priors = _prior_of(address)
    trained: dict[str, float] = {}
    if priors:
        sample = _sample(desk, address, study, study.choice.name)
        shares = _shares(sample, len(classes)).tolist()
        trained = dict(zip(classes, shares))
    return Action(
        "costs",
        "lyceum.workflows.set_costs",
        (desk.name_of(study.model_path),),
        {
            "loss": cost_pairs(loss),
            "doubt": address.number("doubt"),
            "priors": priors,
            "trained": trained,
            "out": f"{folder_of(address)}/{_OUT}",
            "force": True,
        },
        {"priors": "--prior"},
        result="model",
    )


PAGE = Page(
    "decide",
    "Decide",
    [
        answers("/api/decide", show),
        answers("/api/decide/posteriors", posteriors),
        answers("/api/decide/action", action),
        answers("/api/decide/save", save, methods=["POST"]),
    ],
)

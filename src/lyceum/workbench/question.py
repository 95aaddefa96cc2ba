"""The question of an address: everything that a recipe says, parsed, and the call that asks it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

import numpy as np

from lyceum._core.data import scan
from lyceum.decision import LossMatrix, complete_loss, read_loss
from lyceum.errors import SettingError
from lyceum.studies import Recipe
from lyceum.web import Refused
from lyceum.workbench.action import Action
from lyceum.workbench.address import Address
from lyceum.workbench.desk import Desk, stamp
from lyceum.workbench.pages.data import repair_action, repaired_table, save

_TEXTS = ("group", "time", "weight", "metric", "choose", "task")
_COUNTS = ("folds", "repeats", "seed")
_NUMBERS = ("doubt", "budget", "holdout")


@dataclass(frozen=True)
class StudyQuestion:
    """What a study is asked, as the address says it.

    Attributes
    ----------
    address : Address
        The parameters.
    classes : list or None
        The classes of the target, None for numbers.
    counts : dict of str to int
        The rows of every class.
    n_rows : int
        Rows with a target.
    loss : LossMatrix or None
        The costs, completed.
    """

    address: Address
    classes: list[Any] | None
    counts: dict[str, int]
    n_rows: int
    loss: LossMatrix | None

    @classmethod
    def of(cls, desk: Desk, address: Address) -> StudyQuestion:
        target = address.text("target")
        if target is None:
            raise Refused(422, "choose the column to predict")
        file = (stamp(address.path(desk)), address.texts("repair"))
        asked = (target, address.text("task"), tuple(address.kinds.items()))
        classes, counts, n_rows = desk.once(
            ("question", *file, *asked), lambda: _target_counts(desk, address)
        )
        loss = None
        text = address.text("loss")
        if text is not None:
            if classes is None:
                raise Refused(422, f"`{target}` holds numbers: only classes have costs")
            if "=" not in text:
                raise Refused(422, f"cannot read the loss {text!r}: write a:b=5,b:a=1")
            loss, _ = complete_loss(read_loss(text), classes)
        return cls(address, classes, counts, n_rows, loss)

    @property
    def data(self) -> str:
        """The file that is studied: the repaired one where there are repairs."""
        if self.address.texts("repair"):
            return repair_action(self.address).options["out"]
        return self.address.file

    @property
    def out(self) -> str:
        """The folder of the study, below that of the workbench."""
        stem = PurePosixPath(self.address.file).name.partition(".")[0]
        return self.address.text("out") or f"{stem}-study"

    def options(self) -> dict[str, Any]:
        """The keyword arguments of `study`, as far as they are given."""
        address = self.address
        options: dict[str, Any] = {"target": address.text("target")}
        for name in _TEXTS:
            options[name] = address.text(name)
        for name in _NUMBERS:
            options[name] = address.number(name)
        for name in _COUNTS:
            options[name] = address.count(name, 0) or None
        learners = address.text("learners")
        if learners is not None:
            options["learners"] = [name.strip() for name in learners.split(",")]
        options["kinds"] = address.kinds
        options["ignore"] = address.texts("ignore")
        options["keep"] = address.texts("keep")
        return {name: value for name, value in options.items() if value}

    def recipe(self, desk: Desk) -> Recipe:
        """The recipe, with the costs of all pairs; a repaired table is written first."""
        if self.address.texts("repair"):
            save(desk, self.address)
        options = self.options()
        budget = options.pop("budget", None)
        try:
            return Recipe(
                data=(str(desk.file(self.data)),),
                loss=self.loss,
                budget_minutes=budget,
                **options,
            )
        except SettingError as error:
            raise Refused(422, str(error)) from error

    def action(self) -> Action:
        options = self.options()
        if self.loss is not None:
            options["loss"] = cost_pairs(self.loss)
        before = None
        if self.address.texts("repair"):
            before = repair_action(self.address)
        return Action(
            "study",
            "lyceum.study",
            (self.data,),
            {**options, "out": self.out},
            {"kinds": "--kind"},
            result="study",
            before=before,
        )


def _target_counts(
    desk: Desk, address: Address
) -> tuple[list[Any] | None, dict[str, int], int]:
    """The classes, the rows of each, and the rows with a target; of numbers no classes."""
    rows = scan(
        repaired_table(desk, address).data,
        target=address.text("target"),
        kinds=address.kinds or None,
        task=address.text("task"),
    )
    y = rows.coded_y
    column = rows.schema.target
    assert column is not None
    assert y is not None
    if column.categories is None:
        return None, {}, int(np.isfinite(y).sum())
    names = column.categories.tolist()
    codes = y[y >= 0].astype(np.intp)  # -1 is missing
    sizes = np.bincount(codes, minlength=len(names)).tolist()
    return names, dict(zip(map(str, names), sizes)), len(codes)


def cost_pairs(loss: LossMatrix) -> dict[tuple[str, str], float]:
    """Costs by true class and action, without the zeros of what is right."""
    classes = list(loss.classes or ())
    actions = list(loss.actions or classes)
    return {
        (str(true), str(action)): cost
        for true, costs in zip(classes, loss.values.tolist())
        for action, cost in zip(actions, costs)
        if str(true) != str(action)
    }

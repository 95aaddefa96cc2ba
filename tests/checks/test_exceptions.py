"""What is raised: errors of Lyceum's own kinds, and one kind for one fault."""

import ast
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import lyceum
from lyceum.bayes import NaiveBayes
from lyceum.bayesnets import learn_structure
from lyceum.data import scan
from lyceum.errors import (
    DataError,
    LyceumError,
    MissingValuesError,
    SettingError,
    SourceError,
)
from lyceum.evaluate import binary_report, confusion_matrix, joint_log_likelihood
from lyceum.evaluate.resampling.splits import strata
from lyceum.kernels import KernelRidge, RBFKernel
from lyceum.linear import ElasticNet, LogisticRegression
from lyceum.mixtures import GaussianMixture
from lyceum.plot import cost_complexity, em_steps, kmeans_steps
from lyceum.statistics import Histogram, Quantiles
from lyceum.workflows import label_file

ROOT = Path(lyceum.__file__).parent
FILES = {
    path.relative_to(ROOT).as_posix(): path.read_text("utf-8")
    for path in ROOT.rglob("*.py")
}

# plain ValueErrors that are caught where they come from and become errors of Lyceum
CAUGHT = {
    "workflows/loss.py",
    "studies/plan/ranking_metric.py",
    "workflows/profile.py",
    "_core/data/files/json_lines.py",
    "_core/data/files/typed_files.py",
}
# is copied into exported models, which have no errors of ours
COPIED = {"export/runtime.py"}


@cache
def raise_statements(text):
    """The class and the message, without what is put into it, of every `raise Class("message")`."""
    return [*_raise_statements(text)]


def _raise_statements(text):
    for node in ast.walk(ast.parse(text)) if "raise " in text else ():
        if not isinstance(node, ast.Raise) or not isinstance(node.exc, ast.Call):
            continue
        call = node.exc
        if isinstance(call.func, ast.Name) and call.args:
            yield call.func.id, message(call.args[0])


def message(node):
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(
            str(part.value) if isinstance(part, ast.Constant) else "{}"
            for part in node.values
        )
    return None


def test_users_meet_no_plain_value_errors():
    found = {
        name
        for name, text in FILES.items()
        if any(kind == "ValueError" for kind, _ in raise_statements(text))
    }
    assert found - CAUGHT - COPIED == set()


def test_one_message_is_of_one_kind():
    kinds = defaultdict(set)
    for text in FILES.values():
        for kind, said in raise_statements(text):
            of_its_own = kind != "StudyError"  # a study names its own settings
            if (
                said is not None and of_its_own and re.search("[a-z]", said)
            ):  # and not put together elsewhere
                kinds[said].add(kind)
    assert {said: found for said, found in kinds.items() if len(found) > 1} == {}


def test_what_a_subclass_must_define_is_said_in_one_place():
    assert [name for name, text in FILES.items() if "does not define {" in text] == [
        "errors.py"
    ]


CELLS = np.arange(24.0).reshape(12, 2) % 7
CLASSES = np.array(["a", "b", "c"] * 4)
MIXTURE = GaussianMixture(2, random_state=0).fit(CELLS)
REFUSED = {
    "solver": (
        lambda: ElasticNet(l1_ratio=0, solver="columns").fit(CELLS, CELLS[:, 0]),
        SettingError,
    ),
    "reference": (
        lambda: LogisticRegression(reference="d").fit(CELLS, CLASSES),
        SettingError,
    ),
    "strategy": (
        lambda: label_file("rows.csv", "y", "out.csv", print, strategy="guess"),
        SettingError,
    ),
    "n_samples": (lambda: MIXTURE.sample(0), SettingError),
    "pos_label": (lambda: binary_report(CLASSES, CLASSES), SettingError),
    "record=True": (lambda: em_steps(MIXTURE, CELLS), SettingError),
    "with record": (lambda: kmeans_steps(MIXTURE, CELLS), SettingError),
    "ccp_alpha='cv'": (lambda: cost_complexity(MIXTURE), SettingError),
    "stratify": (lambda: strata(None, True, 3), SettingError),
    "quantiles": (lambda: scan(CELLS).reduce(Quantiles.of).quantile(2), SettingError),
    "edges": (
        lambda: Histogram.of(next(scan(CELLS).blocks()), edges=[[0.0, 1.0]]),
        SettingError,
    ),
    "missing labels": (
        lambda: confusion_matrix([np.nan, 1.0], [1.0, 1.0]),
        MissingValuesError,
    ),
    "give y": (
        lambda: joint_log_likelihood(NaiveBayes().fit(CELLS, CLASSES), CELLS),
        DataError,
    ),
}


@pytest.mark.parametrize("words", REFUSED)
def test_settings_are_setting_errors_and_rows_data_errors(words):
    action, kind = REFUSED[words]
    with pytest.raises(kind, match=words) as caught:
        action()
    assert isinstance(caught.value, LyceumError)
    assert type(caught.value) is kind


@pytest.mark.parametrize(
    ("ask", "who"),
    [
        (
            lambda rows: RBFKernel().gram(rows),
            r"the kernel RBFKernel\(.*\) keeps .* use Nystroem or",
        ),
        (lambda rows: KernelRidge().fit(rows), "KernelRidge keeps"),
        (
            lambda rows: learn_structure(rows, method="pc"),
            r"learn_structure\(..., method='pc'\) keeps",
        ),
    ],
)
def test_who_needs_all_rows_in_memory_is_named(ask, who, tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(40, 2)), columns=["a", "b"]).assign(
        y=rng.normal(size=40)
    )
    if "structure" in who:
        frame = frame.gt(0).replace({True: "yes", False: "no"})
    frame.to_parquet(tmp_path / "rows.parquet")
    rows = scan(
        tmp_path / "rows.parquet", target=None if "structure" in who else "y", memory=0
    )
    monkeypatch.setattr("lyceum._core.data.rows.gather._half_of_memory", lambda: 100)
    with pytest.raises(SourceError, match=who):
        ask(rows)

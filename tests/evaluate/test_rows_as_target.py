"""Scanned rows in the place of y stand for their target; what would be lost or is unclear is
refused."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression as Peer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lyceum import datasets, evaluate, scan
from lyceum.bayes import NaiveBayes
from lyceum.errors import DataError, SourceError
from lyceum.prepare import SimpleImputer

ROWS = datasets.load("german_credit").take(np.arange(200))
MODEL = NaiveBayes().fit(ROWS)
PREDICTED, PROBA = MODEL.predict(ROWS), MODEL.predict_proba(ROWS)
NUMBERS = scan(np.random.default_rng(0).normal(size=(30, 3)), target="x2")
GUESS = np.zeros(30)
POSITIVE = {"pos_label": MODEL.classes_[1]}

OF_CLASSES = {
    "roc": lambda y, w=None: evaluate.roc_curve(
        y, PROBA[:, 1], **POSITIVE, sample_weight=w
    ),
    "auc": lambda y, w=None: evaluate.roc_auc_score(
        y, PROBA[:, 1], **POSITIVE, sample_weight=w
    ),
    "auc_interval": lambda y, w=None: evaluate.auc_interval(y, PROBA[:, 1], **POSITIVE),
    "delong": lambda y, w=None: evaluate.delong(
        y, PROBA[:, 1], PROBA[::-1, 1], **POSITIVE
    ),
    "precision_recall": lambda y, w=None: evaluate.precision_recall_curve(
        y, PROBA[:, 1], **POSITIVE, sample_weight=w
    ),
    "cost_curve": lambda y, w=None: evaluate.cost_curve(
        y, PROBA[:, 1], **POSITIVE, sample_weight=w
    ),
    "calibration": lambda y, w=None: evaluate.calibration_curve(
        y, PROBA, sample_weight=w
    ),
    "brier_score": lambda y, w=None: evaluate.brier_score_loss(
        y, PROBA, sample_weight=w
    ),
    "log_loss": lambda y, w=None: evaluate.log_loss(y, PROBA, sample_weight=w),
    "auc_hand_till": lambda y, w=None: evaluate.auc_hand_till(
        y, PROBA, sample_weight=w
    ),
    "auc_fawcett": lambda y, w=None: evaluate.auc_fawcett(y, PROBA, sample_weight=w),
    "confusion": lambda y, w=None: evaluate.confusion_matrix(
        y, PREDICTED, sample_weight=w
    ),
    "binary_report": lambda y, w=None: evaluate.binary_report(
        y, PREDICTED, **POSITIVE, sample_weight=w
    ),
    "class_report": lambda y, w=None: evaluate.class_report(
        y, PREDICTED, sample_weight=w
    ),
    "mcnemar": lambda y, w=None: evaluate.mcnemar(y, PREDICTED, PREDICTED[::-1]),
}
OF_NUMBERS = {
    "regression_report": lambda y, w=None: evaluate.regression_report(
        y, GUESS, sample_weight=w
    ),
    "decompose": lambda y, w=None: evaluate.decompose(y, [GUESS, GUESS + 1.0]),
    "error_parts": lambda y, w=None: evaluate.error_parts(y, GUESS, GUESS, GUESS),
}


def answer(result):
    return result.as_dict() if hasattr(result, "as_dict") else result


@pytest.mark.parametrize("name", [*OF_CLASSES, *OF_NUMBERS])
def test_rows_in_the_place_of_y_are_their_target(name):
    rows, measure = (
        (ROWS, OF_CLASSES[name]) if name in OF_CLASSES else (NUMBERS, OF_NUMBERS[name])
    )
    assert answer(measure(rows)) == answer(measure(rows.y))


def test_rows_of_files_too(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(
        "a,y\n" + "".join(f"{i},{'no' if i % 3 else 'yes'}\n" for i in range(60))
    )
    rows, score = scan(path, target="y", memory=0), np.arange(60.0)
    assert evaluate.roc_auc_score(rows, score) == evaluate.roc_auc_score(rows.y, score)


WEIGHTS = np.random.default_rng(1).integers(0, 3, 200).astype(float)
WEIGHTED = scan(
    pd.DataFrame({"a": np.arange(200.0), "w": WEIGHTS, "y": ROWS.y}),
    target="y",
    weight="w",
    memory=0,
)
WEIGHTED_NUMBERS = scan(
    pd.DataFrame({"a": GUESS, "w": WEIGHTS[:30], "y": NUMBERS.y}),
    target="y",
    weight="w",
)
WITHOUT_WEIGHTS = {"auc_interval", "delong", "mcnemar", "decompose", "error_parts"}


@pytest.mark.parametrize("name", [*OF_CLASSES, *OF_NUMBERS])
def test_rows_in_the_place_of_y_carry_their_weights(name):
    rows, measure = (
        (WEIGHTED, OF_CLASSES[name])
        if name in OF_CLASSES
        else (WEIGHTED_NUMBERS, OF_NUMBERS[name])
    )
    if name in WITHOUT_WEIGHTS:
        with pytest.raises(
            DataError, match=r"weights 'w', which cannot count here: give rows.y"
        ):
            measure(rows)
        return
    weighted = answer(measure(rows.y, WEIGHTS[: len(rows)]))
    assert answer(measure(rows)) == weighted != answer(measure(rows.y))


def test_weights_beside_weighted_rows_are_refused():
    with pytest.raises(DataError, match="carry their target and weights"):
        evaluate.roc_curve(WEIGHTED, PROBA[:, 1], sample_weight=WEIGHTS)


def test_rows_without_a_target_or_with_missing_ones_are_refused():
    with pytest.raises(DataError, match="no target"):
        evaluate.roc_curve(scan(pd.DataFrame({"a": [1.0, 2.0]})), [0.1, 0.2])
    with pytest.raises(DataError, match="target 'y' is missing in 1 row,"):
        evaluate.roc_curve(
            scan(
                pd.DataFrame({"a": [1.0, 2.0, 3.0], "y": ["n", "p", None]}), target="y"
            ),
            [0.1, 0.2, 0.3],
        )


def test_rows_in_the_place_of_anything_else_are_refused():
    with pytest.raises(
        DataError, match=r"y_pred is scanned rows.*what the model predicts"
    ):
        evaluate.confusion_matrix(ROWS, ROWS)
    with pytest.raises(
        DataError, match=r"y_score is scanned rows.*what the model predicts"
    ):
        evaluate.roc_curve(ROWS, ROWS)
    with pytest.raises(DataError, match="y_prob is scanned rows"):
        evaluate.calibration_curve(ROWS, ROWS)
    with pytest.raises(
        DataError, match=r"sample_weight is scanned rows.*rows.sample_weight"
    ):
        evaluate.roc_curve(ROWS, PROBA[:, 1], sample_weight=ROWS, **POSITIVE)


def test_a_pipeline_of_scikit_learn_takes_no_rows():
    with pytest.raises(
        SourceError,
        match="Pipeline with StandardScaler of scikit-learn takes no scanned",
    ):
        evaluate.cross_validate(make_pipeline(StandardScaler(), Peer()), ROWS)
    with pytest.raises(
        SourceError, match="Pipeline with LogisticRegression of scikit-learn takes no"
    ):
        evaluate.cross_validate(make_pipeline(SimpleImputer(), Peer()), ROWS)

"""Auxiliary targets: known in training, not looked at afterwards."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression as SkLogistic

from lyceum.bayes import NaiveBayes
from lyceum.ensemble import AuxiliaryTargets
from lyceum.errors import SettingError
from lyceum.linear import Ridge

rng = np.random.default_rng(0)
X = rng.normal(size=(600, 3))
HINT = X[:, 0] * X[:, 1]
Y = HINT + 0.1 * rng.normal(size=600)


@pytest.mark.syllabus("11.6.3")
def test_an_auxiliary_target_helps_a_learner_that_could_not_see_it():
    table = np.column_stack([X, HINT])
    model = AuxiliaryTargets(Ridge(), auxiliary=[3], random_state=0).fit(
        table[:400], Y[:400]
    )
    blind = np.column_stack([X[400:], np.full(200, np.nan)])
    alone = Ridge().fit(X[:400], Y[:400]).score(X[400:], Y[400:])
    assert model.score(blind, Y[400:]) > alone + 0.5
    np.testing.assert_array_equal(
        model.predict(blind), model.predict(table[400:])
    )  # its cells do not matter


def test_categories_with_missing_cells_are_auxiliary_targets_too():
    frame = pd.DataFrame(X, columns=list("abc")).assign(
        sign=np.where(HINT > 0, "plus", "minus")
    )
    frame.loc[::5, "sign"] = None
    y = np.where(HINT > 0, "yes", "no")
    model = AuxiliaryTargets(NaiveBayes(), auxiliary=["sign"], random_state=0).fit(
        frame, y
    )
    assert model.score(frame.assign(sign=None).astype({"sign": object}), y) > 0.9
    assert NaiveBayes().fit(frame[list("abc")], y).score(frame[list("abc")], y) < 0.7
    assert "sign" in str(model.summary())


def test_what_does_not_fit_is_said():
    with pytest.raises(SettingError, match="'nose', which does not exist"):
        AuxiliaryTargets(auxiliary=["nose"]).fit(X, HINT > 0)
    with pytest.raises(SettingError, match="nothing is left"):
        AuxiliaryTargets(auxiliary=[0, 1, 2]).fit(X, HINT > 0)
    with pytest.raises(SettingError, match="not one of Lyceum's learners"):
        AuxiliaryTargets(SkLogistic()).fit(X, HINT > 0)


def test_of_equal_posteriors_the_class_that_is_predicted_is_explained():
    """The tree breaks ties otherwise than by the order of the classes."""
    drawn = np.random.default_rng(0)
    cells, y = (
        drawn.integers(0, 2, (60, 3)).astype(float),
        np.array(list("cab"))[drawn.integers(0, 3, 60)],
    )
    model = AuxiliaryTargets(random_state=0).fit(cells, y)
    posteriors, predicted = model.predict_proba(cells), model.predict(cells)
    assert (model.classes_[posteriors.argmax(axis=1)] != predicted).any()
    found = model.explain(cells)
    assert found.predicted.tolist() == predicted.tolist()
    np.testing.assert_allclose(found.scores, posteriors.max(axis=1))

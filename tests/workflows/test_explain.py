"""Explanations of pipelines name the columns of the table, with the cells of the row."""

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

import lyceum
from lyceum.bayes import LinearDiscriminantAnalysis
from lyceum.decision import MinimumRiskClassifier
from lyceum.decomposition import PCA
from lyceum.kernels import SVC, KernelPerceptron, LinearSVC
from lyceum.linear import Lasso, LogisticRegression, MarginClassifier, Perceptron
from lyceum.prepare import DatetimeEncoder, OneHotEncoder, SimpleImputer, StandardScaler
from lyceum.workflows import FittedModel, explain_rows

rng = np.random.default_rng(5)
BIRDS = pd.DataFrame(
    {
        "island": rng.choice(["Biscoe", "Dream", "Torgersen"], 120),
        "mass": rng.normal(4.2, 0.8, 120),
        "sex": rng.choice(["f", "m"], 120),
    }
)
SPECIES = np.where(
    BIRDS["mass"] + (BIRDS["island"] == "Dream") > 4.5, "Chinstrap", "Adelie"
)

PIPELINES = [
    LinearDiscriminantAnalysis(),
    make_pipeline(OneHotEncoder(), LinearDiscriminantAnalysis(covariance="diagonal")),
    make_pipeline(StandardScaler(), OneHotEncoder(drop="first"), LogisticRegression()),
    make_pipeline(SimpleImputer(), StandardScaler(), LogisticRegression()),
    MinimumRiskClassifier(
        make_pipeline(OneHotEncoder(handle_unknown="error"), LogisticRegression()),
        doubt=0.1,
    ),
]


@pytest.mark.parametrize(
    "model", PIPELINES, ids=lambda model: str(type(model).__name__)
)
def test_columns_are_those_of_the_table_with_their_cells(model):
    table = BIRDS.assign(species=SPECIES)
    rows = lyceum.scan(table, target="species")
    fitted = model.fit(rows)
    for one in explain_rows(fitted, BIRDS, [3, 7]):
        cells = {name: cell for name, cell, _ in one.contributions}
        assert cells == pytest.approx(BIRDS.loc[one.row].to_dict())
        total = one.base + sum(adds for *_, adds in one.contributions)
        assert total == pytest.approx(one.score)


def test_columns_made_of_several_keep_their_names():
    numbers = BIRDS[["mass"]].assign(wing=rng.normal(size=120))
    model = make_pipeline(PCA(n_components=2), LogisticRegression()).fit(
        numbers, SPECIES
    )
    (one,) = explain_rows(model, numbers, [0])
    assert {name for name, *_ in one.contributions} == {"pca0", "pca1"}
    assert all(isinstance(cell, float) for _, cell, _ in one.contributions)


def test_a_date_that_was_taken_apart_is_one_column_with_its_names():
    days = pd.DataFrame(
        {"day": pd.date_range("2024-01-01", periods=90), "x": rng.normal(size=90)}
    )
    y = np.arange(90) % 7 + days["x"]
    model = make_pipeline(DatetimeEncoder(), StandardScaler(), Lasso(alpha=0.01)).fit(
        days, y
    )
    found = FittedModel(model).explain(lyceum.scan(days.iloc[[5]]))
    assert found.names == ("day", "x")
    assert found.values[0, 0] == "January, Saturday"
    np.testing.assert_allclose(found.scores, model.predict(days.iloc[[5]]))


@pytest.mark.parametrize(
    "learner",
    [SVC(), LinearSVC(), Perceptron(), MarginClassifier(), KernelPerceptron()],
)
def test_a_model_without_probabilities_claims_none(learner):
    table = pd.DataFrame(
        {
            "a": [0.0, 1.0, 2.0, 3.0],
            "b": [1.0, 0.0, 1.0, 0.0],
            "y": ["n", "n", "p", "p"],
        }
    )
    (found,) = explain_rows(learner.fit(lyceum.scan(table, target="y")), table, [3])
    assert found.posterior is None
    assert "%" not in found.title

"""The classifier: posteriors against sums over the joint table, missing cells, evidence."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import CategoricalNB
from tests.bayesnets.nets import brute_marginal

import lyceum
from lyceum import datasets
from lyceum.bayesnets import BayesNet, BayesNetClassifier, TableNode
from lyceum.errors import DataError, ModelFileError


def table(n: int = 600, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Mixed columns, some of which depend on each other given the class."""
    rng = np.random.default_rng(seed)
    y = rng.choice(["bad", "good", "ugly"], n, p=[0.3, 0.5, 0.2])
    color = np.where(
        y == "good",
        rng.choice(["red", "blue"], n, p=[0.8, 0.2]),
        rng.choice(["red", "green"], n),
    )
    shade = np.where(
        rng.random(n) < 0.8, color, rng.choice(["red", "blue", "green"], n)
    )
    size = rng.normal(np.where(y == "ugly", 3.0, 0.0), 1.0, n)
    return (
        pd.DataFrame(
            {"color": color, "shade": shade, "size": size, "noise": rng.normal(size=n)}
        ),
        y,
    )


@pytest.mark.syllabus("5.3")
def test_the_naive_network_is_naive_bayes_on_categories():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 4, (300, 5)), rng.integers(0, 3, 300)
    X[:, 0] = np.where(rng.random(300) < 0.6, y, X[:, 0])
    model = BayesNetClassifier(structure="naive", categorical_features=True).fit(X, y)
    peer = CategoricalNB(alpha=1.0).fit(X, y)
    # scikit-learn does not smooth the classes
    prior = (np.bincount(y) + 1) / (len(y) + 3)
    log = peer.predict_log_proba(X) - peer.class_log_prior_ + np.log(prior)
    want = np.exp(log - np.logaddexp.reduce(log, axis=1)[:, None])
    np.testing.assert_allclose(model.predict_proba(X), want, atol=1e-12)


@pytest.mark.syllabus("5.3", "5.4")
@pytest.mark.parametrize("structure", ["naive", "tan", "learned"])
def test_posteriors_are_sums_over_the_joint_table_with_missing_cells_summed_out(
    structure,
):
    X, y = table()
    model = BayesNetClassifier(structure=structure).fit(X, y)
    some = X.iloc[:30].mask(np.random.default_rng(1).random((30, 4)) < 0.4)
    some.iloc[0] = np.nan
    proba = model.predict_proba(some)
    cut = model.discretizer_.transform(some)
    for i in range(30):
        evidence = {k: v for k, v in cut.iloc[i].items() if isinstance(v, str)}
        np.testing.assert_allclose(
            proba[i], brute_marginal(model.net_, ["y"], evidence), atol=1e-12
        )
    assert model.predict(X).shape == (600,)
    np.testing.assert_allclose(proba[0], model.net_.posterior("y").values, atol=1e-12)


@pytest.mark.syllabus("5.3.4")
def test_tan_finds_the_columns_that_hang_together():
    X, y = table(2_000)
    net = BayesNetClassifier().fit(X, y).net_
    assert {"color", "shade"} in [{a, b} for a, b in net.edges]
    assert all("y" in net.parents[name] for name in X)
    assert sum(len(of) for of in net.parents.values()) == 2 * 4 - 1


def test_a_given_structure_is_used_as_it_is():
    X, y = table()
    given = {"y": [], "color": ["y"], "shade": ["color"], "size": ["y"]}
    model = BayesNetClassifier(structure=given).fit(X, pd.Series(y, name="y"))
    assert model.net_.parents == {
        "color": ("y",),
        "shade": ("color",),
        "size": ("y",),
        "noise": (),
        "y": (),
    }
    blank = BayesNet([TableNode("y", ["a"]), TableNode("color", ["b"], "y")])
    assert BayesNetClassifier(structure=blank).fit(X, y).net_.edges == [("y", "color")]
    with pytest.raises(DataError, match="no node for the class, which is named 'y'"):
        BayesNetClassifier(structure={"color": ["shade"]}).fit(X, y)
    with pytest.raises(DataError, match="did you mean 'color'"):
        BayesNetClassifier(structure={"y": [], "colr": ["y"]}).fit(X, y)
    with pytest.raises(DataError, match="cycle"):
        BayesNetClassifier(structure={"y": ["color"], "color": ["y"]}).fit(X, y)


@pytest.mark.syllabus("5.4")
def test_evidence_of_the_columns_sums_to_the_log_odds():
    X, y = table()
    for structure in ("naive", "tan", "learned"):
        model = BayesNetClassifier(structure=structure).fit(X, y)
        some = X.iloc[:20].mask(np.random.default_rng(3).random((20, 4)) < 0.2)
        found = model.explain(some)
        proba = np.sort(model.predict_proba(some), axis=1)
        np.testing.assert_allclose(
            found.scores, np.log(proba[:, -1] / proba[:, -2]), atol=1e-9
        )
        gone = some.isna().to_numpy()
        np.testing.assert_allclose(found.contributions[gone], 0.0, atol=1e-9)


def test_real_tables_at_the_default_settings():
    X, y = load_iris(return_X_y=True)
    assert cross_val_score(BayesNetClassifier(), X, y, cv=5).mean() > 0.92
    for name in ("heart_disease", "german_credit", "penguins"):
        rows = datasets.load(name)
        model = BayesNetClassifier().fit(rows)
        assert model.score(rows) > 0.8
        assert "bits about the class" in str(model.summary())
    assert BayesNetClassifier(structure="learned").fit(rows).history_


def test_awkward_tables_are_taken():
    model = BayesNetClassifier().fit([[1.0, 5.0]], ["a"])
    assert model.predict([[np.nan, 2.0]]).tolist() == ["a"]
    X = pd.DataFrame(
        {
            "constant": [1.0] * 6,
            "empty": [np.nan] * 6,
            "name": ["u", None, "u", "v", "v", None],
            "y": [1.0, 2, 3, 4, 5, 6],
        }
    )
    labels = ["a", "a", "a", "b", "b", "b"]
    model = BayesNetClassifier().fit(X, labels)
    assert model.net_.names[-1] == "y (class)"
    proba = model.predict_proba(X.assign(name="new"))
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    raw = BayesNetClassifier(estimate="raw", structure="naive").fit(X, labels)
    odd = raw.predict_proba(X.assign(name=["v", "v", "v", "u", "u", "u"]))
    assert np.isfinite(odd).all()


def test_a_saved_classifier_answers_as_before_and_a_broken_one_is_refused(tmp_path):
    X, y = table(200)
    model = BayesNetClassifier().fit(X, y)
    again = lyceum.load(lyceum.save(model, tmp_path / "m.skops"))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.net_.edges == model.net_.edges
    model.net_ = BayesNet([TableNode("y", ["bad", "good", "ugly"])])
    with pytest.raises(ModelFileError, match="does not fit"):
        lyceum.save(model, tmp_path / "broken.skops")

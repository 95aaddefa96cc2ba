"""Committees: rules of fusion, weights, members of any library with their own columns."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st
from scipy.optimize import minimize
from sklearn.datasets import load_breast_cancer, load_diabetes, make_classification
from sklearn.ensemble import VotingClassifier as SkVoting, VotingRegressor as SkMean
from sklearn.linear_model import (
    LinearRegression as SkLinear,
    LogisticRegression as SkLogistic,
)
from sklearn.neighbors import KNeighborsClassifier as SkNeighbors
from sklearn.tree import DecisionTreeClassifier as SkTree
from tests.checks.fits import Case
from tests.checks.model_laws import a_saved_model_is_the_model
from tests.checks.source_laws import the_source_does_not_matter, weights_are_repeats

from lyceum.bayes import LinearDiscriminantAnalysis, NaiveBayes
from lyceum.datasets import load
from lyceum.ensemble import (
    CascadeClassifier,
    StackingClassifier,
    VotingClassifier,
    VotingRegressor,
    fuse,
)
from lyceum.ensemble.committees.fusion import simplex_weights
from lyceum.errors import DataError, SettingError
from lyceum.evaluate import majority_vote_error
from lyceum.linear import LogisticRegression, Ridge
from lyceum.trees import DecisionTreeClassifier, DecisionTreeRegressor

SAID = np.array([[0.2, 0.5, 0.3], [0.0, 0.6, 0.4], [0.4, 0.4, 0.2]])


@pytest.mark.syllabus("11.2.1")
@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("sum", (0.2, 0.5, 0.3)),
        ("average", (0.2, 0.5, 0.3)),
        ("median", (0.2, 0.5, 0.3)),
        ("minimum", (0.0, 0.4, 0.2)),
        ("maximum", (0.4, 0.6, 0.4)),
        ("product", (0.0, 0.12, 0.024)),
        ("vote", (1 / 3, 2 / 3, 0.0)),  # the third member's tie goes to the first class
    ],
)
def test_the_table_of_fusion(rule, expected):
    np.testing.assert_allclose(fuse(SAID, rule), expected, atol=1e-15)
    np.testing.assert_allclose(fuse(SAID[:, None, :], rule), [expected], atol=1e-15)


@pytest.mark.syllabus("11.2.1")
def test_weighted_rules_by_hand():
    w = [2.0, 1.0, 1.0]
    np.testing.assert_allclose(fuse(SAID, "weighted", w), [0.2, 0.5, 0.3])
    np.testing.assert_allclose(fuse(SAID, "vote", w), [0.25, 0.75, 0.0])
    squared = fuse(SAID, "product", [1.0, 1.0, 0.0])
    np.testing.assert_allclose(squared, (SAID[0] * SAID[1]) ** 1.5)


@pytest.mark.syllabus("11.1")
def test_errors_of_independent_voters():
    assert round(majority_vote_error(21, 0.3), 3) == 0.026
    assert round(majority_vote_error(25, 0.35), 2) == 0.06


@given(st.integers(2, 5), st.integers(0, 2**32 - 1))
@settings(max_examples=15, deadline=None)
def test_learned_weights_are_the_optimum_on_the_simplex(L, seed):
    rng = np.random.default_rng(seed)
    y = rng.normal(size=40)
    outputs = y + rng.normal(size=(L, 40)) * rng.uniform(0.2, 2.0, (L, 1))
    w = simplex_weights(outputs, y)
    gradient = 2 * outputs @ (w @ outputs - y)
    # optimality: no weight can move to a member with a smaller slope
    assert w.sum() == pytest.approx(1.0)
    assert (w >= 0).all()
    assert (gradient - gradient[w > 1e-9].max() >= -1e-6 * np.abs(gradient).max()).all()


def test_learned_weights_of_posteriors_are_those_of_largest_likelihood():
    rng = np.random.default_rng(0)
    outputs = rng.dirichlet(np.ones(3), (4, 60))
    y = rng.integers(0, 3, 60)
    likely = outputs[:, np.arange(60), y]
    w = simplex_weights(outputs, y)

    def loss(v):
        shares = np.exp(v) / np.exp(v).sum()
        return -np.log(shares @ likely).sum()

    best = min(minimize(loss, rng.normal(size=4), tol=1e-12).fun for _ in range(5))
    assert -np.log(w @ likely).sum() <= best + 1e-6


@pytest.mark.syllabus("11.1")
@pytest.mark.parametrize("voting", ["soft", "hard"])
def test_a_committee_of_another_library_is_that_librarys_vote(voting):
    X, y = load_breast_cancer(return_X_y=True)
    members = [("nb", SkNeighbors(3)), ("tree", SkTree(max_depth=3, random_state=0))]
    ours = VotingClassifier(members, rule="sum" if voting == "soft" else "vote").fit(
        X, y
    )
    theirs = SkVoting(
        [(n, m.__class__(**m.get_params())) for n, m in members], voting=voting
    )
    theirs.set_params(tree__random_state=ours.estimators_[1].random_state).fit(X, y)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    if voting == "soft":
        np.testing.assert_allclose(
            ours.predict_proba(X), theirs.predict_proba(X), atol=1e-12
        )


def test_a_committee_of_regressors_is_their_mean_or_median():
    X, y = load_diabetes(return_X_y=True)
    members = [
        ("lin", SkLinear()),
        ("ridge", Ridge(alpha=1.0)),
        ("tree", DecisionTreeRegressor(max_depth=3)),
    ]
    model = VotingRegressor(members).fit(X, y)
    each = np.stack([m.predict(X) for m in model.estimators_])
    np.testing.assert_allclose(model.predict(X), each.mean(axis=0))
    np.testing.assert_allclose(model.member_outputs(X), each)
    assert not hasattr(model, "predict_proba")
    median = VotingRegressor(members, rule="median").fit(X, y)
    np.testing.assert_allclose(median.predict(X), np.median(each, axis=0))
    theirs = SkMean([("lin", SkLinear())]).fit(X, y)
    np.testing.assert_allclose(
        VotingRegressor([SkLinear()]).fit(X, y).predict(X), theirs.predict(X)
    )


def test_committees_of_regressors_obey_the_laws():
    model = VotingRegressor(
        [("ridge", Ridge(alpha=1.0)), ("tree", DecisionTreeRegressor(max_depth=3))]
    )
    for law in (
        the_source_does_not_matter,
        weights_are_repeats,
        a_saved_model_is_the_model,
    ):
        law(model, Case())


@pytest.mark.syllabus("11.1.2")
def test_members_have_their_own_columns_by_name_and_by_number():
    penguins = load("penguins")
    names = penguins.schema.names
    members = [
        ("a", NaiveBayes(), ["island", "bill_length_mm"]),
        ("b", NaiveBayes(), [1, 2]),
    ]
    model = VotingClassifier(members, voting="soft").fit(penguins)
    assert model.estimators_[0].schema_.names == tuple(
        sorted(("island", "bill_length_mm"), key=names.index)
    )
    assert model.estimators_[1].schema_.names == names[1:3]
    with pytest.raises(SettingError, match="member 'a' asks for column 'nose'"):
        VotingClassifier([("a", NaiveBayes(), ["nose"])]).fit(penguins)


def test_frames_reach_members_of_any_library_as_they_are():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {"x": rng.normal(size=90), "town": rng.choice(["Ulm", "Bonn"], 90)}
    )
    y = np.where(frame["x"] > 0, "yes", "no")
    members = [("own", NaiveBayes()), ("other", SkLogistic(), ["x"])]
    model = VotingClassifier(members, voting="soft").fit(frame, y)
    assert model.framed_
    assert model.score(frame, y) > 0.9
    np.testing.assert_array_equal(model.estimators_[1].feature_names_in_, ["x"])


@pytest.mark.syllabus("11.5.2")
def test_weights_by_validation_favor_the_better_member():
    X, y = make_classification(400, 6, n_redundant=0, random_state=0)
    noise = np.random.default_rng(0).normal(size=(400, 2))
    members = [
        ("good", LinearDiscriminantAnalysis(), list(range(6))),
        ("poor", LinearDiscriminantAnalysis(), [6, 7]),
    ]
    for way in ("validation", "log_odds", "learned"):
        model = VotingClassifier(
            members, voting="soft", weights=way, random_state=0
        ).fit(np.hstack([X, noise]), y)
        assert model.weights_[0] > model.weights_[1]
        assert model.validation_errors_[0] < model.validation_errors_[1]
    assert (
        VotingClassifier(members, rule="weighted", random_state=0)
        .fit(np.hstack([X, noise]), y)
        .weights_[0]
        > 0.5
    )


def test_a_product_of_zero_everywhere_is_the_mean():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    y = np.array([0, 0, 1, 1])
    members = [("a", SkTree()), ("b", SkTree())]
    model = VotingClassifier(members, rule="product").fit(X, y)
    model.estimators_[1] = SkTree().fit(X, 1 - y)
    np.testing.assert_allclose(model.predict_proba(X), 0.5)


def test_what_does_not_fit_is_named():
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.raises(ValueError, match="'rule' parameter of VotingRegressor"):
        VotingRegressor([Ridge()], rule="vote").fit(X, y)
    with pytest.raises(SettingError, match="takes no weights"):
        VotingClassifier(rule="median", weights=[1, 1, 1]).fit(X, y)
    with pytest.raises(SettingError, match=r"'ridge'. should be a classifier"):
        VotingClassifier([("tree", DecisionTreeClassifier()), ("ridge", Ridge())]).fit(
            X, y
        )
    with pytest.raises(
        DataError, match="Underlying estimator KNeighborsClassifier does"
    ):
        VotingClassifier([SkNeighbors()]).fit(X, y, sample_weight=np.ones(len(y)))
    with pytest.raises(SettingError, match="Names provided are not unique"):
        VotingClassifier([("a", NaiveBayes()), ("a", NaiveBayes())]).fit(X, y)


def test_settings_of_members_are_settings_of_the_committee():
    model = VotingClassifier(
        [("tree", DecisionTreeClassifier(), [0]), ("bayes", NaiveBayes())]
    )
    model.set_params(tree__max_depth=2, bayes=LinearDiscriminantAnalysis())
    assert model.get_params()["tree__max_depth"] == 2
    assert model.estimators[0][2] == [0]
    assert isinstance(model.estimators[1][1], LinearDiscriminantAnalysis)


def test_columns_of_linear_members_add_their_slope_times_the_distance_from_the_background():
    X, y = load_diabetes(return_X_y=True)
    model = VotingRegressor([("own", Ridge()), ("other", SkLinear(), [0, 2])]).fit(X, y)
    slopes = model.estimators_[0].coef_ / 2
    slopes[[0, 2]] += model.estimators_[1].coef_ / 2
    found = model.explain(X[:20])
    mean = model.background_.mean(axis=0)
    np.testing.assert_allclose(found.contributions, slopes * (X[:20] - mean), atol=1e-9)
    np.testing.assert_allclose(found.base, model.predict(mean[None])[0], rtol=1e-9)


@pytest.mark.syllabus("11.1")
@pytest.mark.parametrize("library", ["pandas", "polars", "arrow"])
def test_members_that_need_a_frame_are_explained_in_it(library):
    given = pd.DataFrame(
        {
            "town": pd.Categorical(["Ulm", "Bonn", "Ulm", "Bonn", "Ulm", "Bonn"]),
            "n": [1, 2, 4, 5, 7, 8],
            "when": pd.to_datetime(["2020-01-01", "2020-01-05"] * 3),
            "x": [0.5, np.nan, 1.5, 2.5, 3.0, 4.0],
        }
    )
    y = np.array([0, 0, 1, 1, 2, 2])
    polars = pytest.importorskip("polars")
    frame = {
        "pandas": given,
        "polars": polars.from_pandas(given),
        "arrow": pa.Table.from_pandas(given),
    }[library]
    seen = []

    class Watcher(SkTree):
        def fit(self, X, y):
            return super().fit(np.column_stack([_table(X)["n"]]), y)

        def predict_proba(self, X):
            seen.append(_table(X))
            return super().predict_proba(np.column_stack([_table(X)["n"]]))

    def _table(X):
        return X if isinstance(X, pd.DataFrame) else X.to_pandas()

    model = VotingClassifier(
        [("watcher", Watcher()), ("bayes", NaiveBayes())], voting="soft"
    ).fit(frame, y)
    seen.clear()
    found = model.explain(frame)
    np.testing.assert_allclose(
        found.base + found.contributions.sum(axis=1),
        model.predict_proba(frame).max(axis=1),
        atol=1e-12,
    )
    # rows of the table, in the frame's own types; the other cells are the frame's own
    held = seen[1]
    assert (held.nunique(dropna=False) == 1).all()
    rows = [tuple(row) for row in given.fillna(-1.0).itertuples(index=False)]
    assert tuple(held.fillna({"x": -1.0}).iloc[0]) in rows
    if library == "pandas":
        assert [one.dtypes.tolist() for one in seen] == [frame.dtypes.tolist()] * len(
            seen
        )


def test_frames_of_other_libraries_members_alone_are_explained():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=40), "b": rng.normal(size=40)})
    y = (frame["a"] > 0).to_numpy().astype(int)
    cascade = CascadeClassifier(
        [("stump", SkTree(max_depth=1), ["b"]), ("tree", SkTree())], cv=3
    )
    stack = StackingClassifier(
        [SkTree(max_depth=2)], SkTree(max_depth=3), passthrough=True, cv=3
    )
    for model in (VotingClassifier([("tree", SkTree())]), cascade, stack):
        found = model.fit(frame, y).explain(frame[:5])
        total = found.base + found.contributions.sum(axis=1)
        np.testing.assert_allclose(
            total, model.predict_proba(frame[:5]).max(axis=1), atol=1e-12
        )
        assert found.contributions[:, 0].any()


@pytest.mark.syllabus("11.2")
@pytest.mark.parametrize(
    "rule", ["sum", "vote", "median", "minimum", "maximum", "product"]
)
def test_explanations_say_what_every_member_counted_for(rule):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = np.where(X[:, 0] + X[:, 1] > 0, "b", "a")
    model = VotingClassifier(rule=rule, random_state=0).fit(X, y)
    found, said = model.explain(X[:9]), model.member_outputs(X[:9])
    k = np.searchsorted(model.classes_, found.predicted)
    own = said[:, np.arange(9), k].T
    if rule == "vote":
        own = (k[:, None] == said.argmax(axis=2).T).astype(float)
    np.testing.assert_allclose(found.supports, own)
    np.testing.assert_array_equal(found.answers, model.classes_[said.argmax(axis=2)].T)
    if rule == "product":
        other = said[:, np.arange(9), 1 - k].T
        np.testing.assert_allclose(
            found.shares, np.log(np.maximum(own, 1e-12) / np.maximum(other, 1e-12))
        )
    else:
        fused = {"median": np.median, "minimum": np.min, "maximum": np.max}.get(
            rule, np.mean
        )
        np.testing.assert_allclose(found.shares.sum(axis=1), fused(own, axis=1))
    shown = str(found)
    assert "Members on row 0" in shown
    assert "logistic" in shown


def test_a_stack_says_what_its_members_add_and_a_cascade_who_decides():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(90, 3))
    y = X[:, 0] - X[:, 1] > 0
    for passthrough in (False, True):
        stack = StackingClassifier(passthrough=passthrough, cv=3, random_state=0).fit(
            X, y
        )
        found = stack.explain(X[:7])
        np.testing.assert_allclose(found.shares.sum(axis=1), found.scores)
        assert found.members[-1] == "(base)"
        assert ("(columns)" in found.members) == passthrough
    cascade = CascadeClassifier(thresholds=[0.9], cv=3, random_state=0).fit(X, y)
    found = cascade.explain(X)
    np.testing.assert_array_equal(found.shares.argmax(axis=1), cascade.predict_stage(X))
    early = cascade.predict_stage(X) == 0
    assert np.isnan(found.supports[early, 1]).all()
    assert np.isfinite(found.supports[~early]).all()
    assert found.as_dict()["rows"][0]["members"]["columns"][0] == "member"


def test_answers_of_members_as_columns():
    X = np.random.default_rng(0).normal(size=(40, 2))
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0)
    members = [
        ("tree", DecisionTreeClassifier(max_depth=2)),
        ("line", LogisticRegression()),
    ]
    model = VotingClassifier(members, voting="soft").fit(X, y)
    posteriors = [member.predict_proba(X) for member in model]
    np.testing.assert_array_equal(model.transform(X), np.hstack(posteriors))
    assert model.get_feature_names_out()[3:].tolist() == [
        "votingclassifier_line0",
        "votingclassifier_line1",
        "votingclassifier_line2",
    ]
    model.set_params(flatten_transform=False)
    np.testing.assert_array_equal(model.transform(X), np.stack(posteriors))
    with pytest.raises(ValueError, match="get_feature_names_out is not supported"):
        model.get_feature_names_out()
    votes = np.column_stack([member.predict(X) for member in model])
    model.set_params(voting="hard")
    np.testing.assert_array_equal(model.transform(X), votes)
    frame = model.set_output(transform="pandas").transform(X)
    assert list(frame.columns) == ["votingclassifier_tree", "votingclassifier_line"]


def test_a_seed_that_was_given_to_a_member_stays():
    X = np.random.default_rng(0).normal(size=(60, 4))
    y = (X[:, 0] > 0).astype(int)
    tree = DecisionTreeClassifier(splitter="random", random_state=7)
    model = VotingClassifier([("tree", tree)], voting="soft", random_state=1).fit(X, y)
    alone = DecisionTreeClassifier(splitter="random", random_state=7).fit(X, y)
    assert model[0].random_state == 7
    np.testing.assert_array_equal(model.predict_proba(X), alone.predict_proba(X))

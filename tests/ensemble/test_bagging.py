"""Bagging, out-of-bag estimates and random subspaces."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_diabetes, load_iris
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import (
    DecisionTreeClassifier as TheirTree,
    DecisionTreeRegressor as TheirRegressionTree,
)
from threadpoolctl import threadpool_limits

from lyceum.bayes import NaiveBayes
from lyceum.data import scan
from lyceum.ensemble import BaggingClassifier, BaggingRegressor
from lyceum.errors import MissingValuesError, SchemaError, SettingError, SourceError
from lyceum.linear import LinearRegression, LogisticRegression
from lyceum.prepare import StandardScaler
from lyceum.progress import Update, watch

X, Y = load_iris(return_X_y=True)
Z, T = load_diabetes(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[Y]


def mixed(n=200, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.normal(size=n),
            "town": rng.choice(["Ulm", "Bonn", "Köln"], n),
            "old": rng.random(n) < 0.5,
        }
    )
    y = np.where(
        frame["age"] + 2 * (frame["town"] == "Ulm") + rng.normal(size=n) > 0.5,
        "yes",
        "no",
    )
    return frame, y


# -- what a bag is ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "learner", [NaiveBayes(), TheirTree(random_state=0), KNeighborsClassifier()]
)
def test_a_bag_of_one_on_all_rows_is_the_learner(learner):
    bag = BaggingClassifier(learner, 1, bootstrap=False).fit(X, NAMES)
    alone = clone(learner).fit(X, NAMES)
    np.testing.assert_allclose(bag.predict_proba(X), alone.predict_proba(X), rtol=1e-12)
    assert bag.predict(X).tolist() == alone.predict(X).tolist()


@pytest.mark.syllabus("11.3")
@pytest.mark.parametrize(
    "learner", [NaiveBayes(), LogisticRegression(), TheirTree(), KNeighborsClassifier()]
)
def test_members_are_copies_fitted_on_the_rows_they_were_drawn(learner):
    bag = BaggingClassifier(learner, 4, max_samples=0.7, random_state=3).fit(X, NAMES)
    for member, rows in zip(bag.estimators_, bag.estimators_samples_):
        assert len(rows) == 105
        alone = clone(member).fit(X[rows], NAMES[rows])
        np.testing.assert_allclose(
            member.predict_proba(X), alone.predict_proba(X), atol=1e-6
        )


def test_soft_voting_averages_posteriors_and_hard_voting_counts_votes():
    soft = BaggingClassifier(NaiveBayes(), 5, random_state=0).fit(X, NAMES)
    hard = BaggingClassifier(NaiveBayes(), 5, voting="hard", random_state=0).fit(
        X, NAMES
    )
    posteriors = np.mean(
        [member.predict_proba(X) for member in soft.estimators_], axis=0
    )
    votes = np.mean(
        [member.predict(X)[:, None] == hard.classes_ for member in hard.estimators_],
        axis=0,
    )
    np.testing.assert_allclose(soft.predict_proba(X), posteriors, rtol=1e-14)
    np.testing.assert_array_equal(hard.predict_proba(X), votes)
    assert (soft.predict(X) == soft.classes_[posteriors.argmax(axis=1)]).all()
    assert (hard.predict(X) == hard.classes_[votes.argmax(axis=1)]).all()
    np.testing.assert_allclose(np.exp(soft.predict_log_proba(X)), soft.predict_proba(X))


def test_regressors_are_averaged():
    bag = BaggingRegressor(LinearRegression(), 5, random_state=0).fit(Z, T)
    mean = np.mean([member.predict(Z) for member in bag.estimators_], axis=0)
    np.testing.assert_allclose(bag.predict(Z), mean, rtol=1e-13)


def test_a_member_that_was_drawn_no_row_of_a_class_gives_it_nothing():
    y = np.where(np.arange(150) == 7, "rare", NAMES)
    for learner in (TheirTree(), NaiveBayes()):
        bag = BaggingClassifier(learner, 6, max_samples=0.3, random_state=0).fit(X, y)
        proba = bag.predict_proba(X)
        assert proba.shape == (150, 4)
        np.testing.assert_allclose(proba.sum(axis=1), 1.0)
        seen = [7 in rows for rows in bag.estimators_samples_]
        assert not all(seen)
        rare = bag.classes_.tolist().index("rare")
        assert (proba[:, rare] <= np.mean(seen) + 1e-12).all()


def test_bagging_lowers_the_error_of_an_unstable_learner():
    alone = KNeighborsRegressor(1).fit(Z[::2], T[::2])
    bag = BaggingRegressor(KNeighborsRegressor(1), 40, random_state=0).fit(
        Z[::2], T[::2]
    )
    errors = [
        np.mean((model.predict(Z[1::2]) - T[1::2]) ** 2) for model in (alone, bag)
    ]
    assert errors[1] < 0.8 * errors[0]


# -- draws -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("max_samples", "n"),
    [(1.0, 150), (0.5, 75), (40, 40), (2.0, 300), (1, 1), (1e-9, 1)],
)
def test_any_number_of_rows_may_be_drawn(max_samples, n):
    bag = BaggingClassifier(
        NaiveBayes(), 2, max_samples=max_samples, random_state=0
    ).fit(X, NAMES)
    assert [len(rows) for rows in bag.estimators_samples_] == [n, n]


def test_a_bootstrap_sample_holds_one_minus_one_over_e_of_the_rows():
    bag = BaggingClassifier(NaiveBayes(), 50, random_state=0).fit(X, NAMES)
    share = np.mean([len(np.unique(rows)) / 150 for rows in bag.estimators_samples_])
    assert abs(share - (1 - 1 / np.e)) < 0.01


def test_without_replacement_no_row_comes_twice():
    bag = BaggingClassifier(
        NaiveBayes(), 3, max_samples=100, bootstrap=False, random_state=0
    ).fit(X, NAMES)
    assert all(len(np.unique(rows)) == 100 for rows in bag.estimators_samples_)
    with pytest.raises(SettingError, match="max_samples=151 must be <= n_samples=150"):
        BaggingClassifier(NaiveBayes(), max_samples=151, bootstrap=False).fit(X, NAMES)


@pytest.mark.syllabus("11.3.5")
def test_random_subspaces_give_every_member_its_own_columns():
    bag = BaggingClassifier(
        NaiveBayes(), 12, bootstrap=False, max_features=0.5, random_state=0
    ).fit(X, NAMES)
    columns = bag.estimators_features_
    assert all(len(some) == 2 for some in columns)
    assert len({tuple(some) for some in columns}) > 3
    assert all(len(rows) == 150 for rows in bag.estimators_samples_)
    mean = np.mean(
        [
            NaiveBayes().fit(X[:, some], NAMES).predict_proba(X[:, some])
            for some in columns
        ],
        axis=0,
    )
    np.testing.assert_allclose(bag.predict_proba(X), mean, rtol=1e-12)
    with pytest.raises(SettingError, match=r"asks for 1.5e\+302 draws of 150 rows"):
        BaggingClassifier(max_samples=1e300).fit(X, NAMES)
    with pytest.raises(SettingError, match="asks for 5 of 4 columns"):
        BaggingClassifier(NaiveBayes(), max_features=5).fit(X, NAMES)


def test_columns_may_be_drawn_twice():
    bag = BaggingClassifier(
        NaiveBayes(), 8, max_features=1.0, bootstrap_features=True, random_state=0
    )
    bag.fit(X, NAMES)
    some = bag.estimators_features_[0]
    assert len(some) == 4
    assert any(len(np.unique(some)) < 4 for some in bag.estimators_features_)
    theirs = BaggingClassifier(
        TheirTree(), 8, bootstrap_features=True, random_state=0
    ).fit(X, NAMES)
    assert [list(a) for a in theirs.estimators_features_] == [
        list(a) for a in bag.estimators_features_
    ]
    assert bag.score(X, NAMES) > 0.9


def test_everything_random_follows_from_the_seed():
    one, two = (
        BaggingClassifier(TheirTree(splitter="random"), 5, random_state=7).fit(X, Y)
        for _ in "ab"
    )
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))
    other = BaggingClassifier(TheirTree(splitter="random"), 5, random_state=8).fit(X, Y)
    assert (one.predict_proba(X) != other.predict_proba(X)).any()
    assert len({member.random_state for member in one.estimators_}) == 5


def test_threads_do_not_change_a_bit():
    results = []
    for count in (1, 2):
        with threadpool_limits(count):
            bag = BaggingRegressor(
                LinearRegression(), 7, oob_score=True, random_state=0
            ).fit(Z, T)
            results.append((bag.predict(Z), bag.oob_prediction_, bag.oob_score_))
    for one, two in zip(*results):
        np.testing.assert_array_equal(one, two)


# -- out of bag ------------------------------------------------------------------------


@pytest.mark.syllabus("11.3.2")
@pytest.mark.parametrize("voting", ["soft", "hard"])
def test_out_of_bag_posteriors_are_those_of_members_that_have_not_seen_the_row(voting):
    bag = BaggingClassifier(
        NaiveBayes(), 9, voting=voting, oob_score=True, random_state=1
    ).fit(X, NAMES)
    right, judged = 0, 0
    for i in range(150):
        blind = [
            m
            for m, rows in zip(bag.estimators_, bag.estimators_samples_)
            if i not in rows
        ]
        if not blind:
            assert np.isnan(bag.oob_decision_function_[i]).all()
            continue
        if voting == "soft":
            mean = np.mean(
                [member.predict_proba(X[[i]])[0] for member in blind], axis=0
            )
        else:
            mean = np.mean(
                [member.predict(X[[i]])[0] == bag.classes_ for member in blind], axis=0
            )
        np.testing.assert_allclose(bag.oob_decision_function_[i], mean, rtol=1e-12)
        right, judged = right + (bag.classes_[mean.argmax()] == NAMES[i]), judged + 1
    assert bag.oob_unknown_ == 150 - judged > 0
    assert bag.oob_score_ == pytest.approx(right / judged)


def test_out_of_bag_predictions_of_a_regressor():
    bag = BaggingRegressor(
        TheirRegressionTree(), 6, oob_score=True, random_state=1
    ).fit(Z, T)
    total, times = np.zeros(442), np.zeros(442)
    for i, (member, rows) in enumerate(zip(bag.estimators_, bag.estimators_samples_)):
        left = np.setdiff1d(np.arange(442), rows)
        total[left] += member.predict(Z[left])
        times[left] += 1
        assert bag.oob_errors_[i] == pytest.approx(
            np.mean((member.predict(Z[left]) - T[left]) ** 2)
        )
    seen = times > 0
    np.testing.assert_allclose(bag.oob_prediction_[seen], total[seen] / times[seen])
    assert np.isnan(bag.oob_prediction_[~seen]).all()
    residual = np.sum((bag.oob_prediction_[seen] - T[seen]) ** 2)
    assert bag.oob_score_ == pytest.approx(
        1 - residual / np.sum((T[seen] - T[seen].mean()) ** 2)
    )


def test_out_of_bag_estimates_the_error_on_new_rows():
    rng = np.random.default_rng(0)
    cells = rng.normal(size=(3000, 3))
    y = (cells[:, 0] + rng.normal(size=3000) > 0).astype(int)
    bag = BaggingClassifier(NaiveBayes(), 20, oob_score=True, random_state=0).fit(
        cells[:1000], y[:1000]
    )
    assert abs(bag.oob_score_ - bag.score(cells[1000:], y[1000:])) < 0.03


def test_there_must_be_rows_out_of_bag():
    with pytest.raises(SettingError, match="every member was drawn all rows"):
        BaggingClassifier(NaiveBayes(), bootstrap=False, oob_score=True).fit(X, NAMES)
    bag = BaggingClassifier(
        NaiveBayes(), max_samples=0.5, bootstrap=False, oob_score=True, random_state=0
    )
    # rows may be out of bag without replacement, too
    assert bag.fit(X, NAMES).oob_score_ > 0.9


# -- weights ---------------------------------------------------------------------------


def test_rows_are_drawn_by_their_weights_and_weigh_their_draws():
    w = np.random.default_rng(0).integers(0, 4, 150).astype(float)
    bag = BaggingClassifier(NaiveBayes(), 3, random_state=0, oob_score=True).fit(
        X, NAMES, w
    )
    for member, rows in zip(bag.estimators_, bag.estimators_samples_):
        assert (w[rows] > 0).all()
        alone = NaiveBayes().fit(X[rows], NAMES[rows])
        np.testing.assert_allclose(
            member.predict_proba(X), alone.predict_proba(X), atol=1e-9
        )
    assert len(bag.estimators_samples_[0]) == (w > 0).sum()
    assert np.isnan(bag.oob_decision_function_[w == 0]).all()
    known = np.isfinite(bag.oob_decision_function_[:, 0])
    assert bag.oob_unknown_ == np.sum((w > 0) & ~known)
    right = (
        bag.classes_[bag.oob_decision_function_[known].argmax(axis=1)] == NAMES[known]
    )
    assert bag.oob_score_ == pytest.approx(np.average(right, weights=w[known]))


def test_a_learner_without_weights_is_drawn_rows_by_their_weights():
    w = np.where(Y == 0, 8.0, 1.0)
    bag = BaggingClassifier(KNeighborsClassifier(), 40, random_state=0).fit(X, Y, w)
    share = np.mean([np.mean(Y[rows] == 0) for rows in bag.estimators_samples_])
    assert share == pytest.approx(0.8, abs=0.02)


def test_equal_weights_are_no_weights():
    one = BaggingClassifier(NaiveBayes(), 3, random_state=0).fit(X, NAMES)
    two = BaggingClassifier(NaiveBayes(), 3, random_state=0).fit(X, NAMES, np.ones(150))
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))


# -- going on --------------------------------------------------------------------------


def test_a_warm_start_is_all_members_at_once():
    settings = {"oob_score": True, "max_features": 0.5, "random_state": 5}
    parts = BaggingClassifier(NaiveBayes(), 3, warm_start=True, **settings).fit(
        X, NAMES
    )
    first = parts.estimators_[0]
    parts.set_params(n_estimators=8).fit(X, NAMES)
    whole = BaggingClassifier(NaiveBayes(), 8, **settings).fit(X, NAMES)
    assert parts.estimators_[0] is first
    np.testing.assert_array_equal(parts.predict_proba(X), whole.predict_proba(X))
    np.testing.assert_array_equal(
        parts.oob_decision_function_, whole.oob_decision_function_
    )
    assert parts.oob_score_ == whole.oob_score_


def test_a_warm_start_refuses_what_does_not_fit():
    bag = BaggingClassifier(NaiveBayes(), 3, warm_start=True, random_state=0).fit(
        X, NAMES
    )
    with pytest.raises(SettingError, match="other rows or draws"):
        bag.set_params(n_estimators=5).fit(X[::2], NAMES[::2])
    assert len(bag.estimators_) == 3
    assert bag.score(X, NAMES) > 0.9  # as it was
    with pytest.raises(SettingError, match="less than the 3 members"):
        bag.set_params(n_estimators=2).fit(X, NAMES)
    with pytest.warns(
        UserWarning, match="does not fit new members: there are 3 already"
    ):
        bag.set_params(n_estimators=3).fit(X, NAMES)


def test_staged_predictions_end_with_the_prediction():
    bag = BaggingClassifier(NaiveBayes(), 4, random_state=0).fit(X, NAMES)
    stages = list(bag.staged_predict_proba(X))
    assert len(stages) == 4
    np.testing.assert_array_equal(stages[0], bag.estimators_[0].predict_proba(X))
    np.testing.assert_allclose(stages[-1], bag.predict_proba(X), rtol=1e-14)
    assert (list(bag.staged_predict(X))[-1] == bag.predict(X)).all()
    numbers = BaggingRegressor(LinearRegression(), 4, random_state=0).fit(Z, T)
    np.testing.assert_allclose(list(numbers.staged_predict(Z))[-1], numbers.predict(Z))


def test_progress_is_reported_after_every_member():
    seen = []
    with watch(seen.append):
        BaggingClassifier(NaiveBayes(), 4).fit(X, NAMES)
    assert [u for u in seen if u.stage == "members"] == [
        Update("members", k, 4) for k in (1, 2, 3, 4)
    ]


# -- tables ----------------------------------------------------------------------------


def test_mixed_tables_with_missing_cells_reach_lyceums_learners_as_they_are():
    frame, y = mixed()
    frame.loc[::7, "age"] = np.nan
    frame.loc[3::11, "town"] = None
    bag = BaggingClassifier(NaiveBayes(), 5, random_state=0).fit(frame, y)
    member = bag.estimators_[0]
    assert [column.kind for column in member.schema_] == [
        "continuous",
        "categorical",
        "binary",
    ]
    rows = bag.estimators_samples_[0]
    alone = NaiveBayes().fit(frame.iloc[rows], y[rows])
    np.testing.assert_allclose(
        member.predict_proba(frame), alone.predict_proba(frame), atol=1e-9
    )
    assert bag.score(frame, y) > 0.7
    with pytest.raises(
        MissingValuesError, match="which LogisticRegression cannot take"
    ):
        BaggingClassifier(LogisticRegression(), 2).fit(frame, y)


@pytest.mark.parametrize("container", [pd.DataFrame, pl.from_pandas])
def test_other_learners_get_the_frame_that_was_given(container):
    frame, y = mixed()
    given = container(frame)
    learner = make_pipeline(
        make_column_transformer(
            (OneHotEncoder(handle_unknown="ignore"), ["town"]), remainder="passthrough"
        ),
        TheirTree(max_depth=3),
    )
    bag = BaggingClassifier(learner, 4, oob_score=True, random_state=0).fit(given, y)
    assert bag.score(given, y) > 0.7
    rows = bag.estimators_samples_[0]
    alone = clone(bag.estimators_[0]).fit(frame.iloc[rows], y[rows])
    np.testing.assert_allclose(
        bag.estimators_[0].predict_proba(given), alone.predict_proba(frame), atol=1e-12
    )


def test_other_learners_are_not_given_codes():
    frame, y = mixed()
    with pytest.raises(SchemaError, match="column 'town' holds categories"):
        BaggingClassifier(TheirTree(), 2).fit(scan(frame.assign(y=y), "y"))
    numbers = pd.DataFrame(X, columns=list("abcd")).assign(y=NAMES)
    bag = BaggingClassifier(TheirTree(), 2, random_state=0).fit(scan(numbers, "y"))
    assert bag.score(numbers[list("abcd")], NAMES) > 0.9


def test_a_pipeline_of_lyceums_learners_takes_rows_and_weights():
    frame, y = mixed()
    w = np.arange(200) % 3 * 1.0
    learner = make_pipeline(StandardScaler(), LogisticRegression())
    bag = BaggingClassifier(learner, 3, random_state=0).fit(frame, y, w)
    rows = bag.estimators_samples_[0]
    assert (w[rows] > 0).all()
    data = frame.iloc[rows].assign(y=y[rows])
    alone = clone(learner).fit(scan(data, "y"))
    np.testing.assert_allclose(
        bag.estimators_[0].predict_proba(frame), alone.predict_proba(frame), atol=1e-6
    )


def test_the_estimators_own_word_on_categories_counts():
    cells = np.random.default_rng(0).integers(0, 3, (60, 2))
    y = cells[:, 0] == 1
    said = BaggingClassifier(
        NaiveBayes(categorical_features=[0]), 3, random_state=0
    ).fit(cells, y)
    assert said.schema_["x0"].is_categorical
    assert said.estimators_[0].schema_["x0"].is_categorical
    also = BaggingClassifier(
        NaiveBayes(), 3, random_state=0, categorical_features=[0]
    ).fit(cells, y)
    np.testing.assert_array_equal(said.predict_proba(cells), also.predict_proba(cells))


def test_a_dask_collection_may_be_learned_from_and_asked_about_if_memory_holds_it(
    monkeypatch,
):
    import dask.array as da

    bag = BaggingClassifier(NaiveBayes(), 3, random_state=0).fit(X, NAMES)
    lazy = bag.predict_proba(da.from_array(X, chunks=(40, 4)))
    np.testing.assert_allclose(lazy.compute(), bag.predict_proba(X), rtol=1e-12)
    monkeypatch.setattr("lyceum._core.data.rows.gather._half_of_memory", lambda: 100)
    with pytest.raises(
        SourceError, match=r"keeps every row in memory.* use lyceum\.bayes"
    ):
        BaggingClassifier(NaiveBayes()).fit(da.from_array(X), da.from_array(Y))


@pytest.mark.parametrize("learner", [NaiveBayes(), TheirTree()])
def test_one_row_and_one_class(learner):
    assert BaggingClassifier(learner, 2).fit([[1.0, 2.0]], ["a"]).predict(
        [[5.0, 5.0]]
    ).tolist() == ["a"]
    assert BaggingClassifier(learner, 2).fit(X, ["a"] * 150).predict_proba(
        X[:1]
    ).tolist() == [[1.0]]


# -- what was learned ------------------------------------------------------------------


def test_explanations_are_the_mean_of_the_members():
    bag = BaggingRegressor(LinearRegression(), 4, max_features=0.6, random_state=0).fit(
        Z, T
    )
    explained = bag.explain(Z[:7])
    np.testing.assert_allclose(explained.scores, bag.predict(Z[:7]))
    np.testing.assert_allclose(explained.predicted, bag.predict(Z[:7]))
    assert set(explained.names) <= set(bag.schema_.names)


def test_the_summary_says_what_is_known_out_of_bag():
    bag = BaggingClassifier(NaiveBayes(), 6, oob_score=True, random_state=0).fit(
        X, NAMES
    )
    text = str(bag.summary())
    assert "6 × NaiveBayes" in text
    assert "150 of 150, drawn with replacement" in text
    assert "a member alone, mean" in text
    assert f"{1 - bag.oob_score_:.4g}" in text


@pytest.mark.parametrize("form", ["csr", "csc", "lil", "dok"])
def test_sparse_rows_reach_members_of_other_libraries_in_a_form_that_can_be_indexed(
    form,
):
    X = np.random.default_rng(0).poisson(0.5, size=(60, 5)).astype(float)
    y = (X[:, 0] > 0).astype(int)

    class Seen(TheirTree):
        def fit(self, X, y, sample_weight=None):
            self.form_ = X.format
            super().fit(X, y, sample_weight)  # and returns nothing

    model = BaggingClassifier(Seen(random_state=0), 3, random_state=0)
    model.fit(sparse.csr_array(X).asformat(form), y)
    assert {member.form_ for member in model} == {form if form == "csc" else "csr"}
    dense = BaggingClassifier(TheirTree(random_state=0), 3, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), dense.predict_proba(X))

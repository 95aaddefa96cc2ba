"""AdaBoost by reweighting and by resampling, for two classes and more."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import AdaBoostClassifier as TheirAdaBoost
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier as TheirTree
from tests.ensemble.adaboost_cases import cloud
from threadpoolctl import threadpool_limits

from lyceum.bayes import NaiveBayes
from lyceum.data import scan
from lyceum.ensemble import AdaBoostClassifier, OneVsOneClassifier
from lyceum.ensemble.boosting.adaboost_rounds import AlphaRule
from lyceum.errors import SchemaError, SettingError, SourceError
from lyceum.progress import Update, watch
from lyceum.trees import DecisionTreeClassifier

TEN = np.arange(1, 11)[:, None] / 10
SIGNS = np.array(list("+++----+++"))
STUMP = TheirTree(max_depth=1)


# -- the rounds ------------------------------------------------------------------------


@pytest.mark.syllabus("11.4.3")
def test_three_rounds_on_ten_points_by_hand():
    """StumpFitter at .35, at .75 and all plus: errors 3/10, 3/14 and 2/11, and the labels come
    out."""
    model = AdaBoostClassifier(STUMP, 3, record=True).fit(TEN, SIGNS)
    D, errors = [Fraction(1, 10)] * 10, []
    rounds = ["+++-------", "-------+++", "++++++++++"]  # what the three stumps say
    for said, step in zip(rounds, model.record_):
        np.testing.assert_allclose(step["weights"], [float(d) for d in D], rtol=1e-12)
        wrong = [a != b for a, b in zip(said, SIGNS)]
        error = sum(d for d, w in zip(D, wrong) if w)
        errors.append(error)
        # D exp(±α) / Z with α = ½ ln((1 − ε)/ε): the wrong ones get half of the weight
        D = [d / (2 * error) if w else d / (2 * (1 - error)) for d, w in zip(D, wrong)]
    assert errors == [Fraction(3, 10), Fraction(3, 14), Fraction(2, 11)]
    np.testing.assert_allclose(model.errors_, [float(e) for e in errors], rtol=1e-12)
    np.testing.assert_allclose(
        model.alphas_, [0.5 * np.log(float((1 - e) / e)) for e in errors], rtol=1e-12
    )
    assert model.training_errors_.round(12).tolist() == [0.3, 0.3, 0.0]
    assert (model.predict(TEN) == SIGNS).all()


@pytest.mark.syllabus("11.4")
@pytest.mark.parametrize("K", [2, 3, 5])
@pytest.mark.parametrize("rate", [1.0, 0.3])
def test_errors_and_votes_are_scikit_learns(K, rate):
    """Its weights of members are 2α: α is that of votes of −1 and +1."""
    X, y = cloud(K=K)
    theirs = TheirAdaBoost(
        TheirTree(max_depth=2, random_state=0), n_estimators=8, learning_rate=rate
    )
    theirs.set_params(random_state=0).fit(X, y)
    ours = AdaBoostClassifier(TheirTree(max_depth=2), 8, learning_rate=rate).fit(X, y)
    np.testing.assert_allclose(ours.errors_, theirs.estimator_errors_, rtol=1e-10)
    np.testing.assert_allclose(
        2.0 * ours.alphas_, theirs.estimator_weights_, rtol=1e-10
    )
    assert (ours.predict(X) == theirs.predict(X)).all()
    # a member adds w to its class and −w/(K − 1) to the others, as a share of all w = 2α; of two
    # classes the difference is taken, 2 Σ w h = 4 F with h = ±1
    scale = theirs.estimator_weights_.sum() * ((K - 1) / K if K > 2 else 0.25)
    np.testing.assert_allclose(
        ours.decision_function(X), scale * theirs.decision_function(X), atol=1e-9
    )


@pytest.mark.parametrize("method", ["reweight", "resample"])
@pytest.mark.parametrize("K", [2, 3])
def test_a_member_is_at_chance_on_the_weights_that_follow_it(method, K):
    X, y = cloud(K=K)
    model = AdaBoostClassifier(
        STUMP, 8, method=method, record=True, random_state=0
    ).fit(X, y)
    for member, step in zip(model.estimators_, model.record_[1:]):
        assert step["weights"].sum() == pytest.approx(1.0)
        assert step["weights"] @ (member.predict(X) != y) == pytest.approx(
            1.0 - 1.0 / K, abs=1e-9
        )


@pytest.mark.parametrize("K", [2, 4])
def test_alpha_minimizes_the_exponential_loss_of_its_round(K):
    error, rule = 0.2, AlphaRule(K)
    losses = []
    for alpha in np.linspace(0.0, 3.0, 30_001):
        right, wrong = rule.factors(alpha)
        losses.append((1.0 - error) * right + error * wrong)
    assert rule.alpha(error) == pytest.approx(
        3.0 * np.argmin(losses) / 30_000, abs=1e-4
    )
    if K == 2:
        assert min(losses) == pytest.approx(2 * np.sqrt(error * (1 - error)), rel=1e-6)


@settings(max_examples=12)
@given(
    seed=st.integers(0, 10_000), rate=st.sampled_from([1.0, 0.5, 1.5]), m1=st.booleans()
)
def test_the_training_error_stays_below_its_bound(seed, rate, m1):
    K = 3 if m1 else 2
    X, y = cloud(60, K=K, d=2, seed=seed)
    w = np.random.default_rng(seed).integers(0, 3, 60).astype(float)
    model = AdaBoostClassifier(
        TheirTree(max_depth=3),
        12,
        learning_rate=rate,
        multiclass="m1" if m1 else "samme",
    ).fit(X, y, w)
    assert (model.training_errors_ <= np.array(model.history_) + 1e-12).all()
    assert model.training_errors_[-1] == pytest.approx(
        1 - model.score(X, y, w), abs=1e-12
    )
    steps = (1 - model.errors_) * np.exp(-model.alphas_) + model.errors_ * np.exp(
        model.alphas_
    )
    np.testing.assert_allclose(model.history_, np.cumprod(steps), rtol=1e-9)
    if rate == 1.0 and (model.errors_ > 0).all():
        np.testing.assert_allclose(
            steps, 2 * np.sqrt(model.errors_ * (1 - model.errors_)), rtol=1e-9
        )


# -- failed rounds, perfect members ----------------------------------------------------


@pytest.mark.syllabus("11.4")
def test_m1_stops_where_a_member_errs_on_half_of_the_weight_but_samme_goes_on():
    X, y = cloud(600, K=3)
    m1 = AdaBoostClassifier(STUMP, 30, multiclass="m1").fit(X, y)
    assert m1.stopped_ == "no better than chance"
    assert (m1.errors_ < 0.5).all()
    assert m1.failed_errors_[0] >= 0.5 - 1e-12
    assert m1.n_rounds_ == len(m1.estimators_) + 1
    samme = AdaBoostClassifier(STUMP, 30).fit(X, y)
    assert (samme.errors_ > 0.5).any()
    assert len(samme.estimators_) == 30
    assert (np.diff(samme.history_) < 0).all()


@pytest.mark.syllabus("11.4")
def test_a_failed_round_is_drawn_again_by_the_first_weights_and_uses_up_none():
    X, y = cloud(600, K=3)
    settings = {
        "multiclass": "m1",
        "method": "resample",
        "record": True,
        "random_state": 0,
    }
    model = AdaBoostClassifier(STUMP, 30, on_failure="reset", **settings).fit(X, y)
    n_failed = len(model.failed_rounds_)
    assert n_failed > 0
    assert len(model.estimators_) == 30
    assert model.n_rounds_ == 30 + n_failed
    for number in model.failed_rounds_:
        assert not model.record_[number]["kept"]
        np.testing.assert_allclose(model.record_[number + 1]["weights"], 1 / 600)
    stop = AdaBoostClassifier(STUMP, 30, on_failure="stop", **settings).fit(X, y)
    n = int(model.failed_rounds_[0])
    np.testing.assert_array_equal(stop.alphas_, model.alphas_[:n])
    # the exponential loss of all votes, from its definition
    said = np.array([member.predict(X) for member in model.estimators_]) == y
    margins = np.where(said, 1.0, -1.0).T @ model.alphas_
    assert model.history_[-1] == pytest.approx(np.exp(-margins).mean())


def test_a_member_without_error_decides():
    X, y = cloud(200)
    first = AdaBoostClassifier(TheirTree(), 10).fit(X, y)
    assert len(first.estimators_) == 1
    assert first.stopped_ == "a member without error"
    assert first.alphas_[0] == pytest.approx(
        0.5 * np.log(401)
    )  # half a row of 200: ½ ln((1 + s)/s)
    assert first.training_errors_.tolist() == [0.0]

    class SecondIsPerfect(TheirTree):
        def fit(self, X, y, sample_weight=None):
            even = np.ptp(sample_weight) == 0
            return self.set_params(max_depth=1 if even else None).fit_(
                X, y, sample_weight
            )

        def fit_(self, X, y, w):
            return super().fit(X, y, w)

    later = AdaBoostClassifier(SecondIsPerfect(), 10).fit(X, y)
    assert len(later.estimators_) == 2
    assert later.alphas_[1] > later.alphas_[0]
    assert later.score(X, y) == 1.0


def test_nothing_to_learn_is_a_vote_of_nothing():
    model = AdaBoostClassifier(STUMP).fit(np.ones((6, 2)), [0, 1] * 3)
    assert (model.alphas_.tolist(), model.stopped_) == ([0.0], "no better than chance")
    assert model.predict_proba(np.ones((1, 2))).tolist() == [[0.5, 0.5]]
    one = AdaBoostClassifier(STUMP).fit([[1.0], [2.0]], ["a", "a"])
    assert one.predict([[7.0]]).tolist() == ["a"]


@pytest.mark.filterwarnings("ignore:AdaBoostClassifier gets")
@pytest.mark.syllabus("11.4")
@pytest.mark.parametrize("on_failure", ["stop", "reset"])
def test_where_no_member_beats_chance_the_first_one_is_kept(on_failure):
    X, y = cloud(90, K=3)
    always = DummyClassifier(strategy="constant", constant=2)
    model = AdaBoostClassifier(always, 4, multiclass="m1", on_failure=on_failure).fit(
        X, y
    )
    assert model.stopped_ == "no better than chance"
    assert len(model.estimators_) == 1
    assert model.errors_[0] == pytest.approx((y != 2).mean())
    assert (model.predict(X) == 2).all()
    assert (
        cross_val_score(AdaBoostClassifier(always, multiclass="m1"), X, y, cv=3).min()
        > 0.2
    )


def test_ten_failures_in_a_row_end_the_rounds():
    """A learner that errs wherever rows are drawn: the tenth failure is the last."""

    class FirstOnly(ClassifierMixin, BaseEstimator):
        n_fits = 0

        def fit(self, X, y):
            FirstOnly.n_fits += 1
            self.classes_ = np.unique(y)
            self.sign = 1.0 if FirstOnly.n_fits == 1 else -1.0
            return self

        def predict(self, X):
            return (self.sign * X[:, 0] > 0.2).astype(int)

    X = np.random.default_rng(0).normal(size=(80, 1))
    y = (X[:, 0] > 0).astype(int)
    model = AdaBoostClassifier(
        FirstOnly(), 20, method="resample", on_failure="reset", random_state=0
    ).fit(X, y)
    assert model.failed_rounds_.tolist() == list(range(1, 11))
    assert (model.n_rounds_, len(model.estimators_)) == (11, 1)
    assert model.stopped_ == "no better than chance"


@pytest.mark.syllabus("11.4.2")
@pytest.mark.parametrize("method", ["reweight", "resample"])
def test_the_rounds_end_once_the_training_error_no_longer_changes(method):
    X, y = cloud(150)
    settings = {"method": method, "on_failure": "reset", "random_state": 0}
    whole = AdaBoostClassifier(STUMP, 200, **settings).fit(X, y)
    assert len(whole.estimators_) == 200
    for n, tol in ((1, 0.0), (3, 0.0), (5, 0.011)):
        errors = whole.training_errors_
        # by hand: the first round whose n rounds before it all have its error
        n_members = next(
            t + 1 for t in range(n, 200) if np.ptp(errors[t - n : t + 1]) <= tol
        )
        stop = {"n_iter_no_change": n, "tol": tol}
        model = AdaBoostClassifier(STUMP, 200, **stop, **settings).fit(X, y)
        assert model.stopped_ == "the error no longer changes"
        assert len(model.estimators_) == n_members < 200
        np.testing.assert_array_equal(model.alphas_, whole.alphas_[:n_members])
        # a warm start stops at the same place, and goes on once it may
        warm = AdaBoostClassifier(STUMP, 2, warm_start=True, **stop, **settings)
        warm.fit(X, y).set_params(n_estimators=200).fit(X, y)
        np.testing.assert_array_equal(warm.alphas_, model.alphas_)
        warm.set_params(n_iter_no_change=None).fit(X, y)
        np.testing.assert_array_equal(warm.alphas_, whole.alphas_)


def nineteen_classes(seed=0):
    """Clouds about nineteen centers."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(19), 30)
    return rng.normal(0, 3, (19, 8))[y] + rng.normal(size=(len(y), 8)), y


def test_members_too_weak_for_the_classes_are_warned_of_and_the_advice_helps():
    X, y = nineteen_classes()
    with pytest.warns(ConvergenceWarning, match="19 classes right") as warned:
        weak = AdaBoostClassifier().fit(X, y)
    assert weak.score(X, y) < 0.5
    (warning,) = warned
    assert "a tree of 2 leaves names at most 2 classes" in str(warning.message)
    assert "DecisionTreeClassifier(max_depth=5)" in str(warning.message)
    assert warning.filename == __file__
    # no warning is an error here
    strong = AdaBoostClassifier(DecisionTreeClassifier(max_depth=5)).fit(X, y)
    assert strong.score(X, y) > 0.95
    assert OneVsOneClassifier(AdaBoostClassifier()).fit(X, y).score(X, y) > 0.95


@pytest.mark.syllabus("11.4")
@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("base", [None, STUMP, NaiveBayes()])
def test_what_every_member_says_and_counts_for_is_explained(K, base):
    X, y = cloud(K=K)
    labels = np.array(list("abc"))[y]
    model = AdaBoostClassifier(base, 6).fit(X, labels)
    explanation = model.explain(X[:20])
    said = np.array([member.predict(X[:20]) for member in model.estimators_]).T
    np.testing.assert_array_equal(explanation.answers, said)
    np.testing.assert_array_equal(explanation.predicted, model.predict(X[:20]))
    if K == 2:
        by_hand = model.alphas_ * np.where(said == "b", 1.0, -1.0)
        np.testing.assert_allclose(explanation.shares, by_hand)
        np.testing.assert_allclose(
            explanation.shares.sum(axis=1), model.decision_function(X[:20]), atol=1e-12
        )
    else:
        by_hand = 2 * model.alphas_ * (said == explanation.predicted[:, None])
        np.testing.assert_allclose(explanation.shares, by_hand)
    table = explanation.detail(3)
    rounds = [f"round {t}" for t in range(1, len(model.alphas_) + 1)]
    assert [row[0] for row in table.rows] == rounds
    assert [row[3] for row in table.rows] == model.alphas_.tolist()


# -- weights and draws -----------------------------------------------------------------


@pytest.mark.parametrize("K", [2, 3])
def test_weight_two_equals_repeated_row(K):
    X, y = cloud(K=K)
    w = np.random.default_rng(0).integers(0, 4, len(X))
    rows = np.repeat(np.arange(len(X)), w)
    weighted = AdaBoostClassifier(STUMP, 10).fit(X, y, w)
    repeated = AdaBoostClassifier(STUMP, 10).fit(X[rows], y[rows])
    np.testing.assert_allclose(weighted.alphas_, repeated.alphas_, rtol=1e-9)
    np.testing.assert_allclose(
        weighted.predict_proba(X), repeated.predict_proba(X), rtol=1e-8
    )


@pytest.mark.syllabus("11.4.1")
def test_resampling_tends_to_reweighting():
    X, y = cloud(40_000)
    exact = AdaBoostClassifier(STUMP, 4).fit(X, y)
    drawn = AdaBoostClassifier(STUMP, 4, method="resample", random_state=0).fit(X, y)
    np.testing.assert_allclose(drawn.errors_, exact.errors_, atol=0.01)
    assert (drawn.alphas_ != exact.alphas_).any()


@pytest.mark.parametrize("learner", [STUMP, KNeighborsClassifier(3)])
def test_resampled_members_learn_from_as_many_rows_drawn_by_their_weights(learner):
    X, y = cloud(200)
    w = np.where(np.arange(200) < 50, 0.0, 1.0 + np.arange(200) % 2)
    seen = []

    class Spy(type(learner)):
        def fit(self, X, y, **weights):
            count = weights.get("sample_weight", np.ones(len(X)))
            seen.append((np.sum(count), X[:, 0]))
            return super().fit(X, y, **weights)

    if "sample_weight" in type(learner).fit.__code__.co_varnames:
        Spy.fit = lambda self, X, y, sample_weight: (
            seen.append((sample_weight.sum(), X[:, 0]))
            or type(learner).fit(self, X, y, sample_weight)
        )
    AdaBoostClassifier(
        Spy(**learner.get_params()), 3, method="resample", random_state=0
    ).fit(X, y, w)
    assert [n for n, _ in seen] == [150.0] * len(seen)
    assert not np.isin(np.concatenate([cells for _, cells in seen]), X[:50, 0]).any()


def test_reweighting_needs_weights():
    X, y = cloud(50)
    with pytest.raises(
        SettingError,
        match=r"KNeighborsClassifier doesn't support sample_weight.*resample",
    ):
        AdaBoostClassifier(KNeighborsClassifier()).fit(X, y)


def test_members_see_weights_that_sum_to_those_of_the_rows():
    X, y = cloud(100)
    totals = []

    class Spy(NaiveBayes):
        def fit(self, X, y=None, sample_weight=None):
            totals.append(sum(block.weight for block in X.blocks()))
            return super().fit(X, y, sample_weight)

    AdaBoostClassifier(Spy(), 3).fit(X, y, np.full(100, 2.5))
    np.testing.assert_allclose(totals, 250.0)


def test_threads_do_not_change_a_bit():
    X, y = cloud(30_000, K=3)
    results = []
    for count in (1, 2):
        with threadpool_limits(count):
            model = AdaBoostClassifier(NaiveBayes(), 4, random_state=0).fit(X, y)
            results.append((model.alphas_, model.predict_proba(X)))
    for one, two in zip(*results):
        np.testing.assert_array_equal(one, two)


# -- votes -----------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:AdaBoostClassifier gets")
@pytest.mark.parametrize("K", [2, 4])
def test_posteriors_are_the_softmax_of_the_votes(K):
    X, y = cloud(K=K)
    model = AdaBoostClassifier(STUMP, 7).fit(X, y)
    said = np.array([member.predict(X) for member in model.estimators_])
    votes = np.stack([2.0 * model.alphas_ @ (said == k) for k in range(K)], axis=1)
    proba = np.exp(votes) / np.exp(votes).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X), proba, rtol=1e-10)
    np.testing.assert_allclose(model.predict_log_proba(X), np.log(proba), atol=1e-10)
    assert (model.predict(X) == votes.argmax(axis=1)).all()
    if K == 2:
        F = model.alphas_ @ (2.0 * said - 1.0)
        np.testing.assert_allclose(model.decision_function(X), F, atol=1e-12)
        np.testing.assert_allclose(
            model.predict_proba(X)[:, 1], 1 / (1 + np.exp(-2 * F)), rtol=1e-10
        )
    else:
        centered = votes - votes.mean(axis=1, keepdims=True)
        np.testing.assert_allclose(model.decision_function(X), centered, atol=1e-12)


@pytest.mark.filterwarnings("ignore:AdaBoostClassifier gets")
@pytest.mark.parametrize("K", [2, 3])
def test_staged_predictions_are_those_of_fewer_rounds(K):
    X, y = cloud(K=K)
    model = AdaBoostClassifier(STUMP, 6).fit(X, y)
    fewer = AdaBoostClassifier(STUMP, 4).fit(X, y)
    np.testing.assert_allclose(
        list(model.staged_predict_proba(X))[3], fewer.predict_proba(X), rtol=1e-12
    )
    np.testing.assert_allclose(
        list(model.staged_decision_function(X))[3],
        fewer.decision_function(X),
        atol=1e-12,
    )
    assert (list(model.staged_predict(X))[3] == fewer.predict(X)).all()
    np.testing.assert_allclose(
        1.0 - np.array(list(model.staged_score(X, y))), model.training_errors_
    )


@pytest.mark.parametrize("method", ["reweight", "resample"])
@pytest.mark.parametrize("K", [2, 3])
def test_a_warm_start_is_all_rounds_at_once(K, method):
    X, y = cloud(K=K)
    settings = {
        "method": method,
        "multiclass": "m1",
        "on_failure": "reset",
        "record": True,
        "random_state": 2,
    }
    parts = AdaBoostClassifier(STUMP, 9, warm_start=True, **settings).fit(X, y)
    parts.set_params(n_estimators=20).fit(X, y)
    whole = AdaBoostClassifier(STUMP, 20, **settings).fit(X, y)
    for name in (
        "alphas_",
        "errors_",
        "training_errors_",
        "history_",
        "failed_rounds_",
        "failed_errors_",
    ):
        np.testing.assert_array_equal(
            getattr(parts, name), getattr(whole, name), err_msg=name
        )
    assert len(parts.record_) == len(whole.record_)
    np.testing.assert_array_equal(
        parts.record_[-1]["weights"], whole.record_[-1]["weights"]
    )
    with pytest.raises(SettingError, match="less than the 20 members"):
        parts.set_params(n_estimators=5).fit(X, y)
    with pytest.raises(SchemaError, match="number of columns is 2 instead of 4"):
        parts.set_params(n_estimators=30).fit(X[:, :2], y)
    np.testing.assert_array_equal(parts.alphas_, whole.alphas_)  # as it was


# -- tables ----------------------------------------------------------------------------


def test_mixed_tables_with_missing_cells_reach_lyceums_learners_as_they_are():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"age": rng.normal(size=300), "town": rng.choice(["Ulm", "Bonn"], 300)}
    )
    y = np.where(frame["age"] ** 2 + (frame["town"] == "Ulm") > 1, "yes", "no")
    frame.loc[::9, "age"] = np.nan
    model = AdaBoostClassifier(NaiveBayes(), 5).fit(frame, y)
    assert model.score(frame, y) > 0.7
    same = AdaBoostClassifier(NaiveBayes(), 5).fit(scan(frame.assign(y=y), "y"))
    np.testing.assert_allclose(model.alphas_, same.alphas_)


def test_a_dask_collection_that_memory_cannot_hold_is_refused(monkeypatch):
    import dask.array as da

    monkeypatch.setattr("lyceum._core.data.rows.gather._half_of_memory", lambda: 100)
    X, y = cloud(50)
    with pytest.raises(SourceError, match=r"keeps every row in memory.* use lyceum"):
        AdaBoostClassifier(NaiveBayes()).fit(da.from_array(X), da.from_array(y))


def test_boosting_helps_a_weak_learner():
    X, y = cloud(1000)
    alone = TheirTree(max_depth=1).fit(X[:500], y[:500]).score(X[500:], y[500:])
    assert (
        AdaBoostClassifier(STUMP, 40).fit(X[:500], y[:500]).score(X[500:], y[500:])
        > alone + 0.05
    )


def test_the_summary_has_a_row_a_round():
    model = AdaBoostClassifier(STUMP, 3).fit(TEN, SIGNS)
    text = str(model.summary())
    assert "3, 0 failed; ended by: all rounds" in text
    assert [line.split()[1] for line in text.splitlines()[-3:]] == [
        "0.3",
        "0.2143",
        "0.1818",
    ]
    iris = AdaBoostClassifier(STUMP, 3).fit(*load_iris(return_X_y=True))
    assert "exponential loss" in str(iris.summary())


def test_progress_is_reported_after_every_round():
    seen = []
    with watch(seen.append):
        AdaBoostClassifier(STUMP, 3).fit(TEN, SIGNS)
    assert [u for u in seen if u.stage == "rounds"] == [
        Update("rounds", k, 3) for k in (1, 2, 3)
    ]

"""The Parzen classifier: Bayes' theorem over kernel densities."""

import numpy as np
import pytest

from lyceum.datasets import load
from lyceum.density import KernelDensity, ParzenClassifier
from lyceum.errors import SourceError


def classes_of(n=120, d=2, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    return rng.normal(size=(n, d)) + 2.0 * rng.normal(size=(3, d))[y], np.array(
        ["a", "b", "c"]
    )[y]


@pytest.mark.syllabus("4.5.1")
@pytest.mark.parametrize("kernel", ["gaussian", "epanechnikov", "cauchy"])
@pytest.mark.parametrize("bandwidth", [0.8, "reference", "likelihood"])
def test_posteriors_are_priors_times_kernel_densities(kernel, bandwidth):
    X, y = classes_of()
    w = np.random.default_rng(1).integers(1, 3, len(y)).astype(float)
    model = ParzenClassifier(kernel=kernel, bandwidth=bandwidth, rtol=0.0).fit(
        X, y, sample_weight=w
    )
    joint = []
    for label in model.classes_:
        mine = y == label
        one = KernelDensity(kernel=kernel, bandwidth=bandwidth, rtol=0.0).fit(
            X[mine], sample_weight=w[mine]
        )
        joint.append(w[mine].sum() / w.sum() * np.exp(one.score_samples(X)))
    joint = np.array(joint).T
    np.testing.assert_allclose(
        model.predict_proba(X),
        joint / joint.sum(axis=1, keepdims=True),
        rtol=1e-9,
        atol=1e-14,
    )
    assert (model.predict(X) == model.classes_[joint.argmax(axis=1)]).all()


def test_it_tells_rings_apart_where_a_line_cannot():
    rng = np.random.default_rng(2)
    angle, ring = rng.uniform(0, 2 * np.pi, 400), rng.integers(0, 2, 400)
    X = (1.0 + 2.0 * ring + 0.2 * rng.normal(size=400))[:, None] * np.column_stack(
        [np.cos(angle), np.sin(angle)]
    )
    assert (
        ParzenClassifier(bandwidth="likelihood")
        .fit(X[:200], ring[:200])
        .score(X[200:], ring[200:])
        > 0.98
    )


@pytest.mark.syllabus("4.5", "2.5")
def test_priors_may_be_given():
    X, y = classes_of()
    given = ParzenClassifier(priors=[0.2, 0.3, 0.5]).fit(X, y)
    plain = ParzenClassifier().fit(X, y)
    ratio = given.predict_proba(X) / plain.predict_proba(X)
    expected = np.array([0.2, 0.3, 0.5]) / plain.class_prior_
    np.testing.assert_allclose(
        ratio / ratio[:, :1], np.tile(expected / expected[0], (len(X), 1)), rtol=1e-3
    )


def test_far_from_all_rows_the_posteriors_sum_to_one():
    X, y = classes_of()
    far = np.array([[1e4, -1e4], [500.0, 500.0]])
    for kernel in ("gaussian", "laplace", "cauchy"):
        np.testing.assert_allclose(
            ParzenClassifier(kernel=kernel).fit(X, y).predict_proba(far).sum(axis=1),
            1.0,
        )
    nowhere = ParzenClassifier(kernel="parzen").fit(X, y)
    np.testing.assert_allclose(
        nowhere.predict_proba(far), np.tile(nowhere.class_prior_, (2, 1))
    )


def test_fifty_columns_do_not_underflow():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 200)
    X = 1e-3 * (rng.normal(size=(200, 50)) + 3 * y[:, None])
    model = ParzenClassifier(bandwidth=1e-4).fit(X[:100], y[:100])
    np.testing.assert_allclose(model.predict_proba(X[100:]).sum(axis=1), 1.0)
    assert model.score(X[100:], y[100:]) > 0.95


def test_the_explanation_adds_up_to_the_log_odds():
    X, y = classes_of()
    model = ParzenClassifier(rtol=0.0).fit(X, y)
    explanation = model.explain(X[:10])
    log = np.sort(model.predict_log_proba(X[:10]), axis=1)
    np.testing.assert_allclose(explanation.scores, log[:, -1] - log[:, -2], rtol=1e-8)
    assert (explanation.predicted == model.predict(X[:10])).all()


def test_the_explanation_adds_up_at_default_settings():
    X, y = classes_of()
    model = ParzenClassifier().fit(X, y)
    explanation = model.explain(X[:10])
    log = np.sort(model.predict_log_proba(X[:10]), axis=1)
    np.testing.assert_allclose(explanation.scores, log[:, -1] - log[:, -2], rtol=1e-8)
    exact = ParzenClassifier(rtol=0.0).fit(X, y).explain(X[:10])
    np.testing.assert_allclose(
        explanation.contributions, exact.contributions, atol=1e-3
    )


def test_one_class_one_row_and_a_class_without_weight():
    assert ParzenClassifier().fit([[1.0]], ["only"]).predict([[5.0]]).tolist() == [
        "only"
    ]
    X, y = [[0.0], [1.0], [5.0]], ["a", "a", "b"]
    model = ParzenClassifier().fit(X, y, sample_weight=[1.0, 1.0, 0.0])
    assert model.predict([[5.0]]).tolist() == ["a"]
    np.testing.assert_array_equal(model.predict_proba([[5.0]]), [[1.0, 0.0]])
    assert "Classes" in str(model.summary())


def test_a_dask_collection_that_memory_cannot_hold_is_refused_by_naming_an_alternative(
    monkeypatch,
):
    import dask.array as da

    monkeypatch.setattr("lyceum._core.data.rows.gather._half_of_memory", lambda: 100)
    X, y = classes_of(40)
    with pytest.raises(
        SourceError, match="QuadraticDiscriminantAnalysis or NaiveBayes"
    ):
        ParzenClassifier().fit(
            da.from_array(X, chunks=(20, 2)), da.from_array(y, chunks=20)
        )


def left_out_loss(X, y, bandwidth):
    """The mean of -log P(own class | x) without the row itself, from the definition."""
    losses = []
    for i in range(len(y)):
        others = np.arange(len(y)) != i
        joint = []
        for k, h in enumerate(bandwidth):
            own = X[others & (y == k)]
            u = (X[i] - own) / h
            f = np.exp(-0.5 * (u**2).sum(axis=1)).mean() / h.prod()
            joint.append((y == k).mean() * f)
        losses.append(-np.log(joint[y[i]] / sum(joint)))
    return np.mean(losses)


@pytest.mark.syllabus("4.3")
@pytest.mark.syllabus("4.5")
def test_the_chosen_bandwidths_have_the_least_left_out_loss_of_their_kind():
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], [40, 25])
    X = rng.normal(size=(65, 3)) * [1.0, 5.0, 0.2] * (1.0 + y[:, None]) + y[:, None]
    model = ParzenClassifier(rtol=0.0).fit(X, y)
    chosen = left_out_loss(X, y, model.bandwidth_)
    for factor in (0.5, 2**-0.5, 2**0.5, 2.0):
        assert chosen <= left_out_loss(X, y, factor * model.bandwidth_) + 1e-12
    n, d = np.array([40, 25]), 3
    own = np.array([X[y == k].std(axis=0, ddof=1) for k in (0, 1)])
    rule = (4.0 / ((d + 2) * n)) ** (1.0 / (d + 4))
    assert chosen <= left_out_loss(X, y, own * rule[:, None]) + 1e-12
    ratio = model.bandwidth_ / (own * rule[:, None])
    assert np.allclose(ratio, ratio[0, 0]) or np.allclose(
        model.bandwidth_[0], model.bandwidth_[1]
    )


@pytest.mark.syllabus("4.5")
def test_posteriors_of_a_table_of_categories_are_better_than_the_shares_of_the_classes():
    rows = load("german_credit")
    train, test = rows.take(np.arange(0, 1000, 2)), rows.take(np.arange(1, 1000, 2))
    proba = ParzenClassifier().fit(train).predict_proba(test)
    truth = np.searchsorted(["bad", "good"], test.y)
    loss = -np.log(proba[np.arange(500), truth]).mean()
    share = -np.log(np.where(truth == 1, 0.7, 0.3)).mean()
    assert loss < 0.95 * share


def test_a_weight_of_two_is_left_out_once():
    rng = np.random.default_rng(2)
    X, y, w = rng.normal(size=(30, 2)), rng.integers(0, 2, 30), rng.integers(1, 4, 30)
    weighted = ParzenClassifier(rtol=0.0).fit(X, y, sample_weight=w).bandwidth_
    repeated = (
        ParzenClassifier(rtol=0.0)
        .fit(np.repeat(X, w, axis=0), np.repeat(y, w))
        .bandwidth_
    )
    assert weighted == pytest.approx(repeated)

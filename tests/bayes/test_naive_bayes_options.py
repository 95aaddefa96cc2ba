"""Unbiased variances and bandwidths by column."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from lyceum.bayes import NaiveBayes
from lyceum.errors import SchemaError, SettingError

RNG = np.random.default_rng(2)
X = pd.DataFrame(
    {"a": RNG.normal(size=30), "b": RNG.normal(size=30), "c": RNG.normal(size=30)}
)
y = np.arange(30) % 3


@pytest.mark.syllabus("2.2")
def test_unbiased_variances_are_divided_by_n_less_one():
    model = NaiveBayes(unbiased=True, var_smoothing=0.0).fit(X, y)
    assert_allclose(
        model.variances_,
        np.array([X[y == k].var(ddof=1) for k in range(3)]),
        rtol=1e-12,
    )
    assert "n - 1 (unbiased)" in str(model.summary())


def test_a_class_with_one_cell_has_the_variance_of_the_column():
    labels = np.where(np.arange(30) == 0, "one", "rest")
    model = NaiveBayes(unbiased=True, var_smoothing=0.0).fit(X, labels)
    assert_allclose(model.variances_[0], X.var(ddof=0), rtol=1e-12)
    assert np.isfinite(model.predict_log_proba(X)).all()


@pytest.mark.parametrize("names", [{"a": 0.5, "c": 2.0}, {0: 0.5, 2: 2.0}])
def test_bandwidths_may_be_given_by_column(names):
    model = NaiveBayes(continuous="kernel", bandwidth=names).fit(X, y)
    assert_allclose(model.bandwidths_["a"], 0.5)
    assert_allclose(model.bandwidths_["c"], 2.0)
    reference = NaiveBayes(continuous="kernel").fit(X, y)
    assert_allclose(model.bandwidths_["b"], reference.bandwidths_["b"])
    at = X["a"].to_numpy()[:4]
    density = np.exp(
        -0.5 * ((at[:, None] - X["a"].to_numpy()[y == 1]) / 0.5) ** 2
    ).mean(axis=1)
    log = np.log(density / (0.5 * np.sqrt(2 * np.pi)))
    assert_allclose(model.kernels_["a"][1](at), log, atol=1e-4)


def test_bandwidths_that_do_not_fit_are_refused():
    with pytest.raises(
        SchemaError, match="bandwidth names the column 'z', which does not exist"
    ):
        NaiveBayes(continuous="kernel", bandwidth={"z": 1.0}).fit(X, y)
    with pytest.raises(SchemaError, match="'b', which has no kernel density"):
        NaiveBayes(continuous={"a": "kernel"}, bandwidth={"b": 1.0}).fit(X, y)
    with pytest.raises(SettingError, match=r"bandwidth\['a'\] is -1"):
        NaiveBayes(continuous="kernel", bandwidth={"a": -1}).fit(X, y)

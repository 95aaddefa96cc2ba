"""The radial Epanechnikov kernel, scikit-learn's, beside the product."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn import neighbors

from lyceum.density import KernelDensity, ParzenClassifier
from lyceum.errors import SettingError

RNG = np.random.default_rng(3)


@pytest.mark.parametrize("d", [1, 2, 3, 5])
@pytest.mark.parametrize("rtol", [0.0, 1e-4])
def test_the_radial_kernel_is_that_of_scikit_learn(d, rtol):
    X, new = RNG.normal(size=(300, d)), RNG.normal(size=(40, d))
    w = RNG.uniform(0.5, 2.0, 300)
    theirs = neighbors.KernelDensity(kernel="epanechnikov", bandwidth=1.4).fit(
        X, sample_weight=w
    )
    ours = KernelDensity(kernel="epanechnikov", bandwidth=1.4, rtol=rtol).fit(
        X, sample_weight=w
    )
    found = np.exp(ours.score_samples(new))
    assert_allclose(
        found,
        np.exp(theirs.score_samples(new)),
        rtol=1e-4 if rtol else 1e-9,
        atol=1e-14,
    )


def test_in_one_column_it_is_the_product():
    X = RNG.normal(size=(50, 1))
    one, two = (
        KernelDensity(kernel=k).fit(X) for k in ("epanechnikov", "product_epanechnikov")
    )
    assert_allclose(one.score_samples(X), two.score_samples(X), rtol=1e-9)
    assert one.integrate([[-1.0, 0.5]]) == pytest.approx(two.integrate([[-1.0, 0.5]]))


def test_marginals_in_explanations_integrate_the_other_columns_out():
    X = RNG.normal(size=(12, 2))
    model = KernelDensity(kernel="epanechnikov", bandwidth=[1.5, 0.7], rtol=0.0).fit(X)
    row = X[:1] + 0.1
    found = model.explain(row)
    line = np.linspace(-6, 6, 20_001)
    rows = np.column_stack([np.full(len(line), row[0, 0]), line])
    marginal = np.trapezoid(np.exp(model.score_samples(rows)), line)
    assert found.contributions[0, 0] == pytest.approx(np.log(marginal), abs=1e-5)
    assert found.contributions.sum() + np.sum(found.base) == pytest.approx(
        model.score_samples(row)[0]
    )


def test_samples_follow_the_kernel_and_boxes_are_refused():
    model = KernelDensity(kernel="epanechnikov", bandwidth=2.0).fit(np.zeros((1, 3)))
    drawn = model.sample(20_000, random_state=0) / 2.0
    squares = (drawn**2).sum(axis=1)
    assert squares.max() < 1.0
    assert squares.mean() == pytest.approx(3 / 7, abs=0.01)  # d / (d + 4)
    with pytest.raises(SettingError, match="no formula under a radial kernel"):
        model.integrate([[0, 1]] * 3)


def test_classes_may_have_radial_kernels():
    X = np.vstack([RNG.normal(0, 1, (60, 2)), RNG.normal(3, 1, (60, 2))])
    y = np.repeat([0, 1], 60)
    assert (
        ParzenClassifier(kernel="epanechnikov", bandwidth="likelihood")
        .fit(X, y)
        .score(X, y)
        > 0.9
    )

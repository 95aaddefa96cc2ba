"""The published model tree of the CPU table, as WEKA's M5P prints it.

M5P looks for splits by the fifth root of the variance, where the papers say standard deviation, and
leaves at least a fifth of the rows on either side. The tree here is grown so by the plain
reference; all that follows (columns tested below, models, dropped columns, pruning, smoothing
folded into the leaves) is Lyceum's.
"""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import KFold, cross_val_predict
from tests.trees.m5_reference import WEKA, Reference

from lyceum import datasets
from lyceum._core.trees import LEAF, Router
from lyceum.trees import ModelTreeRegressor
from lyceum.trees.model_trees.m5_models import (
    choose_leaves,
    columns_below,
    fit_models,
    smooth_models,
)
from lyceum.trees.pruning.bottom_up import compact, reachable_nodes

NAMES = ["MYCT", "MMIN", "MMAX", "CACH", "CHMIN", "CHMAX"]
# weight, error in % of the standard deviation, coefficients and constant of the five models
PUBLISHED = [
    (165, 12.903, [-0.0055, 0.0013, 0.0029, 0.8007, 0, 0.4015], 11.0971),
    (6, 18.551, [-1.0307, 0.0086, 0.0031, 0.7866, -2.4503, 1.1597], 70.8672),
    (4, 30.824, [-1.1057, 0.0086, 0.0031, 0.7995, -2.4503, 1.1597], 83.0016),
    (11, 24.185, [-0.8813, 0.0086, 0.0031, 0.6547, -2.3561, 1.1597], 82.5725),
    (23, 48.302, [-0.4882, 0.0218, 0.003, 0.3865, -1.3252, 3.3671], -51.8474),
]


@pytest.fixture(scope="module")
def cpu():
    table = pd.read_csv(datasets.path("cpu"))
    return table[NAMES].to_numpy(float), table["class"].to_numpy(float)


@pytest.fixture(scope="module")
def reference(cpu):
    return Reference(*cpu, WEKA)


@pytest.mark.syllabus("6.7")
def test_five_models_with_the_published_numbers(cpu, reference):
    X, y = cpu
    grown = reference.grown
    leaf = Router([grown], X.shape[1]).leaves(X)[:, 0]
    models = fit_models(
        grown, leaf, X, y, None, columns_below(grown, grown.feature, X.shape[1]), "m5p"
    )
    cut = choose_leaves(grown, models, "squared", float(y.std()))
    kept = models.take(reachable_nodes(grown, np.where(cut, LEAF, grown.kind)))
    tree = compact(grown, cut)
    coef, intercept = smooth_models(
        tree, kept.coef.toarray(), kept.intercept, kept.weight, 15.0
    )
    leaves = np.flatnonzero(tree.child < 0)
    found = {
        (
            int(tree.weight[i]),
            round(float(100 * np.sqrt(kept.squared[i]) / y.std()), 3),
        ): i
        for i in leaves
    }
    assert set(found) == {(n, error) for n, error, _, _ in PUBLISHED}
    for n, error, b, a in PUBLISHED:
        np.testing.assert_allclose(coef[found[n, error]], b, atol=5.1e-5)
        assert intercept[found[n, error]] == pytest.approx(a, abs=5.1e-5)
    splits = [(NAMES[j], t) for j, t in zip(tree.feature, tree.threshold) if j >= 0]
    assert splits == [("CHMIN", 7.5), ("MMAX", 28000), ("MMAX", 13240), ("CACH", 81.5)]


def test_the_reference_smooths_along_the_path_to_the_same_predictions(cpu, reference):
    X = cpu[0]
    published = np.array([[*b, a] for _, _, b, a in PUBLISHED])
    number = {(165): 0, 6: 1, 4: 2, 11: 3, 23: 4}
    rows = [number[len(reference.path(x)[-1].rows)] for x in X]
    expected = np.einsum(
        "ij,ij->i", published[rows], np.column_stack([X, np.ones(len(X))])
    )
    # four decimals of a coefficient times up to 64000 KB
    np.testing.assert_allclose(
        reference.predict(X), expected, atol=5e-5 * X.sum(axis=1).max()
    )


@pytest.mark.syllabus("6.7")
@pytest.mark.parametrize("error", ["absolute", "squared"])
def test_the_standard_deviation_finds_the_first_split_and_errs_no_more(cpu, error):
    """WEKA's ten folds give a correlation of .9274 and a mean absolute error of 29.83."""
    X, y = cpu
    model = ModelTreeRegressor(error=error).fit(X, y)
    assert (NAMES[model.tree_.feature[0]], model.tree_.threshold[0]) == ("CHMIN", 7.5)
    found = []
    for seed in range(5):
        folds = KFold(10, shuffle=True, random_state=seed)
        p = cross_val_predict(ModelTreeRegressor(error=error), X, y, cv=folds)
        found.append((np.corrcoef(p, y)[0, 1], np.abs(p - y).mean()))
    correlation, absolute = np.mean(found, axis=0)
    assert correlation > 0.9274
    assert absolute < 29.83

"""Learners on tables that are singular, or nearly so, answer the same with every kernel of
OpenBLAS.

Sums of products are added in another order by each of them and by each of our builds, and a solve
that took what is left of the digits for an answer would show it here.
"""

import itertools
import os
import subprocess
import sys

import numpy as np
from lyceum._cpu import x86_level
from tests.native.test_levels import levels

SCRIPT = """
import sys, warnings
import numpy as np
warnings.simplefilter("ignore")
from lyceum import catalog

rng = np.random.default_rng(0)
A = rng.normal(size=(120, 3))
x = np.linspace(0.0, 1.0, 60)
tables = {
    "dependent": np.column_stack([A, A[:, 0], np.full(120, 3.7), A[:, 1] + A[:, 2]]),
    "powers": np.column_stack([x**k for k in range(1, 10)]),
    "fewer rows than terms": rng.normal(size=(15, 20)),
    "units": A * [1e-6, 1.0, 1e7] + [1.0, 0.0, 1e9],
}
for e in (1e-5, 1e-7, 1e-9):
    tables[f"differ by {e}"] = np.column_stack([A, A[:, 0] + e * rng.normal(size=120)])
all_rows = dict(kernel="gaussian", n_neighbors="all", bandwidth=0.5)
by_em = {"fit_by": "em", "units": "linear", "max_iter": 20, "random_state": 0}
learners = [
    ("LocallyWeightedRegression", {}),
    ("LocallyWeightedRegression", {"degree": 2}),
    ("LocallyWeightedRegression", all_rows),
    ("RBFNetworkRegressor", {"alpha": 0.0, "random_state": 0}),
    ("RBFNetworkClassifier", by_em),
    ("NearestCentroid", {"metric": "mahalanobis"}),
    ("LinearDiscriminantAnalysis", {}),
    ("QuadraticDiscriminantAnalysis", {}),
    ("GaussianDensity", {}),
    ("DiscriminantProjection", {}),
    ("GaussianMixture", {"n_components": 2, "random_state": 0}),
    ("BayesNetClassifier", {}),
    ("LinearRegression", {}),
    ("RidgeCV", {"random_state": 0}),
    ("LogisticRegression", {"tol": 1e-10}),
    ("LogisticRegression", {"C": 1e4, "tol": 1e-10}),
    ("KernelRidge", {"alpha": "loo", "kernel": "rbf", "gamma": "scale"}),
    ("ModelTreeRegressor", {}),
]
found = {}
for table, X in tables.items():
    y = X[:, 0] / X[:, 0].std() - X[:, 1] / X[:, 1].std() + 0.3 * rng.normal(size=len(X))
    labels = np.array(["ant", "bee", "cow"])[np.digitize(y, np.quantile(y, [0.3, 0.7]))]
    w = rng.integers(1, 4, size=len(X)).astype(float)
    between = 0.7 * X + 0.3 * X[::-1]
    for name, settings in learners:
        learner = catalog.find(name).load()(**settings)
        is_regressor = learner.__sklearn_tags__().estimator_type == "regressor"
        learner.fit(X, y if is_regressor else labels, sample_weight=w)
        methods = ("decision_function", "predict_proba", "transform", "score_samples", "predict")
        method = next(each for each in methods if hasattr(learner, each))
        answers = [np.ravel(getattr(learner, method)(rows)) for rows in (X, between)]
        found[f"{name} {settings} {table}"] = np.concatenate(answers)
np.savez(sys.argv[1], **found)
"""
# The oldest kernels of OpenBLAS, and those for AVX2 and AVX-512, with the level of x86-64 that they
# need.
CORES = {"Prescott": 2, "Nehalem": 2, "Haswell": 3, "SkylakeX": 4}
BOUND = 1e-8  # of the largest number of each answer


def machines():
    """OpenBLAS's kernels that run here, each with one of our builds, so that every build takes
    part."""
    built = levels() or [""]  # another processor has one build, and no levels
    cores = [core for core, level in CORES.items() if level <= x86_level()] or [""]
    size = max(len(cores), len(built))
    return [
        (cores[min(i, len(cores) - 1)], built[min(i, len(built) - 1)])
        for i in range(size)
    ]


def test_singular_tables_are_solved_alike(tmp_path):
    answers = []
    for core, level in machines():
        out = tmp_path / f"{core}-{level}.npz"
        chosen = {"OPENBLAS_CORETYPE": core, "LYCEUM_ISA": level}
        environment = {
            **os.environ,
            **{name: value for name, value in chosen.items() if value},
        }
        subprocess.run([sys.executable, "-c", SCRIPT, out], env=environment, check=True)
        answers.append(dict(np.load(out)))
    found = dict.fromkeys(answers[0], 0.0)
    for one, two in itertools.combinations(answers, 2):
        for name, answer in one.items():
            off = np.abs(answer - two[name]).max() / np.abs(answer).max()
            found[name] = max(found[name], float(off))
    assert not {name: off for name, off in found.items() if not off <= BOUND}

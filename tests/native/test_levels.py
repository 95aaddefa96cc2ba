"""The builds for x86-64 v2, v3 and v4 learn the same up to rounding; how far they differ is
bounded."""

import itertools
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from lyceum._cpu import x86_level

import lyceum

SCRIPT = """
import sys, warnings
import numpy as np
warnings.simplefilter("ignore")
from lyceum._core import native as _native
from lyceum import catalog
assert _native.level == sys.argv[1], _native.level
rng = np.random.default_rng(0)
X = rng.normal(size=(1500, 12)) @ rng.normal(size=(12, 12)) + 5.0
score = X[:, 0] - 0.5 * X[:, 3] + 0.2 * X[:, 5] ** 2 / 5
y = score + rng.normal(size=len(X))
labels = np.array(["ant", "bee", "cow"])[np.digitize(score, np.quantile(score, [0.3, 0.7]))]
few = dict(n_estimators=10, random_state=0)
rounds = dict(max_iter=10, random_state=0)
settings = {
    "PCA": {}, "Ridge": {}, "LinearDiscriminantAnalysis": {}, "LogisticRegression": {"tol": 1e-10},
    "KMeans": dict(n_clusters=4, random_state=0),
    "GaussianMixture": dict(n_components=3, random_state=0),
    "SVC": dict(tol=1e-8), "MLPClassifier": dict(hidden_layer_sizes=8, max_iter=20, random_state=0),
    "RandomForestClassifier": few,
    "HistGradientBoostingClassifier": rounds, "HistGradientBoostingRegressor": rounds,
}
found = {}
cases = [(name, X, "near") for name in settings]
far = ("PCA", "Ridge", "LinearDiscriminantAnalysis", "GaussianMixture")
cases += [(name, X + 1e6, "far") for name in far]
for name, X, where in cases:
    learner = catalog.find(name).load()(**settings[name])
    learner.fit(X, y if name in ("Ridge", "HistGradientBoostingRegressor") else labels)
    methods = ("decision_function", "predict_proba", "transform", "predict")
    method = next(each for each in methods if hasattr(learner, each))
    found[f"{name} {where}"] = getattr(learner, method)(X)
np.savez(sys.argv[2], **found)
"""
# Of the largest number of each answer, for cells near zero and a million away from it: sums are
# added in an order that depends on the width of vectors.
BOUNDS = {"near": 1e-10, "far": 1e-6}


def levels():
    """The levels that are built here and that this machine runs."""
    built = {
        path.name.split(".")[0].removeprefix("_native_")
        for path in Path(lyceum.__path__[0]).glob("_native_v*")
    }
    return [
        level
        for level in ("v2", "v3", "v4")
        if level in built and int(level[1]) <= x86_level()
    ]


@pytest.mark.skipif(
    len(levels()) < 2,
    reason="one level is built: LYCEUM_LEVELS=all (make wheel) builds all",
)
def test_levels_differ_in_the_last_digits_only(tmp_path):
    answers = {}
    for level in levels():
        out = tmp_path / f"{level}.npz"
        environment = {**os.environ, "LYCEUM_ISA": level}
        subprocess.run(
            [sys.executable, "-c", SCRIPT, level, out], env=environment, check=True
        )
        answers[level] = dict(np.load(out))
    found = {}
    for one, two in itertools.combinations(answers, 2):
        for name, answer in answers[one].items():
            off = np.abs(answer - answers[two][name]).max() / np.abs(answer).max()
            found[name] = max(found.get(name, 0.0), float(off))
    print({name: f"{off:.0e}" for name, off in found.items()})
    for name, off in found.items():
        assert off <= BOUNDS[name.split()[1]], found

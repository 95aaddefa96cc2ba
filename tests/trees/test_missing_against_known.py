"""Whether a cell is missing may be all that there is to split by."""

import numpy as np
import pandas as pd
import pytest

from lyceum import scan
from lyceum.ensemble import ExtraTreesClassifier, RandomForestClassifier
from lyceum.trees import DecisionTreeClassifier, DecisionTreeRegressor

NAN = np.nan
X, Y = np.array([[0.0], [0.0], [0.0], [NAN], [NAN]]), np.array([0, 0, 0, 1, 1])


@pytest.mark.syllabus("6.4")
@pytest.mark.parametrize(
    "learner",
    [
        DecisionTreeClassifier(),
        DecisionTreeClassifier(max_bins=16),
        DecisionTreeClassifier(splitter="random", random_state=0),
        DecisionTreeRegressor(),
        DecisionTreeRegressor(max_bins=16),
        DecisionTreeRegressor(criterion="absolute_error"),
        RandomForestClassifier(bootstrap=False, n_estimators=3),
        RandomForestClassifier(n_estimators=30, max_bins=None, random_state=0),
        ExtraTreesClassifier(n_estimators=3, random_state=0),
    ],
)
def test_missing_cells_are_separated_from_known_ones(learner):
    assert learner.fit(X, Y).predict(X).tolist() == pytest.approx(Y.tolist())
    assert learner.predict([[1e30], [-5.0], [NAN]]).tolist() == pytest.approx(
        [0, 0, 1]
    )  # a known cell stays one


@pytest.mark.syllabus("6.4")
def test_the_split_reads_as_known_and_missing(tmp_path):
    frame = pd.DataFrame({"x": X[:, 0], "y": np.where(Y == 1, "b", "a")})
    tree = DecisionTreeClassifier().fit(frame[["x"]], frame["y"])
    assert "x known: a" in tree.text()
    assert "x missing: b" in tree.text()
    frame.to_parquet(tmp_path / "rows.parquet")
    rows = scan(str(tmp_path / "rows.parquet"), target="y", memory=0)
    assert DecisionTreeClassifier(max_bins=8).fit(rows).text() == tree.text()


@pytest.mark.syllabus("6.4")
def test_it_is_taken_only_where_it_gains_most():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(200, 3))
    y = (Z[:, 0] > 0).astype(int)
    Z[rng.uniform(size=Z.shape) < 0.2] = NAN
    y[np.isnan(Z[:, 1])] = 1
    tree = DecisionTreeClassifier(criterion="entropy", record=True, max_depth=1).fit(
        Z, y
    )

    def entropy(part):
        p = np.bincount(part, minlength=2) / max(len(part), 1)
        return -sum(q * np.log2(q) for q in p if q > 0)

    def gain(left):
        n = len(y)
        return (
            entropy(y)
            - left.sum() / n * entropy(y[left])
            - (~left).sum() / n * entropy(y[~left])
        )

    for candidate in tree.record_[0]["candidates"]:
        cells = Z[:, int(candidate["column"][1])]
        gaps = np.isnan(cells)
        cuts = [
            gain(np.where(gaps, side, cells <= t))
            for t in cells[~gaps][:-1]
            for side in (False, True)
        ]
        best = max(*(g for g in cuts if np.isfinite(g)), gain(~gaps))
        assert candidate["gain"] == pytest.approx(best)

"""The worked examples of the syllabus on ensembles, exactly."""

import numpy as np
import pytest
from sklearn.base import clone

from lyceum.ensemble import AdaBoostClassifier, BaggingClassifier
from lyceum.trees import DecisionTreeClassifier

POINTS = np.arange(1, 11) / 10
LABELS = np.array([1, 1, 1, -1, -1, -1, -1, 1, 1, 1])
STUMP = DecisionTreeClassifier(max_depth=1, criterion="entropy")

# Ten bootstrap samples of the ten points, and the threshold of the stump that each of them gives.
SAMPLES = [
    ([0.1, 0.2, 0.2, 0.3, 0.4, 0.4, 0.5, 0.6, 0.9, 0.9], 0.35),
    ([0.1, 0.2, 0.3, 0.4, 0.5, 0.5, 0.9, 1.0, 1.0, 1.0], 0.70),
    ([0.1, 0.2, 0.3, 0.4, 0.4, 0.5, 0.7, 0.7, 0.8, 0.9], 0.35),
    ([0.1, 0.1, 0.2, 0.4, 0.4, 0.5, 0.5, 0.7, 0.8, 0.9], 0.30),
    ([0.1, 0.1, 0.2, 0.5, 0.6, 0.6, 0.6, 1.0, 1.0, 1.0], 0.35),
    ([0.2, 0.4, 0.5, 0.6, 0.7, 0.7, 0.7, 0.8, 0.9, 1.0], 0.75),
    ([0.1, 0.4, 0.4, 0.6, 0.7, 0.8, 0.9, 0.9, 0.9, 1.0], 0.75),
    ([0.1, 0.2, 0.5, 0.5, 0.5, 0.7, 0.7, 0.8, 0.9, 1.0], 0.75),
    ([0.1, 0.3, 0.4, 0.4, 0.6, 0.7, 0.7, 0.8, 1.0, 1.0], 0.75),
    ([0.1, 0.1, 0.1, 0.1, 0.3, 0.3, 0.8, 0.8, 0.9, 0.9], None),  # all plus: no split
]


def stump_on(rows):
    return clone(STUMP).fit(POINTS[rows, None], LABELS[rows])


@pytest.mark.syllabus("11.3")
def test_ten_stumps_on_ten_samples_recover_the_labels_by_their_vote():
    votes = np.zeros(10)
    for sample, threshold in SAMPLES:
        rows = np.rint(np.array(sample) * 10).astype(int) - 1
        stump = stump_on(rows)
        # a leaf has -2 for its threshold, as in scikit-learn
        expected = -2.0 if threshold is None else threshold
        assert stump.tree_.threshold[0] == pytest.approx(expected)
        votes += stump.predict(POINTS[:, None])
    assert votes.tolist() == [2, 2, 2, -6, -6, -6, -6, 2, 2, 2]
    assert (np.sign(votes) == LABELS).all()


@pytest.mark.syllabus("11.3")
def test_ten_bagged_stumps_recover_the_labels_though_no_stump_can():
    bag = BaggingClassifier(STUMP, 10, voting="hard", random_state=2).fit(
        POINTS[:, None], LABELS
    )
    assert (bag.predict(POINTS[:, None]) == LABELS).all()
    assert all(
        (member.predict(POINTS[:, None]) != LABELS).sum() >= 3
        for member in bag.estimators_
    )
    # drawn from the samples that the seed gives, voted by hand
    votes = sum(
        stump_on(rows).predict(POINTS[:, None]) for rows in bag.estimators_samples_
    )
    assert (np.sign(votes) == LABELS).all()


@pytest.mark.syllabus("11.4")
def test_three_boosted_stumps_recover_the_labels():
    model = AdaBoostClassifier(n_estimators=3).fit(POINTS[:, None], LABELS)
    thresholds = [member.tree_.threshold[0] for member in model.estimators_]
    np.testing.assert_allclose(thresholds[:2], [0.35, 0.75])
    np.testing.assert_allclose(model.errors_, [3 / 10, 3 / 14, 2 / 11])
    np.testing.assert_allclose(np.exp(2 * model.alphas_), [7 / 3, 11 / 3, 9 / 2])
    assert (model.predict(POINTS[:, None]) == LABELS).all()

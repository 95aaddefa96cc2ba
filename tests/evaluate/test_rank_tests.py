"""Several learners on several tables: ranks, Friedman, Nemenyi, Wilcoxon with Holm."""

import numpy as np
import pytest
from scipy import stats

from lyceum.errors import DataError, SettingError
from lyceum.evaluate import compare_ranks

# areas under the ROC curve of four variants of C4.5 on 14 tables, and what follows from them:
# Demšar, Journal of Machine Learning Research 7, 2006, Table 6 and section 3.2.2
AREAS = np.array(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.9754, 0.975],  # printed as 0.975 twice, with ranks 2 and 3
        [0.957, 0.978, 0.946, 0.970],
    ]
)
NAMES = ["C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf"]


@pytest.fixture(scope="module")
def comparison():
    return compare_ranks(1.0 - AREAS, NAMES)


def test_mean_ranks_and_critical_difference_are_those_printed(comparison):
    means = comparison.mean_ranks.round(3).tolist()
    assert means == [3.143, 2.0, 2.893, 1.964]
    assert round(comparison.critical_difference, 2) == 1.25
    # 2.569 is printed for four classifiers, 3.164 for ten
    q = comparison.critical_difference / np.sqrt(4 * 5 / (6 * 14))
    assert round(q, 3) == 2.569
    ten = compare_ranks(np.random.default_rng(0).random((7, 10)))
    assert round(ten.critical_difference / np.sqrt(110 / 42), 3) == 3.164


def test_friedman_and_wilcoxon_are_those_of_scipy(comparison):
    other = stats.friedmanchisquare(*(1.0 - AREAS).T)
    assert comparison.statistic == pytest.approx(other.statistic)
    assert comparison.p_value == pytest.approx(other.pvalue)
    p = {(pair.first, pair.second): pair for pair in comparison.pairs}
    pair = p["C4.5", "C4.5+m+cf"]
    differences = AREAS[:, 3] - AREAS[:, 0]
    assert pair.p_value == pytest.approx(stats.wilcoxon(differences).pvalue)
    assert pair.difference == pytest.approx(3.143 - 1.964, abs=1e-3)
    assert comparison.as_dict()["pairs"][2]["p_value"] == pair.p_value
    smallest = min(comparison.pairs, key=lambda each: each.p_value)
    assert smallest.p_holm == pytest.approx(min(1.0, 6 * smallest.p_value))


def test_level_sets_hold_what_lies_within_the_critical_difference():
    rng = np.random.default_rng(1)
    for _ in range(20):
        losses = rng.random((12, 6)) + rng.random(6)
        made = compare_ranks(losses)
        means = dict(zip(made.learners, made.mean_ranks))
        for a in made.learners:
            for b in made.learners:
                near = abs(means[a] - means[b]) <= made.critical_difference
                joined = any(a in names and b in names for names in made.level)
                assert a == b or joined == near
        for one in made.level:
            assert not any(set(one) < set(other) for other in made.level)


def test_equal_losses_are_level():
    made = compare_ranks(np.ones((5, 3)))
    assert (made.statistic, made.p_value) == (0.0, 1.0)
    assert made.level == (made.learners,)
    assert {pair.p_value for pair in made.pairs} == {1.0}


def test_what_cannot_be_ranked_is_refused():
    with pytest.raises(DataError, match=r"shape \(3,\)"):
        compare_ranks([0.1, 0.2, 0.3])
    with pytest.raises(DataError, match="finite loss on every table"):
        compare_ranks([[0.1, np.nan], [0.2, 0.3]])
    with pytest.raises(DataError, match="3 learners and 2 tables"):
        compare_ranks([[0.1, 0.2], [0.2, 0.3]], ["a", "b", "c"])
    with pytest.raises(SettingError, match="alpha=2"):
        compare_ranks([[0.1, 0.2], [0.2, 0.3]], alpha=2)

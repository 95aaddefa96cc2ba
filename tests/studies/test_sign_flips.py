"""The permutation test that compares learners on few folds: exact for few pairs, and of its level."""

import numpy as np
import pytest
from scipy import stats

from lyceum.studies._difference_tests import sign_flip


def test_sign_flips_of_few_pairs_are_counted_and_of_many_approximated():
    assert sign_flip(np.array([1.0, 1.0, 1.0, 1.0])) == 2 / 16
    assert sign_flip(np.array([1.0, -1.0])) == 1.0
    assert sign_flip(np.zeros(5)) == 1.0
    d = np.random.default_rng(0).normal(0.15, 1.0, 400)
    t = d.sum() / np.sqrt(d @ d)
    assert sign_flip(d) == pytest.approx(2 * stats.norm.sf(t), abs=0.01)


def test_sign_flips_hold_their_level():
    g = np.random.default_rng(4)
    p = [sign_flip(g.standard_t(2, 15)) for _ in range(200)]
    assert np.mean(np.array(p) < 0.05) <= 0.09

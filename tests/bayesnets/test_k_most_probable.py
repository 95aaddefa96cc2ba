"""The k most probable explanations, against a sorted joint table."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from tests.bayesnets.nets import joint_table, nets

from lyceum import datasets
from lyceum.bayesnets import read_bif
from lyceum.errors import DataError, SettingError

ASIA = read_bif(datasets.path("asia"))


@pytest.mark.syllabus("5.4")
@settings(max_examples=60, deadline=None)
@given(nets(most=6, zeros=True), st.integers(0, 10**6), st.integers(1, 40))
def test_they_are_the_first_of_the_sorted_joint_table(net, seed, k):
    rng = np.random.default_rng(seed)
    row = net.sample(1, seed).to_pylist()[0]
    name, other = rng.permutation(net.names)[:2]
    evidence = {name: int(row[name])}
    soft = {other: rng.uniform(0.1, 1.0, len(net.states(other)))}
    joint = joint_table(net)
    shape = [1] * joint.ndim
    shape[net.index_of[other]] = -1
    joint = joint * soft[other].reshape(shape)
    joint = np.take(joint, [evidence[name]], axis=net.index_of[name])
    best = np.sort(joint[joint > 0])[::-1]
    found = net.k_most_probable(k, evidence, soft=soft)
    assert len(found) == min(k, len(best))
    np.testing.assert_allclose(
        [answer.probability for answer in found], best[:k] / best.sum(), rtol=1e-9
    )
    # each is another combination, and has the probability that is said
    assert len({tuple(answer.states.values()) for answer in found}) == len(found)
    for answer in found:
        cell = [answer.states.get(v, 0) for v in net.names]
        assert np.log(joint[tuple(cell)]) == pytest.approx(answer.log_probability)


@pytest.mark.syllabus("5.4.3")
def test_the_first_is_the_most_probable_explanation():
    evidence = {"xray": "yes", "dysp": "yes"}
    first, second = ASIA.k_most_probable(2, evidence)
    assert first == ASIA.most_probable(evidence)
    assert second.probability < first.probability


def test_what_cannot_be_asked_is_refused():
    with pytest.raises(SettingError, match="k is 0"):
        ASIA.k_most_probable(0)
    with pytest.raises(DataError, match="impossible"):
        ASIA.k_most_probable(3, {"lung": "yes", "either": "no"})

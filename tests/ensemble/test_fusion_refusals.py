"""What fusion, pruning and measures of committees cannot take is named, and what to give
instead."""

import numpy as np
import pytest

from lyceum.ensemble import diversity, fuse, prune_ensemble, simplex_weights
from lyceum.errors import DataError

POSTERIORS = np.array(
    [[[0.9, 0.1], [0.2, 0.8]], [[0.6, 0.4], [0.5, 0.5]]]
)  # of 2 members for 2 rows


@pytest.mark.parametrize(
    "outputs", ["good", [[[0.2, 0.8]], [[0.2, 0.3, 0.5]]]], ids=["text", "ragged"]
)
def test_members_answer_in_numbers_for_the_same_classes(outputs):
    for of in (
        fuse,
        lambda some: prune_ensemble([0], some),
        lambda some: simplex_weights(some, [0]),
    ):
        with pytest.raises(
            DataError, match="outputs must be numbers, as many for every member"
        ):
            of(outputs)


@pytest.mark.parametrize("labels", [["a", "b"], [1, 2], [0, -1], [0.5, 1.0]], ids=str)
def test_labels_are_no_class_codes(labels):
    with pytest.raises(DataError, match="y must hold class codes, 0 to 1"):
        prune_ensemble(labels, POSTERIORS)
    with pytest.raises(DataError, match="target must hold class codes, 0 to 1"):
        simplex_weights(POSTERIORS, labels)


def test_every_row_has_one_target():
    for outputs in (POSTERIORS, POSTERIORS[:, :, 0], POSTERIORS[0, 0]):
        with pytest.raises(
            DataError, match=r"a target of shape \(3,\) do not go together"
        ):
            simplex_weights(outputs, np.zeros(3))
    with pytest.raises(DataError, match="for 1 row: give one column per member"):
        diversity("a", [["a", "b"]])
    with pytest.raises(DataError, match="3 names for the predictions of 2 members"):
        diversity(["a"], [["a", "b"]], names=["one", "two", "three"])

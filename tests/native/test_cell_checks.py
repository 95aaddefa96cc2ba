"""first_nonfinite and hash_uniform."""

import numpy as np
import pytest
from hypothesis import given, strategies as st


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@given(at=st.sampled_from([0, 7, 4095, 4096, 9998]) | st.integers(0, 9998))
def test_first_bad_cell_is_found(native, dtype, bad, at):
    X = np.ones((1111, 9), dtype)
    X.flat[at] = bad
    X.flat[9998] = bad
    assert native.first_nonfinite(X, False) == at
    assert native.first_nonfinite(X, True) == (-1 if np.isnan(bad) else at)


def test_finite_data_have_no_bad_cell(native, dtype):
    assert (
        native.first_nonfinite(np.full((100, 3), np.finfo(dtype).max, dtype), False)
        == -1
    )
    assert native.first_nonfinite(np.empty((0, 3), dtype), False) == -1


def test_uniforms_depend_on_the_row_number_alone(native):
    whole, part = np.empty(1000), np.empty(300)
    native.hash_uniform(0, 7, whole)
    native.hash_uniform(500, 7, part)
    np.testing.assert_array_equal(part, whole[500:800])


def test_uniforms_are_uniform_and_seeds_differ(native):
    a, b = np.empty(200_000), np.empty(200_000)
    native.hash_uniform(0, 1, a)
    native.hash_uniform(0, 2, b)
    assert a.min() > 0
    assert a.max() <= 1
    counts = np.histogram(a, bins=100, range=(0, 1))[0]
    assert ((counts - 2000) ** 2 / 2000).sum() < 160
    assert abs(np.corrcoef(a, b)[0, 1]) < 0.01
    assert abs(np.corrcoef(a[1:], a[:-1])[0, 1]) < 0.01


def test_wrong_type_is_refused(native):
    with pytest.raises(TypeError, match="incompatible function arguments"):
        native.first_nonfinite(np.ones((3, 3), np.int64), False)

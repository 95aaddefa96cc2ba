"""Sample statistics against NumPy's."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from lyceum.data import scan
from lyceum.errors import DataError
from lyceum.statistics import describe


@pytest.fixture
def X():
    rng = np.random.default_rng(3)
    return rng.normal(size=(900, 3)) @ rng.normal(size=(3, 3)) + [0.0, 1e6, -5.0]


@pytest.mark.syllabus("1.4.1", "1.4.2", "1.4.3")
def test_statistics_are_those_of_numpy(X):
    found = describe(X)
    assert_allclose(found.mean, X.mean(axis=0), rtol=1e-12)
    assert_allclose(found.median, np.median(X, axis=0), rtol=1e-12)
    assert_allclose(found.variance, X.var(axis=0, ddof=1), rtol=1e-9)
    assert_allclose(found.sd, X.std(axis=0, ddof=1), rtol=1e-9)
    assert_array_equal(found.range, np.ptp(X, axis=0))
    assert_allclose(found.covariance, np.cov(X.T), rtol=1e-8)
    assert_allclose(found.correlation, np.corrcoef(X.T), rtol=1e-8)
    assert_allclose(found.similarity, np.corrcoef(X.T) ** 2, rtol=1e-8)


def test_missing_cells_are_left_out_one_by_one_and_pairs_by_rows(X):
    X[::7, 1] = np.nan
    found, complete = describe(X), X[~np.isnan(X).any(axis=1)]
    assert_allclose(found.mean, np.nanmean(X, axis=0), rtol=1e-12)
    assert_allclose(found.median, np.nanmedian(X, axis=0), rtol=1e-12)
    assert_allclose(found.covariance, np.cov(complete.T), rtol=1e-8)


def test_a_stream_has_the_statistics_of_the_array(X, tmp_path):
    table = pa.table(
        {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "word": ["x", "y", "z"] * 300}
    )
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=100)
    found, want = describe(scan(tmp_path / "t.parquet", memory=0)), describe(X)
    assert found.names == ("a", "b", "c")
    assert_allclose(found.covariance, want.covariance, rtol=1e-9)
    assert_allclose(found.median, want.median, rtol=1e-12)


def test_a_column_that_does_not_vary_has_no_correlation():
    found = describe(np.array([[1.0, 3.0], [2.0, 3.0], [4.0, 3.0]]))
    assert found.variance[1] == 0
    assert np.isnan(found.correlation[0, 1])


def test_one_row_has_a_mean_and_no_variance():
    found = describe(np.array([[1.0, 2.0]]))
    assert_array_equal(found.mean, [1.0, 2.0])
    assert np.isnan(found.variance).all()
    assert np.isnan(found.covariance).all()


def test_words_alone_cannot_be_described():
    with pytest.raises(DataError, match="no columns of numbers"):
        describe(pa.table({"word": ["a", "b"]}))


def test_it_prints_a_row_a_column(X):
    assert "median" in str(describe(X))
    assert len(str(describe(X)).splitlines()) == 6


@pytest.mark.syllabus("1.4")
def test_lists_and_single_columns_are_described_and_medians_are_exact():
    assert describe([1.0, 2.0, 4.0]).median.tolist() == [2.0]
    assert describe([[1, 2], [3, 4]]).mean.tolist() == [2.0, 3.0]
    x = np.random.default_rng(0).normal(size=9001)
    found = describe(x)
    assert found.median[0] == np.median(x)
    assert found.variance[0] == pytest.approx(x.var(ddof=1))
    x[::3] = np.nan
    assert describe(x).median[0] == np.nanmedian(x)

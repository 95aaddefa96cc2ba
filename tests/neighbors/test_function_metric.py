"""A metric given as a Python function, and rows that come from Dask."""

from __future__ import annotations

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

from lyceum import save, scan
from lyceum.cluster import AgglomerativeClustering
from lyceum.distances import FunctionMetric, nearest, pairwise, within_radius
from lyceum.errors import DataError, MissingValuesError, ModelFileError, SettingError
from lyceum.neighbors import KNeighborsClassifier, KNeighborsRegressor

X = np.random.default_rng(0).normal(size=(60, 3)).round(1)
Y = (X[:, 0] > 0).astype(int)


def city(x, y):
    return float(np.abs(x - y).sum())


@pytest.mark.syllabus("10.1")
def test_a_function_of_two_rows_is_the_metric_it_computes():
    Q = X[:9] + 0.05
    np.testing.assert_allclose(
        pairwise(Q, X, metric=city), pairwise(Q, X, metric="manhattan")
    )
    for among in (X, scan(X)):
        found, want = (
            nearest(Q, 4, among=among, metric=m)
            for m in (FunctionMetric(city), "manhattan")
        )
        np.testing.assert_allclose(found.distances, want.distances)
    own, want = (
        nearest(X, 2, metric=m).distances for m in (FunctionMetric(city), "manhattan")
    )
    np.testing.assert_allclose(own, want)
    near, want = (
        within_radius(Q, 1.0, among=X, metric=m)
        for m in (FunctionMetric(city), "manhattan")
    )
    assert [len(one.rows) for one in near] == [len(one.rows) for one in want]


@pytest.mark.parametrize(
    "options", [{}, {"n_neighbors": "leave_one_out"}, {"prototypes": "condensed"}]
)
def test_neighbors_by_a_function_vote_as_those_of_the_metric(options):
    odd = X + 1e-4 * np.arange(180).reshape(60, 3) ** 0.5  # no ties
    found, want = (
        KNeighborsClassifier(metric=m, **options).fit(odd, Y)
        for m in (city, "manhattan")
    )
    np.testing.assert_allclose(found.predict_proba(odd), want.predict_proba(odd))
    assert "FunctionMetric(city)" in str(found.summary())
    assert found.explain(odd[:1]) is not None


def test_what_a_function_cannot_do_is_said(tmp_path):
    with pytest.raises(DataError, match=r"gave -1.0 for two rows"):
        KNeighborsClassifier(metric=lambda x, y: -1.0).fit(X, Y).predict(X)
    with pytest.raises(ModelFileError, match="names instead of functions"):
        save(KNeighborsRegressor(metric=city).fit(X, Y), tmp_path / "m.lyceum")
    with pytest.raises(SettingError, match=r"metric='precomputed'"):
        AgglomerativeClustering(linkage="single", metric=FunctionMetric(city)).fit(X)


def test_missing_cells_name_the_metric_that_takes_them():
    with pytest.raises(
        MissingValuesError, match=r"SimpleImputer\(\), or take metric='gower'"
    ):
        KNeighborsClassifier().fit([[1.0, np.nan], [2.0, 3.0]], [0, 1])


@pytest.mark.syllabus("10.1")
def test_rows_of_dask_are_stored_and_asked_about():
    want = KNeighborsClassifier().fit(X, Y)
    lazy = da.from_array(X, chunks=(25, 3))
    found = KNeighborsClassifier().fit(lazy, da.from_array(Y, chunks=25))
    np.testing.assert_array_equal(
        found.predict_proba(lazy).compute(), want.predict_proba(X)
    )
    frame = dd.from_pandas(pd.DataFrame(X, columns=list("abc")), npartitions=3)
    np.testing.assert_array_equal(
        nearest(X[:5], 3, among=scan(frame)).rows, nearest(X[:5], 3, among=X).rows
    )

"""One rule for what `transform` gives back: the container that came in, unless `set_output` is
set."""

import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from tests.checks.cases import learner_named
from tests.checks.fits import columns_of, quiet
from tests.checks.tables import data_for, frame_of

from lyceum import catalog, scan
from lyceum.bayes import LinearDiscriminantAnalysis
from lyceum.cluster import ClusterFeatures, KMeans
from lyceum.data import Rows
from lyceum.decomposition import PCA

NAMES = [
    entry.name for entry in catalog.learners() if hasattr(entry.load(), "transform")
]
N = 40


@pytest.fixture(params=NAMES)
def fitted(request):
    learner = learner_named(request.param)
    data = data_for(learner, N)
    frame = frame_of(data.X).set_axis([f"row {i}" for i in range(N)])
    return learner.fit(frame, data.y), frame, data


def test_a_frame_comes_back_as_a_frame_of_its_library_and_an_array_as_an_array(fitted):
    model, frame, _ = fitted
    with quiet():
        array = model.transform(frame.to_numpy())
    assert isinstance(array, np.ndarray) or hasattr(array, "toarray")
    names = model.get_feature_names_out().tolist()
    table = pa.Table.from_pandas(frame, preserve_index=False)
    for given in (frame, pl.from_pandas(frame), table):
        found = model.transform(given)
        assert isinstance(found, type(given))
        assert _names(found) == names
        for a, b in zip(columns_of(array), columns_of(found), strict=True):
            if not isinstance(b[0], str):  # intervals have names in frames
                np.testing.assert_allclose(
                    a.astype(float), np.asarray(b, dtype=float), rtol=1e-12
                )
    assert model.transform(frame).index.tolist() == frame.index.tolist()


def _names(frame):
    return frame.column_names if isinstance(frame, pa.Table) else list(frame.columns)


def test_rows_come_back_as_rows_with_their_target(fitted):
    model, frame, data = fitted
    target = {} if data.y is None else {"target": "y"}
    table = frame if data.y is None else frame.assign(y=data.y)
    rows = model.transform(scan(table, **target))
    assert isinstance(rows, Rows)
    assert (rows.schema.target is None) == (data.y is None)
    with quiet():
        array = model.transform(frame.to_numpy())
    cells = rows.in_one_block("A test", "fewer rows").dense
    for a, b in zip(columns_of(array), cells.T, strict=True):
        np.testing.assert_allclose(a.astype(float), b, rtol=1e-12)


def test_set_output_overrides_it(fitted):
    model, frame, _ = fitted
    names = model.get_feature_names_out().tolist()
    for library, kind in (("pandas", pd.DataFrame), ("polars", pl.DataFrame)):
        model.set_output(transform=library)
        for given in (frame, pl.from_pandas(frame)):
            found = model.transform(given)
            assert isinstance(found, kind)
            assert list(found.columns) == names
            if library == "pandas" and given is frame:
                assert found.index.tolist() == frame.index.tolist()


@pytest.mark.parametrize("name", NAMES)
def test_a_dask_frame_comes_back_as_a_lazy_frame(name):
    learner = learner_named(name)
    data = data_for(learner, N)
    frame = frame_of(data.X)
    model = learner.fit(frame, data.y)
    found = model.transform(dd.from_pandas(frame, npartitions=3))
    assert hasattr(found, "compute")
    pd.testing.assert_frame_equal(
        found.compute(), model.transform(frame), check_dtype=False
    )


def test_a_pipeline_over_scanned_rows_keeps_the_target():
    frame = pd.DataFrame(
        np.random.default_rng(0).normal(size=(60, 4)), columns=list("abcd")
    )
    frame["kind"] = np.where(frame.a + frame.b > 0, "high", "low")
    rows = scan(frame, target="kind")
    pca = PCA(3).fit(rows)
    streamed = LinearDiscriminantAnalysis().fit(pca.transform(rows))
    memory = LinearDiscriminantAnalysis().fit(
        pca.transform(frame[list("abcd")]), frame.kind
    )
    np.testing.assert_allclose(streamed.means_, memory.means_)


def test_features_of_clusters_stand_beside_the_columns_of_a_frame():
    frame = pd.DataFrame({"a": [0.0, 1.0, 9.0, 10.0]}, index=list("wxyz"))
    found = ClusterFeatures(
        KMeans(2, init=[[0.0], [9.0]]), kind="one_of_k"
    ).fit_transform(frame)
    assert found.index.tolist() == list("wxyz")
    assert found.columns.tolist() == ["a", "clusterfeatures0", "clusterfeatures1"]

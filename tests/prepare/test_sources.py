"""One answer from every source of rows, and pipelines that stream."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from tests.prepare.tables import mixed, rechunked

from lyceum.data import Rows, scan
from lyceum.linear import LogisticRegression
from lyceum.prepare import (
    DropMissing,
    IterativeImputer,
    MinMaxScaler,
    MissingCategory,
    OneHotEncoder,
    SimpleImputer,
    StandardScaler,
)

ALL = [
    StandardScaler(),
    MinMaxScaler(),
    OneHotEncoder(categorical_features="from_dtype", handle_unknown="ignore"),
    SimpleImputer(),
    SimpleImputer(strategy="median", add_indicator=True),
    MissingCategory(),
    DropMissing(),
    IterativeImputer(max_iter=4, tol=0.0),
]
ids = [repr(transformer)[:30] for transformer in ALL]


def _cells(rows):
    assert isinstance(rows, Rows)
    return np.concatenate([block.X for block in rows.blocks()])


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    tmp_path = tmp_path_factory.mktemp("files")
    frame = mixed(700)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    pq.write_table(
        pa.Table.from_pandas(frame, preserve_index=False),
        tmp_path / "rows.parquet",
        row_group_size=150,
    )
    return frame, tmp_path


@pytest.mark.filterwarnings("ignore:IterativeImputer")
@pytest.mark.parametrize("transformer", ALL, ids=ids)
def test_memory_is_chunks_is_file_is_dask(files, transformer):
    frame, folder = files
    dd = pytest.importorskip("dask.dataframe")
    lazy = dd.from_pandas(
        frame.assign(smokes=frame["smokes"].astype("boolean")), npartitions=3
    )
    whole = scan(frame, target="ill")
    expected = _cells(transformer.fit_transform(whole))
    others = [
        rechunked(whole, seed=3),
        scan(folder / "rows.parquet", target="ill", memory=0),
        scan(folder / "rows.csv", target="ill", memory=0),
        scan(folder / "rows.csv", target="ill"),
        scan(lazy, target="ill"),
    ]
    for rows in others:
        assert_allclose(
            _cells(clone(transformer).fit_transform(rows)),
            expected,
            rtol=1e-9,
            atol=1e-9,
        )


PIPELINES = [
    make_pipeline(SimpleImputer(), StandardScaler(), LogisticRegression()),
    make_pipeline(MissingCategory(), MinMaxScaler(), LogisticRegression()),
    make_pipeline(
        SimpleImputer(strategy="median"),
        OneHotEncoder(categorical_features="from_dtype", handle_unknown="ignore"),
        StandardScaler(),
        LogisticRegression(),
    ),
    make_pipeline(
        IterativeImputer(max_iter=30, tol=1e-4), StandardScaler(), LogisticRegression()
    ),
    make_pipeline(StandardScaler(), MissingCategory(), LogisticRegression()),
]


@pytest.mark.syllabus("1.2", "1.3")
@pytest.mark.parametrize(
    "pipeline", PIPELINES, ids=[", ".join(p.named_steps) for p in PIPELINES]
)
def test_a_pipeline_over_a_csv_scan_is_that_on_the_frame(files, pipeline):
    frame, folder = files
    here = clone(pipeline).fit(frame.drop(columns="ill"), frame["ill"])
    expected = here.predict_proba(frame.drop(columns="ill"))
    for memory in (512 << 20, 0):
        there = clone(pipeline).fit(
            scan(folder / "rows.csv", target="ill", memory=memory)
        )
        assert_allclose(
            there.predict_proba(scan(folder / "rows.csv", target="ill", memory=memory)),
            expected,
            atol=1e-5,
        )
        assert_allclose(
            there.predict_proba(frame.drop(columns="ill")), expected, atol=1e-5
        )
        assert (there.predict(frame.drop(columns="ill")) == frame["ill"]).mean() > 0.7


def test_a_pipeline_meets_new_categories_and_new_gaps(files):
    frame, folder = files
    new = frame[:20].drop(columns="ill").assign(city="Rom", age=np.nan)
    for pipeline in PIPELINES[:3]:
        model = clone(pipeline).fit(scan(folder / "rows.csv", target="ill"))
        assert_allclose(
            model.predict_proba(new), model.predict_proba(scan(new)), rtol=1e-9
        )
        assert np.isfinite(model.predict_proba(new)).all()


def test_a_pipeline_on_dask_is_that_in_memory(files):
    dd = pytest.importorskip("dask.dataframe")
    frame = files[0].assign(smokes=files[0]["smokes"].astype("boolean"))
    lazy = dd.from_pandas(frame, npartitions=3)
    pipeline = make_pipeline(SimpleImputer(), StandardScaler(), LogisticRegression())
    expected = pipeline.fit(frame.drop(columns="ill"), frame["ill"]).predict_proba(
        frame.drop(columns="ill")
    )
    pipeline.fit(lazy.drop(columns="ill"), lazy["ill"])
    assert_allclose(
        pipeline.predict_proba(lazy.drop(columns="ill")).compute(), expected, atol=1e-5
    )
    assert_allclose(
        pipeline.fit(scan(lazy, target="ill")).predict_proba(scan(lazy)).compute(),
        expected,
        atol=1e-5,
    )


def test_rows_dropped_in_a_pipeline_lose_their_target(files):
    frame, folder = files
    full = frame.dropna()
    pipeline = make_pipeline(DropMissing(), StandardScaler(), LogisticRegression())
    streamed = pipeline.fit(scan(folder / "rows.csv", target="ill", memory=0))
    proba = streamed.predict_proba(scan(folder / "rows.csv", target="ill", memory=0))
    plain = make_pipeline(StandardScaler(), LogisticRegression()).fit(
        full.drop(columns="ill"), full["ill"]
    )
    assert_allclose(proba, plain.predict_proba(full.drop(columns="ill")), atol=1e-5)


class _Counting:
    """A source that counts how often it is read."""

    def __init__(self, source):
        self.source, self.schema, self.passes = source, source.schema, 0

    @property
    def n_rows(self):
        return self.source.n_rows

    def parts(self):
        self.passes += 1
        return self.source.parts()


def test_transform_of_a_scan_reads_nothing():
    counting = _Counting(scan(mixed(), target="ill").source)
    rows = Rows(counting)
    fitted = SimpleImputer().fit(rows)
    assert counting.passes == 1
    lazy = (
        StandardScaler().fit(fitted.transform(rows)).transform(fitted.transform(rows))
    )
    assert counting.passes == 2
    OneHotEncoder(
        categorical_features="from_dtype", handle_unknown="ignore"
    ).fit_transform(lazy)
    assert counting.passes == 2
    assert lazy.schema.target.name == "ill"
    assert_array_equal(np.isnan(_cells(lazy)), False)


def test_a_median_of_many_rows_streams_within_the_bound_of_the_sketch(tmp_path):
    x = np.random.default_rng(0).normal(size=60_000)
    x[::7] = np.nan
    pq.write_table(pa.table({"x": x}), tmp_path / "x.parquet", row_group_size=7_000)
    filler = SimpleImputer(strategy="median").fit(
        scan(tmp_path / "x.parquet", memory=0)
    )
    rank = (x[~np.isnan(x)] <= filler.fill_[0]).mean()
    assert abs(rank - 0.5) < 0.005

"""MLPClassifier: the same rows from everywhere, going on from earlier weights, rates and
stopping."""

import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.neural_network import MLPClassifier as Peer
from tests.neural.mlp_cases import small
from threadpoolctl import threadpool_limits

from lyceum._core.native import native
from lyceum.data import scan
from lyceum.errors import DataError, SchemaError, SettingError

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


# -- the same rows from everywhere -----------------------------------------------------


@pytest.mark.parametrize("batch_size", [32, "all"])
def test_windows_of_a_stream_do_not_depend_on_its_blocks(three, tmp_path, batch_size):
    X, y = three
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=y)
    fits = []
    for size in (61, 500):
        path = tmp_path / f"{size}.parquet"
        pq.write_table(
            pa.Table.from_pandas(frame, preserve_index=False), path, row_group_size=size
        )
        stream = scan(path, "y", memory=0)
        fits.append(
            small(shuffle_window=128, batch_size=batch_size, dropout=0.2).fit(stream)
        )
    assert_allclose(fits[0].parameters_, fits[1].parameters_, rtol=1e-9, atol=1e-12)
    whole = small(batch_size=batch_size, dropout=0.2).fit(frame[list("abcd")], y)
    if batch_size == "all":
        assert_allclose(fits[0].parameters_, whole.parameters_, rtol=1e-9, atol=1e-12)
    else:
        # another shuffle
        assert np.abs(fits[0].parameters_ - whole.parameters_).max() > 1e-6


def test_a_stream_within_one_window_is_the_array(three, tmp_path):
    X, y = three
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=y)
    frame.to_csv(tmp_path / "t.csv", index=False)
    one = small(batch_size=32).fit(frame[list("abcd")], y)
    two = small(batch_size=32).fit(scan(tmp_path / "t.csv", "y", memory=0))
    assert_allclose(one.parameters_, two.parameters_, rtol=1e-9, atol=1e-12)


def test_dask_partitions_are_the_array(three):
    da = pytest.importorskip("dask.array")
    X, y = three
    lazy = [da.from_array(a, chunks=(170, *a.shape[1:])) for a in (X, y)]
    one, two = small(batch_size=32).fit(X, y), small(batch_size=32).fit(*lazy)
    assert_allclose(one.parameters_, two.parameters_, rtol=1e-9, atol=1e-12)
    assert_array_equal(two.predict(lazy[0]).compute(), one.predict(X))


def test_more_rows_may_be_held_out_than_learned_from(three):
    X, y = three
    model = small(early_stopping=True, validation_fraction=0.9, record=True).fit(X, y)
    uniform = np.empty(500)
    native.hash_uniform(0, model.seed_, uniform)
    held = uniform <= 0.9
    assert_allclose(
        max(model.validation_scores_), model.score(X[held], y[held]), atol=0.05
    )
    joint = model.predict_log_proba(X[held])
    loss = -joint[
        np.arange(held.sum()), np.searchsorted(model.classes_, y[held])
    ].mean()
    assert_allclose(loss, model.validation_history_[model.best_epoch_ - 1], rtol=1e-9)


LONG = """
import numpy as np
from lyceum.neural import MLPClassifier

X, y = np.zeros((200_000, 50)), np.arange(200_000) % 2
model = MLPClassifier(hidden_layer_sizes=(500, 500), max_iter=10_000, tol=None)
try:
    print("started", flush=True)
    model.fit(X, y)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def test_an_interrupt_stops_training():
    with subprocess.Popen(
        [sys.executable, "-c", LONG], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout.readline() == "started\n"
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(0.5)
            process.send_signal(signal.SIGINT)
            output, _ = process.communicate(timeout=30)
        finally:
            process.kill()
    assert output == "interrupted\n"


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_threads_do_not_change_a_bit(dtype):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40_000, 6)), rng.integers(0, 3, 40_000)
    fits = []
    for count in (1, 2):
        with threadpool_limits(count):
            model = small(dtype=dtype, max_iter=1, dropout=0.1).fit(X, y)
            fits.append((model.parameters_, model.predict_proba(X)))
    assert_array_equal(fits[0][0], fits[1][0])
    assert_array_equal(fits[0][1], fits[1][1])


def test_float32_is_close_to_float64(three):
    X, y = three
    one, two = (
        small(dtype=dtype, max_iter=20).fit(X, y).predict_proba(X)
        for dtype in ("float32", "float64")
    )
    assert_allclose(one, two, atol=1e-3)


def test_mixed_columns_need_no_encoding(three):
    X, y = three
    frame = pd.DataFrame(
        {
            "a": X[:, 0],
            "town": np.where(X[:, 1] > 0, "Ulm", np.where(X[:, 2] > 0, "Bonn", "Rom")),
        }
    )
    model = small(max_iter=30).fit(frame, y)
    assert model.widths_[0] == 4
    assert model.explain(frame[:3]).contributions.shape == (3, 2)


# -- going on --------------------------------------------------------------------------


def test_warm_start_goes_on(moons):
    X, y = moons
    # without momentum, which a new fit begins anew
    options = {"solver": "sgd", "momentum": 0.0, "shuffle": False, "tol": None}
    options["warm_start"] = True
    model = small(**options, max_iter=3).fit(X, y)
    model.fit(X, y)
    assert_allclose(
        model.parameters_,
        small(**options, max_iter=6).fit(X, y).parameters_,
        rtol=1e-10,
    )
    with pytest.raises(SchemaError, match="number of columns is 1 instead of 2"):
        model.fit(X[:, :1], y)
    assert model.predict(X).shape == (300,)  # it is as it was
    for other in (
        {"hidden_layer_sizes": 9},
        {"activation": "tanh"},
        {"slope": 2.0},
        {"output_nodes": "per_class"},
    ):
        changed = clone(model).fit(X, y).set_params(**other)
        changed.predict(X)
        with pytest.raises(
            SettingError, match="the weights of a network of other layers"
        ):
            changed.fit(X, y)


def test_partial_fit_is_an_epoch_a_call(moons):
    X, y = moons
    parts, whole = small(tol=None, max_iter=4), small(tol=None, max_iter=4).fit(X, y)
    for _ in range(4):
        parts.partial_fit(X, y)
    assert_allclose(parts.parameters_, whole.parameters_, rtol=1e-10)
    assert_allclose(parts.history_, whole.history_)
    assert parts.n_iter_ == 4


def test_partial_fit_is_given_classes_or_refuses_new_ones(three):
    X, y = three
    ants = y == "ant"
    model = (
        small().partial_fit(X[ants], y[ants], classes=np.unique(y)).partial_fit(X, y)
    )
    assert model.classes_.tolist() == ["ant", "bee", "cow"]
    model = small().partial_fit(X[ants], y[ants])
    before = model.parameters_.copy()
    with pytest.raises(SchemaError, match="no nodes for"):
        model.partial_fit(X, y)
    assert model.classes_.tolist() == ["ant"]
    assert_array_equal(model.parameters_, before)
    with pytest.raises(SettingError, match="does not support early_stopping"):
        small(early_stopping=True).partial_fit(X, y)


# -- learning rates and stopping -------------------------------------------------------


@pytest.mark.parametrize(
    ("schedule", "rates"),
    [
        ("constant", [0.1, 0.1, 0.1, 0.1]),
        ("invscaling", [0.1, 0.1 / 2**0.5, 0.1 / 3**0.5, 0.05]),
        ("cosine", [0.1, 0.1 * (1 + 2**-0.5) / 2, 0.05, 0.1 * (1 - 2**-0.5) / 2]),
    ],
)
def test_rates_follow_their_schedule(moons, schedule, rates):
    X, y = moons
    model = small(
        learning_rate=schedule, learning_rate_init=0.1, max_iter=4, record=True
    ).fit(X, y)
    assert_allclose([step["learning_rate"] for step in model.record_], rates)


def test_the_adaptive_rate_falls_until_it_is_spent(moons):
    X, y = moons
    model = small(
        learning_rate="adaptive",
        learning_rate_init=1e-3,
        tol=10.0,
        n_iter_no_change=2,
        max_iter=500,
        record=True,
    ).fit(X, y)
    rates = np.unique([step["learning_rate"] for step in model.record_])[::-1]
    assert_allclose(rates, 1e-3 / 5.0 ** np.arange(len(rates)))
    assert model.stopped_ == "the loss no longer fell"
    assert 1e-6 <= rates[-1] < 5e-6


def test_it_stops_when_the_loss_has_settled(moons):
    X, y = moons
    # as many epochs as scikit-learn's, without early_stopping
    for patience in (1, 3, 7):
        settings = {"tol": 10.0, "n_iter_no_change": patience, "max_iter": 50}
        model = small(**settings).fit(X, y)
        assert model.n_iter_ == Peer(**settings, hidden_layer_sizes=8).fit(X, y).n_iter_
    assert model.stopped_ == "the loss no longer fell"
    assert small(tol=None, max_iter=20).fit(X, y).stopped_ == "max_iter"


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_loss_that_explodes_is_said(moons):
    X, y = moons
    with pytest.raises(DataError, match="lower learning_rate_init"):
        small(
            solver="sgd",
            learning_rate_init=1e30,
            integration="quadratic",
            activation="linear",
            max_iter=50,
        ).fit(X, y)

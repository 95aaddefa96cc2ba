"""Backpropagation as on paper: given weights, rate and order; own validation rows; a warning at
max_iter."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.exceptions import ConvergenceWarning

from lyceum.data import scan
from lyceum.errors import DataError, SettingError
from lyceum.neural import MLPClassifier, MLPRegressor

# two inputs, two sigmoid nodes, one output
START = (
    [np.array([[0.15, 0.25], [0.2, 0.3]]), np.array([[0.4], [0.45]])],
    [np.full(2, 0.35), np.array([0.6])],
)
ON_PAPER = {
    "hidden_layer_sizes": 2,
    "activation": "sigmoid",
    "solver": "sgd",
    "momentum": 0.0,
    "learning_rate_init": 0.5,
    "alpha": 0,
    "batch_size": 1,
    "shuffle": False,
    "standardize": False,
    "max_iter": 1,
    "tol": None,
    "record": "steps",
    "weights_init": START,
}
X = np.array([[0.05, 0.1], [1.0, -1.0], [0.5, 2.0]])


def steps_on_paper(y, output, delta, passes=1):
    """The parameters after every row, by the chain rule: δ at the output, then at the hidden
    nodes."""
    (W, V), (b, c) = ([part.copy() for part in parts] for parts in START)
    steps = []
    for _ in range(passes):
        for x, t in zip(X, y):
            a = expit(x @ W + b)
            d = delta(output(a @ V + c), t)  # (1,)
            hidden = a * (1 - a) * (V @ d)
            V, c = V - 0.5 * np.outer(a, d), c - 0.5 * d
            W, b = W - 0.5 * np.outer(x, hidden), b - 0.5 * hidden
            steps.append(np.concatenate([W.ravel(), b, V.ravel(), c]))
    return np.array(steps)


@pytest.mark.syllabus("8.1.3")
def test_a_step_with_squared_error_comes_out_digit_by_digit():
    """A widely used exercise: 2-2-2 sigmoid nodes, η = ½, inputs .05 and .10, here for the classes
    (1, 0)."""
    start = (
        [START[0][0], np.array([[0.4, 0.5], [0.45, 0.55]])],
        [np.full(2, 0.35), np.full(2, 0.6)],
    )
    settings = {
        **ON_PAPER,
        "weights_init": start,
        "loss": "squared_error",
        "output_nodes": "per_class",
    }
    model = MLPClassifier(**settings).partial_fit(
        [[0.05, 0.1]], ["a"], classes=["a", "b"]
    )
    # forward: .3775 .3925 give .593269992 .596884378; 1.105905967 1.224921404 give .75136507
    # .772928465 δ = (out − target) · out (1 − out)
    first, second = (
        (0.75136507 - 1) * 0.75136507 * 0.24863493,
        0.772928465 * 0.772928465 * 0.227071535,
    )
    want = [
        [0.4 - 0.5 * first * 0.593269992, 0.5 - 0.5 * second * 0.593269992],
        [0.45 - 0.5 * first * 0.596884378, 0.55 - 0.5 * second * 0.596884378],
    ]
    assert_allclose(model.coefs_[1], want, atol=1e-8)
    hidden = (first * 0.4 + second * 0.5) * 0.593269992 * 0.406730008
    assert_allclose(
        model.coefs_[0][:, 0],
        [0.15 - 0.5 * hidden * 0.05, 0.2 - 0.5 * hidden * 0.1],
        atol=1e-9,
    )
    assert_allclose(model.history_, [0.5 * (0.24863493**2 + 0.772928465**2)], atol=1e-8)


@pytest.mark.syllabus("8.1.4")
@pytest.mark.parametrize(
    ("model", "y", "output", "delta"),
    [
        (MLPRegressor(), [0.2, 1.0, -3.0], lambda z: z, lambda h, t: h - t),
        (MLPClassifier(loss="log_loss"), [1, 0, 1], expit, lambda h, t: h - t),
        (
            MLPClassifier(loss="squared_error"),
            [1, 0, 1],
            expit,
            lambda h, t: (h - t) * h * (1 - h),
        ),
    ],
)
def test_rows_one_at_a_time_from_given_weights(model, y, output, delta):
    model = model.set_params(**ON_PAPER).set_params(max_iter=2).fit(X, y)
    want = steps_on_paper(y, output, delta, passes=2)
    assert_allclose(
        np.concatenate([step["steps"] for step in model.record_]), want, rtol=1e-12
    )
    assert_allclose(model.parameters_, want[-1], rtol=1e-12)
    plain = clone(model).set_params(record=False).fit(X, y)
    assert_array_equal(plain.parameters_, model.parameters_)
    again = (
        clone(model)
        .set_params(weights_init=(model.coefs_, model.intercepts_))
        .fit(X, y)
    )
    assert_allclose(
        again.parameters_, steps_on_paper(y, output, delta, passes=4)[-1], rtol=1e-12
    )


def test_steps_are_the_same_shuffled_and_with_chance():
    X, y = make_moons(50, noise=0.2, random_state=0)
    settings = {
        "hidden_layer_sizes": 5,
        "dropout": 0.3,
        "input_noise": 0.1,
        "batch_size": 8,
        "max_iter": 3,
    }
    one, two = (
        MLPClassifier(**settings, tol=None, record=kind, random_state=0).fit(X, y)
        for kind in (True, "steps")
    )
    assert_array_equal(one.parameters_, two.parameters_)
    assert two.record_[0]["steps"].shape == (7, len(two.parameters_))
    assert_array_equal(two.record_[-1]["steps"][-1], two.parameters_)
    whole = MLPClassifier(
        **{**settings, "batch_size": "all"}, tol=None, record="steps"
    ).fit(X, y)
    assert [len(step["steps"]) for step in whole.record_] == [1, 1, 1]


def test_spheres_start_where_they_are_put():
    start = (
        [np.eye(2), np.ones((2, 1))],
        [np.zeros(2), np.zeros(1)],
        [np.array([2.0, 4.0]), None],
    )
    tiny = {
        **ON_PAPER,
        "weights_init": start,
        "learning_rate_init": 1e-300,
        "integration": "spherical",
    }
    model = MLPRegressor(**{**tiny, "activation": "linear"}).fit(X, [0.0, 1.0, 2.0])
    want = ((X - [1, 0]) ** 2).sum(axis=1) / 4 + ((X - [0, 1]) ** 2).sum(axis=1) / 16
    assert_allclose(model.predict(X), want, rtol=1e-12)
    assert_allclose(model.radii_[0], [2.0, 4.0])
    with pytest.raises(SettingError, match="radii"):
        MLPRegressor(**{**tiny, "weights_init": start[:2]}).fit(X, [0.0, 1.0, 2.0])


@pytest.mark.parametrize(
    ("start", "message"),
    [
        (([], []), "each of the 2 layers"),
        ((START[0][:1], START[1][:1]), "each of the 2 layers"),
        (
            ([np.eye(3), START[0][1]], START[1]),
            r"weights of layer 0 .* \(2, 2\).* got shape \(3, 3\)",
        ),
        ((START[0], [np.array([0.0, np.nan]), START[1][1]]), "biases of layer 0"),
        ((START[0], [["a", "b"], START[1][1]]), "must be numbers"),
    ],
)
def test_weights_that_do_not_fit_are_refused(start, message):
    with pytest.raises(SettingError, match=message):
        MLPClassifier(**{**ON_PAPER, "weights_init": start}).fit(X, [0, 1, 0])


@pytest.mark.syllabus("8.3")
@pytest.mark.parametrize("nodes", ["one", "per_class"])
def test_squared_error_learns_and_is_the_brier_score_of_one_node(nodes):
    X, y = make_moons(300, noise=0.2, random_state=0)
    model = MLPClassifier(
        loss="squared_error",
        output_nodes=nodes,
        learning_rate_init=0.02,
        tol=None,
        early_stopping=True,
        random_state=0,
    )
    model.fit(X[:200], y[:200], validation=(X[200:], y[200:]))
    assert model.score(X, y) > 0.94
    P = model.predict_proba(X[200:])
    assert_allclose(P.sum(axis=1), 1.0)
    if nodes == "one":
        assert_allclose(
            min(model.validation_history_),
            0.5 * np.mean((P[:, 1] - y[200:]) ** 2),
            rtol=1e-9,
        )
    assert "log-odds" in model.explain(X[:3]).unit or nodes == "per_class"


@pytest.mark.syllabus("8.3.2")
def test_own_validation_rows_are_judged_by_and_not_learned_from(tmp_path):
    X, y = make_moons(200, noise=0.25, random_state=1)
    names = np.array(["left", "right"])[y]
    w = np.arange(100) % 3
    model = MLPClassifier(
        early_stopping=True,
        learning_rate_init=0.05,
        hidden_layer_sizes=50,
        n_iter_no_change=5,
        random_state=0,
    )
    model.fit(X[:100], names[:100], validation=(X[100:], names[100:], w))
    assert model.stopped_ == "the validation loss no longer fell"
    losses = -np.log(model.predict_proba(X[100:])[np.arange(100), y[100:]])
    assert_allclose(
        min(model.validation_history_), np.average(losses, weights=w), rtol=1e-9
    )
    # it learned from all rows of fit: the first epoch is that without validation
    alone = (
        clone(model)
        .set_params(early_stopping=False, max_iter=1, tol=None)
        .fit(X[:100], names[:100])
    )
    assert_allclose(model.history_[0], alone.history_[0], rtol=1e-12)
    frame = pd.DataFrame(X[100:], columns=["x0", "x1"]).assign(y=names[100:], w=w)
    pq.write_table(
        pa.Table.from_pandas(frame, preserve_index=False), tmp_path / "v.parquet"
    )
    known = pd.DataFrame(X[:100], columns=["x0", "x1"])
    other = clone(model).fit(
        known, names[:100], validation=scan(tmp_path / "v.parquet", "y", weight="w")
    )
    assert_allclose(other.validation_history_, model.validation_history_, rtol=1e-12)


def test_own_validation_rows_of_numbers_are_in_the_units_of_the_target():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    y = 50 + 10 * np.sin(X[:, 0])
    model = MLPRegressor(early_stopping=True, tol=None, max_iter=30, random_state=0)
    model.fit(X[:80], y[:80], validation=(X[80:], y[80:]))
    squares = np.mean((model.predict(X[80:]) - y[80:]) ** 2)
    assert_allclose(
        min(model.validation_history_), squares / 2 / model.target_scale_**2, rtol=1e-9
    )
    best = model.validation_scores_[model.best_epoch_ - 1]
    assert best == pytest.approx(model.score(X[80:], y[80:]), rel=1e-9)


@pytest.mark.parametrize(
    ("validation", "error", "message"),
    [
        ((X, [0, 1]), DataError, "3 rows, 2 targets"),
        ((X, [0, 1, 2]), ValueError, "no class"),
        ((X, [0, 1, 1], np.zeros(3)), DataError, "weight above 0"),
        ((X, None), DataError, "need their target"),
        ((X[:, :1], [0, 1, 1]), ValueError, "features"),
    ],
)
def test_validation_rows_that_do_not_fit_are_refused(validation, error, message):
    with pytest.raises(error, match=message):
        MLPClassifier(early_stopping=True, max_iter=1).fit(
            X, [0, 1, 0], validation=validation
        )
    with pytest.raises(SettingError, match="early_stopping=True"):
        MLPClassifier(max_iter=1).fit(X, [0, 1, 0], validation=validation)


def test_a_warning_says_that_the_loss_still_fell():
    X, y = make_moons(100, noise=0.2, random_state=0)
    with pytest.warns(
        ConvergenceWarning, match="max_iter=3 epochs while the loss still fell"
    ) as heard:
        MLPClassifier(max_iter=3).fit(X, y)
    assert heard[0].filename == __file__
    MLPClassifier(max_iter=3, tol=None).fit(X, y)
    MLPClassifier(max_iter=3, learning_rate="cosine").fit(X, y)
    MLPClassifier(max_iter=50, tol=10.0).fit(X, y)

"""MLPClassifier: steps by hand, against scikit-learn, streams, stopping, coding, explanations."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit
from sklearn.base import clone
from sklearn.datasets import load_digits, make_circles
from sklearn.neural_network import MLPClassifier as Peer
from tests.neural.mlp_cases import small

from lyceum.data import scan
from lyceum.errors import DataError, SettingError
from lyceum.linear import LogisticRegression
from lyceum.neural import MLPClassifier

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


# -- the descent -----------------------------------------------------------------------


@pytest.mark.syllabus("8.1")
@pytest.mark.parametrize(
    "solver",
    [
        {"solver": "adam"},
        {"solver": "sgd"},
        {"solver": "sgd", "momentum": 0.0},
        {"solver": "sgd", "momentum": 0.8, "nesterovs_momentum": False},
    ],
)
def test_from_the_same_weights_it_goes_where_scikit_learn_goes(three, solver):
    """Same start, no shuffling, five epochs of mini-batches with a penalty: the same weights."""
    X, y = three
    common = {
        "hidden_layer_sizes": (7, 5),
        "activation": "tanh",
        "shuffle": False,
        "batch_size": 50,
        "alpha": 0.01,
        "warm_start": True,
        "max_iter": 1,
        **solver,
    }
    ours = small(**common, standardize=False)
    ours.fit(X, y)
    theirs = Peer(**common, random_state=0).fit(X, y)
    for k, (w, b) in enumerate(zip(theirs.coefs_, theirs.intercepts_)):
        ours.coefs_[k][:], ours.intercepts_[k][:] = w, b
    ours.set_params(max_iter=5).fit(X, y)
    theirs.set_params(max_iter=5).fit(X, y)
    for k in range(3):
        assert_allclose(ours.coefs_[k], theirs.coefs_[k], rtol=1e-6, atol=1e-9)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-8)
    assert_allclose(
        ours.history_, theirs.loss_curve_[-5:], rtol=2e-3
    )  # ours adds the penalty at the end


@pytest.mark.syllabus("8.1")
def test_without_hidden_layers_it_finds_the_logistic_regression(three):
    """With all rows in a step, α is 1 / C; the optimum is that of another solver."""
    X, y = three
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    ours = MLPClassifier(
        hidden_layer_sizes=(),
        batch_size="all",
        solver="sgd",
        learning_rate_init=0.5,
        max_iter=3000,
        tol=None,
        alpha=1.0,
        standardize=False,
        random_state=0,
    ).fit(X, y)
    exact = LogisticRegression(C=1.0, tol=1e-10).fit(X, y)
    assert_allclose(ours.coefs_[0].T, exact.coef_, atol=1e-6)
    assert_allclose(ours.history_[-1], exact.objective_ / 500, rtol=1e-9)


@pytest.mark.syllabus("8.1.2")
def test_one_at_a_time_is_a_step_a_row(moons):
    X, y = moons
    assert small(batch_size=1, max_iter=1).fit(X, y).n_steps_ == 300
    assert small(batch_size=64, max_iter=2).fit(X, y).n_steps_ == 2 * 5
    assert small(batch_size="all", max_iter=7).fit(X, y).n_steps_ == 7


@pytest.mark.syllabus("8.1.2")
def test_a_batch_of_all_rows_is_the_whole_batch(moons):
    X, y = moons
    one, two = small(batch_size="all").fit(X, y), small(batch_size=300).fit(X, y)
    assert_allclose(one.parameters_, two.parameters_, rtol=1e-9, atol=1e-12)


@pytest.mark.syllabus("8.1", "8.2.1", "8.2.2")
@pytest.mark.parametrize("activation", ["relu", "tanh", "sigmoid", "sign"])
@pytest.mark.parametrize("integration", ["weighted", "quadratic", "spherical"])
def test_every_kind_of_node_tells_a_ring_from_its_middle(activation, integration):
    X, y = make_circles(300, noise=0.1, factor=0.4, random_state=0)
    model = MLPClassifier(
        hidden_layer_sizes=30,
        activation=activation,
        integration=integration,
        slope=2.0,
        learning_rate_init=0.02,
        batch_size=32,
        max_iter=150,
        tol=None,
        random_state=0,
    ).fit(X, y)
    assert LogisticRegression().fit(X, y).score(X, y) < 0.7
    assert model.score(X, y) > 0.95
    assert model.history_[-1] < 0.7 * model.history_[0]


@pytest.mark.syllabus("8.1.1")
def test_layers_may_be_many_and_each_of_its_own_kind(three):
    X, y = three
    kinds = {
        "activation": ["relu", "tanh", "sigmoid", "linear"],
        "integration": ["weighted", "spherical"] * 2,
    }
    model = small(hidden_layer_sizes=(9, 8, 7, 6), **kinds, max_iter=60).fit(X, y)
    assert [w.shape for w in model.coefs_] == [(4, 9), (9, 8), (8, 7), (7, 6), (6, 3)]
    assert [r is None for r in model.radii_] == [True, False, True, False, True]
    assert model.history_[-1] < model.history_[0]
    with pytest.raises(ValueError, match="one of them for each of the 2 hidden"):
        small(hidden_layer_sizes=(2, 2), activation=["relu"]).fit(X, y)


def test_digits_as_well_as_the_peer():
    X, y = load_digits(return_X_y=True)
    train, test = np.arange(1797) % 3 > 0, np.arange(1797) % 3 == 0
    model = MLPClassifier(random_state=0, dtype="float32", max_iter=30, tol=None).fit(
        X[train], y[train]
    )
    assert model.score(X[test], y[test]) > 0.96


# -- against overfitting ---------------------------------------------------------------


@pytest.mark.syllabus("8.3.1")
def test_the_penalty_shrinks_the_weights(moons):
    X, y = moons
    sizes = [
        np.sum(small(alpha=a, max_iter=100).fit(X, y).coefs_[0] ** 2)
        for a in (0.0, 1.0, 10.0)
    ]
    assert sizes[0] > sizes[1] > sizes[2]


@pytest.mark.syllabus("8.3.2")
def test_early_stopping_goes_back_to_the_best_weights(moons):
    X, y = moons
    options = {
        "hidden_layer_sizes": 200,
        "learning_rate_init": 0.05,
        "alpha": 0.0,
        "max_iter": 200,
    }
    model = small(
        **options,
        early_stopping=True,
        validation_fraction=0.3,
        n_iter_no_change=5,
        record=True,
    )
    model.fit(X[:80], y[:80])
    assert model.stopped_ == "the validation loss no longer fell"
    assert model.n_iter_ == len(model.history_) == len(model.validation_scores_) < 200
    assert (
        model.best_epoch_
        == 1 + int(np.argmin(model.validation_history_))
        < model.n_iter_
    )
    assert_array_equal(
        model.parameters_, model.record_[model.best_epoch_ - 1]["parameters"]
    )


def test_the_validation_split_is_the_same_wherever_blocks_end(three, tmp_path):
    X, y = three
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=y)
    pq.write_table(
        pa.Table.from_pandas(frame, preserve_index=False),
        tmp_path / "t.parquet",
        row_group_size=61,
    )
    options = {"early_stopping": True, "max_iter": 8}
    one = small(**options).fit(frame[list("abcd")], y)
    two = small(**options).fit(scan(tmp_path / "t.parquet", "y", memory=0))
    assert_allclose(one.parameters_, two.parameters_, rtol=1e-9, atol=1e-12)
    assert_allclose(one.validation_history_, two.validation_history_, rtol=1e-9)


def test_nobody_to_validate_with_is_said():
    X, y = np.array([[0.0], [1.0]]), np.array([0, 1])
    with pytest.raises(DataError, match="validation"):
        small(early_stopping=True, validation_fraction=1e-9).fit(X, y)
    with pytest.raises(DataError, match="no rows are left to learn from"):
        small(early_stopping=True, validation_fraction=1 - 1e-9).fit(X, y)


@pytest.mark.syllabus("8.3.1")
def test_dropout_and_noise_change_training_but_not_prediction(moons):
    X, y = moons
    plain = small(max_iter=30).fit(X, y)
    for options in ({"dropout": 0.5}, {"input_noise": 0.5}):
        model = small(max_iter=30, **options).fit(X, y)
        assert model.history_[-1] > plain.history_[-1]
        assert_array_equal(model.predict_proba(X), model.predict_proba(X))
        assert_array_equal(
            model.parameters_, small(max_iter=30, **options).fit(X, y).parameters_
        )


# -- outputs ---------------------------------------------------------------------------


@pytest.mark.syllabus("8.3.3")
def test_two_classes_have_one_node_or_two(moons):
    X, y = moons
    options = {"max_iter": 60, "learning_rate_init": 0.05}
    one, two = (
        small(**options).fit(X, y),
        small(output_nodes="per_class", **options).fit(X, y),
    )
    assert one.widths_.tolist() == [2, 8, 1]
    assert two.widths_.tolist() == [2, 8, 2]
    hidden = np.maximum(
        (X - one.center_) / one.scale_ @ one.coefs_[0] + one.intercepts_[0], 0
    )
    assert_allclose(
        one.predict_proba(X)[:, 1],
        expit(hidden @ one.coefs_[1] + one.intercepts_[1])[:, 0],
        rtol=1e-10,
    )
    assert np.mean(one.predict(X) == two.predict(X)) > 0.9
    with pytest.raises(SettingError, match="codes two classes, but y has 3"):
        small(output_nodes="one").fit(X, np.arange(300) % 3)


def test_one_class_is_certain():
    model = small().fit(np.arange(6.0)[:, None], ["yes"] * 6)
    assert_array_equal(model.predict_proba([[9.0]]), [[1.0]])
    assert model.explain([[9.0]]).scores.tolist() == [0.0]


def test_class_weights_are_row_weights(three):
    X, y = three
    weight = {"ant": 3.0, "cow": 0.5}
    rows = np.array([weight.get(label, 1.0) for label in y])
    # columns are standardized by the weights of the rows alone
    plain = small(standardize=False)
    one = clone(plain).set_params(class_weight=weight).fit(X, y)
    assert_allclose(one.parameters_, plain.fit(X, y, rows).parameters_, rtol=1e-10)
    counts = np.array([np.sum(y == label) for label in np.unique(y)])
    balanced = small(class_weight="balanced").fit(X, y)
    assert_allclose(balanced.class_weight_, 500 / (3 * counts))
    with pytest.raises(SettingError, match="names the class 'dog'"):
        small(class_weight={"dog": 1.0}).fit(X, y)


# -- what was learned ------------------------------------------------------------------


@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_contributions_add_up_to_the_change_from_the_mean_row(three, activation):
    X, y = three
    model = small(activation=activation, max_iter=50).fit(X, y)
    explained = model.explain(X[:20])
    joint = model.predict_log_proba(X[:20])
    order = np.sort(joint, axis=1)
    assert_allclose(explained.scores, order[:, -1] - order[:, -2], rtol=1e-9, atol=1e-9)
    at_mean = model.predict_log_proba(model.center_[None])[0]
    best = np.argsort(-joint, axis=1)
    want = at_mean[best[:, 0]] - at_mean[best[:, 1]]
    assert_allclose(explained.base, want, atol=0.1 if activation == "relu" else 1e-6)
    assert_array_equal(explained.predicted, model.predict(X[:20]))


def test_gradient_times_input_is_exact_for_a_linear_network(moons):
    X, y = moons
    model = small(hidden_layer_sizes=(), max_iter=50).fit(X, y)
    one, two = (
        model.explain(X[:9], method=method) for method in ("gradient", "integrated")
    )
    want = (X[:9] - model.center_) / model.scale_ * model.coefs_[0][:, 0]
    assert_allclose(one.contributions, want)
    assert_allclose(two.contributions, want)
    with pytest.raises(ValueError, match="choose 'integrated'"):
        model.explain(X, method="magic")


def test_the_summary_counts_parameters(three):
    X, y = three
    summary = (
        small(hidden_layer_sizes=(6, 5), integration=["weighted", "spherical"])
        .fit(X, y)
        .summary()
    )
    assert summary.facts["parameters"] == 4 * 6 + 6 + 6 * 5 + 2 * 5 + 5 * 3 + 3
    assert summary.facts["nodes"] == "4 – 6 – 5 – 3"
    assert [row[4] for row in summary.tables[0].rows] == [24, 30, 15]


def test_constant_columns_and_offsets_do_no_harm(three):
    X, y = three
    wild = np.column_stack([X + 1e6, np.full(500, 7e8)])
    plain = np.column_stack([X, np.zeros(500)])
    one, two = small(max_iter=20).fit(plain, y), small(max_iter=20).fit(wild, y)
    assert_allclose(one.predict_proba(plain), two.predict_proba(wild), atol=1e-5)


def test_a_clone_with_the_same_seed_is_the_same(moons):
    X, y = moons
    model = small(dropout=0.2).fit(X, y)
    assert_array_equal(model.parameters_, clone(model).fit(X, y).parameters_)
    assert not np.array_equal(
        model.parameters_, small(dropout=0.2, random_state=1).fit(X, y).parameters_
    )


@pytest.mark.parametrize("sizes", [(2.7, 3.2), ("a",), (float("nan"),), 0])
def test_sizes_of_layers_are_whole_numbers(sizes):
    with pytest.raises(ValueError, match="hidden_layer_sizes"):
        MLPClassifier(sizes, max_iter=1).fit(np.eye(4), [0, 1, 0, 1])

"""Mixtures of experts: a likelihood that never falls, and regions that are found."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression as SkLinear
from sklearn.neighbors import KNeighborsRegressor as SkNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeRegressor as SkTree
from tests.checks.fits import Case
from tests.checks.model_laws import a_saved_model_is_the_model, it_shows_itself
from tests.checks.posterior_laws import posteriors_are_probabilities

from lyceum.bayes import NaiveBayes
from lyceum.data import Rows
from lyceum.datasets import load
from lyceum.ensemble import HierarchicalMixtureOfExperts, MixtureOfExperts
from lyceum.ensemble.experts.mixture import ExpertRows, GateTree
from lyceum.errors import SchemaError, SettingError
from lyceum.linear import LogisticRegression
from lyceum.prepare import MinMaxScaler
from lyceum.semi_supervised import SemiSupervisedEM
from lyceum.trees import DecisionTreeClassifier

rng = np.random.default_rng(0)
X = rng.uniform(-2, 2, (300, 2))
BENT = np.where(X[:, 0] > 0, 2 * X[:, 0] + X[:, 1], -3 * X[:, 0]) + 0.1 * rng.normal(
    size=300
)
XOR = np.where(X[:, 0] * X[:, 1] > 0, "a", "b")


@pytest.mark.syllabus("11.6.2")
@pytest.mark.parametrize(
    "model",
    [
        MixtureOfExperts(n_experts=3, n_init=1),
        HierarchicalMixtureOfExperts(depth=2),
        MixtureOfExperts(SkTree(max_depth=2, random_state=0), n_experts=2, n_init=1),
        MixtureOfExperts(LogisticRegression(C=0.01), n_experts=2, n_init=1),
        HierarchicalMixtureOfExperts(NaiveBayes(), depth=2),
        MixtureOfExperts(
            make_pipeline(MinMaxScaler(), LogisticRegression()), n_experts=2, n_init=1
        ),
    ],
    ids=lambda model: repr(model)[:40],
)
def test_the_log_likelihood_never_decreases(model):
    target = XOR if hasattr(model, "predict_proba") else BENT
    history = np.array(model.fit(X, target).history_)
    assert len(history) > 2
    assert (np.diff(history) >= -1e-9 * np.abs(history[1:])).all()


@pytest.mark.syllabus("11.6")
def test_two_lines_are_found_with_their_gate():
    model = MixtureOfExperts(n_experts=2).fit(X, BENT)
    assert model.score(X, BENT) > 0.99
    assert model.sigma_ == pytest.approx(0.1, abs=0.02)
    side = model.gate_proba(X)[:, 0] > 0.5
    right = X[:, 0] > 0
    assert max((side == right).mean(), (side != right).mean()) > 0.97
    left, right = sorted(model.estimators_, key=lambda expert: expert.coef_[0])
    np.testing.assert_allclose(left.coef_ / model.scale_, [-3, 0], atol=0.1)
    np.testing.assert_allclose(right.coef_ / model.scale_, [2, 1], atol=0.1)


@pytest.mark.syllabus("11.6")
def test_logistic_experts_under_gates_solve_what_one_cannot():
    alone = LogisticRegression().fit(X, XOR).score(X, XOR)
    model = MixtureOfExperts(
        LogisticRegression(C=100.0), n_experts=2, n_init=3, random_state=0
    ).fit(X, XOR)
    assert alone < 0.7
    assert model.score(X, XOR) > 0.95
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_one_expert_is_the_learner_itself():
    model = MixtureOfExperts(SkLinear(), n_experts=1).fit(X, BENT)
    np.testing.assert_allclose(
        model.predict(X), SkLinear().fit(X, BENT).predict(X), rtol=1e-8
    )


def test_a_hierarchy_of_one_level_is_a_mixture():
    flat = MixtureOfExperts(n_experts=2, n_init=1).fit(X, BENT)
    tree = HierarchicalMixtureOfExperts(depth=1, branching=2).fit(X, BENT)
    np.testing.assert_array_equal(flat.predict(X), tree.predict(X))


def test_shares_of_leaves_are_products_of_gates():
    tree = GateTree(2, 2)
    gates = rng.normal(size=(3, 2, 3))
    scores = np.einsum("nd,vcd->nvc", np.column_stack([X, np.ones(300)]), gates)
    g = np.exp(scores) / np.exp(scores).sum(axis=2, keepdims=True)
    expected = np.stack(
        [g[:, 0, i] * g[:, 1 + i, j] for i in range(2) for j in range(2)], axis=1
    )
    np.testing.assert_allclose(np.exp(tree.log_shares(X, gates)), expected, rtol=1e-12)
    wanted = tree.child_shares(expected)
    np.testing.assert_allclose(wanted[0], g[:, 0], rtol=1e-12)
    np.testing.assert_allclose(wanted[2], g[:, :1, 1] * g[:, 2], rtol=1e-12)


def test_mixtures_of_classifiers_obey_the_laws():
    model = MixtureOfExperts(NaiveBayes(), n_experts=2, n_init=1, tol=0.01)
    for law in (
        a_saved_model_is_the_model,
        posteriors_are_probabilities,
        it_shows_itself,
    ):
        law(model, Case())


def test_experts_must_take_weights():
    with pytest.raises(
        SettingError, match="KNeighborsRegressor cannot be an expert: its fit takes no"
    ):
        MixtureOfExperts(SkNeighbors()).fit(X, BENT)


def test_an_expert_behind_a_step_that_changes_nothing_is_the_expert():
    plain = MixtureOfExperts(SkLinear(), n_experts=2, n_init=1).fit(X, BENT)
    nested = make_pipeline(
        FunctionTransformer(), make_pipeline(FunctionTransformer(), SkLinear())
    )
    piped = MixtureOfExperts(nested, n_experts=2, n_init=1).fit(X, BENT)
    np.testing.assert_allclose(piped.history_, plain.history_, rtol=1e-9)
    np.testing.assert_allclose(piped.predict(X), plain.predict(X), rtol=1e-9)
    explanation = piped.explain(X[:5])
    np.testing.assert_allclose(
        explanation.base + explanation.contributions.sum(axis=1),
        piped.predict(X[:5]),
        rtol=1e-9,
    )


@pytest.mark.parametrize(
    "scaler", [StandardScaler(), MinMaxScaler()], ids=["another library", "own"]
)
def test_every_step_of_an_expert_that_takes_weights_gets_them(scaler):
    Z, w = X[:60] ** 3, rng.integers(0, 3, 60).astype(float)
    fitted = ExpertRows(Z, BENT[:60]).fit(make_pipeline(scaler, SkLinear()), w)
    times = np.repeat(np.arange(60), w.astype(int))
    repeated = make_pipeline(clone(scaler), SkLinear()).fit(Z[times], BENT[times])
    np.testing.assert_allclose(
        fitted[0].transform(Z), repeated[0].transform(Z), atol=1e-12
    )
    np.testing.assert_allclose(fitted.predict(Z), repeated.predict(Z), rtol=1e-9)


def test_a_pipeline_must_end_in_a_learner_that_takes_weights():
    with pytest.raises(
        SettingError,
        match=r"KNeighborsRegressor cannot be an expert: .*; set expert to",
    ):
        MixtureOfExperts(
            make_pipeline(make_pipeline(StandardScaler(), SkNeighbors()))
        ).fit(X, BENT)


@pytest.mark.parametrize(
    "settings", [{}, {"categorical_features": [0]}, {"max_features": "sqrt"}]
)
@pytest.mark.parametrize(
    "labels", [XOR, np.where(XOR == "a", -1, np.where(X[:, 0] > 0, 1, 2))]
)
def test_experts_that_are_given_rows_learn_as_from_an_array(settings, labels):
    Z, weights = X.round(), np.random.default_rng(1).uniform(size=(3, 300))
    expert = DecisionTreeClassifier(max_depth=3, random_state=0, **settings)
    rows = ExpertRows(Z, labels)
    for w in weights:
        one, other = rows.fit(expert, w), clone(expert).fit(Z, labels, sample_weight=w)
        assert vars(one).keys() == vars(other).keys()
        assert repr(one.schema_) == repr(other.schema_)
        np.testing.assert_array_equal(
            one.predict_proba(rows.inputs), other.predict_proba(Z)
        )
    assert isinstance(rows.inputs, Rows)


def test_labels_that_mean_none_to_an_expert_are_left_to_it():
    labels = np.where(XOR == "a", -1, np.where(X[:, 0] > 0, 1, 2))
    rows, expert = ExpertRows(X, labels), SemiSupervisedEM(max_iter=500)
    for _ in range(2):
        one = rows.fit(expert, np.ones(300))
        assert one.classes_.tolist() == [1, 2]
        np.testing.assert_array_equal(
            one.predict(rows.inputs), clone(expert).fit(X, labels).predict(X)
        )


def test_further_starts_do_not_harm():
    one = MixtureOfExperts(n_experts=3, n_init=1).fit(X[:100], BENT[:100])
    many = MixtureOfExperts(n_experts=3, n_init=3, random_state=0, record=True).fit(
        X[:100], BENT[:100]
    )
    assert many.history_[-1] >= one.history_[-1] - 1e-9
    assert [step["step"] for step in many.record_] == list(range(many.n_iter_ + 1))


@pytest.mark.syllabus("11.6")
@pytest.mark.parametrize("seed", [57, 58])
def test_the_default_finds_two_planes_that_no_axis_of_the_rows_tells_apart(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 4))
    y = np.where(X[:, 0] > 0, X[:, 1], -2.0 * X[:, 2])
    model = MixtureOfExperts(n_experts=2, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.95
    found = model.explain(X[:5])
    np.testing.assert_allclose(found.shares.sum(axis=1), model.predict(X[:5]))
    np.testing.assert_allclose(found.scores, model.predict(X[:5]))


@pytest.mark.syllabus("11.6")
def test_experts_that_are_not_linear_explain_columns_and_what_each_said():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    labels = np.where(X[:, 0] * X[:, 1] > 0, "same", "other")
    model = MixtureOfExperts(
        DecisionTreeClassifier(max_depth=2), n_experts=2, random_state=0
    ).fit(X, labels)
    found = model.explain(X[:6])
    best = model.predict_proba(X[:6]).max(axis=1)
    np.testing.assert_allclose(found.scores, best)
    np.testing.assert_allclose(found.shares.sum(axis=1), best)
    with pytest.raises(SchemaError, match="expert=LogisticRegression"):
        MixtureOfExperts().fit(load("penguins"))

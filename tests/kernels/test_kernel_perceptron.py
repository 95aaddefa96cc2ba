"""The perceptron in dual form: the plain one mistake by mistake, and any kernel."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

import lyceum.kernels.kernel_perceptron as module
from lyceum.kernels import SVC, KernelPerceptron, LinearSVC, RBFKernel
from lyceum.linear import MarginClassifier, Perceptron

XOR = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])


def groups(n, K, seed, apart=4.0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, K, n)
    return (
        rng.normal(size=(n, 3)) + apart * rng.normal(size=(K, 3))[y],
        y,
        rng.integers(1, 4, n).astype(float),
    )


@pytest.mark.syllabus("9.2")
@pytest.mark.filterwarnings("ignore:Perceptron made")
@settings(max_examples=20)
@given(
    st.integers(4, 60), st.sampled_from([2, 3, 4]), st.booleans(), st.integers(0, 999)
)
def test_the_linear_kernel_makes_the_mistakes_of_the_plain_perceptron(
    n, K, weighted, seed
):
    X, y, w = groups(n, K, seed)
    w = w if weighted else None
    dual = KernelPerceptron(kernel="linear", max_iter=20).fit(X, y, w)
    rule = {"multi_class": "joint", "shuffle": False, "tol": None}
    primal = Perceptron(max_iter=20, **rule).fit(X, y, w)
    assert dual.history_ == primal.history_
    assert dual.separable_ == primal.separable_
    np.testing.assert_allclose(
        dual.decision_function(X), primal.decision_function(X), rtol=1e-7, atol=1e-7
    )
    np.testing.assert_allclose(dual.margin_, primal.margin_, rtol=1e-6)
    np.testing.assert_allclose(dual.radius_, primal.radius_, rtol=1e-9)
    assert dual.row_mistakes_.sum() == dual.mistakes_ == sum(dual.history_)


@pytest.mark.syllabus("9.2")
def test_a_kernel_separates_what_no_line_does():
    y = np.array(["same", "same", "other", "other"])
    with pytest.warns(
        ConvergenceWarning, match=r"made \d+ mistakes in the last of max_iter=30 passes"
    ):
        line = KernelPerceptron(kernel="linear", max_iter=30).fit(XOR, y)
    assert not line.separable_
    assert np.isnan(line.margin_)
    curve = KernelPerceptron(kernel="poly", degree=2, gamma=1.0).fit(XOR, y)
    assert curve.separable_
    assert curve.predict(XOR).tolist() == y.tolist()
    assert curve.mistakes_ <= curve.mistake_bound_
    assert curve.history_[-1] == 0


@pytest.mark.syllabus("9.2")
def test_the_function_is_the_sum_over_mistakes():
    X, y, w = groups(40, 2, 1)
    model = KernelPerceptron(gamma=0.2).fit(X, y, w)
    sides = np.where(y == 1, 1.0, -1.0)
    by_hand = (RBFKernel(gamma=0.2).gram(X, X) + 1.0) @ (
        w * model.row_mistakes_ * sides
    )
    np.testing.assert_allclose(
        model.decision_function(X), by_hand, rtol=1e-9, atol=1e-9
    )
    assert model.support_.tolist() == np.flatnonzero(model.row_mistakes_).tolist()


@pytest.mark.filterwarnings("ignore:Perceptron made")
def test_columns_that_are_computed_when_needed_are_those_of_the_whole_matrix(
    monkeypatch,
):
    X, y, w = groups(300, 3, 2, apart=2.0)
    whole = KernelPerceptron(gamma=0.3, max_iter=30).fit(X, y, w)
    monkeypatch.setattr(module, "_KEPT", 5_000)
    some = KernelPerceptron(gamma=0.3, max_iter=30).fit(X, y, w)
    assert some.row_mistakes_.tolist() == whole.row_mistakes_.tolist()
    np.testing.assert_allclose(some.dual_coef_, whole.dual_coef_)


def test_precomputed_sparse_one_class_and_the_record():
    X, y, _ = groups(60, 2, 3)
    rows = KernelPerceptron(gamma=0.3).fit(X, y)
    values = KernelPerceptron(kernel="precomputed").fit(RBFKernel(gamma=0.3).gram(X), y)
    assert values.row_mistakes_.tolist() == rows.row_mistakes_.tolist()
    np.testing.assert_allclose(
        values.decision_function(RBFKernel(gamma=0.3).gram(X)),
        rows.decision_function(X),
    )
    thin = KernelPerceptron(gamma=0.3, record=True).fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(thin.decision_function(X), rows.decision_function(X))
    assert [step["mistakes"] for step in thin.record_] == thin.history_
    assert thin.record_[-1]["row_mistakes"].tolist() == thin.row_mistakes_.tolist()
    one = KernelPerceptron().fit(X, np.full(60, "all"))
    assert one.predict(X).tolist() == ["all"] * 60
    assert one.mistakes_ == 0
    assert "Rows of most mistakes" in str(rows.summary())


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_explanations_sum_to_the_score(kernel):
    X, y, _ = groups(60, 2, 5, apart=6.0)
    model = KernelPerceptron(kernel=kernel, max_iter=500).fit(X, y)
    found = model.explain(X)
    np.testing.assert_allclose(
        found.scores, model.decision_function(X), rtol=1e-9, atol=1e-9
    )
    if kernel == "linear":
        coef = model.dual_coef_[:, 0] @ model.rows_
        np.testing.assert_allclose(
            found.contributions, (X - X.mean(axis=0)) * coef, atol=1e-9
        )
    assert not hasattr(KernelPerceptron(kernel="precomputed"), "explain")


def test_explanations_of_three_classes_are_leads_over_the_next_class():
    X, y, _ = groups(60, 3, 5, apart=6.0)
    model = KernelPerceptron(max_iter=500).fit(X, y)
    best = np.sort(model.decision_function(X), axis=1)
    np.testing.assert_allclose(
        model.explain(X).scores, best[:, -1] - best[:, -2], atol=1e-9
    )


@pytest.mark.syllabus("9.2.1")
def test_the_dual_by_hand_comes_out_on_the_columns_as_they_are():
    """Rows (3, 3)+, (4, 3)+, (1, 1)-: a mistake, y (Σ α y x·x + b) ≤ 0, adds 1 to α and y to b."""
    X = np.array([[3.0, 3.0], [4.0, 3.0], [1.0, 1.0]])
    y = np.array([1, 1, -1])
    alpha = np.zeros(3)
    updates = []
    for _ in range(20):
        wrong = []
        for i in range(3):
            f = (alpha * y) @ (X @ X[i] + 1.0)
            if y[i] * f <= 0:
                alpha[i] += 1
                wrong.append(i)
        updates.append(wrong)
        if not wrong:
            break
    # the textbook's α = (2, 0, 5): w = (1, 1), b = -3
    assert alpha.tolist() == [2.0, 0.0, 5.0]
    model = KernelPerceptron(kernel="linear", record=True).fit(X, y)
    assert model.row_mistakes_.tolist() == [2, 0, 5]
    assert [step["updates"].tolist() for step in model.record_] == updates
    assert (model.dual_coef_[:, 0] @ model.rows_).tolist() == [1.0, 1.0]
    assert model.dual_coef_.sum() == -3.0


@pytest.mark.syllabus("9.3")
@pytest.mark.parametrize(
    "learner",
    [
        SVC(kernel="linear"),
        LinearSVC(loss="hinge"),
        KernelPerceptron(kernel="linear"),
        Perceptron(),
        MarginClassifier(),
    ],
    ids=lambda learner: type(learner).__name__,
)
def test_a_row_on_the_plane_is_of_the_positive_class(learner):
    X = [[-1.0], [1.0]]
    model = learner.fit(X, ["no", "yes"])
    # weights 1 and 0, so that the plane goes through 0 exactly
    if hasattr(model, "coef_"):
        model.coef_ = np.ones((1, 1))
        model.intercept_ = np.zeros(1)
    else:
        model.rows_ = np.array([[1.0], [-1.0]])
        model.dual_coef_ = np.array([[1.0], [-1.0]])
    assert model.decision_function([[0.0]])[0] == 0.0
    assert model.predict([[0.0]]).tolist() == ["yes"]
    assert list(model.explain([[0.0]]).predicted) == ["yes"]

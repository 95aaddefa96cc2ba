"""Minimum risk and doubt, against brute force and the laws they must obey."""

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import norm

from lyceum.decision import LossMatrix, bayes_error, expected_risk, minimum_risk
from lyceum.errors import DataError, SettingError


@st.composite
def problems(draw):
    """Posteriors with ties and zeros, and a loss matrix with as many actions as it likes."""
    n, K, A = draw(st.integers(1, 12)), draw(st.integers(1, 4)), draw(st.integers(1, 5))
    counts = draw(arrays(np.int64, (n, K), elements=st.integers(0, 6)))
    assume((counts.sum(axis=1) > 0).all())
    values = draw(arrays(np.float64, (K, A), elements=st.integers(0, 10).map(float)))
    return counts / counts.sum(axis=1, keepdims=True), values


@given(problems())
@pytest.mark.syllabus("2.2")
def test_no_action_has_less_risk_than_the_one_taken(problem):
    proba, values = problem
    decided = minimum_risk(proba, values)
    for i, p in enumerate(proba):
        risks = [
            sum(p[k] * values[k, a] for k in range(len(p)))
            for a in range(values.shape[1])
        ]
        assert decided.risks[i] == pytest.approx(risks)
        assert risks[decided[i]] <= min(risks) + 1e-12
        assert decided.risk[i] == pytest.approx(min(risks))


@given(problems())
@pytest.mark.syllabus("2.2.4")
def test_zero_one_loss_is_the_most_probable_class_the_first_of_equals(problem):
    proba, _ = problem
    loss = LossMatrix.zero_one(proba.shape[1])
    assert minimum_risk(proba, loss).tolist() == proba.argmax(axis=1).tolist()
    assert minimum_risk(proba).tolist() == proba.argmax(axis=1).tolist()


@given(problems(), st.floats(0, 2))
@pytest.mark.syllabus("2.3.1")
def test_zero_one_doubt_names_a_class_exactly_where_the_posterior_exceeds_one_minus_theta(
    problem, theta
):
    proba, _ = problem
    named = minimum_risk(proba, None, doubt=theta).index >= 0
    assert named.tolist() == (proba.max(axis=1) > 1 - theta).tolist()


@given(problems())
@pytest.mark.syllabus("2.3")
def test_theta_zero_always_rejects_and_theta_one_never_does(problem):
    proba, values = problem
    assert (np.asarray(minimum_risk(proba, None, doubt=0.0)) == -1).all()
    assert (np.asarray(minimum_risk(proba, values, doubt=0.0)) == -1).all()
    for theta in (1.0, 1.5, np.inf):
        assert not minimum_risk(proba, None, doubt=theta).rejected.any()
    assert (minimum_risk(proba, values, doubt=values.max() + 1.0).index >= 0).all()


@given(problems(), st.floats(0, 5), st.floats(0, 5))
@pytest.mark.syllabus("2.3")
def test_dearer_doubt_never_rejects_more(problem, one, two):
    proba, values = problem
    cheap, dear = (
        minimum_risk(proba, values, doubt=theta).index < 0
        for theta in sorted((one, two))
    )
    assert not (dear & ~cheap).any()


@given(problems(), st.integers(0, 40))
@pytest.mark.syllabus("2.3")
def test_doubt_is_one_more_action_that_costs_theta_whatever_the_truth(problem, eighths):
    proba, values = problem
    theta = eighths / 8
    decided = minimum_risk(proba, values, doubt=theta)
    wider = minimum_risk(proba, np.column_stack([values, np.full(len(values), theta)]))
    assert decided.risk == pytest.approx(wider.risk)
    clear = np.abs(decided.risks.min(axis=1) - theta) > 1e-9
    assert (decided.index < 0)[clear].tolist() == (wider.index == values.shape[1])[
        clear
    ].tolist()


@given(problems())
def test_the_rules_for_zero_one_and_for_general_losses_agree_on_doubt(problem):
    proba, _ = problem
    K = proba.shape[1]
    zero_one = LossMatrix.zero_one(range(K))
    general = LossMatrix(
        zero_one.values[:, ::-1], range(K), range(K)[::-1]
    )  # the same losses, not recognized
    assert K == 1 or not general.is_zero_one
    for theta in (0.0, 0.3, 0.45, 1.0):
        clear = np.abs(1 - proba.max(axis=1) - theta) > 1e-9
        a, b = (
            minimum_risk(proba, loss, doubt=theta).rejected[clear]
            for loss in (zero_one, general)
        )
        assert a.tolist() == b.tolist()


def test_on_the_boundary_the_decision_is_to_doubt():
    assert minimum_risk([[0.75, 0.25]], None, doubt=0.25).tolist() == [-1]
    assert minimum_risk([[0.75, 0.25]], [[0, 2], [4, 0]], doubt=1.0).tolist() == [-1]
    assert minimum_risk([[0.9, 0.1]], None, doubt=0.1).tolist() == [-1]


def test_negative_losses_are_gains_that_beat_free_doubt():
    assert minimum_risk([[0.5, 0.5]], [[-3, 1], [1, -1]], doubt=0.0).tolist() == [0]


def test_a_reject_column_is_taken_by_its_own_cost_and_marked():
    loss = LossMatrix(
        [[0, 5, 0.4], [1, 0, 0.4]], ["bad", "good"], ["bad", "good", "ask"]
    )
    decided = minimum_risk([[0.9, 0.1], [0.2, 0.8], [0.05, 0.95]], loss)
    assert decided.tolist() == ["bad", "ask", "good"]
    assert decided.rejected.tolist() == [False, True, False]


def test_labels_keep_their_type_unless_reject_forces_objects():
    proba = [[0.9, 0.1], [0.5, 0.5]]
    assert minimum_risk(proba, LossMatrix.zero_one([7, 9])).actions.dtype.kind == "i"
    mixed = minimum_risk(proba, LossMatrix.zero_one([7, 9]), doubt=0.3)
    assert mixed.tolist() == [7, "reject"]
    assert (
        minimum_risk(
            proba, LossMatrix.zero_one(["a", "b"]), doubt=0.3
        ).actions.dtype.kind
        == "U"
    )
    assert minimum_risk(
        proba, LossMatrix.zero_one([True, False]), doubt=0.3
    ).tolist() == [
        True,
        "reject",
    ]


def test_columns_in_another_order_are_matched_by_label():
    loss = LossMatrix([[0, 5], [1, 0]], ["bad", "good"])
    forward = minimum_risk([[0.1, 0.9]], loss, classes=["bad", "good"])
    backward = minimum_risk([[0.9, 0.1]], loss, classes=["good", "bad"])
    assert forward.tolist() == backward.tolist() == ["good"]
    assert backward.risks.tolist() == [[0.5, 0.9]]


def test_decisions_serve_as_an_array():
    decided = minimum_risk([[0.9, 0.1], [0.2, 0.8]])
    assert np.asarray(decided).tolist() == list(decided) == [0, 1]
    assert (decided == [0, 0]).tolist() == [True, False]
    assert np.mean(np.array([0, 1]) == decided) == 1.0
    assert np.asarray(decided, dtype=float).dtype == np.float64
    assert len(decided) == 2


def test_no_rows_give_no_decisions():
    assert minimum_risk(np.zeros((0, 3)), doubt=0.1).tolist() == []


def test_float32_posteriors_are_accepted():
    proba = np.random.default_rng(0).dirichlet(np.ones(7), 50).astype(np.float32)
    assert minimum_risk(proba).tolist() == proba.argmax(axis=1).tolist()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: minimum_risk([0.5, 0.5]), "shape"),
        (lambda: minimum_risk([[0.12, 0.35]]), "row 0 sums to 0.47"),
        (lambda: minimum_risk([[0.5, 0.5], [np.nan, 1.0]]), "row 1 sums to nan"),
        (
            lambda: minimum_risk([[1.5, -0.5]]),
            "negative probability -0.5 in row 0, column 1",
        ),
        (
            lambda: minimum_risk([[0.5, 0.5]], np.zeros((3, 2))),
            "3 rows, but proba has 2 columns",
        ),
        (lambda: minimum_risk([[0.5, 0.5]], doubt=-0.1), "at least 0"),
        (lambda: minimum_risk([[0.5, 0.5]], doubt=np.nan), "at least 0"),
        (
            lambda: minimum_risk(
                [[0.5, 0.5]], LossMatrix.zero_one(["reject", "b"]), doubt=0.1
            ),
            "already",
        ),
        (lambda: bayes_error(np.zeros((0, 2))), "no rows"),
        (lambda: bayes_error([[0.5, 0.5]], [-1.0]), "not negative"),
        (lambda: bayes_error([[0.5, 0.5]], [1.0, 1.0]), "one number per row"),
    ],
)
def test_what_is_not_a_posterior_or_a_cost_is_refused(call, message):
    with pytest.raises((DataError, SettingError), match=message):
        call()


def test_expected_risk_is_the_risk_of_every_action():
    assert expected_risk([[0.25, 0.75]], [[0, 4], [8, 0]]).tolist() == [[6.0, 1.0]]
    assert expected_risk([[0.25, 0.75]]).tolist() == [[0.75, 0.25]]


@pytest.mark.syllabus("2.4")
def test_bayes_error_of_two_gaussians_is_the_closed_form():
    x = np.linspace(-12, 14, 20001)
    a, b = norm.pdf(x), norm.pdf(x, loc=2.0)
    proba = np.column_stack([a, b]) / (a + b)[:, None]
    assert bayes_error(proba, a + b) == pytest.approx(norm.cdf(-1.0), abs=1e-6)


@pytest.mark.syllabus("2.4")
def test_bayes_risk_under_zero_one_loss_is_the_bayes_error():
    proba = np.random.default_rng(1).dirichlet(np.ones(4), 30)
    assert bayes_error(proba, loss=LossMatrix.zero_one(4)) == pytest.approx(
        bayes_error(proba)
    )
    assert bayes_error(proba) == pytest.approx(np.mean(1 - proba.max(axis=1)))

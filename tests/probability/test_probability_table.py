"""Probability tables: the sum rule, the product rule, Bayes' theorem."""

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st
from hypothesis.extra.numpy import arrays

from lyceum.decision import bayes_error
from lyceum.errors import DataError
from lyceum.probability import ProbabilityTable, bayes_theorem

ABC = {"a": [0, 1], "b": ["x", "y", "z"], "c": ["no", "yes"]}
counts = arrays(np.int64, (2, 3, 2), elements=st.integers(0, 5))


def joint_of(c):
    assume(c.sum() > 0)
    return ProbabilityTable.from_counts(ABC, c)


@given(counts)
@pytest.mark.syllabus("2.1.2")
def test_sum_rule(c):
    joint = joint_of(c)
    assert joint.marginal("b").values == pytest.approx(c.sum(axis=(0, 2)) / c.sum())
    assert joint.marginal("c", "a").values == pytest.approx(c.sum(axis=1).T / c.sum())
    assert joint.probability(b="y") == pytest.approx(c[:, 1].sum() / c.sum())
    assert joint.probability() == pytest.approx(1.0)


@given(counts)
@pytest.mark.syllabus("2.1.2")
def test_product_rule_gives_the_joint_back(c):
    joint = joint_of(c)
    back = joint.conditional("a", given=["b", "c"]) * joint.marginal("b", "c")
    assert back.marginal("a", "b", "c").values == pytest.approx(joint.values)
    chain = joint.conditional("a", given=["b", "c"]) * (
        joint.conditional("b", given="c") * joint.marginal("c")
    )
    assert chain.marginal("a", "b", "c").values == pytest.approx(joint.values)
    swapped = joint.marginal("b", "c") * joint.conditional("a", given=["b", "c"])
    assert swapped.marginal("a", "b", "c").values == pytest.approx(joint.values)


@given(counts)
@pytest.mark.syllabus("2.1.3")
def test_bayes_theorem_turns_a_conditional_round(c):
    joint = joint_of(c)
    turned = joint.conditional("b", given="a").bayes(joint.marginal("a"))
    direct = joint.conditional("a", given="b")
    assert turned.name == "P(a | b)"
    assert np.allclose(turned.values, direct.values, equal_nan=True)


@given(counts)
def test_conditionals_are_defined_exactly_where_the_condition_is_possible(c):
    table = joint_of(c).conditional("a", "c", given="b")
    total = c.sum(axis=(0, 2))
    assert np.isnan(table.values).all(axis=(0, 1)).tolist() == (total == 0).tolist()
    for j in np.flatnonzero(total):
        assert table.at(b="xyz"[j]).values == pytest.approx(c[:, j] / total[j])


@given(counts)
@pytest.mark.syllabus("2.4.3")
def test_bayes_error_of_a_table_is_that_of_its_posteriors(c):
    joint = joint_of(c)
    cells = np.moveaxis(c, 0, -1).reshape(-1, 2)
    seen = cells[cells.sum(axis=1) > 0]
    expected = bayes_error(seen / seen.sum(axis=1, keepdims=True), seen.sum(axis=1))
    assert joint.bayes_error("a") == pytest.approx(expected)


def test_given_variables_stay_given_when_others_are_summed_out():
    joint = ProbabilityTable.from_counts(ABC, np.arange(1, 13).reshape(2, 3, 2))
    table = joint.conditional("a", "b", given="c")
    assert table.marginal("a").name == "P(a | c)"
    assert table.marginal("a").values == pytest.approx(
        joint.conditional("a", given="c").values
    )
    assert table.conditional("a", given="b").values == pytest.approx(
        joint.conditional("a", given=["b", "c"]).values
    )
    assert table.at(c="yes").values == pytest.approx(joint.at(c="yes").values)
    assert table.probability(a=1, c="yes") == pytest.approx((8 + 10 + 12) / 42)


def test_columns_are_counted():
    table = ProbabilityTable.from_columns({"a": [1, 1, 0, 1], "b": list("xyxx")})
    assert table.values.tolist() == [[0.25, 0.0], [0.5, 0.25]]
    assert table.variables == {"a": (0, 1), "b": ("x", "y")}


def test_independence_is_seen():
    coin, die = (
        ProbabilityTable({"c": ["h", "t"]}, [0.5, 0.5]),
        ProbabilityTable({"d": [1, 2]}, [0.3, 0.7]),
    )
    both = coin.product(die, independent=True)
    assert both.independent("c", "d")
    assert "c ⊥ d holds" in str(both.independent("c", "d"))
    assert not ProbabilityTable(
        {"a": [0, 1], "b": [0, 1]}, [[0.5, 0.0], [0.0, 0.5]]
    ).independent("a", "b")
    with pytest.raises(DataError, match="independent=True"):
        coin * die


def test_printing_names_the_table_and_aligns_it():
    one = ProbabilityTable({"fish": ["salmon", "sea bass"]}, [0.3, 0.7])
    assert str(one).splitlines() == [
        "P(fish)",
        "fish        P",
        "────────  ───",
        "salmon    0.3",
        "sea bass  0.7",
    ]
    three = ProbabilityTable.from_counts(ABC, np.ones((2, 3, 2)))
    assert len(str(three).splitlines()) == 3 + 12
    assert "P(a, b, c)" in three._repr_html_()
    assert repr(three) == "<P(a, b, c), 2 × 3 × 2 values>"


FISH = {"fish": ["salmon", "sea bass"]}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: ProbabilityTable(FISH, [0.3, 0.6]),
            r"P\(fish\) sums to 0.9, not to 1",
        ),
        (lambda: ProbabilityTable(FISH, [1.3, -0.3]), "below 0"),
        (lambda: ProbabilityTable(FISH, [np.nan, 1.0]), "missing values"),
        (lambda: ProbabilityTable(FISH, [0.2, 0.3, 0.5]), "shape"),
        (lambda: ProbabilityTable(FISH, [0.3, 0.7], given="fish"), "not given"),
        (lambda: ProbabilityTable({"fish": ["a", "a"]}, [0.3, 0.7]), "twice"),
        (lambda: ProbabilityTable.from_counts(FISH, [0, 0]), "all counts are 0"),
        (lambda: ProbabilityTable.from_counts(FISH, [-1, 2]), "not negative"),
        (
            lambda: ProbabilityTable(FISH, [0.3, 0.7]).marginal("fsh"),
            "did you mean 'fish'",
        ),
        (
            lambda: ProbabilityTable(FISH, [0.3, 0.7]).probability(fish="cod"),
            "'cod' is not among",
        ),
        (
            lambda: ProbabilityTable(FISH, [0.3, 0.7]).conditional(
                "fish", given="fish"
            ),
            "wanted and given",
        ),
        (lambda: ProbabilityTable(FISH, [0.3, 0.7]).at(fish="salmon"), "probability"),
        (
            lambda: ProbabilityTable.from_columns({"a": [1], "b": [1, 2]}),
            "same number of rows",
        ),
        (
            lambda: ProbabilityTable.from_counts(ABC, np.zeros((2, 3, 2))),
            "counts are 0",
        ),
        (
            lambda: bayes_theorem({"a": 0.5, "b": 0.5}, {"a": 0.1, "c": 0.2}),
            "different classes",
        ),
        (
            lambda: bayes_theorem({"a": 0.5, "b": 0.6}, {"a": 0.1, "b": 0.2}),
            "sum to 1.1",
        ),
        (
            lambda: bayes_theorem({"a": 0.5, "b": 0.5}, {"a": 0, "b": 0}),
            "probability 0 in every class",
        ),
    ],
)
def test_what_is_no_probability_is_refused(call, message):
    with pytest.raises(DataError, match=message):
        call()


def test_impossible_evidence_is_named():
    table = ProbabilityTable({"a": [0, 1], "b": [0, 1]}, [[0.5, 0.0], [0.5, 0.0]])
    with pytest.raises(DataError, match=r"P\(b = 1\) is 0"):
        table.at(b=1)


def test_factors_with_values_in_another_order_are_refused():
    prior = ProbabilityTable({"fish": ["sea bass", "salmon"]}, [0.7, 0.3])
    size = ProbabilityTable(
        {"size": [1, 2], **FISH}, [[0.4, 0.5], [0.6, 0.5]], given="fish"
    )
    with pytest.raises(DataError, match="same values in the same order"):
        size * prior


@pytest.mark.syllabus("2.1.4")
def test_sets_of_variables_are_independent_given_others_by_the_numbers():
    rng = np.random.default_rng(0)
    states = {"a": [0, 1], "b": ["x", "y", "z"], "c": [0, 1], "d": [0, 1]}
    c = rng.dirichlet(np.ones(2))
    # P(a, d | c)
    ad = np.stack([rng.dirichlet(np.ones(4)).reshape(2, 2) for _ in range(2)])
    b = np.stack([rng.dirichlet(np.ones(3)) for _ in range(2)])  # P(b | c)
    table = ProbabilityTable(states, np.einsum("c,cad,cb->abcd", c, ad, b))
    held = table.independent(["a", "d"], "b", given="c")
    assert held
    assert held.difference < 1e-12
    assert len(held.rows) == 2 * 2 * 3 * 2
    first = dict(zip(held.variables, held.rows[0]))
    assert held.rows[0][4] == pytest.approx(ad[0, 0, 0] * b[0, 0])
    assert first == {"a": "0", "d": "0", "b": "x", "c": "0"}
    failed = table.independent(["a", "d"], "b")
    assert not failed
    joint = np.einsum("c,cad,cb->adb", c, ad, b)
    product = np.einsum("c,cad->ad", c, ad)[..., None] * (c @ b)
    assert failed.difference == pytest.approx(np.abs(joint - product).max())
    assert "does not hold" in str(failed)
    assert not table.independent("a", "d", given=["c", "b"])
    with pytest.raises(DataError, match="named twice"):
        table.independent(["a", "b"], "b")


@pytest.mark.syllabus("2.1")
def test_conditions_that_cannot_occur_do_not_count():
    values = np.zeros((2, 2, 2))
    values[:, :, 0] = np.outer([0.3, 0.7], [0.4, 0.6])
    table = ProbabilityTable({"a": [0, 1], "b": [0, 1], "c": [0, 1]}, values)
    verdict = table.independent("a", "b", given="c")
    assert verdict
    assert len(verdict.rows) == 4
    assert verdict.as_dict()["statement"] == "a ⊥ b | c"

"""Factors: every operation against the sum or product over all combinations of states."""

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from lyceum._core.probability import max_product, sum_product
from lyceum.errors import DataError
from lyceum.probability import Factor, ProbabilityTable

STATES = {
    "a": ("x", "y"),
    "b": (0, 1, 2),
    "c": (False, True),
    "d": ("p", "q", "r", "s"),
}


def factor_of(names, rng, log=False, zeros=0.0):
    shape = [len(STATES[name]) for name in names]
    values = np.where(rng.random(shape) < zeros, 0.0, rng.random(shape) + 0.01)
    factor = Factor({name: STATES[name] for name in names}, values)
    return factor.to_log() if log else factor


def brute(factors, names):
    """The product of the factors at every combination of states of `names`."""
    out = np.ones([len(STATES[name]) for name in names])
    for places in product(*(range(n) for n in out.shape)):
        states = {name: STATES[name][i] for name, i in zip(names, places)}
        for factor in factors:
            out[places] *= factor.to_linear()[
                {name: states[name] for name in factor.variables}
            ]
    return out


names_of = st.lists(st.sampled_from("abcd"), unique=True, max_size=4)


@given(
    st.lists(names_of, min_size=1, max_size=4),
    st.sampled_from([False, True]),
    st.integers(0, 99),
)
@settings(deadline=None, max_examples=60)
def test_product_is_the_product_at_every_combination(scopes, log, seed):
    rng = np.random.default_rng(seed)
    factors = [factor_of(names, rng, log, zeros=0.2) for names in scopes]
    whole = factors[0]
    for factor in factors[1:]:
        whole = whole * factor
    assert set(whole.variables) == set().union(*scopes)
    np.testing.assert_allclose(
        whole.to_linear().values, brute(factors, list(whole.variables)), rtol=1e-12
    )


@given(
    st.lists(names_of, min_size=1, max_size=5),
    names_of,
    st.sampled_from([False, True]),
    st.integers(0, 99),
)
@settings(deadline=None, max_examples=80)
def test_sum_product_is_the_sum_of_the_full_product(scopes, keep, log, seed):
    rng = np.random.default_rng(seed)
    factors = [
        factor_of(names, rng, log and i == 0, zeros=0.1)
        for i, names in enumerate(scopes)
    ]
    everything = sorted(set().union(*scopes))
    keep = [name for name in keep if name in everything]
    found = sum_product(factors, keep)
    whole = brute(factors, everything)
    gone = tuple(i for i, name in enumerate(everything) if name not in keep)
    left = [name for name in everything if name in keep]
    expected = whole.sum(axis=gone).transpose([left.index(name) for name in keep])
    assert list(found.variables) == keep
    np.testing.assert_allclose(
        found.to_linear().values, expected, rtol=1e-10, atol=1e-300
    )


@given(st.lists(names_of.filter(len), min_size=1, max_size=5), st.integers(0, 99))
@settings(deadline=None, max_examples=60)
def test_max_product_is_the_best_combination_of_all(scopes, seed):
    rng = np.random.default_rng(seed)
    factors = [factor_of(names, rng) for names in scopes]
    states, value = max_product(factors)
    everything = sorted(set().union(*scopes))
    whole = brute(factors, everything)
    assert value == pytest.approx(whole.max())
    best = np.unravel_index(whole.argmax(), whole.shape)
    assert states == {name: STATES[name][i] for name, i in zip(everything, best)}


@pytest.mark.parametrize("log", [False, True])
def test_evidence_fixes_states_before_anything_is_summed(log):
    rng = np.random.default_rng(3)
    factors = [
        factor_of("ab", rng, log),
        factor_of("bc", rng, log),
        factor_of("cd", rng, log),
    ]
    whole = brute(factors, list("abcd"))
    found = sum_product(factors, ["d"], evidence={"a": "y", "c": True, "elsewhere": 1})
    np.testing.assert_allclose(
        found.to_linear().values, whole[1, :, 1].sum(axis=0), rtol=1e-12
    )
    states, _ = max_product(factors, evidence={"a": "y"})
    b, c, d = np.unravel_index(whole[1].argmax(), whole[1].shape)
    assert states == {"b": b, "c": bool(c), "d": "pqrs"[d]}


@pytest.mark.parametrize("log", [False, True])
def test_sums_maxima_and_marginals_are_those_of_the_array(log):
    factor = factor_of("abc", np.random.default_rng(0), log)
    values = factor.to_linear().values
    np.testing.assert_allclose(
        factor.sum_out("b").to_linear().values, values.sum(axis=1)
    )
    np.testing.assert_allclose(
        factor.max_out("a", "c").to_linear().values, values.max(axis=(0, 2))
    )
    np.testing.assert_allclose(
        factor.marginal("c", "a").to_linear().values, values.sum(axis=1).T
    )
    assert (np.exp(factor.total) if log else factor.total) == pytest.approx(
        values.sum()
    )
    assert factor.sum_out().values.shape == values.shape


@pytest.mark.parametrize("log", [False, True])
def test_quotient_undoes_the_product_and_zero_by_zero_is_zero(log):
    rng = np.random.default_rng(1)
    one, two = factor_of("abc", rng, log), factor_of("ca", rng, log)
    np.testing.assert_allclose((one * two / two).values, one.values, rtol=1e-12)
    zero = Factor({"a": STATES["a"]}, [0.0, 2.0])
    assert (zero / zero).values.tolist() == [0.0, 1.0]
    with pytest.raises(DataError, match="divided by 0"):
        Factor({"a": STATES["a"]}, [1.0, 2.0]) / zero
    with pytest.raises(DataError, match="variable 'b'"):
        zero / factor_of("ab", rng)


def test_normalize_makes_a_conditional_distribution():
    factor = factor_of("abc", np.random.default_rng(2))
    np.testing.assert_allclose(factor.normalize().total, 1.0)
    conditional = factor.normalize(given=["b"])
    np.testing.assert_allclose(conditional.sum_out("a", "c").values, 1.0)
    log = factor.to_log().normalize(given=["b"])
    np.testing.assert_allclose(np.exp(log.values), conditional.values)
    with pytest.raises(DataError, match="all values of the factor are 0"):
        Factor({"a": STATES["a"]}, [0.0, 0.0]).normalize()


def test_log_space_holds_products_that_underflow():
    small = Factor({"a": STATES["a"]}, np.array([-900.0, -901.0]), log=True)
    posterior = (small * small).normalize().to_linear()
    np.testing.assert_allclose(posterior.values, np.exp([0, -2]) / (1 + np.exp(-2)))


def test_a_factor_with_zeros_stays_finite_in_log_space():
    factor = Factor(
        {"a": STATES["a"], "b": STATES["b"]}, [[0, 0, 1], [0, 0, 2]]
    ).to_log()
    np.testing.assert_array_equal(
        factor.sum_out("a").to_linear().values.round(12), [0, 0, 3]
    )
    np.testing.assert_array_equal(
        factor.normalize(given="b").to_linear().values[:, :2], 0
    )


def test_a_chain_of_many_variables_is_summed_without_its_full_table():
    """2**60 combinations: only elimination can do it."""
    rng = np.random.default_rng(4)
    names = [f"x{i}" for i in range(60)]
    transition = [
        Factor({a: (0, 1), b: (0, 1)}, rng.dirichlet([1, 1], 2))
        for a, b in pairwise(names)
    ]
    start = Factor({"x0": (0, 1)}, [0.3, 0.7])
    expected = np.array([0.3, 0.7])
    for factor in transition:
        expected = expected @ factor.values
    np.testing.assert_allclose(
        sum_product([start, *transition], ["x59"]).values, expected, rtol=1e-10
    )
    logs = [factor.to_log() for factor in (start, *transition)]
    np.testing.assert_allclose(
        np.exp(sum_product(logs, ["x59"]).values), expected, rtol=1e-10
    )


def test_a_table_becomes_a_factor_and_back():
    table = ProbabilityTable(
        {"b": [0, 1], "a": ["x", "y"]}, [[0.25, np.nan], [0.75, np.nan]], given="a"
    )
    factor = table.factor()
    assert factor.values.tolist() == [[0.25, 0.0], [0.75, 0.0]]
    assert table.factor(log=True).log
    back = ProbabilityTable.from_factor(factor, given="a")
    np.testing.assert_array_equal(back.values, table.values)
    assert back.name == "P(b | a)"


def test_a_factor_shows_its_values():
    factor = Factor({"a": ["x", "y"]}, [1.0, 2.5])
    assert str(factor).splitlines()[-1].split() == ["y", "2.5"]
    assert repr(factor) == "<Factor of a, 2 values>"
    assert repr(Factor({}, 2.0)) == "<Factor of no variable, 1 values>"
    cells = '<td style="text-align:left">y</td><td style="text-align:right">2.5</td>'
    assert cells in factor._repr_html_()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Factor({"a": ["x", "y"]}, [1.0]), "shape"),
        (lambda: Factor({"a": ["x", "y"]}, [1.0, -1.0]), "at least 0"),
        (lambda: Factor({"a": ["x", "y"]}, [1.0, np.nan]), "at least 0"),
        (lambda: Factor({"a": ["x", "x"]}, [1.0, 1.0]), "twice"),
        (lambda: Factor({"age": ["x"]}, [1.0]).sum_out("agee"), "did you mean 'age'"),
        (lambda: Factor({"a": ["x"]}, [1.0]).reduce(a="z"), "'z' is not among"),
        (lambda: Factor({"a": ["x"]}, [1.0]).reduce(b="z"), "'b' is not among"),
        (
            lambda: Factor({"a": ["x"]}, [1.0]) * Factor({"a": ["y"]}, [1.0]),
            "same values in the same order",
        ),
        (
            lambda: Factor({"a": ["x"]}, [1.0]).transpose("b"),
            "name every variable once",
        ),
    ],
)
def test_what_does_not_fit_is_refused(call, message):
    with pytest.raises(DataError, match=message):
        call()


def test_any_name_of_a_variable_can_be_fixed():
    one = Factor({"evidence": ["a", "b"], "self": ["x", "y"]}, [[0.1, 0.2], [0.3, 0.4]])
    assert one[{"evidence": "a", "self": "y"}] == 0.2
    np.testing.assert_array_equal(one.reduce(evidence="b").values, [0.3, 0.4])
    assert Factor({1: ["a", "b"]}, [0.5, 1.5])[{1: "b"}] == 1.5


def test_a_value_needs_a_state_of_every_variable():
    with pytest.raises(DataError, match="'b' has none"):
        Factor({"a": [0, 1], "b": [0, 1]}, np.ones((2, 2)))[{"a": 0}]


def test_a_variable_named_twice_is_summed_once():
    one = Factor({"a": [0, 1], "b": [0, 1]}, [[1.0, 2.0], [3.0, 4.0]])
    np.testing.assert_array_equal(one.sum_out("a", "a").values, [4.0, 6.0])
    np.testing.assert_array_equal(one.max_out("a", "a").values, [3.0, 4.0])


@pytest.mark.parametrize(
    ("variables", "values", "text"),
    [
        ({"a": []}, [], "variable 'a' has no states"),
        ({"a": [0, 1]}, ["x", "y"], "must be numbers, not"),
        (["a"], [1.0], "a dict of name to states"),
    ],
)
def test_what_is_no_factor_is_refused(variables, values, text):
    with pytest.raises(DataError, match=text):
        Factor(variables, values)

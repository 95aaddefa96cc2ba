"""Building networks, their graphs, BIF files, interventions."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from tests.bayesnets.nets import joint_table, nets

from lyceum import datasets
from lyceum.bayesnets import BayesNet, GaussianNode, TableNode, read_bif, write_bif
from lyceum.errors import DataError

ASIA = read_bif(datasets.path("asia"))
ALARM = read_bif(datasets.path("alarm"))


@pytest.mark.syllabus("5.1")
def test_the_published_networks_have_their_published_sizes():
    assert (len(ASIA.names), len(ASIA.edges), ASIA.n_parameters) == (8, 8, 18)
    assert (len(ALARM.names), len(ALARM.edges), ALARM.n_parameters) == (37, 46, 509)
    assert ASIA.n_joint_parameters == 2**8 - 1


@pytest.mark.syllabus("5.1")
@settings(max_examples=20, deadline=None)
@given(nets())
def test_a_written_network_is_read_back_to_the_last_digit(net):
    again = read_bif(write_bif(net))
    assert again.names == net.names
    assert again.parents == net.parents
    for node in net.nodes:
        np.testing.assert_array_equal(again.node(node.name).table, node.table)


def test_files_in_other_hands_are_read():
    net = read_bif("""// a comment
        network "my net" { property author x; }
        /* another */ variable "weather today" { type discrete [2] { "very hot", cold };
        property p = 1; }
        variable ice { type discrete[2] {yes no}; }
        variable fan { type discrete [ 2 ] { on, off } ; }
        probability ("weather today") { table 0.3 0.7; }
        probability ( ice | "weather today" , fan ) {
            (cold, on) 0.2, 0.8; default 0.6 0.4; (cold, off) 1e-1, .9; }
        probability ( fan | "weather today" ) { table 0.9, 0.2, 0.1, 0.8; }
        """)
    assert net.name == "my net"
    assert net.states("weather today") == ("very hot", "cold")
    np.testing.assert_allclose(
        net.node("ice").table, [[[0.6, 0.4]] * 2, [[0.2, 0.8], [0.1, 0.9]]]
    )
    # in one list the variable itself varies slowest
    np.testing.assert_allclose(net.node("fan").table, [[0.9, 0.1], [0.2, 0.8]])
    assert read_bif(write_bif(net)).states("weather today") == ("very hot", "cold")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hello\nworld", "line 1 .* expected network, variable or probability"),
        ("variable a {\n type discrete [2] {x, y}; }", "no probabilities of 'a'"),
        (
            "variable a {\n type discrete [2] {x, y}; } probability (a) { table 0.5 0.2; }",
            "sums to 0.7",
        ),
        (
            "variable a {\n type discrete [2] {x, y}; } probability (a) { table 0.5; }",
            "does not fit",
        ),
        (
            "variable a {\n type discrete [2] {x, y}; } probability (a | b) { table 0.5; }",
            "not declared",
        ),
        ("variable a {\n type continuous; }", "only discrete"),
        (
            "variable a {\n type discrete [2] {x, y}; } probability (a) { table z; }",
            "'z' is not a number",
        ),
        ("variable a {\n type discrete [2] {x,", "ends in the middle"),
    ],
)
def test_a_damaged_file_is_a_clear_error(text, message):
    with pytest.raises(DataError, match=message):
        read_bif(text)


@pytest.mark.syllabus("5.1")
@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ([], "at least one node"),
        (
            [TableNode("a", [0, 1], ["b"]), TableNode("b", [0, 1], ["a"])],
            "cycle (a → b → a|b → a → b)",
        ),
        ([TableNode("a", [0, 1]), TableNode("a", [0, 1])], "two nodes 'a'"),
        ([TableNode("a", [0, 1], ["rain"])], "the parent 'rain' is not among"),
        ([TableNode("a", [0, 1], table=[0.5, 0.6])], "sums to 1.1, not to 1"),
        (
            [TableNode("a", [0, 1], table=[0.5, 0.25, 0.25])],
            r"shape \(3,\), but a have \(2,\) states",
        ),
        ([TableNode("a", [0, 1], table=[1.5, -0.5])], "not a probability"),
        (
            [TableNode("a", [0, 1]), TableNode("b", [0, 1], "a", {0: [1, 0]})],
            r"lacks \(1,\)",
        ),
        (
            [TableNode("a", [0, 1]), TableNode("b", [0, 1], "a", [[1, 0], [0.5, 0.4]])],
            "sums to 0.9 for a=1",
        ),
        (
            [GaussianNode("x"), TableNode("b", [0, 1], ["x"])],
            "its parent 'x' is Gaussian",
        ),
    ],
)
def test_a_network_that_is_none_is_a_clear_error(nodes, message):
    with pytest.raises(DataError, match=message):
        BayesNet(nodes)


@pytest.mark.syllabus("5.5")
def test_the_blanket_and_the_relatives_of_a_node():
    assert ASIA.markov_blanket("either") == ["tub", "lung", "bronc", "xray", "dysp"]
    assert ASIA.ancestors("xray") == ["asia", "smoke", "tub", "lung", "either"]
    assert set(ASIA.descendants("smoke")) == {"lung", "bronc", "either", "xray", "dysp"}
    assert ASIA.children("smoke") == ["lung", "bronc"]


@pytest.mark.syllabus("5.6.2")
def test_the_factorization_and_its_saving():
    net = BayesNet(
        [
            TableNode("a", [0, 1]),
            TableNode("b", [0, 1], "a"),
            TableNode("c", [0, 1], "b"),
        ]
    )
    assert net.factorization() == "P(a, b, c) = P(a) P(b | a) P(c | b)"
    assert (net.n_parameters, net.n_joint_parameters) == (1 + 2 + 2, 2**3 - 1)
    assert "parameters of one joint table" in str(net.summary())


@pytest.mark.syllabus("5.1.1")
@settings(max_examples=20, deadline=None)
@given(nets())
def test_the_factors_multiply_to_a_distribution(net):
    joint = joint_table(net)
    assert joint.sum() == pytest.approx(1.0)
    product = net.factors()[0]
    for factor in net.factors()[1:]:
        product = product * factor
    np.testing.assert_allclose(product.transpose(*net.names).values, joint, atol=1e-15)


@pytest.mark.syllabus("5.4")
def test_doing_is_not_seeing_where_a_common_cause_stands_behind():
    """Simpson: the treatment helps in both groups, but is given to the worse one more often."""
    net = BayesNet(
        [
            TableNode("severe", ["no", "yes"], table=[0.5, 0.5]),
            TableNode("treated", ["no", "yes"], "severe", [[0.8, 0.2], [0.2, 0.8]]),
            TableNode(
                "healed",
                ["no", "yes"],
                ["severe", "treated"],
                [[[0.2, 0.8], [0.1, 0.9]], [[0.7, 0.3], [0.6, 0.4]]],
            ),
        ]
    )
    seen = [net.posterior("healed", {"treated": t})["yes"] for t in ("no", "yes")]
    done = [net.do(treated=t).posterior("healed")["yes"] for t in ("no", "yes")]
    assert seen[0] > seen[1]
    assert done == pytest.approx([0.5 * 0.8 + 0.5 * 0.3, 0.5 * 0.9 + 0.5 * 0.4])
    # what is set tells nothing of its causes
    assert net.do(treated="yes").posterior("severe", {"treated": "yes"})[
        "yes"
    ] == pytest.approx(0.5)


def test_a_network_is_copied_and_pickled_whole():
    ASIA.junction_tree()
    for again in (pickle.loads(pickle.dumps(ASIA)), copy.deepcopy(ASIA)):
        np.testing.assert_array_equal(
            again.posterior("lung", {"xray": "yes"}).values,
            ASIA.posterior("lung", {"xray": "yes"}).values,
        )


def test_states_may_be_numbers_and_truth_values():
    net = BayesNet(
        [
            TableNode("a", [False, True], table=[0.2, 0.8]),
            TableNode("b", [1, 2], "a", [[0.5, 0.5], [1, 0]]),
        ]
    )
    assert net.posterior("b", {"a": True})[1] == 1.0
    assert net.posterior("b", {"a": "true"})["1"] == 1.0
    assert net.posterior("b", {"a": np.bool_(False)})[2] == 0.5


def test_the_drawing_language_quotes_names():
    net = BayesNet(
        [TableNode('a "b"', [0, 1]), GaussianNode("x", ['a "b"'], intercept=[0.0, 1.0])]
    )
    assert '"a \\"b\\"" -> "x";' in net.to_dot()


def test_a_table_of_more_cells_than_any_memory_is_refused_by_a_sentence():
    names = [f"v{i}" for i in range(60)]
    variables = [f"variable {name} {{ type discrete [2] {{t, f}}; }}" for name in names]
    table = f"probability ( v0 | {', '.join(names[1:])} ) {{ default 0.5 0.5; }}"
    others = [f"probability ( {name} ) {{ table 0.5 0.5; }}" for name in names[1:]]
    with pytest.raises(
        DataError, match=r"table of 'v0' has 1\.15e\+18 cells: give it fewer parents"
    ):
        read_bif("\n".join([*variables, table, *others]))

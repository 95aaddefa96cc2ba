"""BIF files: a network that is written and read again is the same, or is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from lyceum.bayesnets import BayesNet, TableNode, read_bif, write_bif
from lyceum.errors import DataError

MARKS = ["#", "//", "/*", "*/", "{", "}", "(", ")", "[", "]", ";", ",", "|", " ", "'"]
WORDS = ["yes", "type", "table", "default", "network", "unknown", "\r\n", "\u2028", "1"]
LABEL = st.one_of(
    st.text(max_size=6),
    st.lists(st.sampled_from([*MARKS, *WORDS]), max_size=4).map("".join),
)


@st.composite
def labelled_nets(draw):
    """A root and a child, with any texts as names and states."""
    names = draw(st.lists(LABEL, min_size=2, max_size=2, unique=True))
    states = [draw(st.lists(LABEL, min_size=1, max_size=4, unique=True)) for _ in names]
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    root = TableNode(names[0], states[0], (), rng.dirichlet(np.ones(len(states[0]))))
    table = rng.dirichlet(np.ones(len(states[1])), len(states[0]))
    child = TableNode(names[1], states[1], [names[0]], table)
    return BayesNet([root, child], draw(LABEL))


def same(net: BayesNet, other: BayesNet) -> bool:
    return (
        net.name == other.name
        and net.names == other.names
        and all(
            node.states == twin.states
            and node.parents == twin.parents
            and np.array_equal(node.table, twin.table)
            for node, twin in zip(net.nodes, other.nodes, strict=True)
        )
    )


@pytest.mark.syllabus("5.1.2")
@settings(max_examples=400, deadline=None)
@given(net=labelled_nets())
def test_what_is_written_is_read_again_or_refused(net, tmp_path_factory):
    has_quote = any(
        '"' in text
        for text in (net.name, *net.names, *(s for n in net.nodes for s in n.states))
    )
    if has_quote:
        with pytest.raises(DataError, match=r"has a quote.*lyceum\.save"):
            write_bif(net)
        return
    path = tmp_path_factory.getbasetemp() / "net.bif"
    text = write_bif(net, path)
    assert same(read_bif(text), net)
    assert same(read_bif(path), net)


def test_marks_of_the_format_in_quotes_are_names():
    net = read_bif(
        'network "unknown" {\n}\n'
        'variable "{" { type discrete [ 2 ] { "}", "a # b" }; }\n'
        'variable x { type discrete [ 2 ] { ";", "//" }; property "a;b"; }\n'
        'probability ( "{" ) { table 0.25, 0.75; }\n'
        'probability ( x | "{" ) { ("}") 0.5, 0.5; ("a # b") 1, 0; }\n'
    )
    assert net.name == "unknown"
    assert net.states("{") == ("}", "a # b")
    assert net.states("x") == (";", "//")
    np.testing.assert_array_equal(net.node("x").table, [[0.5, 0.5], [1.0, 0.0]])


def test_text_that_is_no_unicode_is_refused_by_name():
    net = BayesNet([TableNode("x", ["a", "\ud800"])])
    with pytest.raises(DataError, match=r"\\ud800.*no valid Unicode"):
        write_bif(net)

"""Scores with free priors, CPDAGs and roots of trees, against published numbers and brute force."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from tests.bayesnets.nets import random_net

from lyceum import datasets, scan
from lyceum.bayesnets import (
    BayesNet,
    BayesNetClassifier,
    GaussianNode,
    TableNode,
    cpdag,
    d_separated,
    learn_structure,
    read_bif,
    structural_distance,
    structure_score,
)
from lyceum.errors import DataError, SettingError

ASIA = read_bif(datasets.path("asia"))
ROWS = ASIA.sample(400, random_state=2).to_pandas()


# -- scores ----------------------------------------------------------------------------


def cases() -> pd.DataFrame:
    """The ten cases of Cooper and Herskovits (1992), table 1."""
    return pd.DataFrame(
        {"x1": list("1101001010"), "x2": list("0101011010"), "x3": list("0111011010")}
    )


@pytest.mark.syllabus("5.3")
def test_cooper_and_herskovits_numbers_come_out():
    yes_no = ["0", "1"]
    first = TableNode("x1", yes_no)
    second = TableNode("x2", yes_no, ["x1"])
    chain = BayesNet([first, second, TableNode("x3", yes_no, ["x2"])])
    fork = BayesNet([first, second, TableNode("x3", yes_no, ["x1"])])
    for score in ("k2", "bd"):
        assert np.exp(structure_score(chain, cases(), score)) == pytest.approx(
            2.23e-9, rel=2e-3
        )
        assert np.exp(structure_score(fork, cases(), score)) == pytest.approx(
            2.23e-10, rel=2e-3
        )


def predictive_score(net: BayesNet, rows: pd.DataFrame, prior) -> float:
    """log P(rows) as the product of the predictions of every cell from the rows before it."""
    counts: dict[tuple, np.ndarray] = {}
    total = 0.0
    for row in rows.to_dict("records"):
        for node in net.nodes:
            key = (node.name, *(row[p] for p in node.parents))
            a = prior(node.table.size)
            seen = counts.setdefault(key, np.zeros(len(node.states)))
            k = node.states.index(row[node.name])
            total += np.log((seen[k] + a) / (seen.sum() + a * len(node.states)))
            seen[k] += 1
    return total


@pytest.mark.syllabus("5.3")
@pytest.mark.parametrize("alpha", [0.1, 1.0, 7.5])
def test_dirichlet_scores_are_the_product_of_predictions(alpha):
    net = random_net(5, 3)
    rows = net.sample(60, random_state=1).to_pandas().astype(int)
    found = structure_score(net, rows, "bd", pseudo_count=alpha)
    assert found == pytest.approx(predictive_score(net, rows, lambda cells: alpha))
    found = structure_score(net, rows, "bdeu", equivalent_sample_size=alpha)
    want = predictive_score(net, rows, lambda cells: alpha / cells)
    assert found == pytest.approx(want)


@pytest.mark.syllabus("5.3.2")
@pytest.mark.parametrize("alpha", [0.2, 4.0])
def test_no_single_edge_improves_a_structure_learned_by_bd(alpha):
    rows = random_net(5, 1, most_states=4).sample(500, 1).to_pandas()
    found = learn_structure(rows, score="bd", pseudo_count=alpha)
    score = structure_score(found.net, rows, "bd", pseudo_count=alpha)
    assert found.score == pytest.approx(score, rel=1e-10)
    for child, parent in product(found.net.names, repeat=2):
        if child == parent:
            continue
        nodes = []
        for node in found.net.nodes:
            parents = set(node.parents)
            if node.name == child:
                parents ^= {parent}
            nodes.append(TableNode(node.name, node.states, sorted(parents)))
        try:
            other = BayesNet(nodes)
        except DataError:  # a cycle
            continue
        assert structure_score(other, rows, "bd", pseudo_count=alpha) <= score + 1e-6


@pytest.mark.syllabus("5.3")
def test_bd_with_one_row_per_cell_is_k2_and_files_score_the_same(tmp_path):
    k2 = learn_structure(ROWS, score="k2")
    bd = learn_structure(ROWS, score="bd", pseudo_count=1.0)
    assert bd.net.edges == k2.net.edges
    assert bd.score == pytest.approx(k2.score, rel=1e-12)
    ROWS.to_csv(tmp_path / "rows.csv", index=False)
    streamed = learn_structure(
        scan(tmp_path / "rows.csv", memory=0),
        "hill_climbing",
        score="bd",
        pseudo_count=0.5,
    )
    held = learn_structure(ROWS, "hill_climbing", score="bd", pseudo_count=0.5)
    assert streamed.score == pytest.approx(held.score, rel=1e-10)


def test_equivalent_graphs_have_equal_bdeu_and_others_are_refused_by_name():
    rows = pd.DataFrame({"a": [0, 0, 1, 1, 1], "b": [0, 1, 1, 1, 0]})
    forward = BayesNet([TableNode("a", [0, 1]), TableNode("b", [0, 1], ["a"])])
    backward = BayesNet([TableNode("a", [0, 1], ["b"]), TableNode("b", [0, 1])])
    scores = [structure_score(net, rows, "bdeu") for net in (forward, backward)]
    assert scores[0] == pytest.approx(scores[1], rel=1e-12)
    with pytest.raises(SettingError, match="pseudo_count is 0"):
        structure_score(forward, rows, "bd", pseudo_count=0)
    with pytest.raises(SettingError, match="choose one of bic, aic, bdeu, bd, k2"):
        structure_score(forward, rows, "mdl")
    with pytest.raises(DataError, match="'x' is Gaussian"):
        structure_score(BayesNet([GaussianNode("x")]), rows)


# -- CPDAGs ----------------------------------------------------------------------------


def all_graphs(n: int) -> list[BayesNet]:
    """Every directed acyclic graph on n variables."""
    names = [f"v{i}" for i in range(n)]
    pairs = list(combinations(names, 2))
    graphs = []
    for marks in product((None, 0, 1), repeat=len(pairs)):
        parents: dict[str, list[str]] = {name: [] for name in names}
        for (u, v), mark in zip(pairs, marks):
            if mark is not None:
                parents[(v, u)[mark]].append((u, v)[mark])
        try:
            graphs.append(
                BayesNet([TableNode(v, [0, 1], of) for v, of in parents.items()])
            )
        except DataError:
            continue
    return graphs


def independences(net: BayesNet) -> frozenset:
    """Every true statement u ⊥ v | set."""
    true = set()
    for u, v in combinations(net.names, 2):
        others = [name for name in net.names if name not in (u, v)]
        for size in range(len(others) + 1):
            for given in combinations(others, size):
                if d_separated(net, u, v, given, max_paths=0):
                    true.add((u, v, given))
    return frozenset(true)


@pytest.mark.syllabus("5.3", "5.5")
def test_a_cpdag_has_the_directions_that_all_equivalent_graphs_share():
    classes: dict[frozenset, list[BayesNet]] = {}
    graphs = all_graphs(4)
    for net in graphs:
        classes.setdefault(independences(net), []).append(net)
    # the numbers of graphs and of their classes are known (Gillispie and Perlman 2001)
    assert len(graphs) == 543
    assert len(classes) == 185
    patterns = set()
    for members in classes.values():
        shared = set.intersection(*(set(net.edges) for net in members))
        for net in members:
            found = cpdag(net)
            assert set(found.directed) == shared
            assert {*found.directed, *found.undirected} == set(net.edges)
            assert structural_distance(net, members[0]) == 0
        ends = frozenset(map(frozenset, found.undirected))
        patterns.add((frozenset(found.directed), ends))
    assert len(patterns) == 185


def test_v_structures_are_colliders_of_parents_that_are_not_joined():
    pattern = cpdag(ASIA)
    assert set(pattern.v_structures) == {
        ("lung", "either", "tub"),
        ("bronc", "dysp", "either"),
    }
    assert ("either", "xray") in pattern.directed
    assert "—" in str(pattern)
    assert pattern.as_dict()["v_structures"][0] == ["lung", "either", "tub"]
    assert "<table>" in pattern._repr_html_()


# -- the root of TAN -------------------------------------------------------------------


@pytest.mark.syllabus("5.3")
def test_every_root_of_tan_gives_the_same_likelihood_and_points_away_from_it():
    rows = ROWS.drop(columns="asia")
    scores = set()
    columns = [name for name in rows.columns if name != "dysp"]
    for root in columns:
        found = learn_structure(
            rows, "tan", root="dysp", tree_root=root, score="aic", estimate="raw"
        )
        assert found.net.parents[root] == ("dysp",)
        for name in columns:
            if name != root:
                assert len(found.net.parents[name]) == 2
                assert root in found.net.ancestors(name)
        scores.add(round(found.score, 6))
    assert len(scores) == 1


def test_the_classifier_takes_the_root_and_refuses_the_class():
    data = datasets.load("weather")
    names = list(BayesNetClassifier().fit(data).schema_.names)
    for root in names:
        model = BayesNetClassifier(tree_root=root).fit(data)
        assert len(model.net_.parents[root]) == 1
    with pytest.raises(SettingError, match=r"tree_root.*which is the class"):
        BayesNetClassifier(tree_root=data.schema.target.name).fit(data)
    with pytest.raises(DataError, match="tree_root"):
        BayesNetClassifier(tree_root="nothing").fit(data)
    with pytest.raises(SettingError, match="tree_root is for method='tan'"):
        learn_structure(ROWS, "chow_liu", tree_root="lung")

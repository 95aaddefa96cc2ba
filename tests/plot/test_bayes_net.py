"""Pictures of networks have all nodes, edges and numbers, and nothing overlaps."""

from itertools import combinations

import matplotlib
import numpy as np
import pytest
from tests.bayesnets.nets import random_net

from lyceum import datasets, plot
from lyceum.bayesnets import BayesNet, GaussianNode, TableNode, read_bif

matplotlib.use("Agg")
from matplotlib import pyplot
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle

ASIA = read_bif(datasets.path("asia"))


@pytest.fixture(autouse=True)
def _close():
    yield
    pyplot.close("all")


@pytest.mark.syllabus("5.1.3", "5.4")
def test_bars_are_the_probabilities_before_and_after_evidence():
    ax = plot.bayes_net(ASIA, {"xray": "yes"})
    texts = [text.get_text() for text in ax.texts]
    assert set(ASIA.names) <= set(texts)
    lung = ASIA.posterior("lung", {"xray": "yes"})["yes"]
    assert f"{100 * lung:.3g}%" in texts
    assert sum(isinstance(patch, FancyArrowPatch) for patch in ax.patches) == len(
        ASIA.edges
    )
    widths = {
        round(p.get_width() / 0.62, 6) for p in ax.patches if isinstance(p, Rectangle)
    }
    assert round(ASIA.posterior("lung")["yes"], 6) in widths  # before
    assert round(lung, 6) in widths  # after


@pytest.mark.parametrize(
    "net", [ASIA, read_bif(datasets.path("alarm")), random_net(12, 0, 0.3)]
)
def test_nodes_do_not_overlap(net):
    ax = plot.bayes_net(net)
    boxes = [p.get_bbox() for p in ax.patches if isinstance(p, FancyBboxPatch)]
    assert len(boxes) == len(net.names)
    for a, b in combinations(boxes, 2):
        assert a.x1 <= b.x0 or b.x1 <= a.x0 or a.y1 <= b.y0 or b.y1 <= a.y0


def test_gaussian_nodes_and_networks_without_bars():
    net = BayesNet([TableNode("a", [0, 1]), GaussianNode("x", "a", [0.0, 4.0])])
    texts = [text.get_text() for text in plot.bayes_net(net).texts]
    assert any(text.startswith("2 ±") for text in texts)
    texts = [text.get_text() for text in plot.bayes_net(net, {"x": 4.0}).texts]
    assert "= 4" in texts
    assert len(plot.bayes_net(ASIA, bars=False).texts) == len(ASIA.names)
    many = BayesNet([TableNode("m", list(range(30)))])
    assert "… 22 more" in [text.get_text() for text in plot.bayes_net(many).texts]


@pytest.mark.syllabus("5.4")
def test_the_moral_graph_marries_parents_and_the_tree_has_all_cliques():
    ax = plot.moral_graph(ASIA)
    assert len(ax.lines) == len(ASIA.edges) + 2
    tree = ASIA.junction_tree()
    texts = [text.get_text() for text in plot.junction_tree(ASIA).texts]
    assert {"\n".join(clique) for clique in tree.cliques} <= set(texts)
    assert len(texts) == 2 * len(tree.cliques) - 1
    apart = BayesNet([TableNode("a", [0, 1]), TableNode("b", [0, 1])])
    assert "∅" in [text.get_text() for text in plot.junction_tree(apart).texts]
    assert np.isfinite(plot.moral_graph(apart).get_xlim()).all()

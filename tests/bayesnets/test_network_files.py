"""Networks in model files: the same when they are loaded, refused when they were changed."""

from __future__ import annotations

import io
import zipfile

import numpy as np
import pytest
from tests.bayesnets.nets import random_net
from tests.test_persist import repacked

import lyceum
from lyceum import datasets
from lyceum.bayesnets import (
    BayesNet,
    BayesNetClassifier,
    GaussianNode,
    TableNode,
    read_bif,
)
from lyceum.errors import ModelFileError

CLINIC = BayesNet(
    [
        TableNode('si"ck {', ["no", "yes #1", 3, True], table=[0.7, 0.1, 0.1, 0.1]),
        GaussianNode("fever", ['si"ck {'], [36.8, 39.0, 38.0, 37.0], variance=0.5),
        GaussianNode("pulse", ["fever"], -200.0, coefficients=[7.3], variance=30.0),
    ],
    "clinic",
)


def parts(net: BayesNet) -> list:
    """Everything that makes a network, to be compared."""
    known = [net.name]
    for node in net.nodes:
        known += [type(node), node.name, node.parents]
        if isinstance(node, TableNode):
            known += [node.states, node.table.tolist()]
        else:
            known += [node.intercept.tolist(), node.coefficients.tolist()]
            known += [node.variance.tolist(), node.n_undetermined]
    return known


@pytest.mark.syllabus("5.1", "5.6")
@pytest.mark.parametrize(
    "net", [CLINIC, read_bif(datasets.path("alarm")), random_net(6, 3, zeros=True)]
)
def test_a_loaded_network_is_the_same_and_answers_the_same(net, tmp_path):
    net.marginals()  # a compiled tree is not kept
    path = lyceum.save(net, tmp_path / "net.lyceum")
    loaded = lyceum.load(path)
    assert parts(loaded) == parts(net)
    for name, answer in net.marginals().items():
        assert str(loaded.marginals()[name]) == str(answer)
    again = lyceum.save(loaded, tmp_path / "again.lyceum")
    assert again.read_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    ("table", "what"),
    [
        ([0.7, 0.1, 0.1, 0.2], "sums to 1.1"),
        ([0.9, 0.1], "has the shape"),
        ([1.7, -0.7, 0.0, 0.0], "not a probability"),
        ([np.nan, 0.5, 0.25, 0.25], "finite|probability|NaN|nan"),
    ],
)
def test_a_changed_table_is_refused(table, what, tmp_path):
    path = lyceum.save(CLINIC, tmp_path / "net.lyceum")
    was, now = io.BytesIO(), io.BytesIO()
    np.save(was, CLINIC.node('si"ck {').table)
    np.save(now, np.array(table))

    with zipfile.ZipFile(path) as archive:
        (name,) = [n for n in archive.namelist() if archive.read(n) == was.getvalue()]
    repacked(path, members={name: now.getvalue()})
    with pytest.raises(ModelFileError, match=what):
        lyceum.load(path)


def test_a_file_of_a_network_is_queried_and_not_asked_to_predict(tmp_path):
    from lyceum.errors import LyceumError
    from lyceum.workflows import FittedModel

    with pytest.raises(LyceumError, match="BayesNet, which is queried"):
        FittedModel(CLINIC)


def test_labels_that_no_file_holds_are_refused_by_name(tmp_path):
    net = BayesNet([TableNode("x", [frozenset([1]), "b"])])
    with pytest.raises(ModelFileError, match="BayesNet cannot be saved"):
        lyceum.save(net, tmp_path / "net.lyceum")
    assert not (tmp_path / "net.lyceum").exists()


def test_the_network_of_a_classifier_can_be_kept_alone(tmp_path):
    model = BayesNetClassifier().fit(datasets.load("weather"))
    loaded = lyceum.load(lyceum.save(model.net_, tmp_path / "net.lyceum"))
    assert parts(loaded) == parts(model.net_)

"""Nodes of model files: skops reads what is written, writes the same, and values come back as they
were."""

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
import skops.io
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline

from lyceum import persist
from lyceum.bayes import LinearDiscriminantAnalysis, NaiveBayes
from lyceum.bayesnets import BayesNetClassifier
from lyceum.cluster import AgglomerativeClustering
from lyceum.ensemble import VotingClassifier
from lyceum.errors import ModelFileError
from lyceum.kernels import SVC
from lyceum.linear import Ridge
from lyceum.persist.nodes import build_model, write_nodes
from lyceum.prepare import StandardScaler
from lyceum.trees import C45

X = np.random.default_rng(0).normal(size=(60, 3))
CLASSES = np.where(X[:, 0] > 0, "ill", "well")
NUMBERS = X @ [1.0, 2.0, 3.0]
MODELS = {
    "bayes": NaiveBayes().fit(X, CLASSES),
    "pipeline": make_pipeline(StandardScaler(), LinearDiscriminantAnalysis()).fit(
        X, CLASSES
    ),
    "regression": Ridge().fit(X, NUMBERS),
    "clusters": AgglomerativeClustering(n_clusters=2).fit(X),
    "kernels": SVC().fit(X, CLASSES),
    "network": BayesNetClassifier().fit(X, CLASSES),
    "tree": C45().fit(X, CLASSES),
    "trees of scikit-learn": VotingClassifier(
        [
            ("bayes", NaiveBayes()),
            ("forest", RandomForestClassifier(n_estimators=2, random_state=0)),
        ]
    ).fit(X, CLASSES),
}


def nodes_of_skops(model):
    """What skops writes, without the numbers of objects, and with files named by what they hold."""
    members = persist._members(skops.io.dumps(model))
    schema = json.loads(members["schema.json"])
    arrays = {}
    for node in persist._nodes(schema):
        node.pop("__id__", None)
        if "file" in node:
            content = members[node["file"]]
            node["file"] = (
                hashlib.sha256(content).hexdigest()[:24] + Path(node["file"]).suffix
            )
            arrays[node["file"]] = content
    del schema["_skops_version"]
    return schema, arrays


def nodes(model):
    schema, arrays = write_nodes(model)
    return json.loads(json.dumps(schema)), arrays


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_the_nodes_are_those_of_skops(model):
    assert nodes(model) == nodes_of_skops(model)


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_skops_reads_the_same_model(model):
    data = persist._pack(model)
    schema = json.loads(persist._members(data)["schema.json"])
    trusted = sorted(persist._names_of(persist._nodes(schema)))
    theirs = skops.io.loads(data, trusted=trusted)
    ours = persist._build(persist._members(data))
    if hasattr(model, "predict"):
        assert np.array_equal(theirs.predict(X), ours.predict(X))
    if not isinstance(
        model, VotingClassifier
    ):  # scikit-learn's trees have bytes between their cells
        assert nodes(theirs) == nodes(ours) == nodes(model)


VALUES = {
    "numbers": [1, 2.5, True, None, float("inf"), "text"],
    "scalars": (np.float32(1.5), np.int8(3), np.str_("a"), np.bool_(False)),
    "keys of pairs": {("bad", "good"): 5.0, ("good", 1): 1.0, None: 2.0},
    "keys": {"a": 1, 2: "b", 2.5: 3, np.int64(7): 4, True: 5, False: 6},
    "set": {1, 2},
    "slice": slice(1, None, 2),
    "types": [int, np.float64],
    "dtype": np.dtype("<f4"),
    "objects": np.array(["a", None, [1]], dtype=object),
    "table of objects": np.array([["a", 1], [None, 2.5]], dtype=object),
    "no objects": np.empty((0, 3), dtype=object),
}


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_values_come_back_as_they_were(value):
    again = build_model(*nodes(value))
    assert repr(again) == repr(value)
    assert getattr(again, "shape", None) == getattr(value, "shape", None)


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix])
def test_sparse_matrices_come_back_as_they_were(kind):
    value = kind(np.diag([1.0, 0.0, 2.0]))
    again = build_model(*nodes(value))
    assert type(again) is kind
    assert np.array_equal(again.toarray(), value.toarray())


def test_keys_of_the_same_text_are_not_written():
    with pytest.raises(ModelFileError, match="two keys of the same text"):
        write_nodes({1: "a", "1": "b"})


@pytest.mark.parametrize(
    "value", [print, np.log1p, np.sum, "a".upper, iter([]), b"bytes", NaiveBayes().fit]
)
def test_what_is_not_data_is_named_and_refused(value):
    with pytest.raises(ModelFileError, match="not among the types"):
        persist._check_types(persist._nodes(nodes([value])[0]))

"""scikit-learn's learners in model files: which ones, and whether their parts fit together.

A committee, a stack or a pipeline may hold learners of scikit-learn. Those named here predict by
NumPy alone, or by trees, whose arrays are checked before and after they are built. Learners whose
compiled code trusts the numbers that it was fitted with (support vectors of libsvm, ball trees,
boosted histograms) are refused.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from lyceum._core.text import show_count
from lyceum._core.types import Estimator
from lyceum.errors import ModelFileError

TREE = "sklearn.tree._tree.Tree"
FOREIGN_TYPES = {
    f"sklearn.{module}.{name}"
    for module, names in {
        "discriminant_analysis": (
            "LinearDiscriminantAnalysis",
            "QuadraticDiscriminantAnalysis",
        ),
        "dummy": ("DummyClassifier", "DummyRegressor"),
        "ensemble._forest": (
            "ExtraTreesClassifier",
            "ExtraTreesRegressor",
            "RandomForestClassifier",
            "RandomForestRegressor",
        ),
        "linear_model._base": ("LinearRegression",),
        "linear_model._coordinate_descent": (
            "ElasticNet",
            "ElasticNetCV",
            "Lasso",
            "LassoCV",
        ),
        "linear_model._logistic": ("LogisticRegression", "LogisticRegressionCV"),
        "linear_model._ridge": (
            "Ridge",
            "RidgeCV",
            "RidgeClassifier",
            "RidgeClassifierCV",
        ),
        "naive_bayes": (
            "BernoulliNB",
            "CategoricalNB",
            "ComplementNB",
            "GaussianNB",
            "MultinomialNB",
        ),
        "preprocessing._label": ("LabelBinarizer", "LabelEncoder"),
        "svm._classes": ("LinearSVC", "LinearSVR"),
        "tree._classes": (
            "DecisionTreeClassifier",
            "DecisionTreeRegressor",
            "ExtraTreeClassifier",
            "ExtraTreeRegressor",
        ),
    }.items()
    for name in names
}
_MOST_CLASSES = 1 << 20


# -- before anything is built ----------------------------------------------------------


def is_tree_table(dtype: Any) -> bool:
    """Whether these are the cells of the nodes of a tree of scikit-learn."""
    if dtype.kind != "V":
        return False
    from sklearn.tree._tree import NODE_DTYPE

    return bool(dtype == NODE_DTYPE)


def check_tree_node(node: Mapping[str, Any], members: Mapping[str, bytes]) -> None:
    """Raise unless the arrays of a tree of scikit-learn are those of a tree.

    Every node has one parent, which comes before it, no path is longer than the stated depth,
    features are columns, values have a place for every class: what its compiled code indexes
    without looking.
    """
    from sklearn.tree._tree import NODE_DTYPE

    try:
        arguments = node["__reduce__"]["args"]["content"]
        n_features, n_classes, n_outputs = (_value(part, members) for part in arguments)
        content = node["content"]["content"]
        state = {name: _value(part, members) for name, part in content.items()}
        nodes = state["nodes"]
        values = state["values"]
        count = state["node_count"]
        sizes = (n_features, n_outputs, count)
        sound = (
            all(isinstance(size, int) and size > 0 for size in sizes)
            and set(state) == {"max_depth", "node_count", "nodes", "values"}
            and isinstance(state["max_depth"], int)
            and n_classes.dtype == np.int64
            and n_classes.shape == (n_outputs,)
            and bool(((n_classes > 0) & (n_classes < _MOST_CLASSES)).all())
            and nodes.dtype == NODE_DTYPE
            and nodes.shape == (count,)
            and values.dtype == np.float64
            and values.shape == (count, n_outputs, int(n_classes.max()))
            and _features_are_columns(nodes, n_features)
            and _is_tree(nodes, state["max_depth"])
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ModelFileError(
            f"is damaged: it holds a {TREE} without its parts ({error!r})"
        ) from error
    if not sound:
        raise ModelFileError(
            f"is damaged: it holds a {TREE} whose arrays do not fit together"
        )


def _value(node: Mapping[str, Any], members: Mapping[str, bytes]) -> Any:
    """The number, or the array, of a node of the schema."""
    if node["__loader__"] == "JsonNode":
        return json.loads(node["content"])
    if node["__loader__"] != "NdArrayNode" or node["type"] != "numpy":
        raise TypeError(f"{node['__loader__']} in a tree")
    return np.load(io.BytesIO(members[node["file"]]), allow_pickle=False)


def _is_tree(nodes: np.ndarray, depth: int) -> bool:
    """Whether every node but the first has one parent, before it, and no path is longer than
    `depth`.

    `decision_path` has room for this number of nodes only.
    """
    if depth >= len(nodes):
        return False
    left = nodes["left_child"]
    right = nodes["right_child"]
    leaf = left == -1
    inner = np.flatnonzero(~leaf)
    children = np.stack([left[inner], right[inner]], axis=1)
    # one parent each: the children are all nodes but the root, each once
    if not np.array_equal(np.sort(children, axis=None), np.arange(1, len(nodes))):
        return False
    if (children <= inner[:, None]).any() or (right[leaf] != -1).any():
        return False
    # from the root to all inner nodes of the next depth, as far as there are any
    level = np.zeros(1, dtype=np.intp)
    length = 0
    while length <= depth and len(level := level[~leaf[level]]):
        level = np.concatenate([left[level], right[level]])
        length += 1
    return length <= depth


def _features_are_columns(nodes: np.ndarray, n_features: int) -> bool:
    feature = nodes["feature"][nodes["left_child"] != -1]
    return bool(((feature >= 0) & (feature < n_features)).all())


# -- after -----------------------------------------------------------------------------


def check_foreign(part: Any) -> None:
    """Raise unless a tree, or a forest of trees, of scikit-learn expects the columns that its trees
    index."""
    if not type(part).__module__.startswith("sklearn."):
        return
    width = getattr(part, "n_features_in_", None)
    tree = vars(part).get("tree_")
    is_tree = f"{type(tree).__module__}.{type(tree).__name__}" == TREE
    if tree is not None and (not is_tree or tree.n_features != width):
        raise ModelFileError(
            f"holds a {type(part).__name__} whose tree has other columns"
        )
    if type(part).__module__ == "sklearn.ensemble._forest":
        trees = vars(part).get("estimators_", [])
        fits = isinstance(trees, list) and all(
            type(member).__module__ == "sklearn.tree._classes"
            and getattr(member, "n_features_in_", None) == width
            for member in trees
        )
        if not fits:
            raise ModelFileError(
                f"holds a {type(part).__name__} whose trees have other columns"
            )


def foreign_row(model: Estimator) -> np.ndarray | None:
    """A row of zeros for a learner of scikit-learn that is in a file by itself; none for anything
    else."""
    width = getattr(model, "n_features_in_", None)
    known = f"{type(model).__module__}.{type(model).__qualname__}" in FOREIGN_TYPES
    if not known or not hasattr(model, "predict") or not isinstance(width, int):
        return None
    if not 0 < width < _MOST_CLASSES:
        raise ModelFileError(
            f"holds a {type(model).__name__} of {show_count(width, 'column')}"
        )
    return np.zeros((1, width))


# -- what cannot be saved --------------------------------------------------------------


def foreign_member(model: Estimator, home: Callable[[str], str | None]) -> str | None:
    """A sentence on the first learner of another library that a model file does not take, if there
    is one.

    `home(name)` says where Lyceum has a learner of that name.
    """
    waiting: list[tuple[str, Any]] = [("", model)]
    # parts refer to each other: each is looked at once
    seen: set[int] = set()
    while waiting:
        where, part = waiting.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        kind = type(part)
        full = f"{kind.__module__}.{kind.__qualname__}"
        if isinstance(part, BaseEstimator):
            # a pipeline is not refused itself, only its steps
            ours = kind.__module__.startswith("lyceum.") or hasattr(part, "steps")
            if not ours and hasattr(part, "predict") and full not in FOREIGN_TYPES:
                replacement = home(kind.__name__) or "one of Lyceum's learners"
                library = kind.__module__.split(".")[0]
                return (
                    f"{where or 'it'} is a {kind.__name__} of {library}, whose compiled parts"
                    f" cannot be checked when a file is read: take {replacement} in its place, or"
                    " pickle the model where you trust whoever can write the file"
                )
            names = getattr(part, "names_", None)
            for name, value in vars(part).items():
                if name == "estimators_" and isinstance(value, list):
                    labels = [where] * len(value)
                    if isinstance(names, list) and len(names) == len(value):
                        labels = [f"its member {label!r}" for label in names]
                    waiting += zip(labels, value)
                else:
                    waiting.append((where or f"its {name}", value))
        elif isinstance(part, list | tuple):
            waiting += [(where, member) for member in part]
    return None

"""A model as nodes of JSON and arrays, and back: the format of skops, for the types that model
files hold.

A node names the type that it builds and its loader, e.g. `{"__module__": "builtins", "__class__":
"list", "__loader__": "ListNode", "content": [...]}`; arrays are files beside the nodes. skops
itself reads what is written here. It is not used, because importing it imports all of scikit-learn.
"""

from __future__ import annotations

import hashlib
import importlib
import io
import json
from collections.abc import Callable, Mapping, Sequence
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

import numpy as np
from scipy import sparse

from lyceum._core.types import Estimator
from lyceum.errors import ModelFileError

PROTOCOL = 2  # of skops; the nodes that are read here are the same in 0 and 1
_TREE = "sklearn.tree._tree"
_FUNCTIONS = (FunctionType, BuiltinFunctionType, MethodType, np.ufunc, type(np.sum))
_TEXT_KEYS = (str, int, float, np.generic)  # that JSON has as texts
_COLLECTIONS = {list: "ListNode", tuple: "TupleNode", set: "SetNode"}

Node = dict[str, Any]


# -- writing ---------------------------------------------------------------------------


def write_nodes(model: Estimator) -> tuple[Node, dict[str, bytes]]:
    """The root of the nodes of a model, and its arrays by the names of their files.

    What a model file may not hold is named by its node, so that the checks of types refuse it.

    Examples
    --------
    >>> root, arrays = write_nodes([1.5, np.zeros(2)])
    >>> [node["__loader__"] for node in root["content"]], [len(array) for array in arrays.values()]
    (['JsonNode', 'NdArrayNode'], [144])
    """
    writer = _NodeWriter()
    root = writer.node(model)
    root["protocol"] = PROTOCOL
    return root, writer.arrays


class _NodeWriter:
    """Turns values into nodes, and collects their arrays."""

    def __init__(self) -> None:
        self.arrays: dict[str, bytes] = {}

    def node(self, value: object) -> Node:
        if isinstance(value, np.ndarray | np.generic):
            return self._array(value)
        if isinstance(value, dict):
            return self._dict(value)
        for kind, loader in _COLLECTIONS.items():
            if isinstance(value, kind):
                items = [self.node(item) for item in value]
                return _typed(type(value), loader, content=items)
        if value is None or isinstance(value, str | int | float):
            return _typed(str, "JsonNode", content=json.dumps(value), is_json=True)
        if isinstance(value, type):
            return _typed(value, "TypeNode")
        if isinstance(value, slice):
            limits = {"start": value.start, "stop": value.stop, "step": value.step}
            return _typed(slice, "SliceNode", content=limits)
        if isinstance(value, np.dtype):  # an empty array carries it
            empty = self.node(np.empty(0, dtype=value))
            return _typed(np.dtype, "DTypeNode", content=empty)
        if sparse.issparse(value):
            return self._sparse(value)
        if isinstance(value, _FUNCTIONS):
            home = getattr(value, "__module__", None) or "numpy"
            return {
                "__class__": value.__name__,
                "__module__": home,
                "__loader__": "FunctionNode",
            }
        return self._object(value)

    def _dict(self, value: dict[Any, Any]) -> Node:
        if not all(isinstance(key, _TEXT_KEYS) for key in value):
            keys = self.node(list(value))
            content = {str(i): self.node(item) for i, item in enumerate(value.values())}
            return _typed(type(value), "DictNode", content=content, keys=keys)
        content = {}
        for key, item in value.items():
            plain = key.item() if isinstance(key, np.generic) else key
            content[plain] = self.node(item)
        if len({str(key) for key in content}) < len(value):
            raise ModelFileError(
                "it has a mapping with two keys of the same text, e.g. 1 and '1'"
            )
        # JSON has only texts as keys, so that the types stand beside them
        key_types = self.node([type(key) for key in value])
        return _typed(type(value), "DictNode", content=content, key_types=key_types)

    def _array(self, value: Any) -> Node:
        kind = type(value)
        if value.dtype == object:
            items = [self.node(item) for item in value.tolist()]
            shape = self.node(value.shape)
            return _typed(kind, "NdArrayNode", content=items, type="json", shape=shape)
        buffer = io.BytesIO()
        np.save(buffer, value, allow_pickle=False)
        file = self._file(buffer, ".npy")
        return _typed(kind, "NdArrayNode", type="numpy", file=file)

    def _sparse(self, value: object) -> Node:
        buffer = io.BytesIO()
        sparse.save_npz(buffer, value)
        file = self._file(buffer, ".npz")
        return _typed(type(value), "SparseMatrixNode", type="scipy", file=file)

    def _file(self, buffer: io.BytesIO, ending: str) -> str:
        """Keep the bytes of an array by their hash: the same model gives the same names."""
        content = buffer.getvalue()
        # equal arrays are written once
        name = hashlib.sha256(content).hexdigest()[:24] + ending
        self.arrays[name] = content
        return name

    def _object(self, value: Any) -> Node:
        kind = type(value)
        if kind.__module__ == _TREE and kind.__name__ == "Tree":
            # sizes for its constructor, and its arrays
            _, arguments, state = value.__reduce__()
            reduced = {"args": self.node(arguments)}
            return _typed(
                kind, "TreeNode", content=self.node(state), __reduce__=reduced
            )
        # made by a call, which no file may do
        if kind.__reduce__ is not object.__reduce__:
            return _typed(kind, "ConstructorFromReduceNode")
        return _typed(kind, "ObjectNode", content=self.node(value.__getstate__()))


def _typed(kind: type, loader: str, **rest: Any) -> Node:
    return {
        "__class__": kind.__name__,
        "__module__": kind.__module__,
        "__loader__": loader,
        **rest,
    }


# -- reading ---------------------------------------------------------------------------


def build_model(root: Node, arrays: Mapping[str, bytes]) -> Any:
    """What the nodes hold.

    It imports and builds whatever type a node names: `lyceum.persist` checks all of them before.

    Examples
    --------
    >>> build_model(*write_nodes({"a": (1, None), 2: np.arange(3)}))
    {'a': (1, None), 2: array([0, 1, 2])}
    """
    protocol = root.get("protocol")
    if type(protocol) is not int or not 0 <= protocol <= PROTOCOL:
        raise ModelFileError(
            f"has protocol {protocol!r}: files up to {PROTOCOL} are read; upgrade lyceum-ml"
        )
    return _build(root, arrays)


def _build(node: Node, arrays: Mapping[str, bytes]) -> Any:
    return _BUILDERS[node["__loader__"]](node, arrays)


def _build_all(nodes: Sequence[Node], arrays: Mapping[str, bytes]) -> list[Any]:
    return [_build(node, arrays) for node in nodes]


def _type_of(node: Node, arrays: Mapping[str, bytes] | None = None) -> Any:
    return getattr(importlib.import_module(node["__module__"]), node["__class__"])


def _collection(node: Node, arrays: Mapping[str, bytes]) -> Any:
    return _type_of(node)(_build_all(node["content"], arrays))


def _dict(node: Node, arrays: Mapping[str, bytes]) -> dict[Any, Any]:
    """A mapping; JSON has only texts as keys, so that their types stand beside them, or the keys
    themselves where they are no single values, e.g. pairs."""
    if "keys" in node:
        keys = _build(node["keys"], arrays)
        values = _build_all(list(node["content"].values()), arrays)
        return dict(zip(keys, values, strict=True))
    kinds = _build(node["key_types"], arrays)
    built = {}
    for kind, (text, value) in zip(kinds, node["content"].items(), strict=True):
        key = text == "true" if kind is bool else kind(text)
        built[key] = _build(value, arrays)
    return built


def _json(node: Node, arrays: Mapping[str, bytes]) -> Any:
    return json.loads(node["content"])


def _slice(node: Node, arrays: Mapping[str, bytes]) -> slice:
    content = node["content"]
    return slice(content["start"], content["stop"], content["step"])


def _array(node: Node, arrays: Mapping[str, bytes]) -> Any:
    if node["type"] == "json":
        # objects: the array is as large as its items, whatever the shape says
        shape = _build(node["shape"], arrays)
        items = _build_all(node["content"], arrays)
        if len(shape) != 1:
            return np.array(items, dtype=object).reshape(shape)
        # filled one by one, as np.array would make a table of items of equal length
        array = np.empty(len(items), dtype=object)
        for index, item in enumerate(items):
            array[index] = item
        return array
    if node["type"] != "numpy":
        raise ModelFileError(f"is damaged: it holds an array of type {node['type']!r}")
    array = np.load(io.BytesIO(arrays[node["file"]]), allow_pickle=False)
    kind = _type_of(node)
    if kind is np.ndarray:
        return array
    return kind(array)


def _dtype(node: Node, arrays: Mapping[str, bytes]) -> np.dtype:
    return _build(node["content"], arrays).dtype


def _sparse(node: Node, arrays: Mapping[str, bytes]) -> Any:
    if node["type"] != "scipy":
        raise ModelFileError(
            f"is damaged: it holds a sparse matrix of type {node['type']!r}"
        )
    return sparse.load_npz(io.BytesIO(arrays[node["file"]]))


def _object(node: Node, arrays: Mapping[str, bytes]) -> Any:
    """An object of which only the state is known: its `__init__` is not called."""
    kind = _type_of(node)
    made = kind.__new__(kind)
    content = node.get("content")
    state = None if content is None else _build(content, arrays)
    if hasattr(made, "__setstate__") and state is not None:
        made.__setstate__(state)
    elif state is not None:
        vars(made).update(state)
    return made


def _tree(node: Node, arrays: Mapping[str, bytes]) -> Any:
    """A tree of scikit-learn, whose arrays were checked."""
    made = _type_of(node)(*_build(node["__reduce__"]["args"], arrays))
    made.__setstate__(_build(node["content"], arrays))
    return made


_BUILDERS: dict[str, Callable[[Node, Mapping[str, bytes]], Any]] = {
    "DTypeNode": _dtype,
    "DictNode": _dict,
    "JsonNode": _json,
    "ListNode": _collection,
    "NdArrayNode": _array,
    "ObjectNode": _object,
    "SetNode": _collection,
    "SliceNode": _slice,
    "SparseMatrixNode": _sparse,
    "TreeNode": _tree,
    "TupleNode": _collection,
    "TypeNode": _type_of,
}

"""Nodes of an ONNX graph, in doubles: small sentences that operations are made of."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper


class Graph:
    """Nodes so far; every method returns the name of what it adds."""

    def __init__(self, names: list[str]):
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self._reserved = set(names)
        self._known: dict[tuple[Any, ...], str] = {}
        self.refused: list[str] = []  # (N,), true where a row cannot be answered
        self.may_be_missing = True  # whether cells may be NaN from here on

    def _name(self) -> str:
        name = f"_{len(self.nodes) + len(self.constants)}"
        while name in self._reserved:
            name = f"_{name}"
        self._reserved.add(name)
        return name

    def node(
        self, kind: str, *inputs: str, output: str | None = None, **attributes: Any
    ) -> str:
        output = output or self._name()
        node = helper.make_node(kind, inputs, [output], **attributes)
        if kind in ("LabelEncoder", "TreeEnsemble"):
            node.domain = "ai.onnx.ml"
        self.nodes.append(node)
        return output

    def nodes_of(
        self, kind: str, n_outputs: int, *inputs: str, **attributes: Any
    ) -> list[str]:
        """The outputs of a node that has several."""
        outputs = [self._name() for _ in range(n_outputs)]
        self.nodes.append(helper.make_node(kind, inputs, outputs, **attributes))
        return outputs

    def constant(self, value: Any, dtype: Any = np.float64) -> str:
        array = np.asarray(value, dtype=dtype)
        key: tuple[Any, ...] = (array.dtype.str, array.shape, array.tobytes())
        if array.dtype.kind == "O":
            key = ("text", tuple(array.tolist()))
        if key not in self._known:
            self._known[key] = self._name()
            self.constants.append(numpy_helper.from_array(array, self._known[key]))
        return self._known[key]

    def index(self, value: Any) -> str:
        return self.constant(value, np.int64)

    # -- small sentences ---------------------------------------------------------------

    def columns(self, x: str, numbers: Any) -> str:
        return self.node("Gather", x, self.index(numbers), axis=1)

    def beside(self, parts: list[str]) -> str:
        return parts[0] if len(parts) == 1 else self.node("Concat", *parts, axis=1)

    def number(self, truth: str) -> str:
        return self.node("Cast", truth, to=TensorProto.DOUBLE)

    def whole(self, x: str) -> str:
        return self.node("Cast", x, to=TensorProto.INT64)

    def total(self, x: str, axis: int = 1, keep: bool = False) -> str:
        return self.node("ReduceSum", x, self.index([axis]), keepdims=int(keep))

    def largest(self, x: str, keep: bool = True) -> str:
        return self.node("ReduceMax", x, self.index([1]), keepdims=int(keep))

    def any(self, truth: str) -> str:
        """Whether something in a row is true, (N,)."""
        most = self.largest(self.number(truth), keep=False)
        return self.node("Greater", most, self.constant(0.5))

    def either(self, truths: list[str]) -> str:
        answer = truths[0]
        for truth in truths[1:]:
            answer = self.node("Or", answer, truth)
        return answer

    def inserted(self, x: str, axis: int) -> str:
        return self.node("Unsqueeze", x, self.index([axis]))

    def rows_like(self, x: str, values: list[float]) -> str:
        """The same numbers in every row of x."""
        rows = self.node("Shape", x, start=0, end=1)
        shape = self.node("Concat", rows, self.index([len(values)]), axis=0)
        return self.node("Expand", self.constant([values]), shape)

    def entry(self, x: str, table: Any, missing: Any, other: Any) -> str:
        """The entries of a table (m, ...) by the codes of one column x of shape (N,); `other` where
        a code is not in it."""
        table = np.asarray(table, dtype=np.float64)
        ends = np.array([other, missing], dtype=np.float64).reshape(2, *table.shape[1:])
        is_missing = self.node("IsNaN", x)
        size = len(table)
        below = self.node("Less", x, self.constant(float(size)))
        known = self.node(
            "And", self.node("GreaterOrEqual", x, self.constant(0.0)), below
        )
        index = self.node("Where", known, x, self.constant(float(size)))
        index = self.node("Where", is_missing, self.constant(size + 1.0), index)
        entries = self.constant(np.concatenate([table, ends]))
        return self.node("Gather", entries, self.whole(index), axis=0)

"""A program as an ONNX file: inputs by column, the graph, and answers; and such a file at work."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import onnxruntime
from onnx import TensorProto, checker, helper

from lyceum import __version__
from lyceum.errors import ExportError
from lyceum.export.onnx_graph import Graph
from lyceum.export.onnx_operations import add_operations
from lyceum.export.program import Program

OPSET = 20
ML_OPSET = 5  # the first with TreeEnsemble
IR_VERSION = 10
OUTPUTS = ("predicted", "probabilities", "action", "risk", "rejected", "refused")

_TYPES = {
    "f": TensorProto.DOUBLE,
    "i": TensorProto.INT64,
    "b": TensorProto.BOOL,
    "O": TensorProto.STRING,
}


def write_onnx(program: Program) -> bytes:
    """The bytes of a model with one input of shape (N, 1) per column: text, "" where it is missing,
    or doubles, NaN where they are."""
    names = [column["name"] for column in program.columns]
    clash = sorted(set(names) & set(OUTPUTS))
    if clash:
        raise ExportError(
            f"column {clash[0]!r} has the name of an output of the ONNX file: rename it"
        )
    graph = Graph([*names, *OUTPUTS])
    x = graph.beside([_read(graph, column) for column in program.columns])
    x = add_operations(graph, x, program.operations)
    outputs = _answers(graph, x, program)
    inputs = [
        helper.make_tensor_value_info(column["name"], _input_type(column), ["N", 1])
        for column in program.columns
    ]
    used = {name for node in graph.nodes for name in node.input}
    constants = [constant for constant in graph.constants if constant.name in used]
    made = helper.make_graph(graph.nodes, program.name, inputs, outputs, constants)
    opsets = [
        helper.make_opsetid("", OPSET),
        helper.make_opsetid("ai.onnx.ml", ML_OPSET),
    ]
    model = helper.make_model(
        made,
        opset_imports=opsets,
        ir_version=IR_VERSION,
        producer_name="lyceum",
        producer_version=__version__,
        doc_string=f"{program.name} of {program.target}",
    )
    helper.set_model_props(model, _properties(program))
    checker.check_model(model)
    return model.SerializeToString()


def _properties(program: Program) -> dict[str, str]:
    categories = {
        column["name"]: list(column["codes"])
        for column in program.columns
        if column["codes"] is not None
    }
    return {
        "target": program.target,
        "labels": json.dumps(program.labels),
        "categories": json.dumps(categories),
    }


def _input_type(column: dict[str, Any]) -> int:
    return TensorProto.DOUBLE if column["codes"] is None else TensorProto.STRING


def _read(graph: Graph, column: dict[str, Any]) -> str:
    """The cells of a column: numbers, or codes of its texts."""
    if column["codes"] is None:
        return column["name"]
    texts = ["", *column["codes"]]
    codes = [-2, *column["codes"].values()]
    code = graph.node(
        "LabelEncoder",
        column["name"],
        keys_strings=texts,
        values_int64s=codes,
        default_int64=-1,
    )
    missing = graph.node("Equal", code, graph.index(-2))
    return graph.node("Where", missing, graph.constant(math.nan), graph.number(code))


# -- answers ---------------------------------------------------------------------------


def _answers(graph: Graph, x: str, program: Program) -> list[Any]:
    """Rows that cannot be answered have NaN, "" or the first label, and `refused` is true."""
    lost = graph.any(graph.node("IsNaN", x))
    refused = graph.either([lost, *graph.refused])
    graph.node("Identity", refused, output="refused")
    outputs = [helper.make_tensor_value_info("refused", TensorProto.BOOL, ["N"])]
    if program.labels is None:
        value = graph.node("Squeeze", graph.columns(x, [0]), graph.index([1]))
        nothing = graph.constant(math.nan)
        graph.node("Where", refused, nothing, value, output="predicted")
        outputs.append(_output("predicted", "f"))
        return outputs[::-1]
    x, scores = _parted(graph, x, program)
    best = graph.node("ArgMax", scores, axis=1, keepdims=0)
    outputs.append(_label(graph, best, program.labels, refused, "predicted"))
    if program.has_posteriors:
        nothing = graph.constant(math.nan)
        column = graph.inserted(refused, 1)
        graph.node("Where", column, nothing, x, output="probabilities")
        shape: list[str | int] = ["N", len(program.labels)]
        outputs.append(
            helper.make_tensor_value_info("probabilities", TensorProto.DOUBLE, shape)
        )
    if program.costs is not None:
        outputs += _minimum_risk(graph, x, best, program.costs, refused)
    return [*outputs[1:], outputs[0]]


def _parted(graph: Graph, x: str, program: Program) -> tuple[str, str]:
    """The posteriors, and the scores that decide: often the same."""
    if not program.decides_apart:
        return x, x
    K = len(program.labels)  # type: ignore[arg-type]
    scores = graph.columns(x, list(range(K, 2 * K)))
    return graph.columns(x, list(range(K))), scores


def _output(name: str, kind: str) -> Any:
    return helper.make_tensor_value_info(name, _TYPES[kind], ["N"])


def label_array(labels: Sequence[Any]) -> np.ndarray:
    """Labels as an array of ONNX: text unless all are numbers or truth values."""
    if all(type(label) is bool for label in labels):
        return np.array(labels, dtype=np.bool_)
    if all(type(label) is int for label in labels):
        return np.array(labels, dtype=np.int64)
    if all(type(label) in (int, float) for label in labels):
        return np.array(labels, dtype=np.float64)
    return np.array([str(label) for label in labels], dtype=object)


def _label(
    graph: Graph, code: str, labels: Sequence[Any], refused: str, output: str
) -> Any:
    array = label_array(labels)
    nothing = {"O": "", "f": math.nan}.get(array.dtype.kind, array[0])
    entries = np.append(array, np.array([nothing], dtype=array.dtype))
    code = graph.node("Where", refused, graph.index(len(array)), code)
    graph.node("Gather", graph.constant(entries, array.dtype.type), code, output=output)
    return _output(output, array.dtype.kind)


def _minimum_risk(
    graph: Graph, x: str, best: str, costs: dict[str, Any], refused: str
) -> list[Any]:
    """The action of least expected loss; the last label of all is that of doubt."""
    risks = graph.node("MatMul", x, graph.constant(costs["values"]))
    action = best
    if not costs["zero_one"]:
        action = graph.node("ArgMin", risks, axis=1, keepdims=0)
    column = graph.inserted(action, 1)
    risk = graph.node("GatherElements", risks, column, axis=1)
    n_actions = len(costs["names_class"])
    labels = [*costs["actions"][:n_actions], costs["reject_label"]]
    rejects = [*(not names for names in costs["names_class"]), True]
    if costs["doubt"] is not None:
        doubts = _doubts(graph, x, risk, column, costs)
        risk = graph.node("Where", doubts, graph.constant(costs["doubt"]), risk)
        column = graph.node("Where", doubts, graph.index(n_actions), column)
    action = graph.node("Squeeze", column, graph.index([1]))
    risk = graph.node("Squeeze", risk, graph.index([1]))
    graph.node("Where", refused, graph.constant(math.nan), risk, output="risk")
    graph.node("Gather", graph.constant(rejects, np.bool_), action, output="rejected")
    outputs = [_label(graph, action, labels, refused, "action")]
    return [*outputs, _output("risk", "f"), _output("rejected", "b")]


def _doubts(graph: Graph, x: str, risk: str, column: str, costs: dict[str, Any]) -> str:
    """Whether no action is sure enough, (N, 1)."""
    if costs["zero_one"]:
        share = graph.node("GatherElements", x, column, axis=1)
        sure = graph.node("Greater", share, graph.constant(1.0 - costs["doubt"]))
    else:
        sure = graph.node("Less", risk, graph.constant(costs["doubt"]))
    return graph.node("Not", sure)


# -- a file at work --------------------------------------------------------------------


def onnx_answers(
    data: bytes, program: Program, records: list[dict[str, Any]]
) -> list[dict[str, Any] | str]:
    """What onnxruntime answers to some records; a text where it refuses."""
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = 1
    settings.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        data, settings, providers=["CPUExecutionProvider"]
    )
    cells = {
        column["name"]: input_cells(
            column, [record[column["name"]] for record in records]
        )
        for column in program.columns
    }
    names = [output.name for output in session.get_outputs()]
    given = dict(zip(names, session.run(names, cells)))
    answers: list[dict[str, Any] | str] = []
    for i, refused in enumerate(given["refused"].tolist()):
        if refused:
            answers.append("refused")
            continue
        answer = {"predicted": given["predicted"].tolist()[i]}
        if program.labels is not None and program.has_posteriors:
            shares = given["probabilities"][i].tolist()
            answer["probabilities"] = dict(zip(map(str, program.labels), shares))
        answers.append(answer)
    return answers


def input_cells(column: dict[str, Any], values: list[Any]) -> np.ndarray:
    """The cells of one column as the input of an ONNX file."""
    if column["codes"] is None:
        cells = [math.nan if value is None else float(value) for value in values]
        return np.array(cells)[:, None]
    return np.array(["" if v is None else str(v) for v in values], dtype=object)[
        :, None
    ]

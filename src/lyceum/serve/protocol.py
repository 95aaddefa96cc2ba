"""The Open Inference Protocol, version 2: one tensor per column.

Tensors come as JSON, or as the protocol's binary extension lays them out: the JSON first, whose
length a header gives, then the tensors, one after the other.
"""

from __future__ import annotations

import math
from typing import Any

import msgspec
import numpy as np

from lyceum import __version__
from lyceum._core.data import Column
from lyceum._core.lazy_arrow import pa
from lyceum.serve.shelf import ServedModel
from lyceum.web import Refused, decode_json

EXTENSIONS = ["binary_tensor_data", "lyceum_explain"]
_HEADER = "inference-header-content-length"
_TYPES = {
    "BOOL": np.dtype(np.bool_),
    "INT8": np.dtype("<i1"),
    "INT16": np.dtype("<i2"),
    "INT32": np.dtype("<i4"),
    "INT64": np.dtype("<i8"),
    "UINT8": np.dtype("<u1"),
    "UINT16": np.dtype("<u2"),
    "UINT32": np.dtype("<u4"),
    "UINT64": np.dtype("<u8"),
    "FP16": np.dtype("<f2"),
    "FP32": np.dtype("<f4"),
    "FP64": np.dtype("<f8"),
}


def server_metadata() -> dict[str, Any]:
    return {"name": "lyceum", "version": __version__, "extensions": EXTENSIONS}


def model_metadata(served: ServedModel) -> dict[str, Any]:
    """The tensors of a model: its columns in, its decisions out."""
    inputs = [
        {"name": column.name, "datatype": datatype_of(column), "shape": [-1]}
        for column in served.fitted.schema
    ]
    classes = served.fitted.classes
    outputs = [{"name": "predicted", "datatype": _label_type(classes), "shape": [-1]}]
    if classes is not None and hasattr(served.fitted.model, "predict_proba"):
        shape = [-1, len(classes)]
        outputs.append({"name": "probabilities", "datatype": "FP64", "shape": shape})
    return {
        "name": served.name,
        "versions": [served.version],
        "platform": "lyceum",
        "inputs": inputs,
        "outputs": outputs,
    }


def datatype_of(column: Column) -> str:
    if column.is_text or column.is_time:
        return "BYTES"
    kind = "f" if column.categories is None else column.categories.dtype.kind
    return "BOOL" if kind == "b" else "FP64"


def _label_type(classes: np.ndarray | None) -> str:
    kinds = {"i": "INT64", "u": "INT64", "f": "FP64", "b": "BOOL"}
    return "FP64" if classes is None else kinds.get(classes.dtype.kind, "BYTES")


# -- tensors in ------------------------------------------------------------------------


def read_request(body: bytes, headers: Any) -> tuple[dict[str, Any], bytes]:
    """The request and the bytes of its binary tensors."""
    length = headers.get(_HEADER)
    rest = b""
    if length is not None:
        if not length.isdecimal() or int(length) > len(body):
            raise Refused(400, f"{_HEADER}: {length!r} is not the length of the JSON")
        rest = body[int(length) :]
        body = body[: int(length)]
    request = decode_json(body)
    if not isinstance(request, dict) or not isinstance(request.get("inputs"), list):
        raise Refused(
            400, "the body is no inference request: it needs a list of inputs"
        )
    return request, rest


def read_tensors(request: dict[str, Any], rest: bytes, served: ServedModel) -> Any:
    """The tensors as a table of the model's columns."""
    tensors: dict[str, Any] = {}
    for tensor in request["inputs"]:
        if not isinstance(tensor, dict) or not isinstance(tensor.get("name"), str):
            raise Refused(400, "an input needs a name, a shape, a datatype and data")
        size = _parameters(tensor).get("binary_data_size")
        if size is None:
            cells = _flat(tensor.get("data"))
        elif type(size) is int and 0 <= size <= len(rest):
            cells = _decode(rest[:size], tensor)
            rest = rest[size:]
        else:
            raise Refused(400, f"input {tensor['name']!r} has no {size!r} bytes here")
        _check_shape(tensor, len(cells))
        tensors[tensor["name"]] = cells
    names = served.fitted.schema.names
    lacking = [name for name in names if name not in tensors]
    if lacking:
        raise Refused(400, f"the input {lacking[0]!r} is not there: send every column")
    lengths = {len(tensors[name]) for name in names}
    if len(lengths) != 1:
        raise Refused(400, f"the inputs have different lengths: {sorted(lengths)}")
    try:
        arrays = [pa.array(tensors[name]) for name in names]
    except (pa.ArrowException, TypeError, OverflowError) as error:
        raise Refused(400, f"an input mixes kinds of values: {error}") from error
    return pa.table(arrays, names=list(names))


def _parameters(thing: dict[str, Any]) -> dict[str, Any]:
    parameters = thing.get("parameters")
    return parameters if isinstance(parameters, dict) else {}


def _flat(data: Any) -> list[Any]:
    """The values of nested lists in order."""
    if not isinstance(data, list):
        raise Refused(400, "the data of an input is a list")
    while data and isinstance(data[0], list):
        if not all(isinstance(row, list) for row in data):
            raise Refused(400, "the data of an input is nested unevenly")
        data = [cell for row in data for cell in row]
    return data


def _check_shape(tensor: dict[str, Any], n: int) -> None:
    shape = tensor.get("shape")
    fits = isinstance(shape, list) and all(type(size) is int for size in shape)
    if not fits or math.prod(shape) != n or any(size != 1 for size in shape[1:]):  # type: ignore[arg-type,index]
        raise Refused(
            400,
            f"input {tensor['name']!r} has the shape {shape} and {n} values: one column has the"
            " shape [n] or [n, 1]",
        )


def _decode(data: bytes, tensor: dict[str, Any]) -> list[Any]:
    kind = tensor.get("datatype")
    if kind == "BYTES":
        return _decode_texts(data, tensor["name"])
    dtype = _TYPES.get(kind)  # type: ignore[arg-type]
    if dtype is None or len(data) % dtype.itemsize:
        raise Refused(400, f"input {tensor['name']!r} is no binary tensor of {kind}")
    return np.frombuffer(data, dtype=dtype).tolist()


def _decode_texts(data: bytes, name: str) -> list[str]:
    """Every text has its length before it, in four bytes."""
    texts = []
    start = 0
    while start < len(data):
        end = start + 4 + int.from_bytes(data[start : start + 4], "little")
        if start + 4 > len(data) or end > len(data):
            raise Refused(400, f"input {name!r} ends in the middle of a text")
        texts.append(data[start + 4 : end].decode("utf8", errors="replace"))
        start = end
    return texts


# -- tensors out -----------------------------------------------------------------------


def write_response(
    served: ServedModel, request: dict[str, Any], rows: list[dict[str, Any]]
) -> tuple[bytes, dict[str, str]]:
    """The answer and its headers: the tensors that were requested, or all."""
    tensors = _outputs(served, rows)
    wanted = request.get("outputs")
    if not isinstance(wanted, list) or not wanted:
        wanted = [{"name": name} for name in tensors]
    all_binary = bool(_parameters(request).get("binary_data_output"))
    outputs = []
    parts = []
    for output in wanted:
        name = output.get("name") if isinstance(output, dict) else None
        if name not in tensors:
            raise Refused(400, f"there is no output {name!r}: {', '.join(tensors)}")
        datatype, shape, data = tensors[name]
        written = {"name": name, "datatype": datatype, "shape": shape}
        if _parameters(output).get("binary_data", all_binary):
            part = _encode(datatype, data)
            written["parameters"] = {"binary_data_size": len(part)}
            parts.append(part)
        else:
            written["data"] = data
        outputs.append(written)
    answer = {"model_name": served.name, "model_version": served.version}
    if isinstance(request.get("id"), str):
        answer["id"] = request["id"]
    head = msgspec.json.encode({**answer, "outputs": outputs}, enc_hook=str)
    if not parts:
        return head, {"Content-Type": "application/json"}
    headers = {_HEADER: str(len(head)), "Content-Type": "application/octet-stream"}
    return b"".join([head, *parts]), headers


def _outputs(
    served: ServedModel, rows: list[dict[str, Any]]
) -> dict[str, tuple[str, list[int], list[Any]]]:
    n = len(rows)
    datatype = _label_type(served.fitted.classes)
    predicted = [row["predicted"] for row in rows]
    if datatype == "BYTES":
        predicted = [str(label) for label in predicted]
    tensors: dict[str, Any] = {"predicted": (datatype, [n], predicted)}
    if rows and "probabilities" in rows[0]:
        shares = [share for row in rows for share in row["probabilities"].values()]
        tensors["probabilities"] = ("FP64", [n, len(shares) // n], shares)
    if rows and "action" in rows[0]:
        actions = [str(row["action"]) for row in rows]
        tensors["action"] = ("BYTES", [n], actions)
        tensors["risk"] = ("FP64", [n], [row["risk"] for row in rows])
    return tensors


def _encode(datatype: str, data: list[Any]) -> bytes:
    if datatype != "BYTES":
        return np.array(data, dtype=_TYPES[datatype]).tobytes()
    texts = [text.encode() for text in data]
    return b"".join(len(text).to_bytes(4, "little") + text for text in texts)

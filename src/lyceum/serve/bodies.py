"""What a request asks: one record or many, in JSON, CSV, Arrow or Parquet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lyceum._core.data import read_arrow, read_parquet_file, reading_limits
from lyceum._core.lazy_arrow import pa
from lyceum.errors import DataError, SchemaError
from lyceum.web import Refused, decode_json

_THE_BODY = "the body"  # in place of the name of a file, in messages
_TIMES_BODY = 16  # its length, that a body may be unpacked to
_LEAST_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class Question:
    """A record, a table or a file of them, and the costs that were sent along.

    Attributes
    ----------
    record : dict, list or None
        One record, if that was sent.
    table : pyarrow.Table or None
        Several.
    csv : bytes or None
        Several as CSV, which the reader of files takes.
    loss : dict, list or None
        A loss matrix instead of the model's.
    doubt : float or None
        The cost of doubt instead of the model's.
    """

    record: Any = None
    table: Any = None
    csv: bytes | None = None
    loss: Any = None
    doubt: float | None = None


_ENVELOPE = {"record", "records", "loss", "doubt"}


def read_question(body: bytes, content_type: str, names: tuple[str, ...]) -> Question:
    """What the body asks; `names` are the columns of the model."""
    kind = content_type.partition(";")[0].strip().lower()
    if kind in ("", "application/json", "text/json"):
        return _of_json(decode_json(body), names)
    if kind == "text/csv":
        return Question(csv=body)
    reader = _READERS.get(kind)
    if reader is None:
        raise Refused(
            415,
            f"the content type {kind!r} is not read here: send application/json, text/csv,"
            " application/vnd.apache.arrow.stream or application/vnd.apache.parquet",
        )
    try:
        # what a body is unpacked to is bounded as the body itself is
        with reading_limits(memory=max(_LEAST_BYTES, _TIMES_BODY * len(body))):
            return Question(table=reader(body))
    except SchemaError as error:
        raise Refused(422, str(error)) from error
    except DataError as error:
        # what a person would do about a file is not what a client can do
        raise Refused(400, str(error).partition(": allow more")[0]) from error


def _of_json(value: Any, names: tuple[str, ...]) -> Question:
    """A record, a list of them, or either with costs beside it."""
    if isinstance(value, list):
        return Question(table=_table_of(value, names))
    if not isinstance(value, dict):
        raise Refused(
            422, "send one record, an object of columns and values, or a list of them"
        )
    # a table may have a column that is called "record"
    sends_some = "record" in value or "records" in value
    if not sends_some or not value.keys() <= _ENVELOPE or names[0] in value:
        return Question(record=value)
    loss = value.get("loss")
    doubt = value.get("doubt")
    if doubt is not None and not isinstance(doubt, int | float):
        raise Refused(422, f"doubt is a number, not {doubt!r}")
    if "records" in value:
        if not isinstance(value["records"], list):
            raise Refused(422, "records is a list of records")
        return Question(
            table=_table_of(value["records"], names), loss=loss, doubt=doubt
        )
    return Question(record=value["record"], loss=loss, doubt=doubt)


def _table_of(records: list[Any], names: tuple[str, ...]) -> Any:
    if not records:
        raise Refused(422, "there are no records")
    for row, record in enumerate(records):
        if not isinstance(record, dict):
            raise Refused(422, f"record {row} is no object of columns and values")
        missing = [name for name in names if name not in record]
        if missing:
            raise Refused(
                422,
                f"record {row} lacks the column {missing[0]!r}: give it, or null where it is"
                " missing",
            )
    columns = {name: [record[name] for record in records] for name in names}
    arrays = []
    for name, cells in columns.items():
        try:
            arrays.append(pa.array(cells))
        except (pa.ArrowException, OverflowError, TypeError) as error:
            raise Refused(
                422, f"column {name!r} mixes kinds of values: {error}"
            ) from error
    return pa.table(arrays, names=list(columns))


def _read_arrow(body: bytes) -> Any:
    return read_arrow(pa.py_buffer(body), _THE_BODY)


def _read_parquet(body: bytes) -> Any:
    return read_parquet_file(_THE_BODY, data=pa.py_buffer(body))


_READERS: dict[str, Callable[[bytes], Any]] = {
    "application/vnd.apache.arrow.stream": _read_arrow,
    "application/vnd.apache.arrow.file": _read_arrow,
    "application/vnd.apache.parquet": _read_parquet,
}

"""Numbers for pictures and decisions, as bytes that a typed array of the browser takes as they are.

A block begins with the length of a JSON head as four bytes, then the head (padded, so that numbers
begin at a multiple of eight), then one column after another: {"type": "float32", "rows": n,
"columns": [...], ...}.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from starlette.responses import Response

from lyceum.web import encode_json


def block_answer(
    columns: Mapping[str, np.ndarray], *, exact: bool = False, **head: Any
) -> Response:
    """Columns of one length as a block: float32 for pictures, float64 where decisions depend on
    the last digit."""
    kind = "float64" if exact else "float32"
    n_rows = len(next(iter(columns.values()), ()))
    text = encode_json({"type": kind, "rows": n_rows, "columns": list(columns), **head})
    text += b" " * (-(len(text) + 4) % 8)
    parts = [len(text).to_bytes(4, "little"), text]
    for values in columns.values():
        parts.append(np.ascontiguousarray(values, dtype=kind).tobytes())
    return Response(b"".join(parts), media_type="application/octet-stream")

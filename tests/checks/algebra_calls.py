"""Which products, solves and decompositions run while BLAS may use more than one thread."""

from __future__ import annotations

import dis
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import lyceum
from lyceum._core import threads as _threads

__all__ = ["SOURCES", "algebra_outside"]

# What NumPy and SciPy hand to BLAS or LAPACK, beside the operator @.
ALGEBRA = frozenset(
    (
        *(
            "dot",
            "vdot",
            "inner",
            "matmul",
            "multi_dot",
            "einsum",
            "tensordot",
            "cov",
            "corrcoef",
            "norm",
        ),
        *(
            "solve",
            "solve_triangular",
            "cho_solve",
            "lu_solve",
            "lstsq",
            "lsq_linear",
            "polyfit",
            "minimize",
        ),
        *(
            "cholesky",
            "cho_factor",
            "lu_factor",
            "qr",
            "svd",
            "svds",
            "svdvals",
            "null_space",
            "orth",
        ),
        *("eig", "eigh", "eigsh", "eigvals", "eigvalsh", "expm"),
        *("inv", "pinv", "pinvh", "det", "slogdet", "matrix_rank"),
    )
)
MATMUL = ("@", "@=")
SOURCES = str(Path(lyceum.__path__[0]))


@contextmanager
def algebra_outside() -> Iterator[set[str]]:
    """The lines of Lyceum that call BLAS or LAPACK in the block while `single_threaded_blas` is not
    on."""
    outside: set[str] = set()

    def watch_lines(frame: FrameType, event: str, _: Any) -> Any:
        is_algebra = event == "line" and frame.f_lineno in _algebra_lines(frame.f_code)
        if is_algebra and not _threads.blas_is_limited():
            path = Path(frame.f_code.co_filename).relative_to(SOURCES)
            outside.add(f"{path}:{frame.f_lineno} {frame.f_code.co_qualname}")
        return watch_lines

    def watch_calls(frame: FrameType, event: str, _: Any) -> Any:
        return watch_lines if _algebra_lines(frame.f_code) else None

    before = sys.gettrace()
    sys.settrace(watch_calls)
    try:
        yield outside
    finally:
        sys.settrace(before)


@cache
def _algebra_lines(code: CodeType) -> frozenset[int]:
    """The lines of a function of Lyceum that multiply matrices, solve or decompose."""
    if not code.co_filename.startswith(SOURCES):
        return frozenset()
    return frozenset(
        step.positions.lineno
        for step in dis.get_instructions(code)
        if step.positions and step.positions.lineno and _is_algebra(step)
    )


def _is_algebra(step: dis.Instruction) -> bool:
    if step.opname == "BINARY_OP":
        return step.argrepr in MATMUL
    is_name = step.opname in ("LOAD_ATTR", "LOAD_METHOD", "LOAD_GLOBAL", "LOAD_NAME")
    return is_name and step.argval in ALGEBRA

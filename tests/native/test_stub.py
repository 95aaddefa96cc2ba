"""The types that mypy sees are those of the compiled module."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_stub_is_that_of_the_compiled_module(native):
    pytest.importorskip("nanobind")
    spec = importlib.util.spec_from_file_location(
        "native_stub", ROOT / "native" / "stub.py"
    )
    stub = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(stub)
    assert stub.STUB.read_text(encoding="utf-8") == stub.stub_of(native), (
        "run `make stub`"
    )

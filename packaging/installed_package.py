"""A plugin for pytest: `lyceum` must be the installed package, and there must be no compiler."""

from __future__ import annotations

import shutil
import sysconfig
from pathlib import Path

import pytest

import lyceum

COMPILERS = ("cc", "c++", "gcc", "g++", "clang", "clang++", "cl", "cmake", "ninja")


def pytest_configure() -> None:
    package = Path(lyceum.__file__)
    installed = Path(sysconfig.get_path("platlib"))
    if not package.is_relative_to(installed):
        raise pytest.UsageError(
            f"lyceum is imported from {package}, not from {installed}"
        )
    compilers = [name for name in COMPILERS if shutil.which(name)]
    if compilers:
        raise pytest.UsageError(
            f"{', '.join(compilers)} on PATH: a wheel must do without"
        )


def pytest_report_header() -> str:
    return f"lyceum: {lyceum.__file__}"

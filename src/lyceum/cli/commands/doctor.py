"""`lyceum doctor`: how Lyceum runs here."""

from __future__ import annotations

import importlib
import importlib.util
import os
import platform
import sys
from collections.abc import Iterator
from importlib import metadata
from typing import Any

import typer
from rich.markup import escape
from rich.table import Table

from lyceum import __version__
from lyceum._core.packages import EXTRAS, NAMESAKE, how_to_install
from lyceum.cli.screen import console, print_json

_REQUIRED = (
    "numpy",
    "scipy",
    "scikit-learn",
    "threadpoolctl",
    "pyarrow",
    "typer",
    "rich",
    "tomli-w",
)
_LEVELS = ("plain", "v2", "v3", "v4")


def run(as_json: bool) -> None:
    facts = examine()
    if as_json:
        print_json(facts)
    else:
        shown = Table.grid(padding=(0, 2))
        shown.add_column(style="bold", no_wrap=True)
        shown.add_column()
        for name, text in _lines(facts):
            shown.add_row(name, text)
        console.print(shown)
    if not facts["healthy"]:
        raise typer.Exit(1)


def examine() -> dict[str, Any]:
    """Everything that `lyceum doctor` prints, as plain values."""
    kernels = _kernels()
    checks = kernels["self-check"]
    return {
        "lyceum": __version__,
        "namesake": None if _version_of("lyceum") is None else NAMESAKE,
        "python": f"{platform.python_version()} on {platform.system()} {platform.machine()}",
        "kernels": kernels,
        "threads": _threads() if checks else {},
        "blas": _blas(),
        "memory": _memory(),
        "packages": {name: _version_of(name) for name in _REQUIRED},
        "extras": {
            extra: {name: _version_of(name) for name in names}
            for extra, names in EXTRAS.items()
        },
        "healthy": bool(checks)
        and all(verdict == "passed" for verdict in checks.values()),
    }


def _kernels() -> dict[str, Any]:
    # looked for without importing: a module of a higher level cannot run here
    built = [
        level
        for level in _LEVELS
        if importlib.util.find_spec(f"lyceum._native_{level}")
    ]
    kernels: dict[str, Any] = {
        "built": built,
        "LYCEUM_ISA": os.environ.get("LYCEUM_ISA"),
        "picked": None,
        "self-check": {},
    }
    try:
        from lyceum._core.native import level
        from lyceum._cpu import x86_level
    except ImportError as error:
        return {**kernels, "error": str(error)}
    # a level above that of the processor would stop it with an illegal instruction
    runs = [name for name in built if name == "plain" or int(name[1:]) <= x86_level()]
    return {
        **kernels,
        "picked": level,
        "runs": runs,
        "self-check": {name: _self_check(name) for name in runs},
    }


def _self_check(level: str) -> str:
    """Weighted means and scatter by a kernel of this level, against NumPy."""
    import numpy as np

    kernels = importlib.import_module(f"lyceum._native_{level}")
    # far from 0 and in an odd shape: sums of raw squares would lose their digits here, and the
    # last rows and columns do not fill a register
    X = np.random.default_rng(0).normal(1e6, 1.0, (999, 7))
    w = np.linspace(0.5, 2.0, 999)
    weight = np.zeros((1, 7))
    mean = np.zeros((1, 7))
    scatter = np.zeros((1, 7))
    kernels.class_moments(X, None, w, weight, mean, scatter)
    expected = np.average(X, axis=0, weights=w)
    scatter_there = w @ (X - expected) ** 2
    if np.allclose(mean[0], expected, rtol=1e-14, atol=0) and np.allclose(
        scatter[0], scatter_there, rtol=1e-9, atol=0
    ):
        return "passed"
    return f"failed: mean {mean[0, 0]!r}, NumPy has {expected[0]!r}"


def _threads() -> dict[str, Any]:
    from lyceum._core.threads import n_threads

    return {
        "in use": n_threads(),
        "processors": os.cpu_count(),
        "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS"),
    }


def _blas() -> list[str]:
    import scipy.linalg  # noqa: F401  loads the libraries that are listed next
    from threadpoolctl import threadpool_info

    libraries = [info for info in threadpool_info() if info["user_api"] == "blas"]
    return [
        f"{info['internal_api']} {info['version']}, {info.get('architecture', 'unknown')}, "
        f"{info['num_threads']} threads, {os.path.basename(info['filepath'])}"
        for info in libraries
    ]


def _memory() -> dict[str, float | None]:
    """Gigabytes in all and free; None where the system does not say."""
    sizes: dict[str, float | None] = {"total": None, "free": None}
    if "SC_PHYS_PAGES" in getattr(os, "sysconf_names", {}):
        n_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        sizes["total"] = round(n_bytes / 2**30, 1)
    if os.path.exists("/proc/meminfo"):
        with open("/proc/meminfo") as file:
            lines = dict(line.split(":", 1) for line in file)
        # what can be had without swapping: MemFree leaves out caches that would make room
        kilobytes = int(lines["MemAvailable"].split()[0])
        sizes["free"] = round(kilobytes / 2**20, 1)
    return sizes


def _version_of(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _lines(facts: dict[str, Any]) -> Iterator[tuple[str, str]]:
    threads = facts["threads"]
    memory = facts["memory"]
    yield "lyceum", f"{facts['lyceum']}, Python {facts['python']}, {sys.executable}"
    if facts["namesake"] is not None:
        yield "", f"[red]{escape(facts['namesake'])}[/]"
    kernels = facts["kernels"]
    if kernels["picked"] is None:
        yield "kernels", f"[red]none: {kernels['error']}[/]"
    else:
        built = ", ".join(kernels["built"])
        setting = _setting("LYCEUM_ISA", kernels)
        yield "kernels", f"{kernels['picked']}; built: {built}; {setting}"
    for level, verdict in kernels["self-check"].items():
        color = "green" if verdict == "passed" else "red"
        yield f"  check {level}", f"[{color}]{verdict}[/]"
    if threads:  # the compiled part says how many: none without it
        setting = _setting("OMP_NUM_THREADS", threads)
        in_use = f"{threads['in use']} of {threads['processors']} processors"
        yield "threads", f"{in_use}; {setting}"
    for i, library in enumerate(facts["blas"] or ["none found"]):
        yield "BLAS" if i == 0 else "", library
    sizes = ", ".join(f"{size} GB {name}" for name, size in memory.items() if size)
    yield "memory", sizes or "not known"
    yield from _package_lines(facts)


def _package_lines(facts: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for i, (name, version) in enumerate(facts["packages"].items()):
        state = version or "[red]not installed[/]"
        yield "packages" if i == 0 else "", f"{name:<15}{state}"
    for extra, packages in facts["extras"].items():
        for i, (name, version) in enumerate(packages.items()):
            remedy = f"[dim]not installed: {escape(how_to_install(name))}[/]"
            yield f"extra {extra}" if i == 0 else "", f"{name:<15}{version or remedy}"


def _setting(name: str, values: dict[str, Any]) -> str:
    if values[name] is None:
        return f"{name} is not set"
    return f"{name}={values[name]}"

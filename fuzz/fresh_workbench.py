"""Requests to a workbench by its own page, with parameters that no page sends: an answer or a
sentence each; nothing outside of its folder is read or written."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
from tests.workbench.started import Workbench

import lyceum
from fuzz import Finding
from lyceum import datasets
from lyceum.workbench.app import PAGES
from lyceum.workflows import fit_file

__all__ = ["case", "make"]

SECRET = "kumquat"
NAMES = (
    "file", "target", "rows", "column", "first", "second", "kind", "model",
    "study", "learner", "query", "evidence", "given", "doubt", "loss", "cost",
    "n", "page", "row", "method", "separator", "encoding", "table", "only",
    "header-row", "seed", "x", "y", "k", "points", "set", "name",
    "value", "group", "filter", "sort", "change", "missing", "out", "limit",
    "algorithm", "step", "columns",
)  # fmt: skip
FILES = (
    "t.csv", "weather.csv", "m.lyceum", "link.csv", "../secret.csv", "nothing.csv", "asia.bif",
    "/etc/passwd", "..", ".", "t.csv/", "%2e%2e/secret.csv", "a\0b", "x" * 300, "bench", "~", "",
    "file:///etc/passwd", "sqlite://", "t.csv\n", "CON", "\\\\host\\x",
)  # fmt: skip
VALUES = (
    "play", "x", "y", "outlook", "0", "1", "-1", "1e400", "nan", "²", "1_0", "99999999999999999999",
    "{}", "[", "a=b", "=", "play=yes", "outlook=", "\u202e", "\x1b[31m", "'", '"><script>',
    "x" * 5000, "NaiveBayes", "no", "true", "2-1", "1:2", "%", "a,b", "\ud7ff", "kmeans",
)  # fmt: skip


def make() -> Workbench:
    """A workbench in a folder with a table, a model and a link to a file outside."""
    above = Path(tempfile.mkdtemp())
    (above / "secret.csv").write_text(f"a,{SECRET}\n1,2\n3,4\n")
    folder = above / "bench"
    folder.mkdir()
    (folder / "t.csv").write_text("x,y\n1,a\n2,b\n3,a\n4,b\n")
    shutil.copy(datasets.path("weather"), folder / "weather.csv")
    shutil.copy(datasets.path("asia"), folder / "asia.bif")
    lyceum.save(
        fit_file(datasets.path("weather"), "play", "NaiveBayes"), folder / "m.lyceum"
    )
    (folder / "link.csv").symlink_to(above / "secret.csv")
    bench = Workbench(folder)
    atexit.register(bench.process.kill)
    bench.outside = _outside(above)  # type: ignore[attr-defined]
    return bench


def _outside(above: Path) -> list[str]:
    return sorted(path.name for path in above.iterdir())


def _routes() -> list[str]:
    # studies are long; what starts and stops them is tried by their own tests
    paths = [route.path for page in PAGES for route in page.routes]
    left_out = ("/api/study/start", "/api/study/continue", "/api/networks/learn")
    return sorted(path for path in paths if path not in left_out)


ROUTES = ["/api/files", "/api/start", *_routes()]


def case(bench: Workbench, rng: np.random.Generator) -> str:
    """One request with drawn parameters."""
    path = ROUTES[rng.integers(len(ROUTES))]
    parameters = [("file", str(rng.choice(FILES[:3])))] if rng.random() < 0.7 else []
    for _ in range(rng.integers(0, 4)):
        name = str(rng.choice(NAMES))
        values: Any = FILES if name in ("file", "model", "study", "out") else VALUES
        parameters.append((name, values[rng.integers(len(values))]))
    query = "&".join(f"{name}={quote(value)}" for name, value in parameters)
    method = str(rng.choice(["GET", "GET", "GET", "POST", "PUT"]))
    what = f"{method} {path}?{query[:300]}"
    origin = {"Origin": bench.origin}
    try:
        status, _, answer = bench.ask(method, f"{path}?{query}", b"", **origin)
    except OSError as error:
        raise Finding(
            f"{what}: {error!r}; the process: {bench.process.poll()}"
        ) from error
    if status >= 500:
        raise Finding(f"{what}: {status} {str(answer)[:300]}")
    if SECRET in str(answer) or "root:x:0" in str(answer):
        raise Finding(f"{what}: shows what is outside of its folder")
    if status >= 400 and not (isinstance(answer, dict) and answer.get("error")):
        raise Finding(f"{what}: {status} without a sentence: {str(answer)[:200]}")
    if _outside(bench.folder.parent) != bench.outside:  # type: ignore[attr-defined]
        raise Finding(f"{what}: wrote outside of its folder")
    return str(status)

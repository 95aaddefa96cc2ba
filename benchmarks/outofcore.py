"""One-pass learners on a Parquet file larger than they may hold, against pyarrow merely decoding
it.

50 million rows × 20 float64 columns and a class column y, in row groups of a million. Every run is
a fresh process.
"""

from __future__ import annotations

import json
import resource
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from timing import (
    Outcome,
    ResidentSampler,
    failure_noted,
    isolated,
    peak_bytes,
    reset_peak,
)

TITLE = (
    "Parquet {n:,} × 20 float64 + y, fit from lyceum.scan "
    "(ratio: fastest decode / this; to be over 0.5, in under 1024 MiB)"
)
N_ROWS, N_COLUMNS, N_CLASSES, GROUP = 50_000_000, 20, 5, 1_000_000
NAMES = [f"x{j}" for j in range(N_COLUMNS)]
SCALES = 0.5 + 0.1 * np.arange(N_COLUMNS)
MEANS = 0.5 * np.random.default_rng(11).standard_normal((N_CLASSES, N_COLUMNS))
LEARNERS = {
    "lyceum NaiveBayes": ("lyceum.bayes", "NaiveBayes", {}),
    "lyceum LinearDiscriminantAnalysis": (
        "lyceum.bayes",
        "LinearDiscriminantAnalysis",
        {},
    ),
    "lyceum LinearRegression": ("lyceum.linear", "LinearRegression", {}),
    "lyceum PCA": ("lyceum.decomposition", "PCA", {"n_components": 10}),
}


def rows(scale: float) -> int:
    return max(20_000, round(N_ROWS * scale))


def measure(path: Path, n: int, repeat: int) -> list[Outcome]:
    if not (path.exists() and reference_path(path).exists()):
        isolated(generate, path, n)
    isolated(warm, path)
    outcomes = {name: Outcome(name) for name in [*DECODERS, *LEARNERS]}
    for _ in range(repeat):
        for name, outcome in outcomes.items():
            if outcome.note.startswith(("error", "not installed")):
                continue
            with failure_noted(outcome):
                run = isolated(decode if name in DECODERS else fit, name, path)
                outcome.add(run["seconds"], run["mebibytes"])
                outcome.quality = run["quality"]
    return list(outcomes.values())


# The file
# -------------------------------------------------------------------------------------------------


def generate(path: Path, n: int) -> None:
    """Write the file a row group at a time, and the moments of all its rows beside it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path.parent.mkdir(exist_ok=True)
    schema = pa.schema([(name, pa.float64()) for name in NAMES] + [("y", pa.int64())])
    moments = np.zeros((N_COLUMNS + 2, N_COLUMNS + 2))  # of rows (1, x, y)
    unfinished = path.with_suffix(".part")
    with pq.ParquetWriter(unfinished, schema, use_dictionary=["y"]) as writer:
        for group, start in enumerate(range(0, n, GROUP)):
            rng = np.random.default_rng([12, group])
            y = rng.integers(N_CLASSES, size=min(GROUP, n - start))
            columns = rng.standard_normal((N_COLUMNS, len(y)))
            for j in range(N_COLUMNS):
                columns[j] = (columns[j] + MEANS[y, j]) * SCALES[j]
            full = np.vstack([np.ones(len(y)), columns, y])
            moments += full @ full.T
            writer.write_table(
                pa.table([*columns, y], schema=schema), row_group_size=GROUP
            )
    reference_path(path).write_text(json.dumps(moments.tolist()))
    unfinished.rename(path)


def reference_path(path: Path) -> Path:
    return path.with_suffix(".moments.json")


def warm(path: Path) -> None:
    with open(path, "rb", buffering=0) as file:
        while file.read(1 << 24):
            pass


# One run in a fresh process
# -------------------------------------------------------------------------------


def observed(work) -> tuple[object, dict]:
    """The work's result; its seconds and this process's peak resident memory, by kernel and by
    sampling."""
    reset_peak()
    with ResidentSampler() as sampler:
        start = time.perf_counter()
        result = work()
        seconds = time.perf_counter() - start
    kernel = max(
        peak_bytes(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    )
    return result, {
        "seconds": seconds,
        "mebibytes": kernel / 2**20,
        "quality": {"sampled MiB": sampler.peak / 2**20},
    }


def decode(way: str, path: Path) -> dict:
    import pyarrow.dataset
    import pyarrow.parquet  # noqa: F401

    return observed(lambda: DECODERS[way](path))[1]


def fit(name: str, path: Path) -> dict:
    from importlib import import_module

    import lyceum

    module, cls, settings = LEARNERS[name]
    learner = getattr(import_module(module), cls)(**settings)
    model, run = observed(lambda: learner.fit(lyceum.scan(str(path), target="y")))
    try:
        run["quality"] |= quality(model, path)
    except Exception as error:
        raise RuntimeError(f"fitted, but its quality failed: {error!r}") from error
    return run


def quality(model, path: Path) -> dict[str, float]:
    """Against the moments summed while the file was written, or the true Bayes rule on its first
    rows."""
    moments = np.array(json.loads(reference_path(path).read_text()))
    n, mean = moments[0, 0], moments[0, 1:] / moments[0, 0]
    covariance = moments[1:, 1:] / n - np.outer(mean, mean)
    S, Sxy = covariance[:-1, :-1], covariance[:-1, -1]
    if hasattr(model, "components_"):
        largest = np.linalg.eigvalsh(S)[::-1][: len(model.components_)] * n / (n - 1)
        return {
            "max |Δvariance| relative": np.abs(
                model.explained_variance_ / largest - 1
            ).max()
        }
    if not hasattr(model, "classes_"):
        return {
            "max |Δcoef|": np.abs(np.ravel(model.coef_) - np.linalg.solve(S, Sxy)).max()
        }
    import pyarrow.parquet as pq

    head = next(pq.ParquetFile(path).iter_batches(100_000)).to_pandas()
    X, y = head[NAMES], head["y"].to_numpy()
    scores = (X.to_numpy() / SCALES) @ MEANS.T - (MEANS**2).sum(axis=1) / 2
    return {
        "accuracy": float(np.mean(np.asarray(model.predict(X)) == y)),
        "Bayes rule": float(np.mean(scores.argmax(axis=1) == y)),
    }


# Ways to decode
# -------------------------------------------------------------------------------------------


def row_groups(path, **settings):
    """One row group after another, its columns on both cores."""
    import pyarrow.parquet as pq

    file = pq.ParquetFile(path, **settings)
    for group in range(file.num_row_groups):
        file.read_row_group(group)


def row_groups_by_thread(path, **settings):
    """Each thread with its own file handle, taking every other row group."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    threads = pa.cpu_count()

    def part(first):
        file = pq.ParquetFile(path, **settings)
        for group in range(first, file.num_row_groups, threads):
            file.read_row_group(group, use_threads=False)

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(part, range(threads)))


def batches(path):
    import pyarrow.parquet as pq

    for _ in pq.ParquetFile(path).iter_batches(batch_size=131_072):
        pass


def dataset(path):
    import pyarrow.dataset as ds

    for _ in ds.dataset(path).to_batches(batch_readahead=4, fragment_readahead=1):
        pass


DECODERS = {
    "pyarrow row groups": row_groups,
    "pyarrow row groups, mapped": lambda path: row_groups(path, memory_map=True),
    "pyarrow row groups by thread": row_groups_by_thread,
    "pyarrow row groups by thread, mapped": lambda path: row_groups_by_thread(
        path, memory_map=True
    ),
    "pyarrow iter_batches": batches,
    "pyarrow dataset": dataset,
}

"""A mixed table with missing cells, and the same rows in other forms."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from lyceum._core.data import ArraySource
from lyceum.data import Rows


def mixed(n=400, seed=0, gaps=0.15, offset=1e6):
    """Two related numbers (one far from 0), two columns of words, one of true and false; a
    target."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=n)
    frame = pd.DataFrame(
        {
            "age": 40 + 10 * z + rng.normal(size=n),
            "income": offset + 100 * z + 30 * rng.normal(size=n),
            "city": rng.choice(["Bonn", "Köln", "Ulm"], p=[0.5, 0.3, 0.2], size=n),
            "sex": np.where(z + rng.normal(size=n) > 0, "male", "female"),
            "smokes": (z + 2 * rng.normal(size=n) > 0).astype(object),
        }
    )
    holes = rng.random(frame.shape) < gaps
    frame = frame.astype(object).mask(holes, None).infer_objects()
    frame["age"], frame["income"] = (
        frame["age"].astype(float),
        frame["income"].astype(float),
    )
    frame["ill"] = np.where(z + rng.normal(size=n) > 0, "yes", "no")
    return frame


def numbers(n=300, seed=1, gaps=0.1, offset=1e6):
    """Related numbers with missing cells; the first column is far from 0."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)) @ rng.normal(size=(4, 4)) + [offset, 0, -5, 3]
    X[rng.random(X.shape) < gaps] = np.nan
    return X


@dataclass(frozen=True)
class Chunked:
    """The rows of an array in parts of random sizes, some of them empty."""

    whole: ArraySource
    seed: int = 0

    @property
    def schema(self):
        return self.whole.schema

    @property
    def n_rows(self):
        return self.whole.n_rows

    def parts(self):
        cuts = np.sort(np.random.default_rng(self.seed).integers(0, self.n_rows + 1, 7))
        for start, stop in zip([0, *cuts], [*cuts, self.n_rows]):
            yield _Part(self.whole, int(start), int(stop))


@dataclass(frozen=True)
class _Part:
    whole: ArraySource
    start: int
    stop: int

    def blocks(self):
        whole = next(iter(self.whole.parts())).blocks()
        block = next(iter(whole))
        keep = np.zeros(len(block), dtype=bool)
        keep[self.start : self.stop] = True
        yield block.take(keep)


def rechunked(rows, seed=0):
    """The same rows (one block's worth of them) in parts of random sizes."""
    return Rows(Chunked(rows.source, seed), rows.steps)

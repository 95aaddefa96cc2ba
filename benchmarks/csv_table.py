"""From a CSV file with gaps and text columns to a logistic model and its AUC on the same rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from workloads import DATA, Workload, size, workload

NUMBERS = [f"x{j}" for j in range(6)]
LEVELS = {"c0": 4, "c1": 10, "c2": 25, "c3": 50}
TEXTS = list(LEVELS)


def write_csv(path: Path, n: int) -> None:
    import pyarrow as pa
    from pyarrow import csv

    rng = np.random.default_rng(10)
    columns, score = {}, np.zeros(n)
    for name in NUMBERS:
        values = np.round(rng.normal(rng.uniform(-5, 50), rng.uniform(1, 20), n), 3)
        score += rng.normal() * 0.6 * (values - values.mean()) / values.std()
        columns[name] = pa.array(values, mask=rng.random(n) < 0.05)
    for name, levels in LEVELS.items():
        codes = rng.integers(levels, size=n)
        score += 0.6 * rng.standard_normal(levels)[codes]
        columns[name] = pa.array(
            [f"{name}_{level:02d}" for level in range(levels)]
        ).take(pa.array(codes))
    columns["y"] = (rng.random(n) < 1 / (1 + np.exp(-score))).astype(np.int64)
    path.parent.mkdir(exist_ok=True)
    unfinished = path.with_suffix(".part")
    csv.write_csv(pa.table(columns), unfinished)
    unfinished.rename(path)


def sklearn_job(read):
    """A thunk: read a frame, fit scikit-learn's pipeline on it, give the AUC on the same rows."""
    from sklearn.compose import make_column_transformer
    from sklearn.impute import SimpleImputer as TheirSimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score as their_roc_auc_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    def run():
        frame = read()
        X, y = frame[NUMBERS + TEXTS], frame["y"].to_numpy()
        numbers = make_pipeline(TheirSimpleImputer(), StandardScaler())
        encode = make_column_transformer((numbers, NUMBERS), (OneHotEncoder(), TEXTS))
        model = make_pipeline(encode, LogisticRegression()).fit(X, y)
        return their_roc_auc_score(y, model.predict_proba(X)[:, 1])

    return run


def pandas_contender(path, **settings):
    def prepare():
        import pandas

        return sklearn_job(lambda: pandas.read_csv(path, **settings))

    return prepare


def polars_contender(path, codes):
    """With codes, text becomes integers in Polars before scikit-learn sees it."""

    def prepare():
        import polars

        def read():
            frame = polars.read_csv(path)
            if codes:
                frame = frame.with_columns(
                    polars.col(TEXTS).cast(polars.Categorical).to_physical()
                )
            return frame

        return sklearn_job(read)

    return prepare


def lyceum_contender(path):
    def prepare():
        from pyarrow import csv
        from sklearn.metrics import roc_auc_score as their_roc_auc_score
        from sklearn.pipeline import make_pipeline

        import lyceum
        from lyceum.linear import LogisticRegression
        from lyceum.prepare import SimpleImputer

        def run():
            rows = lyceum.scan(str(path), target="y")
            model = make_pipeline(SimpleImputer(), LogisticRegression()).fit(rows)
            options = csv.ConvertOptions(include_columns=["y"])
            y = csv.read_csv(path, convert_options=options)["y"].to_numpy()
            return their_roc_auc_score(y, np.asarray(model.predict_proba(rows))[:, 1])

        return run

    return prepare


@workload
def csv_logistic(scale):
    path = DATA / f"table-{size(1_000_000, scale)}.csv"
    if not path.exists():
        write_csv(path, size(1_000_000, scale))
    return Workload(
        "Table",
        "CSV 1M rows (6 numeric with gaps, 4 text columns) → impute, scale, one-hot → logistic,"
        " train AUC",
        {
            "lyceum": lyceum_contender(path),
            "polars codes + sklearn": polars_contender(path, codes=True),
            "polars + sklearn": polars_contender(path, codes=False),
            "pandas + sklearn": pandas_contender(path),
            "pandas(pyarrow) + sklearn": pandas_contender(path, engine="pyarrow"),
        },
        lambda auc: {"AUC": auc},
        ("AUC", +1, 1e-3),
    )

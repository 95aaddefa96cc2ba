"""A run-time install without Arrow: how large it is, and whether models answer there as they do
here.

`make small-test` makes an empty environment with PACKAGES and Lyceum alone (docs/deploying.md),
asserts that it is small, and compares predictions and explanations of model files with those of
this environment. Lyceum is the wheel in dist/ that fits this Python; without one, the package of
the checkout is copied.

The two halves can be run alone: `make FOLDER` writes models with their rows and answers, and
`check FOLDER` compares, with `--absent` as if the packages named by ABSENT were not installed.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import venv
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
# bytes of all packages together, as they are installed without bytecode
LARGEST = 250_000_000
# scikit-learn brings joblib
PACKAGES = ("numpy", "scipy", "scikit-learn", "threadpoolctl")
ABSENT = (
    "pyarrow",
    "pandas",
    "polars",
    "duckdb",
    "matplotlib",
    "jinja2",
    "typer",
    "rich",
    "tomli_w",
    "skops",
)
METHODS = (
    "predict",
    "predict_proba",
    "decision_function",
    "transform",
    "score_samples",
)


# -- models with their answers
# -------------------------------------------------------------------------------


def make(folder: Path) -> None:
    """Write models that were fitted to mixed tables and to numbers, rows, and what they answer."""
    import numpy as np
    from sklearn.pipeline import make_pipeline

    import lyceum
    from lyceum import (
        bayes,
        cluster,
        datasets,
        ensemble,
        linear,
        neighbors,
        prepare,
        trees,
    )
    from lyceum._core.data import read_table

    table = read_table(datasets.path("penguins"))
    cells = table.drop_columns(["species", "year"])
    numbers = table.select(["bill_length_mm", "bill_depth_mm", "flipper_length_mm"])
    numbers = np.column_stack([column.to_numpy() for column in numbers.columns])
    complete = ~np.isnan(numbers).any(axis=1)
    species = np.array(table["species"].to_pylist())
    mass = table["body_mass_g"].to_numpy()[complete]
    models = {
        "naive_bayes": bayes.NaiveBayes().fit(cells, species),
        "tree": trees.DecisionTreeClassifier(max_depth=4).fit(cells, species),
        "forest": (
            ensemble.RandomForestClassifier(n_estimators=5, random_state=0).fit(
                cells, species
            )
        ),
        "pipeline": (
            make_pipeline(
                prepare.SimpleImputer(),
                prepare.StandardScaler(),
                linear.LogisticRegression(),
            ).fit(cells, species)
        ),
        "ridge": linear.Ridge().fit(numbers[complete], mass),
        "neighbors": neighbors.KNeighborsClassifier().fit(
            numbers[complete], species[complete]
        ),
        "kmeans": cluster.KMeans(3, random_state=0).fit(numbers[complete]),
    }
    mixed = [list(row.values()) for row in cells.slice(0, 200).to_pylist()]
    mixed[1][0] = "Atlantis"  # an island that was not there
    rows = {"mixed": mixed, "numbers": numbers[complete][::7].tolist()}
    answers = {}
    for name, model in models.items():
        lyceum.save(model, folder / f"{name}.lyceum")
        given = (
            "mixed"
            if name in ("naive_bayes", "tree", "forest", "pipeline")
            else "numbers"
        )
        answers[name] = {"rows": given, "answers": answers_of(model, rows[given])}
    (folder / "answers.json").write_text(json.dumps({"rows": rows, "models": answers}))


def answers_of(model: Any, rows: list[list[Any]]) -> dict[str, Any]:
    """What a model says of rows; those that came from a table have lost the names of its
    columns."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        found = {
            name: getattr(model, name)(rows).tolist()
            for name in METHODS
            if hasattr(model, name)
        }
        if hasattr(model, "explain"):
            explanation = model.explain(rows)
            found["contributions"] = explanation.contributions.tolist()
            found["cells"] = explanation.values.tolist()
    return found


def check(folder: Path) -> None:
    """Load the models; compare what they say of all rows, and of a single one, with what is
    written."""
    import numpy as np

    import lyceum

    expected = json.loads((folder / "answers.json").read_text())
    for name, of in expected["models"].items():
        model = lyceum.load(folder / f"{name}.lyceum")
        rows = expected["rows"][of["rows"]]
        given = {
            "a list": rows,
            "an array": np.array(rows, dtype=object),
            "one record": rows[:1],
        }
        for what, X in given.items():
            answers = answers_of(model, X)
            assert answers.keys() == of["answers"].keys()
            for method, values in answers.items():
                compare(
                    values,
                    of["answers"][method][: len(X)],
                    f"{method} of {name} for {what}",
                )
    print(
        f"{len(expected['models'])} models answer as they did, from {lyceum.__file__}"
    )


def compare(values: list[Any], expected: list[Any], what: str) -> None:
    import numpy as np

    ours, theirs = np.array(values), np.array(expected)
    if theirs.dtype.kind == "f":
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12, err_msg=what)
    else:
        assert values == expected, what


class Absent:
    """A finder that knows of no package in ABSENT."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if name.partition(".")[0] in ABSENT:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


# -- the environment
# -----------------------------------------------------------------------------------------


def try_small(folder: Path) -> None:
    """Make the environment, measure it, and check the models there."""
    environment = folder / "environment"
    venv.create(environment)
    python = environment / "bin" / "python"
    (packages,) = environment.glob("lib/python*/site-packages")
    pip = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        str(python),
        "install",
        "--quiet",
        "--no-compile",
    ]
    subprocess.run(
        [*pip, *(f"{name}=={version(name)}" for name in PACKAGES)], check=True
    )
    if list((ROOT / "dist").glob("*.whl")):
        found = ["--no-index", "--find-links", str(ROOT / "dist")]
        subprocess.run([*pip, "--no-deps", *found, "lyceum-ml"], check=True)
    else:
        print("no wheel in dist/: the package of this checkout is copied")
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / "src" / "lyceum", packages / "lyceum", ignore=ignored)
    make(folder)
    subprocess.run(
        [python, "-IB", __file__, "check", str(folder)], check=True, cwd=folder
    )
    report_size(packages)


def report_size(packages: Path) -> None:
    sizes: dict[str, int] = {}
    for file in packages.rglob("*"):
        if file.is_file():
            name = file.relative_to(packages).parts[0].partition(".")[0]
            sizes[name] = sizes.get(name, 0) + file.stat().st_size
    for name, size in sorted(sizes.items(), key=lambda item: -item[1]):
        if size > 1e6:
            print(f"{size / 1e6:8.1f} MB  {name}")
    total = sum(sizes.values())
    print(f"{total / 1e6:8.1f} MB  in all")
    if total >= LARGEST:
        raise SystemExit(
            f"the run-time install has {total} bytes, {LARGEST} are allowed"
        )


if __name__ == "__main__":
    arguments = [argument for argument in sys.argv[1:] if argument != "--absent"]
    if "--absent" in sys.argv:
        sys.meta_path.insert(0, Absent())  # type: ignore[arg-type]
    if arguments:
        {"make": make, "check": check}[arguments[0]](Path(arguments[1]))
    else:
        with tempfile.TemporaryDirectory(prefix="lyceum-small-") as temporary:
            try_small(Path(temporary).resolve())

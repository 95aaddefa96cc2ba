"""A model as a folder of mlflow: its `MLmodel` names this module as the loader of
`mlflow.pyfunc.load_model`.

mlflow is needed where the folder is read, not where it is written.
"""

from __future__ import annotations

import json
import os
import platform
from pathlib import Path
from typing import Any

import numpy as np

import lyceum
from lyceum._core.data import Column, Schema
from lyceum._core.types import Estimator
from lyceum.errors import ExportError

_MODEL = "model.lyceum"


class PythonFunction:
    """What `mlflow.pyfunc.load_model` asks: frames in, frames out."""

    def __init__(self, model: Estimator):
        self.model = model

    def predict(self, model_input: Any, params: Any = None) -> Any:
        """The columns "predicted" and, of a classifier, "probability of ..." for every class."""
        answers = {"predicted": np.asarray(self.model.predict(model_input))}
        if hasattr(self.model, "predict_proba"):
            proba = np.asarray(self.model.predict_proba(model_input))
            for label, shares in zip(self.model.classes_, proba.T):
                answers[f"probability of {label}"] = shares
        # mlflow gives frames of pandas
        return type(model_input)(answers, index=model_input.index)


def _load_pyfunc(path: str) -> PythonFunction:
    """mlflow's name for the loader of a flavor; `path` is the model file."""
    return PythonFunction(lyceum.load(path))


def write_mlflow(model: Estimator, path: str | os.PathLike[str]) -> list[Path]:
    """Write a model as a folder that `mlflow.pyfunc.load_model` reads.

    Parameters
    ----------
    model : learner, pipeline or MinimumRiskClassifier
        Fitted on a table or a scan.
    path : path
        A new folder: MLmodel with the columns, the model file, and what has to be installed.

    Returns
    -------
    list of Path
        What was written.

    See Also
    --------
    export_model : Programs that need no package.

    Examples
    --------
    >>> import tempfile
    >>> from lyceum import datasets
    >>> from lyceum.bayes import NaiveBayes
    >>> from lyceum.export import write_mlflow
    >>> model = NaiveBayes().fit(datasets.load("weather"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     paths = write_mlflow(model, f"{folder}/play.mlflow")
    >>> [path.name for path in paths]
    ['MLmodel', 'model.lyceum', 'python_env.yaml', 'requirements.txt']
    """
    folder = Path(path)
    if folder.exists():
        raise FileExistsError(f"{folder} exists: choose another name")
    schema = _schema_of(model)
    folder.mkdir(parents=True)
    lyceum.save(model, folder / _MODEL)
    requirements = f"lyceum-ml=={lyceum.__version__}\n"
    (folder / "requirements.txt").write_text(requirements)
    environment = {
        "python": platform.python_version(),
        "build_dependencies": ["pip"],
        "dependencies": ["-r requirements.txt"],
    }
    # JSON is YAML
    (folder / "python_env.yaml").write_text(json.dumps(environment, indent=1))
    (folder / "MLmodel").write_text(json.dumps(_description(model, schema), indent=1))
    return sorted(folder.iterdir())


def _schema_of(model: Estimator) -> Schema:
    from lyceum.workflows import FittedModel

    fitted = FittedModel(model)
    if fitted.gives != "predictions":
        raise ExportError(
            f"{fitted.name} predicts nothing, so that mlflow cannot ask it"
        )
    return fitted.schema


def _description(model: Estimator, schema: Schema) -> dict[str, Any]:
    outputs: list[dict[str, Any]] = [{"name": "predicted", "type": "double"}]
    if hasattr(model, "classes_"):
        outputs = [{"name": "predicted", "type": _label_type(model.classes_)}]
        if hasattr(model, "predict_proba"):
            outputs += [
                {"name": f"probability of {label}", "type": "double"}
                for label in model.classes_
            ]
    python = platform.python_version()
    return {
        "flavors": {
            "lyceum": {"lyceum_version": lyceum.__version__, "data": _MODEL},
            "python_function": {
                "loader_module": "lyceum.export.mlflow_flavor",
                "data": _MODEL,
                "python_version": python,
                "env": {"virtualenv": "python_env.yaml"},
            },
        },
        "signature": {
            "inputs": json.dumps([_column_type(column) for column in schema]),
            "outputs": json.dumps(outputs),
            "params": None,
        },
    }


def _column_type(column: Column) -> dict[str, Any]:
    """A cell may be missing in every column: it is the model that refuses it."""
    kind = "double" if column.numeric else "string"
    if column.is_time:
        kind = "datetime"
    return {"name": column.name, "type": kind, "required": False}


def _label_type(labels: np.ndarray) -> str:
    kinds = {"i": "long", "f": "double", "b": "boolean"}
    return kinds.get(labels.dtype.kind, "string")

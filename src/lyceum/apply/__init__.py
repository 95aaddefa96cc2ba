"""Models at work on files: fitted from one, and predicting, measured, explained and compared on others.

Files are read and written a batch at a time. The commands of the same names render what is returned here.
What a function needs is imported when it is first used: a prediction waits for no picture.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lyceum._first_use import import_on_first_use

if TYPE_CHECKING:
    from lyceum.apply._batches import spool
    from lyceum.apply._compare import ModelComparison, PairedTest, compare_models
    from lyceum.apply._evaluate import Evaluation, MetricValue, evaluate_model
    from lyceum.apply._explain import RowExplanation, explain_rows, show_cell
    from lyceum.apply._fit import build_preparations, fit_file, preparations, takes_sparse_text
    from lyceum.apply._fitted_model import FittedModel
    from lyceum.apply._label import Labelled, label_file
    from lyceum.apply._loss import complete_loss, read_loss
    from lyceum.apply._predict import Predicted, predict_file
    from lyceum.apply._reduce import Reduction, reduce_table
    from lyceum.apply._segment import Segmentation, VisualWords, segment_image, visual_words
    from lyceum.apply._uninformative import uninformative_columns

__all__ = [
    "Evaluation",
    "FittedModel",
    "Labelled",
    "MetricValue",
    "ModelComparison",
    "PairedTest",
    "Predicted",
    "Reduction",
    "RowExplanation",
    "Segmentation",
    "VisualWords",
    "build_preparations",
    "compare_models",
    "complete_loss",
    "evaluate_model",
    "explain_rows",
    "fit_file",
    "label_file",
    "predict_file",
    "preparations",
    "read_loss",
    "reduce_table",
    "segment_image",
    "show_cell",
    "spool",
    "takes_sparse_text",
    "uninformative_columns",
    "visual_words",
]

_MODULES = {
    "_batches": ("spool",),
    "_compare": ("ModelComparison", "PairedTest", "compare_models"),
    "_evaluate": ("Evaluation", "MetricValue", "evaluate_model"),
    "_explain": ("RowExplanation", "explain_rows", "show_cell"),
    "_fit": ("build_preparations", "fit_file", "preparations", "takes_sparse_text"),
    "_fitted_model": ("FittedModel",),
    "_label": ("Labelled", "label_file"),
    "_loss": ("complete_loss", "read_loss"),
    "_predict": ("Predicted", "predict_file"),
    "_reduce": ("Reduction", "reduce_table"),
    "_segment": ("Segmentation", "VisualWords", "segment_image", "visual_words"),
    "_uninformative": ("uninformative_columns",),
}

__getattr__, __dir__ = import_on_first_use(__name__, _MODULES, __all__)

"""What every learner shares, from any source of rows to scikit-learn's contract.

A one-pass method is a subclass of `OnePassLearner` with two methods: `_statistic()`, which says how
a block is summarized, and `_finish(statistic)`, which turns the merged summary into parameters. A
method of several passes writes `fit` over `self._rows(...)` and `rows.reduce(...)`. Either way it
runs in memory, from files and on Dask.
"""

from lyceum._core.base.density import Density
from lyceum._core.base.explanations import explain_frame, sum_by_source
from lyceum._core.base.learner import CATEGORICAL_FEATURES, Coding, Learner, Reading
from lyceum._core.base.mistake_bound import (
    mistake_bound,
    separability_facts,
    set_separability,
)
from lyceum._core.base.model_parts import complexity, is_pipeline, pipeline_steps
from lyceum._core.base.n_jobs_verbose import guard_public_methods
from lyceum._core.base.new_columns import (
    NewColumns,
    library_of,
    output_library,
    schema_with_names,
)
from lyceum._core.base.one_pass import OnePassClassifier, OnePassLearner, finite_sums
from lyceum._core.base.one_record import (
    Decision,
    RecordModel,
    decide,
    is_record,
    member_answer,
    once_per_record,
    plausible_cells,
)
from lyceum._core.base.operations import (
    affine_operation,
    decides_apart,
    model_operations,
)
from lyceum._core.base.posterior_classifier import (
    Outputs,
    OutputsClassifier,
    PosteriorClassifier,
    check_one_output,
    normalize_posteriors,
    rows_apart,
    rows_of_outputs,
    several_outputs,
)
from lyceum._core.base.replacement import (
    background_rows,
    parts_by_replacement,
    replace_columns,
    typical_row,
)
from lyceum._core.base.row_names import without_row_names
from lyceum._core.base.same_columns import check_same_columns
from lyceum._core.base.score import (
    Classifier,
    Regressor,
    score_operations,
    target_of,
    targets_to_score,
    validation_parts,
)
from lyceum._core.base.state import SparseCoefficients, unchanged_on_failure
from lyceum._core.base.takes import (
    check_takes_weights,
    step_names,
    takes_missing,
    takes_rows,
    takes_text,
    takes_weights,
    without_names,
)
from lyceum.errors import undefined

__all__ = [
    "CATEGORICAL_FEATURES",
    "Classifier",
    "Coding",
    "Decision",
    "Density",
    "Learner",
    "NewColumns",
    "OnePassClassifier",
    "OnePassLearner",
    "Outputs",
    "OutputsClassifier",
    "PosteriorClassifier",
    "Reading",
    "RecordModel",
    "Regressor",
    "SparseCoefficients",
    "affine_operation",
    "background_rows",
    "check_one_output",
    "check_same_columns",
    "check_takes_weights",
    "complexity",
    "decide",
    "decides_apart",
    "explain_frame",
    "finite_sums",
    "guard_public_methods",
    "is_pipeline",
    "is_record",
    "library_of",
    "member_answer",
    "mistake_bound",
    "model_operations",
    "normalize_posteriors",
    "once_per_record",
    "output_library",
    "parts_by_replacement",
    "pipeline_steps",
    "plausible_cells",
    "replace_columns",
    "rows_apart",
    "rows_of_outputs",
    "schema_with_names",
    "score_operations",
    "separability_facts",
    "set_separability",
    "several_outputs",
    "step_names",
    "sum_by_source",
    "takes_missing",
    "takes_rows",
    "takes_text",
    "takes_weights",
    "target_of",
    "targets_to_score",
    "typical_row",
    "unchanged_on_failure",
    "undefined",
    "validation_parts",
    "without_names",
    "without_row_names",
]

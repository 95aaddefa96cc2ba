from lyceum._core.base.density import Density as Density
from lyceum._core.base.explanations import (
    explain_frame as explain_frame,
    sum_by_source as sum_by_source,
)
from lyceum._core.base.learner import (
    CATEGORICAL_FEATURES as CATEGORICAL_FEATURES,
    Coding as Coding,
    Learner as Learner,
    Reading as Reading,
)
from lyceum._core.base.mistake_bound import (
    novikoff_bound as novikoff_bound,
    separability_facts as separability_facts,
    set_separability as set_separability,
)
from lyceum._core.base.model_parts import (
    complexity as complexity,
    is_pipeline as is_pipeline,
    pipeline_steps as pipeline_steps,
)
from lyceum._core.base.n_jobs_verbose import (
    guard_public_methods as guard_public_methods,
)
from lyceum._core.base.new_columns import (
    NewColumns as NewColumns,
    library_of as library_of,
    output_library as output_library,
    schema_with_names as schema_with_names,
)
from lyceum._core.base.one_pass import (
    OnePassClassifier as OnePassClassifier,
    OnePassLearner as OnePassLearner,
    finite_sums as finite_sums,
)
from lyceum._core.base.one_record import (
    Decision as Decision,
    RecordModel as RecordModel,
    decide as decide,
    is_record as is_record,
    member_answer as member_answer,
    once_per_record as once_per_record,
    plausible_cells as plausible_cells,
)
from lyceum._core.base.operations import (
    affine_operation as affine_operation,
    decides_apart as decides_apart,
    model_operations as model_operations,
)
from lyceum._core.base.posterior_classifier import (
    Outputs as Outputs,
    OutputsClassifier as OutputsClassifier,
    PosteriorClassifier as PosteriorClassifier,
    check_one_output as check_one_output,
    normalize_posteriors as normalize_posteriors,
    rows_apart as rows_apart,
    rows_of_outputs as rows_of_outputs,
    several_outputs as several_outputs,
)
from lyceum._core.base.replacement import (
    background_rows as background_rows,
    parts_by_replacement as parts_by_replacement,
    replace_columns as replace_columns,
    typical_row as typical_row,
)
from lyceum._core.base.row_names import without_row_names as without_row_names
from lyceum._core.base.same_columns import check_same_columns as check_same_columns
from lyceum._core.base.score import (
    Classifier as Classifier,
    Regressor as Regressor,
    score_operations as score_operations,
    target_of as target_of,
    targets_to_score as targets_to_score,
    validation_parts as validation_parts,
)
from lyceum._core.base.state import (
    SparseCoefficients as SparseCoefficients,
    unchanged_on_failure as unchanged_on_failure,
)
from lyceum._core.base.takes import (
    check_takes_weights as check_takes_weights,
    step_names as step_names,
    takes_missing as takes_missing,
    takes_rows as takes_rows,
    takes_text as takes_text,
    takes_weights as takes_weights,
    without_names as without_names,
)
from lyceum.errors import undefined as undefined

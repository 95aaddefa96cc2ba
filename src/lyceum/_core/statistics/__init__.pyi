from lyceum._core.statistics.counts.counts import Counts as Counts
from lyceum._core.statistics.counts.histogram import (
    Histogram as Histogram,
    JointHistogram as JointHistogram,
)
from lyceum._core.statistics.counts.joint_counts import JointCounts as JointCounts
from lyceum._core.statistics.counts.table_independence import (
    IndependenceTest as IndependenceTest,
    entropy as entropy,
    independence_test as independence_test,
    p_log2_p as p_log2_p,
)
from lyceum._core.statistics.folds.cv_folds import (
    Folds as Folds,
    SplitStatistics as SplitStatistics,
    folds_of as folds_of,
    given_folds as given_folds,
    given_splits as given_splits,
    row_splits as row_splits,
)
from lyceum._core.statistics.folds.hashed_folds import (
    FoldStatistics as FoldStatistics,
    fold_numbers as fold_numbers,
    held_out_rows as held_out_rows,
    row_uniforms as row_uniforms,
)
from lyceum._core.statistics.losses import (
    LogisticLoss as LogisticLoss,
    SoftmaxCurvature as SoftmaxCurvature,
    SoftmaxLoss as SoftmaxLoss,
    log_losses as log_losses,
)
from lyceum._core.statistics.moments.class_moments import (
    ClassMoments as ClassMoments,
    ClassScatter as ClassScatter,
)
from lyceum._core.statistics.moments.class_sums import (
    ClassSums as ClassSums,
    indicators as indicators,
)
from lyceum._core.statistics.moments.classes import (
    align_labels as align_labels,
    class_weights as class_weights,
    classes_of as classes_of,
    place_classes as place_classes,
)
from lyceum._core.statistics.moments.moments import (
    Moments as Moments,
    Scatter as Scatter,
)
from lyceum._core.statistics.moments.row_scatter import (
    ClassRowScatter as ClassRowScatter,
    RowScatter as RowScatter,
    RowSpace as RowSpace,
    is_wide as is_wide,
)
from lyceum._core.statistics.positive_factor import (
    UNEXPLAINED as UNEXPLAINED,
    PositiveFactor as PositiveFactor,
)
from lyceum._core.statistics.quantiles import (
    Quantiles as Quantiles,
    midpoints as midpoints,
    quantile_cuts as quantile_cuts,
)
from lyceum._core.statistics.sample import RowSample as RowSample
from lyceum._core.statistics.sample_statistics import (
    SampleStatistics as SampleStatistics,
    describe as describe,
    weighted_mean as weighted_mean,
    weighted_median as weighted_median,
    weighted_quantile as weighted_quantile,
)
from lyceum._core.statistics.seed import (
    drawn_seed as drawn_seed,
    seed_from as seed_from,
)
from lyceum._core.statistics.sparse import SparseCells as SparseCells

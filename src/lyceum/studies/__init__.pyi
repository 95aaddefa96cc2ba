from lyceum.studies.compare.comparison import (
    Comparison as Comparison,
    HoldoutResult as HoldoutResult,
    RankedLearner as RankedLearner,
)
from lyceum.studies.compare.out_of_sample import OutOfSample as OutOfSample
from lyceum.studies.compare.studies import compare_studies as compare_studies
from lyceum.studies.main import study as study
from lyceum.studies.mistakes.group_losses import GroupLoss as GroupLoss
from lyceum.studies.mistakes.study_errors import (
    ErrorRow as ErrorRow,
    StudyErrors as StudyErrors,
    explain_error as explain_error,
    study_errors as study_errors,
)
from lyceum.studies.plan.candidate import (
    Candidate as Candidate,
    ColumnWarning as ColumnWarning,
    Failure as Failure,
)
from lyceum.studies.plan.recipe import LearnerChoice as LearnerChoice, Recipe as Recipe
from lyceum.studies.report.card import write_card as write_card
from lyceum.studies.report.example import Example as Example
from lyceum.studies.report.model_effects import (
    ColumnEffect as ColumnEffect,
    ColumnImportance as ColumnImportance,
    ModelEffects as ModelEffects,
    PairEffect as PairEffect,
)
from lyceum.studies.report.page import write_report as write_report
from lyceum.studies.result import Study as Study
from lyceum.studies.run.baseline import (
    MeanRegressor as MeanRegressor,
    PriorClassifier as PriorClassifier,
)
from lyceum.studies.run.so_far import (
    LearnerSoFar as LearnerSoFar,
    RankingSoFar as RankingSoFar,
    add_learners as add_learners,
    follow_study as follow_study,
    ranking_so_far as ranking_so_far,
)
from lyceum.studies.run.target_statistics import TargetStatistics as TargetStatistics
from lyceum.studies.table_clusters import (
    TableClusters as TableClusters,
    cluster_table as cluster_table,
)

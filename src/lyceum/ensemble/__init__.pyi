from lyceum.ensemble.bagging.classifier import BaggingClassifier as BaggingClassifier
from lyceum.ensemble.bagging.extra_trees import (
    ExtraTreesClassifier as ExtraTreesClassifier,
    ExtraTreesRegressor as ExtraTreesRegressor,
)
from lyceum.ensemble.bagging.random_forest import (
    RandomForestClassifier as RandomForestClassifier,
    RandomForestRegressor as RandomForestRegressor,
)
from lyceum.ensemble.bagging.regressor import BaggingRegressor as BaggingRegressor
from lyceum.ensemble.boosting.adaboost import AdaBoostClassifier as AdaBoostClassifier
from lyceum.ensemble.boosting.adaboost_regressor import (
    AdaBoostRegressor as AdaBoostRegressor,
)
from lyceum.ensemble.boosting.generic_boosting import (
    GenericBoostingClassifier as GenericBoostingClassifier,
    GenericBoostingRegressor as GenericBoostingRegressor,
)
from lyceum.ensemble.boosting.gradient_boosting import (
    GradientBoostingClassifier as GradientBoostingClassifier,
    GradientBoostingRegressor as GradientBoostingRegressor,
)
from lyceum.ensemble.boosting.hist_gradient_boosting import (
    HistGradientBoostingClassifier as HistGradientBoostingClassifier,
    HistGradientBoostingRegressor as HistGradientBoostingRegressor,
)
from lyceum.ensemble.committees.auxiliary_targets import (
    AuxiliaryTargets as AuxiliaryTargets,
)
from lyceum.ensemble.committees.cascade import (
    CascadeClassifier as CascadeClassifier,
    StageReport as StageReport,
)
from lyceum.ensemble.committees.cluster_classifier import (
    ClusterClassifier as ClusterClassifier,
)
from lyceum.ensemble.committees.diversity import (
    Diversity as Diversity,
    diversity as diversity,
)
from lyceum.ensemble.committees.explanation import (
    MemberExplanation as MemberExplanation,
)
from lyceum.ensemble.committees.fusion import (
    fuse as fuse,
    simplex_weights as simplex_weights,
)
from lyceum.ensemble.committees.pruning import (
    Pruning as Pruning,
    prune_ensemble as prune_ensemble,
)
from lyceum.ensemble.committees.stacking import (
    StackingClassifier as StackingClassifier,
    StackingRegressor as StackingRegressor,
)
from lyceum.ensemble.committees.voting import (
    VotingClassifier as VotingClassifier,
    VotingRegressor as VotingRegressor,
)
from lyceum.ensemble.experts.mixture_of_experts import (
    HierarchicalMixtureOfExperts as HierarchicalMixtureOfExperts,
    MixtureOfExperts as MixtureOfExperts,
)
from lyceum.ensemble.multiclass.multi_output import (
    MultiOutputClassifier as MultiOutputClassifier,
)
from lyceum.ensemble.multiclass.one_vs_one import (
    OneVsOneClassifier as OneVsOneClassifier,
    couple_posteriors as couple_posteriors,
)
from lyceum.ensemble.multiclass.one_vs_rest import (
    OneVsRestClassifier as OneVsRestClassifier,
)
from lyceum.ensemble.multiclass.output_code import (
    OutputCodeClassifier as OutputCodeClassifier,
)

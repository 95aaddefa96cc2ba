from lyceum.semi_supervised.active import (
    STRATEGIES as STRATEGIES,
    ActiveLearning as ActiveLearning,
    active_learning as active_learning,
    query_scores as query_scores,
)
from lyceum.semi_supervised.label_propagation import (
    LabelPropagation as LabelPropagation,
    LabelSpreading as LabelSpreading,
)
from lyceum.semi_supervised.self_training import (
    SelfTrainingClassifier as SelfTrainingClassifier,
)
from lyceum.semi_supervised.semi_supervised_em import (
    SemiSupervisedEM as SemiSupervisedEM,
)

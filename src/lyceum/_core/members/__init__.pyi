from lyceum._core.members.data import (
    MemberData as MemberData,
    one_hot as one_hot,
    refuse_codes as refuse_codes,
)
from lyceum._core.members.either_task import (
    EitherTask as EitherTask,
    has_classes as has_classes,
)
from lyceum._core.members.ensemble import (
    MEMBER_CONSTRAINTS as MEMBER_CONSTRAINTS,
    Ensemble as Ensemble,
    EstimatorInputs as EstimatorInputs,
    MemberImportances as MemberImportances,
    explains_rows as explains_rows,
)
from lyceum._core.members.operations import (
    class_operations as class_operations,
    member_operations as member_operations,
    weighted_sum_operations as weighted_sum_operations,
)
from lyceum._core.members.seeds import (
    member_seeds as member_seeds,
    set_seeds as set_seeds,
)

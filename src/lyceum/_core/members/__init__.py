"""Members of an ensemble: the rows that they take, their copies, seeds, answers and state."""

from lyceum._core.members.data import MemberData, one_hot, refuse_codes
from lyceum._core.members.either_task import EitherTask, has_classes
from lyceum._core.members.ensemble import (
    MEMBER_CONSTRAINTS,
    Ensemble,
    EstimatorInputs,
    MemberImportances,
    explains_rows,
)
from lyceum._core.members.operations import (
    class_operations,
    member_operations,
    weighted_sum_operations,
)
from lyceum._core.members.seeds import member_seeds, set_seeds

__all__ = [
    "MEMBER_CONSTRAINTS",
    "EitherTask",
    "Ensemble",
    "EstimatorInputs",
    "MemberData",
    "MemberImportances",
    "class_operations",
    "explains_rows",
    "has_classes",
    "member_operations",
    "member_seeds",
    "one_hot",
    "refuse_codes",
    "set_seeds",
    "weighted_sum_operations",
]

from lyceum.transfer.prior_transfer import PriorTransfer as PriorTransfer
from lyceum.transfer.shift import (
    PriorShift as PriorShift,
    importance_weights as importance_weights,
    shifted_priors as shifted_priors,
)
from lyceum.transfer.tradaboost import TrAdaBoost as TrAdaBoost

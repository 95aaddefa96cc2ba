from lyceum.transfer.model_as_prior import ModelAsPrior as ModelAsPrior
from lyceum.transfer.shift import (
    PriorShift as PriorShift,
    importance_weights as importance_weights,
    shifted_priors as shifted_priors,
)
from lyceum.transfer.transfer_boost import TransferBoost as TransferBoost

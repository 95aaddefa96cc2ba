"""A feed-forward network for regression."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if

from lyceum._core.base import Regressor
from lyceum._core.data import Block
from lyceum._core.types import Data, Operation, Target, Weights
from lyceum.errors import DataError
from lyceum.neural.feed_forward import FeedForward, takes_more_rows
from lyceum.neural.row_windows import FirstLook, RowPacker, spread


class MLPRegressor(Regressor, FeedForward):
    """A multilayer feed-forward network, trained by backpropagation to give the mean of the target.

    Hidden nodes are those of `MLPClassifier`; one output node takes a weighted sum and hands it on.
    With f(x) its value, training goes down on

        1/Σw · Σ_i w_i (y_i − f(x_i))² / 2 + α/2B Σ w_ji²,

    the biases and radii free, B the number of rows of a step, and y standardized with the inputs:
    losses are in units of the target's variance. How rows are shuffled is described at
    `MLPClassifier`.

    Parameters
    ----------
    activation : {"relu", "tanh", "sigmoid", "linear", "sign"} or a sequence, default="relu"
        "sigmoid", also "logistic", is 1 / (1 + exp(−λ z)), "linear" also "identity"; "sign" is
        trained by the straight-through estimator.
    dropout : float, default=0.0
        The share of hidden nodes switched off, drawn for every row and step.
    standardize : bool, default=True
        Whether design columns and target are brought to mean 0 and standard deviation 1, by the
        training rows. With `partial_fit` by those of its first call.
    warm_start : bool, default=False
        Whether `fit` starts from the weights and the standardization of the last `fit`.

    Attributes
    ----------
    coefs_, intercepts_ : lists of ndarrays of shape (n_in, n_out) and (n_out,)
        Weights (centers, for spheres) and biases of every layer, for standardized inputs and
        target.
    radii_ : list of ndarray or None
        The radii ρ of spherical layers, None for the others.
    parameters_ : ndarray of shape (n_parameters,)
        All of them in one vector: layer by layer the weights, input by input, the biases, 1 / ρ of
        spheres.
    center_, scale_ : ndarrays of shape (n_design_columns,)
        What is subtracted from the inputs, and what they are then divided by.
    target_mean_, target_scale_ : float
        The same for the target.
    widths_ : ndarray of shape (n_layers + 1,)
        Inputs, nodes of the hidden layers, the output node.
    activations_, integrations_ : lists of str
        Of the hidden layers.
    slope_ : float
        λ of the sigmoids.
    memory_ : ndarray of shape (n_memories, n_parameters)
        What the solver remembers, for `partial_fit`.
    seed_ : int
        The seed that was used.
    history_ : list of float
        The mean training loss of every epoch, penalty included.
    validation_history_, validation_scores_ : lists of float
        With `early_stopping`: loss and R² on the validation rows.
    best_epoch_ : int
        With `early_stopping`: the epoch of the lowest validation loss, whose weights were restored.
    loss_ : float
        The last of `history_`.
    n_iter_, n_steps_ : int
        Number of epochs and of steps.
    stopped_ : str
        Why training ended: "max_iter", "the loss no longer fell", "the validation loss no longer
        fell" or "partial_fit".
    record_ : list of dict
        With `record=True`: step (the epoch), objective (the loss), learning_rate, validation_loss,
        validation_score, parameters. With "steps" also steps: the parameters after every step of
        the epoch, (n_steps, n_parameters), in the order of `parameters_`.

    See Also
    --------
    MLPClassifier : The same network for classification.
    lyceum.linear.LinearRegression : A network without hidden layers, trained to its optimum.

    References
    ----------
    Rumelhart, Hinton and Williams (1986), Learning representations by back-propagating errors.

    Examples
    --------
    >>> from lyceum.neural import MLPRegressor
    >>> import numpy as np
    >>> x = np.linspace(-3, 3, 200)
    >>> settings = {"learning_rate_init": 0.01, "batch_size": 20, "random_state": 0}
    >>> model = MLPRegressor(activation="tanh", **settings)
    >>> model = model.fit(x[:, None], 1000 + np.sin(x))
    >>> bool(model.score(x[:, None], 1000 + np.sin(x)) > 0.95)
    True
    """

    @available_if(takes_more_rows)
    def partial_fit(self, X: Data, y: Target = None, sample_weight: Weights = None):
        """One epoch over more rows."""
        return self._fit_one_more_epoch(X, y, sample_weight)

    def predict(self, X: Data) -> Any:
        """The predicted numbers."""
        return self._apply(partial(_predict, self), X)

    # -- what the output means ---------------------------------------------------------

    def _n_outputs(self) -> int:
        return 1

    def _loss(self) -> str:
        return "squares"

    def _set_target_scale(self, look: FirstLook) -> None:
        self.target_mean_ = 0.0
        self.target_scale_ = 1.0
        if self.standardize:
            mean, scale = spread(look.target)
            self.target_mean_ = float(mean[0])
            self.target_scale_ = float(scale[0])

    def _packer(self, **options: Any) -> RowPacker:
        target = (self.target_mean_, self.target_scale_)
        return super()._packer(target=target, **options)

    def _targets(self, y: Target) -> np.ndarray:
        numbers = np.asarray(y, dtype=np.float64).reshape(-1)
        if not np.isfinite(numbers).all():
            raise DataError(
                "a target of the validation rows is missing or infinite: drop such rows first"
            )
        return numbers

    def _validate(
        self,
        outputs: np.ndarray,
        y: np.ndarray,
        w: np.ndarray,
    ) -> tuple[float, float]:
        squares = np.average((outputs[:, 0] - y) ** 2, weights=w)
        mean = np.average(y, weights=w)
        variance = np.average((y - mean) ** 2, weights=w)
        r2 = 1.0 - squares / variance if variance > 0 else np.nan
        return float(squares / 2), float(r2)

    # -- explain -----------------------------------------------------------------------

    def _unit(self) -> str:
        return self.schema_.target_name

    def _unit_size(self) -> float:
        return self.target_scale_

    def _unit_shift(self) -> float:
        return self.target_mean_

    def _direction(self, outputs: np.ndarray) -> np.ndarray:
        return np.ones_like(outputs)

    def _operations(self) -> list[Operation]:
        back = {"coef": [[self.target_scale_]], "intercept": [self.target_mean_]}
        return [*self._network_operations(), ("linear", back)]

    def _decide(self, outputs: np.ndarray) -> np.ndarray:
        return outputs[:, 0] * self.target_scale_ + self.target_mean_


def _predict(learner: MLPRegressor, block: Block) -> np.ndarray:
    return learner._decide(learner._outputs(block))

"""A feed-forward network that predicts numbers."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from lyceum.data import Block
from lyceum.neural._network import FeedForward
from lyceum.neural._packing import FirstLook, Packing, spread

__all__ = ["MLPRegressor"]


class MLPRegressor(RegressorMixin, FeedForward):
    """A multilayer feed-forward network, trained by backpropagation to give the mean of the target.

    Hidden nodes are those of `MLPClassifier`; one output node takes a weighted sum and hands it on. With f(x)
    its value, training goes down on

        1/Σw · Σ_i w_i (y_i − f(x_i))² / 2 + α/2 Σ w_ji²,

    the biases and radii free, y standardised with the inputs: losses are in units of the target's variance.
    scikit-learn divides its α by the rows of a batch: its α is this one times the batch size. How rows are
    shuffled is said at `MLPClassifier`.

    Parameters
    ----------
    hidden_layer_sizes : int or sequence of int, default=(100,)
    activation : {"relu", "tanh", "sigmoid", "linear", "sign"} or a sequence, default="relu"
        "sigmoid" is 1 / (1 + exp(−λ z)); "sign" is trained by the straight-through estimator.
    slope : float, default=1.0
        λ of the sigmoid.
    integration : {"weighted", "quadratic", "spherical"} or a sequence, default="weighted"
    solver : {"adam", "sgd", "momentum", "nesterov"}, default="adam"
    learning_rate : {"constant", "invscaling", "cosine", "adaptive"}, default="constant"
    learning_rate_init : float, default=0.001
    power_t : float, default=0.5
    momentum : float, default=0.9
    beta_1, beta_2, epsilon : float
        Of the solver "adam".
    batch_size : int or "all", default=128
    shuffle : bool, default=True
    shuffle_window : int, default=131072
        Rows that are mixed with one another when they stream.
    max_iter : int, default=200
        Epochs at most.
    tol : float or None, default=1e-4
        The loss has settled when it has not fallen by more than this for `n_iter_no_change` epochs. None: all
        `max_iter` epochs are made.
    n_iter_no_change : int, default=10
    alpha : float, default=1e-6
        The penalty α on the squared weights.
    dropout, input_noise : float, default=0.0
        Share of hidden nodes left out; standard deviation of noise on the (standardised) inputs.
    early_stopping : bool, default=False
        Whether to hold out rows, to stop when their loss has settled, and to go back to the weights that had
        the least.
    validation_fraction : float, default=0.1
        The share of rows held out, chosen by a hash of the row number.
    standardize : bool, default=True
        Whether design columns and target are brought to mean 0 and standard deviation 1, by the training
        rows. With `partial_fit` by those of its first call.
    dtype : {"float64", "float32"}, default="float64"
        What is computed with; float32 takes about half the time.
    warm_start : bool, default=False
        Whether `fit` begins at the weights, and standardises as, the last `fit` left them.
    record : bool, default=False
        Whether to keep the parameters of every epoch in `record_`.
    random_state : int, RandomState or None, default=None
    categorical_features : "from_dtype", True, mask, indices, names or None, default="from_dtype"
        Which columns of an array hold categories; each becomes a column a category.

    Attributes
    ----------
    coefs_, intercepts_ : lists of ndarrays of shape (n_in, n_out) and (n_out,)
        For standardised inputs and target.
    radii_ : list of ndarray or None
    parameters_ : ndarray of shape (n_parameters,)
    shift_, scale_ : ndarrays of shape (n_design_columns,)
    target_shift_, target_scale_ : float
    history_ : list of float
        The loss of every epoch, as met on the way, with the penalty.
    validation_history_, validation_scores_ : lists of float
        With `early_stopping`: loss and R² on the rows held out.
    best_epoch_ : int
    loss_ : float
    n_iter_, n_steps_ : int
        Epochs and steps made.
    stopped_ : str
        Why training ended.
    record_ : list of dict

    Examples
    --------
    >>> from lyceum.neural import MLPRegressor
    >>> import numpy as np
    >>> x = np.linspace(-3, 3, 200)
    >>> model = MLPRegressor(activation="tanh", learning_rate_init=0.01, batch_size=20, random_state=0)
    >>> model = model.fit(x[:, None], 1000 + np.sin(x))
    >>> bool(model.score(x[:, None], 1000 + np.sin(x)) > 0.95)
    True
    """

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None):
        """One epoch over more rows."""
        return self._go_on(X, y, sample_weight)

    def predict(self, X: Any) -> Any:
        """The predicted numbers."""
        return self._apply(partial(_predicted, self), X)

    # -- what the output means -----------------------------------------------------------------------------

    def _n_outputs(self) -> int:
        return 1

    def _loss(self) -> str:
        return "squares"

    def _begin(self, look: FirstLook) -> None:
        mean, size = spread(look.target) if self.standardize else (np.zeros(1), np.ones(1))
        self.target_shift_, self.target_scale_ = float(mean[0]), float(size[0])

    def _packing(self, **options: Any) -> Packing:
        return super()._packing(target=(self.target_shift_, self.target_scale_), **options)

    def _judge(self, outputs: np.ndarray, y: np.ndarray, w: np.ndarray) -> tuple[float, float]:
        squares = np.average((outputs[:, 0] - y) ** 2, weights=w)
        spread_of_y = np.average((y - np.average(y, weights=w)) ** 2, weights=w)
        return float(squares / 2), float(1.0 - squares / spread_of_y) if spread_of_y > 0 else float("nan")

    # -- explain -------------------------------------------------------------------------------------------

    def _unit(self) -> str:
        return self.schema_.target_name

    def _unit_size(self) -> float:
        return self.target_scale_

    def _unit_shift(self) -> float:
        return self.target_shift_

    def _direction(self, outputs: np.ndarray) -> np.ndarray:
        return np.ones_like(outputs)


def _predicted(learner: MLPRegressor, block: Block) -> np.ndarray:
    return learner._outputs(block)[:, 0] * learner.target_scale_ + learner.target_shift_

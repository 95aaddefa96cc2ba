"""A feed-forward network for regression."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from lyceum._core.base import Regressor
from lyceum._core.data import Block
from lyceum.errors import DataError
from lyceum.neural.feed_forward import FeedForward
from lyceum.neural.row_windows import FirstLook, RowPacker, spread


class MLPRegressor(Regressor, FeedForward):
    """A multilayer feed-forward network, trained by backpropagation to give the mean of the target.

    Hidden nodes are those of `MLPClassifier`; one output node takes a weighted sum and hands it on.
    With f(x) its value, training goes down on

        1/Σw · Σ_i w_i (y_i − f(x_i))² / 2 + α/2 Σ w_ji²,

    the biases and radii free, y standardized with the inputs: losses are in units of the target's
    variance. scikit-learn divides its α by the rows of a batch: its α is this one times the batch
    size. How rows are shuffled is described at `MLPClassifier`.

    Parameters
    ----------
    hidden_layer_sizes : int or sequence of int, default=(100,)
        Nodes of every hidden layer; () for none.
    activation : {"relu", "tanh", "sigmoid", "linear", "sign"} or a sequence, default="relu"
        "sigmoid" is 1 / (1 + exp(−λ z)); "sign" is trained by the straight-through estimator.
    slope : float, default=1.0
        λ of the sigmoid.
    integration : {"weighted", "quadratic", "spherical"} or a sequence, default="weighted"
        The integration function of the hidden layers.
    solver : {"adam", "sgd", "momentum", "nesterov"}, default="adam"
        The rule of the gradient steps: plain gradient descent, with momentum, with Nesterov's
        momentum, or Adam.
    learning_rate : {"constant", "invscaling", "cosine", "adaptive"}, default="constant"
        The rate in epoch e: η; η / e^power_t; η (1 + cos(π (e−1) / max_iter)) / 2; or η, divided by
        5 whenever the loss no longer falls, down to 1e-6.
    learning_rate_init : float, default=0.001
        η.
    power_t : float, default=0.5
        The exponent of "invscaling".
    momentum : float, default=0.9
        Of the solvers "momentum" and "nesterov".
    beta_1 : float, default=0.9
        Decay of the mean gradient of the solver "adam".
    beta_2 : float, default=0.999
        Decay of the mean squared gradient of the solver "adam".
    epsilon : float, default=1e-8
        Added to the root of the mean squared gradient of the solver "adam".
    batch_size : int or "all", default=128
        Rows per step: 1 is one at a time, "all" is batch gradient descent.
    shuffle : bool, default=True
        Whether the rows are shuffled in every epoch.
    shuffle_window : int, default=131072
        Rows shuffled together when they are streamed; as many are in memory at a time.
    max_iter : int, default=200
        Epochs at most; a `ConvergenceWarning` says when the loss still fell, unless `tol` is None
        or the rate is "cosine", which ends there.
    tol : float or None, default=1e-4
        Training stops when the training loss, with `early_stopping` the validation loss, has not
        fallen by more than this for more than `n_iter_no_change` epochs. None: all `max_iter`
        epochs are run.
    n_iter_no_change : int, default=10
        The most epochs in a row in which the loss need not fall.
    weights_init : (coefs, intercepts) or None, default=None
        The weights to start from, lists with one array per layer as in `coefs_` and `intercepts_`;
        of networks with spheres also radii as in `radii_`. None draws them. For a step as on paper,
        also give standardize=False, solver="sgd", alpha=0, shuffle=False and record="steps".
    alpha : float, default=1e-6
        The penalty α on the squared weights.
    dropout : float, default=0.0
        The share of hidden nodes switched off, drawn for every row and step.
    input_noise : float, default=0.0
        Standard deviation of Gaussian noise on the (standardized) inputs, drawn for every row and
        step.
    early_stopping : bool, default=False
        Whether to hold out validation rows, or take those of fit(..., validation=(X, y)), stop when
        their loss no longer falls, and restore the weights of the lowest validation loss.
    validation_fraction : float, default=0.1
        The share of validation rows, chosen by a hash of the row number; at most `shuffle_window`
        of them are used.
    standardize : bool, default=True
        Whether design columns and target are brought to mean 0 and standard deviation 1, by the
        training rows. With `partial_fit` by those of its first call.
    dtype : {"float64", "float32"}, default="float64"
        What is computed with; float32 takes about half the time.
    warm_start : bool, default=False
        Whether `fit` starts from the weights and the standardization of the last `fit`.
    record : bool or "steps", default=False
        Whether to keep the parameters of every epoch, or of every step, in `record_`.
    random_state : int, RandomState or None, default=None
        The seed of the first weights, of shuffling, dropout, noise and validation rows; None draws
        one.
    verbose : int, default=0
        Whether to print the progress of `fit`: 1 in tenths, 2 every step.
    categorical_features : "from_dtype", True, mask, indices, names or None, default="from_dtype"
        Which columns of an array hold categories; each becomes one column per category.

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

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None):
        """One epoch over more rows."""
        return self._fit_one_more_epoch(X, y, sample_weight)

    def predict(self, X: Any) -> Any:
        """The predicted numbers."""
        return self._apply(partial(_predict, self), X)

    # -- what the output means ---------------------------------------------------------

    def _n_outputs(self) -> int:
        return 1

    def _loss(self) -> str:
        return "squares"

    def _set_target_scale(self, look: FirstLook) -> None:
        if self.standardize:
            mean, size = spread(look.target)
        else:
            mean = np.zeros(1)
            size = np.ones(1)
        self.target_mean_ = float(mean[0])
        self.target_scale_ = float(size[0])

    def _packer(self, **options: Any) -> RowPacker:
        return super()._packer(target=(self.target_mean_, self.target_scale_), **options)

    def _targets(self, y: Any) -> np.ndarray:
        numbers = np.asarray(y, dtype=np.float64).reshape(-1)
        if not np.isfinite(numbers).all():
            raise DataError(
                "a target of the validation rows is missing or infinite: drop such rows first"
            )
        return numbers

    def _validate(self, outputs: np.ndarray, y: np.ndarray, w: np.ndarray) -> tuple[float, float]:
        squares = np.average((outputs[:, 0] - y) ** 2, weights=w)
        spread_of_y = np.average((y - np.average(y, weights=w)) ** 2, weights=w)
        return float(squares / 2), (
            float(1.0 - squares / spread_of_y) if spread_of_y > 0 else float("nan")
        )

    # -- explain -----------------------------------------------------------------------

    def _unit(self) -> str:
        return self.schema_.target_name

    def _unit_size(self) -> float:
        return self.target_scale_

    def _unit_shift(self) -> float:
        return self.target_mean_

    def _direction(self, outputs: np.ndarray) -> np.ndarray:
        return np.ones_like(outputs)

    def _decide(self, outputs: np.ndarray) -> np.ndarray:
        return outputs[:, 0] * self.target_scale_ + self.target_mean_


def _predict(learner: MLPRegressor, block: Block) -> np.ndarray:
    return learner._decide(learner._outputs(block))

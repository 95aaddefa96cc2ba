"""A feed-forward network for regression."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np
from scipy.special import xlogy
from sklearn.utils.metaestimators import available_if

from lyceum._core.base import Regressor, several_outputs
from lyceum._core.constraints import StrOptions
from lyceum._core.data import Block
from lyceum._core.types import Categories, Data, Operation, Target, Weights
from lyceum.errors import DataError, cannot_export
from lyceum.neural.feed_forward import FeedForward, takes_more_rows
from lyceum.neural.row_windows import FirstLook, RowPacker, spread


class MLPRegressor(Regressor, FeedForward):
    """A multilayer feed-forward network, trained by backpropagation to give the mean of the target,
    or of several.

    Hidden nodes are those of `MLPClassifier`; an output node per target takes a weighted sum and
    hands it on. With f(x) its value, training goes down on

        1/Σw · Σ_i w_i (y_i − f(x_i))² / 2 + α/2B Σ w_ji²,

    of several targets on the sum of their losses, the biases and radii free, B the number of rows
    of a step, and y standardized with the inputs: losses are in units of the target's variance.
    How rows are shuffled is described at `MLPClassifier`.

    Parameters
    ----------
    loss : {"squared_error", "poisson"}, default="squared_error"
        The squares as above; or, for counts and other targets from 0 on, half of the Poisson
        deviance, y log(y / m) − y + m with the mean m = exp(f(x)) and y as it is.
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
    target_mean_, target_scale_ : float or ndarray of shape (n_targets,)
        The same for the target; 0 and 1 with loss="poisson".
    widths_ : ndarray of shape (n_layers + 1,)
        Inputs, nodes of the hidden layers, output nodes.
    activations_, integrations_ : lists of str
        Of the hidden layers.
    slope_ : float
        λ of the sigmoids.
    memory_ : ndarray of shape (n_memories, n_parameters)
        What the solver remembers, for `partial_fit`.
    loss_name_ : str
        "squares" or "poisson".
    seed_ : int
        The seed that was used.
    history_ : list of float
        The mean training loss of every epoch, penalty included.
    validation_history_, validation_scores_ : lists of float
        With `early_stopping`: loss and R² on the validation rows, the mean over the targets.
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

    target_mean_: Any
    target_scale_: Any

    _parameter_constraints: ClassVar[dict] = {
        **FeedForward._parameter_constraints,
        "loss": [StrOptions({"squared_error", "poisson"})],
    }

    def __init__(
        self,
        loss: str = "squared_error",
        hidden_layer_sizes: int | Sequence[int] = (100,),
        activation: str | Sequence[str] = "relu",
        *,
        slope: float = 1.0,
        integration: str | Sequence[str] = "weighted",
        solver: str = "adam",
        learning_rate: str = "constant",
        learning_rate_init: float = 1e-3,
        power_t: float = 0.5,
        momentum: float = 0.9,
        nesterovs_momentum: bool = True,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-8,
        batch_size: int | str = 128,
        shuffle: bool = True,
        shuffle_window: int = 131_072,
        max_iter: int = 200,
        tol: float | None = 1e-4,
        n_iter_no_change: float = 10,
        max_fun: int = 15_000,
        weights_init: Any = None,
        alpha: float = 1e-4,
        dropout: float = 0.0,
        input_noise: float = 0.0,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        standardize: bool = True,
        dtype: str = "float64",
        warm_start: bool = False,
        record: bool | str = False,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        categorical_features: Categories = "from_dtype",
    ):
        super().__init__(
            hidden_layer_sizes=hidden_layer_sizes,
            activation=activation,
            slope=slope,
            integration=integration,
            solver=solver,
            learning_rate=learning_rate,
            learning_rate_init=learning_rate_init,
            power_t=power_t,
            momentum=momentum,
            nesterovs_momentum=nesterovs_momentum,
            beta_1=beta_1,
            beta_2=beta_2,
            epsilon=epsilon,
            batch_size=batch_size,
            shuffle=shuffle,
            shuffle_window=shuffle_window,
            max_iter=max_iter,
            tol=tol,
            n_iter_no_change=n_iter_no_change,
            max_fun=max_fun,
            weights_init=weights_init,
            alpha=alpha,
            dropout=dropout,
            input_noise=input_noise,
            early_stopping=early_stopping,
            validation_fraction=validation_fraction,
            standardize=standardize,
            dtype=dtype,
            warm_start=warm_start,
            record=record,
            random_state=random_state,
            verbose=verbose,
            categorical_features=categorical_features,
        )
        self.loss = loss

    @available_if(takes_more_rows)
    def partial_fit(self, X: Data, y: Target = None, sample_weight: Weights = None):
        """One epoch over more rows."""
        return self._fit_one_more_epoch(X, y, sample_weight)

    def predict(self, X: Data) -> Any:
        """The predicted numbers."""
        return self._apply(partial(_predict, self), X)

    # -- what the output means ---------------------------------------------------------

    def _several_targets(self, y: Target) -> np.ndarray | None:
        outputs = several_outputs(self, y)
        return None if outputs is None else outputs.values

    def _n_outputs(self) -> int:
        return self.n_targets_

    def _loss(self) -> str:
        return self.loss_name_

    def _set_target_scale(self, look: FirstLook) -> None:
        self.loss_name_ = "squares"
        mean, scale = spread(look.target)
        if self.loss == "poisson":
            self.loss_name_ = "poisson"
            if look.least_target < 0:
                raise DataError(
                    "loss='poisson' is for targets from 0 on, but the least of y is"
                    f" {look.least_target:g}: take loss='squared_error'"
                )
        if self.loss == "poisson" or not self.standardize:
            mean = np.zeros(self.n_targets_)
            scale = np.ones(self.n_targets_)
        self.target_mean_ = mean
        self.target_scale_ = scale
        if self.n_targets_ == 1:
            self.target_mean_ = float(mean[0])
            self.target_scale_ = float(scale[0])

    def _start(self, look: FirstLook, seed: int) -> None:
        super()._start(look, seed)
        # the biases of the output nodes are the last parameters: counts begin at their mean
        mean = look.target.mean
        if self.loss == "poisson" and self.weights_init is None and (mean > 0).all():
            self.parameters_[-self.n_targets_ :] = np.log(mean)

    def _packer(self, **options: Any) -> RowPacker:
        target = (self.target_mean_, self.target_scale_)
        return super()._packer(target=target, **options)

    def _targets(self, y: Target) -> np.ndarray:
        numbers = np.asarray(y, dtype=np.float64).reshape(-1, self.n_targets_)
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
        means = outputs
        losses = (outputs - y) ** 2 / 2
        if self.loss_name_ == "poisson":
            means = np.exp(outputs)
            losses = means - y * outputs + xlogy(y, y) - y
        squares = np.average((means - y) ** 2, weights=w, axis=0)
        center = np.average(y, weights=w, axis=0)
        variance = np.average((y - center) ** 2, weights=w, axis=0)
        r2 = np.full(len(variance), np.nan)
        np.divide(variance - squares, variance, out=r2, where=variance > 0)
        loss = np.average(losses.sum(axis=1), weights=w)
        return float(loss), float(r2.mean())

    # -- explain -----------------------------------------------------------------------

    def _unit(self) -> str:
        if self.loss_name_ == "poisson":
            return f"log mean of {self.schema_.target_name}"
        return self.schema_.target_name

    def _unit_size(self) -> float:
        return self.target_scale_

    def _unit_shift(self) -> float:
        return self.target_mean_

    def _direction(self, outputs: np.ndarray) -> np.ndarray:
        return np.ones_like(outputs)

    def _operations(self) -> list[Operation]:
        if self.n_targets_ > 1:
            raise cannot_export(self, "it has several targets")
        if self.loss_name_ == "poisson":
            exponential: Operation = ("activate", {"function": "exp"})
            return [*self._network_operations(), exponential]
        back = {"coef": [[self.target_scale_]], "intercept": [self.target_mean_]}
        return [*self._network_operations(), ("linear", back)]

    def _decide(self, outputs: np.ndarray) -> np.ndarray:
        if self.loss_name_ == "poisson":
            numbers = np.exp(outputs)
        else:
            numbers = outputs * self.target_scale_ + self.target_mean_
        return numbers if self.n_targets_ > 1 else numbers[:, 0]

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        shapes = super()._shapes()
        if self.n_targets_ > 1:
            of_targets = ("target_mean_", "target_scale_")
            shapes |= dict.fromkeys(of_targets, (self.n_targets_,))
        return shapes

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


def _predict(learner: MLPRegressor, block: Block) -> np.ndarray:
    return learner._decide(learner._outputs(block))

"""The parameters that networks for classes and for numbers share."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from lyceum._core.base import CATEGORICAL_FEATURES
from lyceum._core.constraints import Interval, Options, StrOptions
from lyceum._core.types import Categories
from lyceum.neural.architecture import (
    ACTIVATIONS,
    INTEGRATIONS,
    THEIR_ACTIVATIONS,
)
from lyceum.neural.network_report import NetworkReport
from lyceum.neural.training import SCHEDULES, SOLVERS


class NetworkSettings(NetworkReport):
    """Layers, steps and stopping as they are set."""

    _parameter_docs: ClassVar[str] = """
    hidden_layer_sizes : int or sequence of int
        Nodes of every hidden layer; () for none.
    slope : float
        λ of the sigmoid.
    integration : {"weighted", "quadratic", "spherical"} or a sequence
        The integration function of the hidden layers.
    solver : {"adam", "sgd", "lbfgs"}
        The rule of the gradient steps: Adam, or gradient descent with `momentum`. "lbfgs" takes
        all rows in every step, for small tables; rates, batches and early stopping are not for it,
        an epoch is an iteration, and `tol` is the largest slope at which it ends.
    max_fun : int
        The most passes over the rows of the solver "lbfgs".
    learning_rate : {"constant", "invscaling", "cosine", "adaptive"}
        The rate in epoch e: η; η / e^power_t; η (1 + cos(π (e−1) / max_iter)) / 2; or η, divided by
        5 whenever the loss no longer falls, down to 1e-6.
    learning_rate_init : float
        η.
    power_t : float
        The exponent of "invscaling".
    momentum : float
        Of the solver "sgd"; 0 is plain gradient descent.
    nesterovs_momentum : bool
        Whether the momentum is Nesterov's, whose gradient looks one step ahead.
    beta_1 : float
        Decay of the mean gradient of the solver "adam".
    beta_2 : float
        Decay of the mean squared gradient of the solver "adam".
    epsilon : float
        Added to the root of the mean squared gradient of the solver "adam".
    batch_size : int, "all" or "auto"
        Rows per step: 1 is one at a time, "all" is batch gradient descent, "auto" is 200.
    shuffle : bool
        Whether the rows are shuffled in every epoch.
    shuffle_window : int
        Rows shuffled together when they are streamed; as many are in memory at a time.
    max_iter : int
        Epochs at most; a `ConvergenceWarning` says when the loss still fell, unless `tol` is None
        or the rate is "cosine", which ends there.
    tol : float or None
        Training stops when the training loss, with `early_stopping` the validation loss, has not
        fallen by more than this for more than `n_iter_no_change` epochs. None: all `max_iter`
        epochs are run.
    n_iter_no_change : int
        The most epochs in a row in which the loss need not fall.
    weights_init : (coefs, intercepts) or None
        The weights to start from, lists with one array per layer as in `coefs_` and `intercepts_`;
        of networks with spheres also radii as in `radii_`. None draws them. For a step as on paper,
        also give standardize=False, solver="sgd", momentum=0, alpha=0, shuffle=False and
        record="steps".
    alpha : float
        The penalty α on the squared weights; it is divided by the rows of a step.
    input_noise : float
        Standard deviation of Gaussian noise on the (standardized) inputs, drawn for every row and
        step.
    early_stopping : bool
        Whether to hold out validation rows, or take those of fit(..., validation=(X, y)), stop when
        their loss no longer falls, and restore the weights of the lowest validation loss.
    validation_fraction : float
        The share of validation rows, chosen by a hash of the row number; at most `shuffle_window`
        of them are used.
    dtype : {"float64", "float32"}
        What is computed with; float32 takes about half the time.
    record : bool or "steps"
        Whether to keep the parameters of every epoch, or of every step, in `record_`.
    """

    _parameter_constraints: ClassVar[dict] = {
        "hidden_layer_sizes": [
            "array-like",
            Interval(Integral, 1, None, closed="left"),
        ],
        "activation": [
            StrOptions({*ACTIVATIONS, *THEIR_ACTIVATIONS}),
            list,
            tuple,
        ],
        "slope": [Interval(Real, 0, None, closed="neither")],
        "integration": [StrOptions(set(INTEGRATIONS)), list, tuple],
        "solver": [StrOptions(set(SOLVERS))],
        "max_fun": [Interval(Integral, 1, None, closed="left")],
        "learning_rate": [StrOptions(set(SCHEDULES))],
        "learning_rate_init": [Interval(Real, 0, None, closed="neither")],
        "power_t": [Interval(Real, 0, None, closed="left")],
        "momentum": [Interval(Real, 0, 1, closed="both")],
        "nesterovs_momentum": ["boolean"],
        "beta_1": [Interval(Real, 0, 1, closed="left")],
        "beta_2": [Interval(Real, 0, 1, closed="left")],
        "epsilon": [Interval(Real, 0, None, closed="neither")],
        "batch_size": [
            Interval(Integral, 1, None, closed="left"),
            StrOptions({"all", "auto"}),
        ],
        "shuffle": ["boolean"],
        "shuffle_window": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [None, Interval(Real, 0, None, closed="left")],
        "n_iter_no_change": [
            Interval(Integral, 1, None, closed="left"),
            Options(Real, {np.inf}),
        ],
        "weights_init": [None, list, tuple],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "dropout": [Interval(Real, 0, 1, closed="left")],
        "input_noise": [Interval(Real, 0, None, closed="left")],
        "early_stopping": ["boolean"],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "standardize": ["boolean"],
        "dtype": [StrOptions({"float32", "float64"})],
        "warm_start": ["boolean"],
        "record": ["boolean", StrOptions({"steps"})],
        "random_state": ["random_state"],
        "categorical_features": CATEGORICAL_FEATURES,
    }

    def __init__(
        self,
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
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
        self.slope = slope
        self.integration = integration
        self.solver = solver
        self.learning_rate = learning_rate
        self.learning_rate_init = learning_rate_init
        self.power_t = power_t
        self.momentum = momentum
        self.nesterovs_momentum = nesterovs_momentum
        self.beta_1 = beta_1
        self.beta_2 = beta_2
        self.epsilon = epsilon
        self.batch_size = batch_size
        self.shuffle = shuffle
        self.shuffle_window = shuffle_window
        self.max_iter = max_iter
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.max_fun = max_fun
        self.weights_init = weights_init
        self.alpha = alpha
        self.dropout = dropout
        self.input_noise = input_noise
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.standardize = standardize
        self.dtype = dtype
        self.warm_start = warm_start
        self.record = record
        self.random_state = random_state
        self.verbose = verbose
        self.categorical_features = categorical_features

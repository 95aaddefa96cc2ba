"""A feed-forward network for classification."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.special import expit, log_expit, logsumexp
from sklearn.utils.metaestimators import available_if

from lyceum._core.base import PosteriorClassifier, several_outputs
from lyceum._core.constraints import StrOptions
from lyceum._core.data import Block, labels
from lyceum._core.probability import class_codes, class_weight_factors, runner_up
from lyceum._core.types import Categories, ClassWeight, Data, Operation, Target, Weights
from lyceum.errors import DataError, SettingError, cannot_export
from lyceum.neural.feed_forward import FeedForward, takes_more_rows
from lyceum.neural.row_windows import FirstLook, RowPacker


class MLPClassifier(PosteriorClassifier, FeedForward):
    """A multilayer feed-forward network, trained by backpropagation to give the posteriors of the
    classes.

    Layer after layer, a node i turns its inputs x into the net input

        weighted    z_i = Σ_j w_ji x_j + b_i
        quadratic   z_i = Σ_j w_ji x_j² + b_i
        spherical   z_i = ‖x − w_i‖² / ρ_i² + b_i

    and z_i into its output by an activation function; output nodes take the weighted sum. With P(k
    | x) the softmax of K output nodes, or P(second class | x) the sigmoid of one, training goes
    down on

        1/Σw · Σ_i w_i [−log P(y_i | x_i)] + α/2B Σ w_ji²,

    the biases b and radii ρ free; B is the number of rows of a step. With y a table of zeros and
    ones, rows have several labels or none: every label is a sigmoid of its own, and the loss their
    sum.

    Every epoch reads the rows once. In memory they are shuffled in full, by the seed and the number
    of the epoch; rows that stream from files or Dask are shuffled within windows of
    `shuffle_window` consecutive rows, wherever the blocks of the source end, and windows come in
    the order of the rows: shuffle a file that is sorted by class before. Up to one window of rows
    the two are the same. The result depends on data, seed and `dtype`, not on threads. Dask
    partitions are brought to the caller one at a time.

    Parameters
    ----------
    activation : {"relu", "tanh", "sigmoid", "linear", "sign"} or a sequence, default="relu"
        Of all hidden layers, or of each. "sigmoid" is the unipolar 1 / (1 + exp(−λ z)), and also
        called "logistic"; "identity" is "linear". "sign" is 1 from 0 on and −1 below; as its
        derivative is zero, it is trained by the straight-through estimator: backwards, it counts as
        z cut off at ±1.
    output_nodes : {"auto", "one", "per_class"}, default="auto"
        How classes are coded: one node that is 1 for the second of two classes, or one node per
        class. "auto" is one node for two classes.
    loss : {"log_loss", "squared_error"}, default="log_loss"
        −log P(y | x) as above; or ½ Σ_k (y_k − h_k)² with output nodes h_k = 1 / (1 + exp(−z_k))
        and y_k = 1 for the class of the row, else 0. The posteriors are then the h_k, divided by
        their sum.
    dropout : float, default=0.0
        The share of hidden nodes switched off, drawn for every row and step; the others are scaled
        by 1 / (1 − dropout).
    standardize : bool, default=True
        Whether design columns are brought to mean 0 and standard deviation 1, by the training rows.
        With `partial_fit` by those of its first call.
    warm_start : bool, default=False
        Whether `fit` starts from the weights and the standardization of the last `fit`. Rows of
        other classes are another task: they keep the hidden layers and get new output nodes.

    Attributes
    ----------
    coefs_, intercepts_ : lists of ndarrays of shape (n_in, n_out) and (n_out,)
        Weights (centers, for spheres) and biases of every layer, for standardized inputs.
    radii_ : list of ndarray or None
        The radii ρ of spherical layers, None for the others.
    parameters_ : ndarray of shape (n_parameters,)
        All of them in one vector: layer by layer the weights, input by input, the biases, 1 / ρ of
        spheres.
    center_, scale_ : ndarrays of shape (n_design_columns,)
        What is subtracted from the inputs, and what they are then divided by.
    widths_ : ndarray of shape (n_layers + 1,)
        Inputs, nodes of the hidden layers, output nodes.
    activations_, integrations_ : lists of str
        Of the hidden layers.
    slope_ : float
        λ of the sigmoids.
    memory_ : ndarray of shape (n_memories, n_parameters)
        What the solver remembers, for `partial_fit`.
    loss_name_ : str
        "softmax" or "logistic" (log loss of K nodes, of one or of labels), or "sigmoid_squares".
    class_weight_ : ndarray of shape (K,)
        The factors of `class_weight`.
    seed_ : int
        The seed that was used.
    history_ : list of float
        The mean training loss of every epoch, penalty included.
    validation_history_, validation_scores_ : lists of float
        With `early_stopping`: loss and accuracy on the validation rows.
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
    MLPRegressor : The same network for regression.
    lyceum.linear.LogisticRegression : A network without hidden layers, trained to its optimum.

    References
    ----------
    Rumelhart, Hinton and Williams (1986), Learning representations by back-propagating errors.
    Kingma and Ba (2015), Adam: a method for stochastic optimization.
    Srivastava et al. (2014), Dropout: a simple way to prevent neural networks from overfitting.

    Examples
    --------
    >>> from lyceum.neural import MLPClassifier
    >>> import numpy as np
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    >>> y = np.array(["no", "yes", "yes", "no"])
    >>> model = MLPClassifier(hidden_layer_sizes=8, learning_rate_init=0.05, random_state=0)
    >>> model.fit(X, y).predict(X).tolist()
    ['no', 'yes', 'yes', 'no']
    """

    _parameter_constraints: ClassVar[dict] = {
        **FeedForward._parameter_constraints,
        "output_nodes": [StrOptions({"auto", "one", "per_class"})],
        "loss": [StrOptions({"log_loss", "squared_error"})],
        "class_weight": [None, StrOptions({"balanced"}), dict],
    }

    def __init__(
        self,
        hidden_layer_sizes: int | Sequence[int] = (100,),
        activation: str | Sequence[str] = "relu",
        *,
        slope: float = 1.0,
        integration: str | Sequence[str] = "weighted",
        output_nodes: str = "auto",
        loss: str = "log_loss",
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
        class_weight: ClassWeight = None,
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
        self.output_nodes = output_nodes
        self.loss = loss
        self.class_weight = class_weight

    @available_if(takes_more_rows)
    def partial_fit(
        self,
        X: Data,
        y: Target = None,
        classes: ArrayLike | None = None,
        sample_weight: Weights = None,
    ):
        """One epoch over more rows; `classes` names all classes that will come, in the first
        call."""
        return self._fit_one_more_epoch(X, y, sample_weight, classes)

    def predict(self, X: Data) -> Any:
        """The class of largest posterior; of several labels a table of zeros and ones."""
        if self._has_labels:
            return self._apply(partial(_labels, self), X)
        return super().predict(X)

    def predict_proba(self, X: Data) -> Any:
        """The posterior probabilities of the classes, or of every label, in columns."""
        if self._has_labels:
            return self._apply(partial(_label_shares, self), X)
        return super().predict_proba(X)

    def predict_log_proba(self, X: Data) -> Any:
        """The logarithms of the posterior probabilities."""
        if self._has_labels:
            return self._apply(partial(_log_label_shares, self), X)
        return super().predict_log_proba(X)

    # -- what the outputs mean ---------------------------------------------------------

    @property
    def _has_labels(self) -> bool:
        """Whether rows have several labels, which are learned side by side."""
        return getattr(self, "n_targets_", 1) > 1

    def _several_targets(self, y: Target) -> np.ndarray | None:
        labels: Any = y
        if sparse.issparse(labels):
            labels = labels.toarray()
        outputs = several_outputs(self, labels)
        if outputs is None:
            return None
        values = np.asarray(labels)
        if not np.isin(values, (0, 1)).all():
            raise DataError(
                "Multioutput target data is not supported: several labels are columns of zeros and"
                " ones; of several columns of classes fit one network each (MultiOutputClassifier)"
            )
        self.classes_ = np.arange(values.shape[1])
        return values.astype(np.float64)

    def _n_classes(self) -> int:
        return 0 if self._has_labels else len(self.classes_)

    def _n_outputs(self) -> int:
        K = len(self.classes_)
        if self._has_labels:
            return K
        if self.output_nodes == "one" and K != 2:
            raise SettingError(
                f"one output node codes two classes, but y has {K}: give output_nodes='per_class'"
            )
        if K == 2 and self.output_nodes != "per_class":
            return 1
        return K

    def _loss(self) -> str:
        return self.loss_name_

    def _layer_settings(self) -> tuple[np.ndarray, list[str], list[str]]:
        widths, activations, integrations = super()._layer_settings()
        self.loss_name_ = "softmax"
        if self.loss == "squared_error":
            self.loss_name_ = "sigmoid_squares"
        elif self._has_labels or widths[-1] < len(self.classes_):
            self.loss_name_ = "logistic"
        return widths, activations, integrations

    def _set_class_weight(self, look: FirstLook) -> None:
        labels = self.classes_.tolist()
        factors = None
        if not self._has_labels:
            factors = class_weight_factors(self.class_weight, labels, look.weight)
        elif self.class_weight is not None:
            raise SettingError(
                "class_weight is for rows of one class each, and y has several labels: give"
                " sample_weight"
            )
        self.class_weight_ = np.ones(len(labels)) if factors is None else factors

    def _weight_of(self, look: FirstLook) -> float:
        if self._has_labels:
            return super()._weight_of(look)
        return float(look.weight @ self.class_weight_)

    def _packer(self, **options: Any) -> RowPacker:
        weight = None
        if self.class_weight is not None:
            weight = getattr(self, "class_weight_", None)
        return super()._packer(class_weight=weight, **options)

    def _targets(self, y: Target) -> np.ndarray:
        if self._has_labels:
            return np.asarray(y, dtype=np.float64)
        classes = self.classes_.tolist()
        return class_codes(
            labels(y, "y", " of the validation rows"), len(classes), classes
        )

    def _validate(
        self,
        outputs: np.ndarray,
        y: np.ndarray,
        w: np.ndarray,
    ) -> tuple[float, float]:
        if self._has_labels:
            losses = ((expit(outputs) - y) ** 2) / 2
            if self.loss_name_ == "logistic":
                losses = -log_expit(outputs) + (1 - y) * outputs
            is_right = ((outputs >= 0) == (y > 0)).all(axis=1)
            loss = float(np.average(losses.sum(axis=1), weights=w))
            return loss, float(np.average(is_right, weights=w))
        joint = self._joint(outputs)
        codes = y[:, 0].astype(np.intp)
        if self.loss_name_ == "sigmoid_squares":
            # one node stands for the second class, K nodes for theirs
            n_outputs = outputs.shape[1]
            of_nodes = np.arange(n_outputs) if n_outputs > 1 else 1
            is_class = codes[:, None] == of_nodes
            losses = ((expit(outputs) - is_class) ** 2).sum(axis=1) / 2
        else:
            # -log P(y | x) with the log posteriors up to a constant
            losses = logsumexp(joint, axis=1) - joint[np.arange(len(y)), codes]
        is_right = joint.argmax(axis=1) == codes
        loss = float(np.average(losses, weights=w))
        return loss, float(np.average(is_right, weights=w))

    def _joint(self, outputs: np.ndarray) -> np.ndarray:
        """The log posteriors up to one constant per row; with one node, zeros beside its
        log-odds."""
        if outputs.shape[1] < len(self.classes_):
            return np.column_stack([np.zeros(len(outputs)), outputs])
        if self.loss_name_ == "sigmoid_squares":
            return log_expit(outputs)
        return outputs

    def _log_joint(self, block: Block) -> np.ndarray:
        return self._joint(self._outputs(block))

    def _operations(self) -> list[Operation]:
        if self._has_labels:
            raise cannot_export(self, "it has several labels")
        operations = self._network_operations()
        if self._architecture.layers[-1].n_out < len(self.classes_):
            operations.append(("before", {"values": [0.0]}))
        elif self.loss_name_ == "sigmoid_squares":
            operations.append(("activate", {"function": "log_sigmoid"}))
        return [*operations, ("softmax", {})]

    def _decide(self, outputs: np.ndarray) -> np.ndarray:
        return self._joint(outputs).argmax(axis=1)

    # -- explain -----------------------------------------------------------------------

    def _unit(self) -> str:
        has_sigmoids = self.loss_name_ == "sigmoid_squares" and self.widths_[-1] > 1
        score = "net input" if has_sigmoids else "log-odds"
        if len(self.classes_) == 2:
            return f"{score} of {self.classes_[-1]}"
        return f"{score} against the next class"

    def _unit_size(self) -> float:
        return 1.0

    def _unit_shift(self) -> float:
        return 0.0

    def _direction(self, outputs: np.ndarray) -> np.ndarray:
        n, n_outputs = outputs.shape
        if n_outputs == 1:
            return np.full((n, 1), float(len(self.classes_) == 2))
        # the log-odds of two classes are the difference of their outputs
        direction = np.zeros((n, n_outputs))
        if len(self.classes_) == 2:
            direction[:] = (-1.0, 1.0)
            return direction
        best, second = runner_up(outputs)
        direction[np.arange(n), best] = 1.0
        direction[np.arange(n), second] = -1.0
        return direction

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return {**super()._shapes(), "class_weight_": (len(self.classes_),)}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


def _labels(learner: MLPClassifier, block: Block) -> np.ndarray:
    return (learner._outputs(block) >= 0).astype(np.int64)


def _label_shares(learner: MLPClassifier, block: Block) -> np.ndarray:
    return expit(learner._outputs(block))


def _log_label_shares(learner: MLPClassifier, block: Block) -> np.ndarray:
    return log_expit(learner._outputs(block))

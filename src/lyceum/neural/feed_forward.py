"""Feed-forward networks: layers, backpropagation, validation; shared by classifier and
regressor."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from lyceum._core.base import check_same_columns, undefined, validation_parts
from lyceum._core.data import Block, Rows
from lyceum._core.types import Data, Target, Weights
from lyceum.errors import DataError, SchemaError, SettingError, number_setting
from lyceum.neural.architecture import (
    ACTIVATIONS,
    INTEGRATIONS,
    Architecture,
    each_layer,
)
from lyceum.neural.network_settings import NetworkSettings
from lyceum.neural.row_windows import (
    FirstLook,
    HeldOut,
    RowPacker,
    Windows,
    first_look,
    spread,
)
from lyceum.neural.starting_weights import given_start
from lyceum.neural.training import SCHEDULES, Epoch, Patience, Training
from lyceum.progress import report

_LEAST_RATE = 1e-6  # "adaptive" stops below it
_DIVIDE = 5.0


class FeedForward(NetworkSettings):
    """A network of layers trained by backpropagation; subclasses define what the outputs mean."""

    _parameter_docs: ClassVar[str] = """
    hidden_layer_sizes : int or sequence of int
        Nodes of every hidden layer; () for none.
    slope : float
        λ of the sigmoid.
    integration : {"weighted", "quadratic", "spherical"} or a sequence
        The integration function of the hidden layers.
    solver : {"adam", "sgd", "momentum", "nesterov"}
        The rule of the gradient steps: plain gradient descent, with momentum, with Nesterov's
        momentum, or Adam.
    learning_rate : {"constant", "invscaling", "cosine", "adaptive"}
        The rate in epoch e: η; η / e^power_t; η (1 + cos(π (e−1) / max_iter)) / 2; or η, divided by
        5 whenever the loss no longer falls, down to 1e-6.
    learning_rate_init : float
        η.
    power_t : float
        The exponent of "invscaling".
    momentum : float
        Of the solvers "momentum" and "nesterov".
    beta_1 : float
        Decay of the mean gradient of the solver "adam".
    beta_2 : float
        Decay of the mean squared gradient of the solver "adam".
    epsilon : float
        Added to the root of the mean squared gradient of the solver "adam".
    batch_size : int or "all"
        Rows per step: 1 is one at a time, "all" is batch gradient descent.
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
        also give standardize=False, solver="sgd", alpha=0, shuffle=False and record="steps".
    alpha : float
        The penalty α on the squared weights.
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

    center_: np.ndarray
    scale_: np.ndarray

    history_axes: ClassVar[tuple[str, str]] = ("epoch", "loss")
    _coding = "one_hot"

    # -- what a subclass says ----------------------------------------------------------

    def _n_outputs(self) -> int:
        """The number of output nodes."""
        raise undefined(self, "_n_outputs")

    def _loss(self) -> str:
        """The name of the loss of the output nodes."""
        raise undefined(self, "_loss")

    def _n_classes(self) -> int:
        return 0

    def _set_target_scale(self, look: FirstLook) -> None:
        """Set the shift and scale of the target, from the first pass."""

    def _packer(self, **options: Any) -> RowPacker:
        return RowPacker(self.center_, self.scale_, np.dtype(self.dtype), **options)

    def _targets(self, y: Target) -> np.ndarray:
        """Targets of validation rows, as training has them: class codes, or numbers."""
        raise undefined(self, "_targets")

    def _validate(
        self, outputs: np.ndarray, y: np.ndarray, w: np.ndarray
    ) -> tuple[float, float]:
        """Mean loss and score of the outputs on the validation rows."""
        raise undefined(self, "_validate")

    # -- fit ---------------------------------------------------------------------------

    def fit(
        self,
        X: Data,
        y: Target = None,
        sample_weight: Weights = None,
        *,
        validation: object = None,
    ):
        """Learn from the rows of X, one pass per epoch.

        Parameters
        ----------
        X : array, frame, Dask collection or `scan(...)`
        y : array of shape (n_samples,), if the target is not in the scan
        sample_weight : array of shape (n_samples,), optional
        validation : (X, y), (X, y, weights) or scanned rows, optional
            The rows that `early_stopping` stops by; by default a share of those given to learn
            from. They are kept in memory.
        """
        if validation is not None and not self.early_stopping:
            raise SettingError(
                "validation rows are what early_stopping=True stops by: set it"
            )
        warm = self.warm_start and hasattr(self, "parameters_")
        if warm:
            before = (self.schema_, self._shape_now())
        else:
            before = None
        rows = self._rows(X, y, sample_weight)
        seed = int(
            check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        )
        takes_share = self.early_stopping and validation is None
        if takes_share:
            held_out = HeldOut(self.validation_fraction, seed)
        else:
            held_out = None
        look = first_look(rows, self._n_classes(), held_out)
        if before is None:
            self._start(look, seed)
        else:
            check_same_columns(self, before[0], classes=False, numbers=True)
            if before[1] == self._shape_now():
                self._check_layers()
            else:
                self._start_from_hidden_layers(seed)
            self.seed_ = seed
            self._set_class_weight(look)
        self.n_iter_ = self.n_steps_ = 0
        training = self._training(None)
        if validation is None:
            held = self._share_held_out(rows, look, held_out)
        else:
            held = self._pack_validation(validation)
        self._descend(
            training, self._windows(rows, look.n_rows, held_out=held_out), held
        )
        self._finish(training)
        self._warn()
        return self

    def _shape_now(self) -> tuple[Any, ...]:
        return self.design_names, getattr(self, "classes_", np.empty(0)).tolist()

    def _start(self, look: FirstLook, seed: int) -> None:
        if look.n_rows == 0:
            raise DataError(
                "no rows are left to learn from: all have weight 0 or are held out for validation: "
                "lower validation_fraction"
            )
        d = len(self.design_names)
        if self.standardize:
            self.center_, self.scale_ = spread(look.cells)
        else:
            self.center_ = np.zeros(d)
            self.scale_ = np.ones(d)
        self._set_target_scale(look)
        self._set_class_weight(look)
        self.widths_, self.activations_, self.integrations_ = self._layer_settings()
        self.slope_ = float(self.slope)
        self.seed_ = seed
        architecture = self._architecture
        if self.weights_init is None:
            self.parameters_ = architecture.start(np.random.default_rng([seed, 0]))
        else:
            self.parameters_ = given_start(architecture, self.weights_init)

    def _start_from_hidden_layers(self, seed: int) -> None:
        """New output nodes, for other classes, on the hidden layers that were learned."""
        old = self._architecture
        learned = self.parameters_
        self._check_layers(outputs=False)
        self.widths_ = self._layer_settings()[0]
        started = self._architecture.start(np.random.default_rng([seed, 0]))
        n_hidden = old.size - old.layers[-1].size
        started[:n_hidden] = learned[:n_hidden]
        self.parameters_ = started

    def _layer_settings(self) -> tuple[np.ndarray, list[str], list[str]]:
        """Widths, activations and integrations of the layers, from the current parameters."""
        sizes = np.atleast_1d(
            number_setting("hidden_layer_sizes", self.hidden_layer_sizes)
        )
        if sizes.ndim != 1 or not ((sizes >= 1) & (sizes == np.floor(sizes))).all():
            raise SettingError(
                f"hidden_layer_sizes must be positive whole numbers, got {self.hidden_layer_sizes}"
            )
        hidden = sizes.astype(np.int64)
        widths = np.array(
            [len(self.design_names), *hidden, self._n_outputs()], dtype=np.int64
        )
        return (
            widths,
            each_layer("activation", self.activation, len(hidden), ACTIVATIONS),
            each_layer("integration", self.integration, len(hidden), INTEGRATIONS),
        )

    def _check_same_network(self, before: tuple[Any, ...]) -> None:
        """Refuse to continue with the weights of another network."""
        if before != self._shape_now():
            raise SchemaError(
                f"these rows have columns, categories or classes that {type(self).__name__} has no"
                " nodes for: name all classes in the first call of partial_fit and all categories"
                " by a category type"
            )
        self._check_layers()

    def _check_layers(self, outputs: bool = True) -> None:
        """Refuse to continue with the weights of other hidden layers, or of other output nodes."""
        widths, *kinds = self._layer_settings()
        if outputs:
            last = len(widths)
        else:
            last = -1
        now = (widths[:last].tolist(), *kinds, float(self.slope))
        if now != (
            self.widths_[:last].tolist(),
            self.activations_,
            self.integrations_,
            self.slope_,
        ):
            raise SettingError(
                f"{type(self).__name__} has the weights of a network of other layers: fit a clone,"
                " or set hidden_layer_sizes, activation, integration, slope and output nodes back"
                " to what they were"
            )

    def _set_class_weight(self, look: FirstLook) -> None:
        """Set the class weights of a classifier."""

    @property
    def _architecture(self) -> Architecture:
        kinds = self.activations_, self.integrations_
        return Architecture.of(self.widths_.tolist(), *kinds, self.slope_, self._loss())

    def _training(self, memory: np.ndarray | None) -> Training:
        if self.solver == "adam":
            first = self.beta_1
        else:
            first = self.momentum
        return Training(
            self._architecture,
            (self.solver, first, self.beta_2, self.epsilon),
            self.alpha,
            (self.dropout, self.input_noise),
            None if isinstance(self.batch_size, str) else int(self.batch_size),
            self.shuffle,
            self.seed_,
            np.dtype(self.dtype),
            self.record == "steps",
            self.parameters_,
            memory,
            self.n_steps_,
        )

    def _windows(self, rows: Rows, n_rows: int, **options: Any) -> Windows:
        size = max(
            self.shuffle_window,
            0 if isinstance(self.batch_size, str) else self.batch_size,
        )
        return Windows(rows, self._packer(**options), size, n_rows)

    def _share_held_out(
        self, rows: Rows, look: FirstLook, held_out: HeldOut | None
    ) -> np.ndarray | None:
        """The validation rows among those given to learn from; of a stream at most one window of
        them."""
        if held_out is None:
            return None
        packer = self._packer(held_out=held_out, want=True)
        held = Windows(rows, packer, self.shuffle_window, look.n_held).first()
        if held is None:
            raise DataError(
                f"no row fell into the validation split of {self.validation_fraction:g}: raise "
                "validation_fraction, give fit(..., validation=(X, y)), or early_stopping=False"
            )
        return held

    def _pack_validation(self, validation: object) -> np.ndarray:
        """The user's own validation rows."""
        X, y, w = validation_parts(validation)
        pack = self._packer()
        target = self._targets(y)
        return pack.join(
            np.concatenate(list(self.rows_to_predict(X).map(pack.cells))), target, w
        )

    def _descend(
        self, training: Training, windows: Windows, held: np.ndarray | None
    ) -> None:
        self._reset_history()
        patience = Patience(self.tol or 0.0)
        rate = self.learning_rate_init
        best = None
        self.stopped_ = "max_iter"
        for number in range(1, self.max_iter + 1):
            rate_now = rate * SCHEDULES[self.learning_rate](
                number, self.max_iter, self.power_t
            )
            epoch = self._epoch(training, windows, number, rate_now, held)
            report("epochs", number, self.max_iter)
            lowest = patience.see(
                epoch.loss if epoch.validation_loss is None else epoch.validation_loss
            )
            if held is not None and lowest:
                best = training.keep()
                self.best_epoch_ = number
            if self.tol is None or patience.waited <= self.n_iter_no_change:
                continue
            if self.learning_rate == "adaptive" and rate / _DIVIDE >= _LEAST_RATE:
                rate = rate / _DIVIDE
                patience.waited = 0
                continue
            if held is None:
                self.stopped_ = "the loss no longer fell"
            else:
                self.stopped_ = "the validation loss no longer fell"
            break
        if best is not None:
            training.theta[:] = training.architecture.pad(best, training.dtype)

    def _warn(self) -> None:
        if (
            self.stopped_ == "max_iter"
            and self.tol is not None
            and self.learning_rate != "cosine"
        ):
            warnings.warn(
                f"{type(self).__name__} stopped at max_iter={self.max_iter} epochs while the loss"
                " still fell: raise max_iter or learning_rate_init, or give tol=None to run all"
                " max_iter epochs",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _epoch(
        self,
        training: Training,
        windows: Windows,
        number: int,
        rate: float,
        held: np.ndarray | None,
    ) -> Epoch:
        loss = training.epoch(windows, number, rate)
        judged: tuple[float | None, float | None] = (None, None)
        if held is not None:
            judged = self._validate(
                training.architecture.outputs(training.theta, held[:, :-2]),
                held[:, -2].astype(np.float64),
                held[:, -1].astype(np.float64),
            )
        epoch = Epoch(loss, rate, *judged)
        self._record_epoch(training, epoch)
        return epoch

    def _reset_history(self) -> None:
        self.history_: list[float] = []
        self.validation_history_: list[float] = []
        self.validation_scores_: list[float] = []
        if self.record:
            self.record_: list[dict] = []
        if hasattr(self, "best_epoch_"):
            del self.best_epoch_

    def _record_epoch(self, training: Training, epoch: Epoch) -> None:
        self.n_iter_ += 1
        self.history_.append(epoch.loss)
        if epoch.validation_loss is not None and epoch.validation_score is not None:
            self.validation_history_.append(epoch.validation_loss)
            self.validation_scores_.append(epoch.validation_score)
        if self.record:
            self.record_.append(
                {
                    "step": self.n_iter_,
                    "objective": epoch.loss,
                    "learning_rate": epoch.rate,
                    "validation_loss": epoch.validation_loss,
                    "validation_score": epoch.validation_score,
                    "parameters": training.keep(),
                    **training.step_parameters(),
                }
            )

    def _finish(self, training: Training) -> None:
        self.parameters_ = training.keep()
        self.memory_ = training.compact_memory()
        self.n_steps_ = training.steps
        self.loss_ = self.history_[-1]

    def _fit_one_more_epoch(
        self,
        X: Data,
        y: Target,
        sample_weight: Weights,
        classes: ArrayLike | None = None,
    ) -> Any:
        """One epoch over more rows."""
        if self.early_stopping:
            raise SettingError(
                "partial_fit makes one epoch per call and cannot stop early: give"
                " early_stopping=False"
            )
        if hasattr(self, "parameters_"):
            before = self._shape_now()
        else:
            before = None
        rows = self._more_rows(X, y, sample_weight, classes)
        look = first_look(rows, self._n_classes(), None)
        if before is None:
            self._start(
                look,
                int(
                    check_random_state(self.random_state).randint(
                        np.iinfo(np.int32).max
                    )
                ),
            )
            self.n_iter_ = self.n_steps_ = 0
            self._reset_history()
        else:
            self._check_same_network(before)
        self._one_epoch(rows, look, getattr(self, "memory_", None))
        return self

    def _one_epoch(
        self, rows: Rows, look: FirstLook, memory: np.ndarray | None
    ) -> None:
        same = memory is not None and len(memory) == len(self._training(None)._memory)
        training = self._training(memory if same else None)
        number = self.n_iter_ + 1
        for name in (
            "history_",
            "validation_history_",
            "validation_scores_",
            *(["record_"] if self.record else []),
        ):
            setattr(self, name, list(getattr(self, name, [])))
        rate = self.learning_rate_init * SCHEDULES[self.learning_rate](
            number, self.max_iter, self.power_t
        )
        self.stopped_ = "partial_fit"
        self._epoch(training, self._windows(rows, look.n_rows), number, rate, None)
        self._finish(training)

    # -- predict -----------------------------------------------------------------------

    def _outputs(self, block: Block) -> np.ndarray:
        """The outputs of every row, (n, n_outputs)."""
        architecture = self._architecture
        theta = architecture.pad(self.parameters_, np.dtype(self.dtype))
        return architecture.outputs(theta, self._packer().cells(block))

    # -- model files -------------------------------------------------------------------

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        d = len(self.design_names)
        size = self._architecture.size
        memories = len(self._training(None)._memory)
        return {
            "widths_": (len(self.activations_) + 2,),
            "center_": (d,),
            "scale_": (d,),
            "parameters_": (size,),
            "memory_": (memories, size),
        }

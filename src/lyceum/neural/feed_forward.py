"""Feed-forward networks: layers, backpropagation, validation; shared by classifier and
regressor."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from lyceum._core.base import (
    check_same_columns,
    rows_apart,
    undefined,
    validation_parts,
)
from lyceum._core.data import Block, Rows
from lyceum._core.solvers import Patience
from lyceum._core.types import Data, Operation, Target, Weights
from lyceum.errors import (
    DataError,
    SchemaError,
    SettingError,
    cannot_export,
    number_setting,
)
from lyceum.neural.architecture import (
    ACTIVATIONS,
    INTEGRATIONS,
    Architecture,
    each_layer,
    given_start,
)
from lyceum.neural.lbfgs import minimize_by_lbfgs
from lyceum.neural.network_settings import NetworkSettings
from lyceum.neural.row_windows import (
    FirstLook,
    HeldOut,
    RowPacker,
    TargetsApart,
    Windows,
    first_look,
    look_beside_validation,
    spread,
)
from lyceum.neural.training import (
    EPOCH_STEPS,
    MEMORIES,
    SCHEDULES,
    Epoch,
    Training,
)
from lyceum.progress import report

_LEAST_RATE = 1e-6  # "adaptive" stops below it
_DIVIDE = 5.0
_AUTO_BATCH = 200  # scikit-learn's


def takes_more_rows(learner: Any) -> bool:
    """Whether `partial_fit` is there: L-BFGS needs all rows at once."""
    if learner.solver == "lbfgs":
        raise AttributeError(
            "partial_fit is only available for stochastic optimizers. lbfgs is not stochastic."
        )
    return True


class FeedForward(NetworkSettings):
    """A network of layers trained by backpropagation; subclasses define what the outputs mean."""

    center_: np.ndarray
    scale_: np.ndarray
    n_targets_: int

    history_axes: ClassVar[tuple[str, str]] = ("epoch", "loss")
    _step_kind = EPOCH_STEPS
    _coding = "one_hot"
    _takes_sparse = True

    # -- what a subclass says ----------------------------------------------------------

    def _n_outputs(self) -> int:
        """The number of output nodes."""
        raise undefined(self, "_n_outputs")

    def _loss(self) -> str:
        """The name of the loss of the output nodes."""
        raise undefined(self, "_loss")

    def _n_classes(self) -> int:
        return 0

    def _several_targets(self, y: Target) -> np.ndarray | None:
        """The targets of every row as numbers, (n, n_targets), if it has several."""
        raise undefined(self, "_several_targets")

    def _set_target_scale(self, look: FirstLook) -> None:
        """Set the shift and scale of the target, from the first pass."""

    def _packer(self, **options: Any) -> RowPacker:
        return RowPacker(self.center_, self.scale_, np.dtype(self.dtype), **options)

    def _targets(self, y: Target) -> np.ndarray:
        """Targets of validation rows, as training has them: class codes, or numbers."""
        raise undefined(self, "_targets")

    def _validate(
        self,
        outputs: np.ndarray,
        y: np.ndarray,
        w: np.ndarray,
    ) -> tuple[float, float]:
        """Mean loss and score of the outputs on the validation rows, y of (n, n_targets)."""
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
            Or (n_samples, n_targets): one network for several numbers, or for several labels,
            columns of zeros and ones.
        sample_weight : array of shape (n_samples,), optional
        validation : (X, y), (X, y, weights) or scanned rows, optional
            The rows that `early_stopping` stops by; by default a share of those given to learn
            from. They are kept in memory.
        """
        if validation is not None and not self.early_stopping:
            raise SettingError(
                "validation rows are what early_stopping=True stops by: set it"
            )
        before = None
        if self.warm_start and hasattr(self, "parameters_"):
            before = (self.schema_, self._shape_now())
        rows = self._rows_with_targets(X, y, sample_weight)
        seed = self._draw_seed()
        held_out = None
        look = None
        if self.early_stopping and validation is None:
            share = HeldOut(self.validation_fraction, seed)
            look, held_out = look_beside_validation(rows, self._n_classes(), share)
        if look is None:
            look = first_look(rows, self._n_classes(), None)
        if before is None:
            self._start(look, seed)
        else:
            check_same_columns(self, before[0], classes=False, numbers=True)
            if before[1] == self._shape_now():
                self._check_layers()
            else:
                self._start_from_hidden_layers(look, seed)
            self.seed_ = seed
            self._set_class_weight(look)
        self.n_iter_ = self.n_steps_ = 0
        training = self._training(None, look)
        if validation is None:
            held = self._share_held_out(rows, look, held_out)
        else:
            held = self._pack_validation(validation)
        windows = self._windows(rows, look.n_rows, held_out=held_out)
        if self.solver == "lbfgs":
            self._descend_by_lbfgs(training, windows)
        else:
            self._descend(training, windows, held)
        self._finish(training)
        self._warn()
        return self

    def _rows_with_targets(
        self,
        X: Data,
        y: Target,
        sample_weight: Weights,
        more: bool = False,
        classes: ArrayLike | None = None,
    ) -> Rows:
        """The rows of `fit`, or with `more` of `partial_fit`, with one target or with several."""
        targets = self._several_targets(y)
        if targets is not None:
            self._validate_params()
            self.n_targets_ = targets.shape[1]
            rows = rows_apart(self, X, len(targets), sample_weight, more)
            return rows.then(TargetsApart(targets))
        self.n_targets_ = 1
        if more:
            return self._more_rows(X, y, sample_weight, classes)
        return self._rows(X, y, sample_weight)

    def _draw_seed(self) -> int:
        rng = check_random_state(self.random_state)
        return int(rng.randint(np.iinfo(np.int32).max))

    def _shape_now(self) -> tuple[Any, ...]:
        classes = getattr(self, "classes_", np.empty(0)).tolist()
        return self.design_names, classes, self.n_targets_

    def _start(self, look: FirstLook, seed: int) -> None:
        if look.n_rows == 0:
            raise DataError(
                "no rows are left to learn from: all have weight 0 or are held out for validation: "
                "lower validation_fraction"
            )
        d = len(self.design_names)
        self.center_ = np.zeros(d)
        self.scale_ = np.ones(d)
        if self.standardize:
            self.center_, self.scale_ = spread(look.cells)
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

    def _start_from_hidden_layers(self, look: FirstLook, seed: int) -> None:
        """New output nodes, for other classes or targets, on the hidden layers that were
        learned."""
        self._set_target_scale(look)
        # the parameters of the output layer are the last of the vector
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
        numbers = number_setting("hidden_layer_sizes", self.hidden_layer_sizes)
        sizes = np.atleast_1d(numbers)
        are_whole = (sizes >= 1) & (sizes == np.floor(sizes))
        if sizes.ndim != 1 or not are_whole.all():
            raise SettingError(
                f"hidden_layer_sizes must be positive whole numbers, got {self.hidden_layer_sizes}"
            )
        widths = [len(self.design_names), *sizes, self._n_outputs()]
        n_hidden = len(sizes)
        return (
            np.array(widths, dtype=np.int64),
            each_layer("activation", self.activation, n_hidden, ACTIVATIONS),
            each_layer("integration", self.integration, n_hidden, INTEGRATIONS),
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
        n_layers = len(widths) if outputs else len(widths) - 1
        now = (widths[:n_layers].tolist(), *kinds, float(self.slope))
        kinds_before = (self.activations_, self.integrations_, self.slope_)
        if now != (self.widths_[:n_layers].tolist(), *kinds_before):
            raise SettingError(
                f"{type(self).__name__} has the weights of a network of other layers: fit a clone,"
                " or set hidden_layer_sizes, activation, integration, slope and output nodes back"
                " to what they were"
            )

    def _set_class_weight(self, look: FirstLook) -> None:
        """Set the class weights of a classifier."""

    def _weight_of(self, look: FirstLook) -> float:
        """Of all rows, as they count in the loss."""
        return float(look.target.weight[0])

    @property
    def _architecture(self) -> Architecture:
        return Architecture.of(
            self.widths_.tolist(),
            self.activations_,
            self.integrations_,
            slope=self.slope_,
            loss=self._loss(),
        )

    @property
    def _rule(self) -> tuple[str, float]:
        """The rule of the steps, with its momentum or β₁."""
        if self.solver != "sgd":
            return self.solver, self.beta_1
        if self.momentum == 0.0:
            return "plain", 0.0
        return "nesterov" if self.nesterovs_momentum else "momentum", self.momentum

    def _training(self, memory: np.ndarray | None, look: FirstLook) -> Training:
        batch_size = self._rows_per_step
        step_weight = None
        if batch_size is not None:
            batch_size = min(batch_size, look.n_rows)
            step_weight = self._weight_of(look) * batch_size / max(look.n_rows, 1)
        return Training(
            self._architecture,
            rule=(*self._rule, self.beta_2, self.epsilon),
            penalty=self.alpha,
            chance=(self.dropout, self.input_noise),
            batch_size=batch_size,
            step_weight=step_weight,
            shuffle=self.shuffle,
            seed=self.seed_,
            dtype=np.dtype(self.dtype),
            trace=self.record == "steps",
            parameters=self.parameters_,
            memory=memory,
            steps=self.n_steps_,
        )

    @property
    def _rows_per_step(self) -> int | None:
        """The size of a batch, None for all rows."""
        if isinstance(self.batch_size, str):
            return _AUTO_BATCH if self.batch_size == "auto" else None
        return int(self.batch_size)

    def _windows(self, rows: Rows, n_rows: int, **options: Any) -> Windows:
        # a batch does not reach over the end of a window
        size = max(self.shuffle_window, self._rows_per_step or 0)
        return Windows(rows, self._packer(**options), size, n_rows)

    def _share_held_out(
        self,
        rows: Rows,
        look: FirstLook,
        held_out: HeldOut | None,
    ) -> np.ndarray | None:
        """The validation rows among those given to learn from; of a stream at most one window of
        them."""
        if held_out is None:
            return None
        packer = self._packer(held_out=held_out, want=True)
        held = Windows(rows, packer, self.shuffle_window, look.n_held).first()
        if held is None:
            raise DataError(
                "The validation set is too small: no row fell into the validation split of"
                f" {self.validation_fraction:g}: raise "
                "validation_fraction, give fit(..., validation=(X, y)), or early_stopping=False"
            )
        return held

    def _pack_validation(self, validation: object) -> np.ndarray:
        """The user's own validation rows."""
        X, y, w = validation_parts(validation)
        pack = self._packer()
        target = self._targets(y)
        cells = np.concatenate(list(self.rows_to_predict(X).map(pack.cells)))
        return pack.join(cells, target, w)

    def _descend(
        self,
        training: Training,
        windows: Windows,
        held: np.ndarray | None,
    ) -> None:
        self._reset_history()
        patience = Patience(self.tol or 0.0)
        rate = self.learning_rate_init
        best = None
        self.stopped_ = "max_iter"
        for number in range(1, self.max_iter + 1):
            rate_now = rate * self._rate_factor(number)
            epoch = self._epoch(training, windows, number, rate_now, held)
            report("epochs", number, self.max_iter)
            loss = epoch.validation_loss
            is_lowest = patience.see(epoch.loss if loss is None else loss)
            if held is not None and is_lowest:
                best = training.keep()
                self.best_epoch_ = number
            if self.tol is None or patience.waited <= self.n_iter_no_change:
                continue
            # patience is at its end: a smaller rate first, if it adapts, and then no more epochs
            if self.learning_rate == "adaptive" and rate / _DIVIDE >= _LEAST_RATE:
                rate = rate / _DIVIDE
                patience.waited = 0
                continue
            judged = "loss" if held is None else "validation loss"
            self.stopped_ = f"the {judged} no longer fell"
            break
        if best is not None:
            training.theta[:] = training.architecture.pad(best, training.dtype)

    def _descend_by_lbfgs(self, training: Training, windows: Windows) -> None:
        if self.early_stopping and self.solver == "lbfgs":
            raise SettingError(
                "solver='lbfgs' takes all rows and has no epochs to stop after: give"
                " early_stopping=False, or another solver"
            )
        self._reset_history()

        def observe(loss: float) -> None:
            report("epochs", self.n_iter_ + 1, self.max_iter)
            self._record_epoch(training, Epoch(loss, 1.0))

        limits = (self.max_iter, self.max_fun)
        self.n_iter_, converged = minimize_by_lbfgs(
            training, windows, limits, self.tol or 0.0, observe
        )
        if not self.history_:  # the start is a minimum
            self.history_.append(training.loss_and_slopes(windows)[0])
        self.stopped_ = "the loss no longer fell" if converged else "max_iter"

    def _rate_factor(self, epoch: int) -> float:
        schedule = SCHEDULES[self.learning_rate]
        return schedule(epoch, self.max_iter, self.power_t)

    def _warn(self) -> None:
        # a cosine ends at a rate of zero, and nothing more would come of it
        may_go_on = self.tol is not None and self.learning_rate != "cosine"
        if self.stopped_ == "max_iter" and may_go_on:
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
            d = len(self.center_)
            outputs = training.architecture.outputs(training.theta, held[:, :d])
            y = held[:, d:-1].astype(np.float64)
            judged = self._validate(outputs, y, held[:, -1].astype(np.float64))
        epoch = Epoch(loss, rate, *judged)
        self._record_epoch(training, epoch)
        return epoch

    def _reset_history(self) -> None:
        self.history_: list[float] = []
        self.validation_history_: list[float] = []
        self.validation_scores_: list[float] | None = None
        if self.early_stopping:
            self.validation_scores_ = []
        if self.record:
            self.record_: list[dict] = []
        if hasattr(self, "best_epoch_"):
            del self.best_epoch_

    def _record_epoch(self, training: Training, epoch: Epoch) -> None:
        self.n_iter_ += 1
        self.history_.append(epoch.loss)
        if epoch.validation_loss is not None and epoch.validation_score is not None:
            self.validation_history_.append(epoch.validation_loss)
            assert self.validation_scores_ is not None
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
                "partial_fit does not support early_stopping=True: it makes one epoch per call"
            )
        before = self._shape_now() if hasattr(self, "parameters_") else None
        rows = self._rows_with_targets(X, y, sample_weight, more=True, classes=classes)
        look = first_look(rows, self._n_classes(), None)
        if before is None:
            self._start(look, self._draw_seed())
            self.n_iter_ = self.n_steps_ = 0
            self._reset_history()
        else:
            self._check_same_network(before)
        self._one_epoch(rows, look, getattr(self, "memory_", None))
        return self

    def _one_epoch(
        self,
        rows: Rows,
        look: FirstLook,
        memory: np.ndarray | None,
    ) -> None:
        # the memory of another solver says nothing to this one
        same = memory is not None and len(memory) == MEMORIES[self._rule[0]]
        training = self._training(memory if same else None, look)
        number = self.n_iter_ + 1
        # copies, as a call that fails must leave the lists as they were
        lists = ["history_", "validation_history_"]
        if self.record:
            lists.append("record_")
        for name in lists:
            setattr(self, name, list(getattr(self, name, [])))
        rate = self.learning_rate_init * self._rate_factor(number)
        self.stopped_ = "partial_fit"
        self._epoch(training, self._windows(rows, look.n_rows), number, rate, None)
        self._finish(training)

    # -- predict -----------------------------------------------------------------------

    def _outputs(self, block: Block) -> np.ndarray:
        """The outputs of every row, (n, n_outputs)."""
        architecture = self._architecture
        theta = architecture.pad(self.parameters_, np.dtype(self.dtype))
        return architecture.outputs(theta, self._packer().cells(block))

    # -- model files and exported models -----------------------------------------------

    def _network_operations(self) -> list[Operation]:
        """From the cells of a row to the outputs, for exported models."""
        if {"weighted"} != set(self.integrations_) | {"weighted"}:
            raise cannot_export(self, "a layer does not take weighted sums")
        constants: dict[str, Any] = {
            "center": self.center_.tolist(),
            "scale": self.scale_.tolist(),
        }
        unused = dict.fromkeys(("gain", "offset", "low", "high"))
        operations: list[Operation] = [("affine", {**constants, **unused})]
        architecture = self._architecture
        parts = architecture.split(self.parameters_)
        for layer, rows in zip(architecture.layers, parts):
            if layer.activation == "sign":
                raise cannot_export(self, "a layer gives signs")
            weights = rows[: layer.n_in].T
            biases = rows[layer.n_in]
            if layer.activation == "sigmoid":  # 1 / (1 + exp(-λ v))
                weights = architecture.slope * weights
                biases = architecture.slope * biases
            sums = {"coef": weights.tolist(), "intercept": biases.tolist()}
            operations.append(("linear", sums))
            if layer.activation != "linear":
                operations.append(("activate", {"function": layer.activation}))
        return operations

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        d = len(self.design_names)
        size = self._architecture.size
        memories = MEMORIES[self._rule[0]]
        return {
            "widths_": (len(self.activations_) + 2,),
            "center_": (d,),
            "scale_": (d,),
            "parameters_": (size,),
            "memory_": (memories, size),
        }

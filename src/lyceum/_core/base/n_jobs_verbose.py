"""What `n_jobs` and `verbose` do, in every learner that has them.

`n_jobs` is how many threads run at a time while the learner fits or predicts; results do not depend
on it. `verbose` prints the progress that `lyceum.progress` reports, for the time of a fit.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from functools import wraps
from numbers import Integral
from types import FunctionType
from typing import Any, TypeVar

from joblib import effective_n_jobs
from sklearn.utils.metaestimators import available_if

from lyceum._core.base.finite_answers import (
    ALLOWED,
    arithmetic_in_words,
    check_answer,
)
from lyceum._core.base.state import dense_coefficients
from lyceum._core.constraints import Interval
from lyceum._core.progress import Update, watch
from lyceum._core.routing import routing
from lyceum._core.threads import limit_threads, single_threaded_blas
from lyceum._core.types import Estimator
from lyceum.errors import SettingError

Guarded = TypeVar("Guarded", bound=type)
Wrapper = Callable[[Callable[..., Any]], Callable[..., Any]]

# classes whose methods only call ours
_NOT_OURS = ("abc", "builtins", "sklearn", "typing")

_SETTINGS = ("get_params", "set_params")  # must not fail because of a setting

_CONSTRAINTS: dict[str, Any] = {
    "n_jobs": [
        Interval(Integral, 1, None, closed="left"),
        Interval(Integral, None, -1, closed="right"),
        None,
    ],
    "verbose": ["verbose"],
    **{name: ["boolean"] for name in ("copy", "copy_X", "copy_x")},
}


def constrain_running(learner: type) -> None:
    """Add what `n_jobs`, `verbose` and `copy` may be to the parameters of a class that has
    them."""
    parameters = inspect.signature(learner.__init__).parameters  # type: ignore[misc]
    known = learner._parameter_constraints  # type: ignore[attr-defined]
    new = {
        name: taken
        for name, taken in _CONSTRAINTS.items()
        if name in parameters and name not in known
    }
    if new:
        learner._parameter_constraints = {**known, **new}  # type: ignore[attr-defined]


def guard_public_methods(
    estimator: Guarded, learning: Wrapper | None = None
) -> Guarded:
    """Let the public methods of a class, and of what it is mixed with, run as `running_as_set`
    says.

    `learning`, if given, is what `fit` and `partial_fit` are wrapped in instead. A method is
    wrapped in the class that defines it. Generators are left alone: they would end the block before
    their first value.

    >>> from lyceum._core.threads import blas_is_limited
    >>> @guard_public_methods
    ... class Asked:
    ...     def predict(self, X):
    ...         return blas_is_limited()
    >>> Asked().predict(None), blas_is_limited()
    (True, False)
    """
    for owner in estimator.__mro__:
        if owner.__module__.partition(".")[0] in _NOT_OURS:
            continue
        for name, method in list(vars(owner).items()):
            if name.startswith("_") or name in _SETTINGS:
                continue
            if getattr(method, "_is_guarded", False):
                continue
            guard: Wrapper = _guard
            if learning and name in ("fit", "partial_fit"):
                guard = learning
            is_function = isinstance(method, FunctionType)
            if is_function and not inspect.isgeneratorfunction(method):
                guarded = guard(method)
            elif hasattr(method, "fn") and hasattr(method, "check"):
                # a method that is there only under some settings
                guarded = available_if(method.check)(guard(method.fn))
            else:
                continue
            guarded._is_guarded = True  # type: ignore[attr-defined]
            setattr(owner, name, guarded)
    return estimator


def _guard(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def guarded_method(self: Any, *data: Any, **named: Any) -> Any:
        with running_as_set(self):
            return method(self, *data, **named)

    if method.__name__ not in ALLOWED:
        return guarded_method

    @wraps(method)
    def checked_method(self: Any, *data: Any, **named: Any) -> Any:
        # once more where a fit has ended meanwhile, in another thread: an answer of two states
        for is_last in (False, True):
            state = vars(self)
            try:
                with running_as_set(self), arithmetic_in_words(self, method.__name__):
                    if named and hasattr(self, "_routes"):
                        with routing(self, method, data, named) as (own, own_named):
                            answer = method(self, *own, **own_named)
                    else:
                        answer = method(self, *data, **named)
                    X = data[0] if data else named.get("X")
                    check_answer(self, method.__name__, answer, X)
            except Exception:
                if is_last or vars(self) is state:
                    raise
            else:
                if is_last or vars(self) is state:
                    break
        return answer

    return checked_method


@contextmanager
def running_as_set(learner: Estimator) -> Iterator[None]:
    """Run BLAS in one thread, so that bits do not depend on it, and our threads as `n_jobs`
    says."""
    with single_threaded_blas(), allowed_threads(learner), dense_coefficients(learner):
        yield


def allowed_threads(learner: Estimator) -> Any:
    """A `with` block in which as many threads run as `n_jobs` says; None is the setting of the
    process."""
    n_jobs = getattr(learner, "n_jobs", None)
    if n_jobs is not None and (not isinstance(n_jobs, Integral) or not n_jobs):
        raise SettingError(
            f"n_jobs={n_jobs!r}: give a number of threads, -1 for all of them, or None"
        )
    if n_jobs is None:
        return nullcontext()
    return limit_threads(max(1, effective_n_jobs(n_jobs)))


# the learner whose `fit` runs here: a committee shows its own progress, not that of its members
_fitting: ContextVar[Any] = ContextVar("lyceum_fitting", default=None)


def is_fitting(learner: Estimator) -> bool:
    """Whether the fit that runs here, in this thread, is that of the learner."""
    return _fitting.get() is learner


@contextmanager
def shown_progress(learner: Estimator) -> Iterator[None]:
    """Print the progress of the block, and the time it took, if the learner has `verbose` set."""
    verbose = int(getattr(learner, "verbose", 0))
    if is_fitting(learner):  # `super().fit` of a subclass
        yield
        return
    token = _fitting.set(learner)
    try:
        if verbose < 1:
            yield
            return
        start = time.perf_counter()
        with watch(_printer(learner, every_step=verbose > 1)):
            yield
        seconds = time.perf_counter() - start
        print(f"[{type(learner).__name__}] fitted in {seconds:.2f} s", flush=True)
    finally:
        _fitting.reset(token)


def _printer(learner: Estimator, every_step: bool) -> Callable[[Update], None]:
    """Print updates: all of them, or at every tenth of a stage (at every doubling of an unknown
    total)."""
    reached: dict[str, int] = {}

    def show(update: Update) -> None:
        if _fitting.get() is not learner:
            return
        done = update.done
        total = update.total
        # a stage that has reached ten tenths stays silent; None: nothing was shown of it yet
        mark = 10 * done // total if total else done.bit_length()
        last_mark = 10 if total else None
        if not every_step and reached.get(update.stage) in (mark, last_mark):
            return
        reached[update.stage] = mark
        count = f"{done:,}"
        if total is not None:
            count += f" of {total:,}"
        print(f"[{type(learner).__name__}] {update.stage}: {count}", flush=True)

    return show

"""Attacks on learners, the fifth and sixth sets: calls in any order. Fits that succeed, fail or are
cut off, questions, copies, settings and files follow each other at random; what a learner answers
depends on its last fit that succeeded, and on nothing else."""

from __future__ import annotations

import contextlib
import copy
import pickle
import threading
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from tests.checks.cases import case_of, learner_named
from tests.checks.fits import METHODS
from tests.checks.source_laws import cut_short
from tests.checks.tables import data_for

from fuzz import Finding, fitted
from lyceum import catalog, persist
from lyceum._core.constraints import InvalidParameterError
from lyceum.errors import LyceumError

__all__ = ["case", "make"]

STEPS = 10
Answers = dict[str, Any]


def make() -> list[tuple[str, Any]]:
    """Every cataloged learner, with settings for few rows."""
    names = [entry.name for entry in catalog.learners()[:: fitted.EVERY]]
    return [(name, cut_short(learner_named(name))) for name in names]


@dataclass
class State:
    """A learner on its way, and what it must answer now."""

    name: str
    learner: Any
    tables: list[Any]
    rng: np.random.Generator
    answers: Answers | None = None

    def ask(self, learner: Any = None) -> Answers:
        """What it says of ten rows, or the words that refuse them."""
        said = {}
        for method in METHODS:
            if not hasattr(self.learner, method):
                continue
            try:
                asked = getattr(self.learner if learner is None else learner, method)
                said[method] = np.array(_dense(asked(self.tables[0].X[:10])))
            except LyceumError as error:
                said[method] = str(error)
        return said

    def check(self, now: Answers, what: str) -> None:
        """Raise where answers are other ones than those of the last fit."""
        for method, before in (self.answers or {}).items():
            if not _equal(before, now.get(method)):
                raise Finding(
                    f"{self.name}, {method}, {what}:"
                    f" {str(before)[:200]} became {str(now.get(method))[:200]}"
                )


def case(learners: list[tuple[str, Any]], rng: np.random.Generator) -> Counter[str]:
    """Ten steps of one learner."""
    name, learner = learners[rng.integers(len(learners))]
    # tables with the same columns, other rows, other labels
    tables = [data_for(learner, n, int(rng.integers(1000))) for n in (40, 25, 33)]
    state = State(name, clone(learner), tables, rng)
    counts = Counter[str]()
    trail: list[str] = []
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for _ in range(STEPS):
            step = list(MOVES)[rng.integers(len(MOVES))]
            trail.append(step)
            try:
                counts[MOVES[step](state)] += 1
            except Finding as finding:
                raise Finding(f"after {', '.join(trail)}: {finding}") from finding
            except Exception as error:
                raise Finding(f"{name} after {', '.join(trail)}: {error!r}") from error
    return counts


# -- moves -----------------------------------------------------------------------------


def _fit(state: State) -> str:
    """A fit answers as that of a new learner on the same rows."""
    data = state.tables[state.rng.integers(len(state.tables))]
    new = clone(state.learner)
    arguments = () if data.y is None else (data.y,)
    before = state.learner.get_params()
    try:
        new.fit(data.X, *arguments)
    except LyceumError:
        return _refused(state, lambda: state.learner.fit(data.X, *arguments))
    if state.learner.fit(data.X, *arguments) is not state.learner:
        raise Finding("fit returns something else")
    if not _same_settings(before, state.learner.get_params()):
        raise Finding(f"{state.name}: fit changed its settings")
    state.answers = state.ask(new)
    warm = before.get("warm_start")
    if not warm:
        state.check(state.ask(), "a second fit is not that of a new learner")
    state.answers = state.ask()
    return "fitted"


def _broken_fit(state: State) -> str:
    """What cannot be fitted is refused, and changes nothing."""
    data = state.tables[state.rng.integers(len(state.tables))]
    X, y = data.X.copy(), data.y
    kind = state.rng.integers(6)
    if kind == 0:
        X = X[:, 0]
    elif kind == 1:
        X = X[:0]
    elif kind == 2:
        y = y[:-3] if y is not None else y
        X = X if y is not None else X[:, :, None]
    elif kind == 3:
        X = np.full(X.shape, np.inf)
    elif kind == 4:
        X = X.astype(object)
        X[3, 1] = {}
    else:
        X = X.astype(complex) + 1j
    arguments = () if y is None else (y,)
    call = state.learner.fit
    if hasattr(state.learner, "partial_fit") and state.rng.random() < 0.4:
        call = state.learner.partial_fit
    return _refused(state, lambda: call(X, *arguments))


def _cut_off(state: State) -> str:
    """A fit that is interrupted somewhere changes nothing."""
    from lyceum.progress import watch

    data = state.tables[state.rng.integers(len(state.tables))]
    arguments = () if data.y is None else (data.y,)
    left = int(state.rng.integers(1, 4))

    def stop(*_: Any) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            raise KeyboardInterrupt

    try:
        with watch(stop):
            state.learner.fit(data.X, *arguments)
    except (KeyboardInterrupt, LyceumError):
        if state.answers is not None:
            state.check(state.ask(), "a fit that was cut off")
        return "cut off"
    state.answers = state.ask()
    return "not cut off"


def _refused(state: State, call: Callable[[], Any]) -> str:
    """Make the call, which may be refused; then old answers stand."""
    try:
        call()
    except (LyceumError, InvalidParameterError, ValueError, TypeError):
        if state.answers is not None:
            state.check(state.ask(), "a refused fit")
        return "refused"
    state.answers = state.ask()
    return "fitted oddly"


def _partial_fit(state: State) -> str:
    if not hasattr(state.learner, "partial_fit"):
        return "no partial_fit"
    data = state.tables[state.rng.integers(len(state.tables))]
    arguments = () if data.y is None else (data.y,)
    # the same on a copy: what a copy learns is not seen in the original
    before = state.answers
    other = copy.deepcopy(state.learner)
    named = case_of(state.name).named_classes(data.y)

    def learn(learner: Any) -> None:
        learner.partial_fit(data.X, *arguments, **named)

    try:
        learn(other)
    except LyceumError:
        return _refused(state, lambda: learn(state.learner))
    if before is not None:
        state.check(state.ask(), "a copy has learned more")
    learn(state.learner)
    state.answers = state.ask(other)
    state.check(state.ask(), "partial_fit of a copy and of the original")
    return "learned more"


def _wrong_question(state: State) -> str:
    """Rows of another width, and rows of texts, are refused; then all is as before."""
    if state.answers is None:
        return "not fitted"
    X = state.tables[1].X
    odd = [X[:, :1], np.full(X.shape, np.nan), np.array([["a", "b"]]), X[:0], X[0]]
    method = list(state.answers)[state.rng.integers(len(state.answers))]
    with contextlib.suppress(LyceumError, ValueError, TypeError):
        getattr(state.learner, method)(odd[state.rng.integers(len(odd))])
    state.check(state.ask(), "a question that was refused")
    return "odd question"


def _clone(state: State) -> str:
    """A clone has the settings, and nothing that was learned."""
    new = clone(state.learner)
    if not _same_settings(new.get_params(), state.learner.get_params()):
        raise Finding("a clone has other settings")
    learned = [key for key in vars(new) if key.endswith("_") and key[0] != "_"]
    if learned:
        raise Finding(f"a clone has learned {learned}")
    return "cloned"


def _pickle(state: State) -> str:
    if state.answers is None:
        pickle.loads(pickle.dumps(state.learner))
        return "pickled unfitted"
    state.learner = pickle.loads(pickle.dumps(state.learner))
    state.check(state.ask(), "pickled")
    return "pickled"


def _deepcopy(state: State) -> str:
    state.learner = copy.deepcopy(state.learner)
    state.check(state.ask() if state.answers else {}, "copied")
    return "copied"


def _save(state: State) -> str:
    """A model that was saved and loaded answers the same, and the loaded one goes on."""
    if state.answers is None:
        return "not fitted"
    try:
        file = persist._pack(state.learner)
    except LyceumError:
        return "not saved"
    loaded = persist._build(persist._members(file))
    state.check(state.ask(loaded), "saved and loaded")
    if not _same_settings(loaded.get_params(), state.learner.get_params()):
        raise Finding(f"{state.name}: settings of a loaded model differ")
    state.learner = loaded
    return "saved"


def _nonsense_setting(state: State) -> str:
    """A setting that is none is refused by `fit`, and taken back."""
    known = state.learner.get_params(deep=False)
    if not known:
        return "no settings"
    key = list(known)[state.rng.integers(len(known))]
    state.learner.set_params(**{key: b"nonsense"})
    said = _broken_settings_fit(state)
    state.learner.set_params(**{key: known[key]})
    if state.answers is not None:
        state.check(state.ask(), f"{key} was set to nonsense and back")
    return said


def _broken_settings_fit(state: State) -> str:
    data = state.tables[0]
    arguments = () if data.y is None else (data.y,)
    try:
        state.learner.fit(data.X, *arguments)
    except (LyceumError, InvalidParameterError, ValueError, TypeError):
        return "nonsense refused"
    state.answers = None
    return "nonsense taken"


def _threads(state: State) -> str:
    """Questions by four threads at once get the answers of one."""
    if state.answers is None:
        return "not fitted"
    said: list[Any] = [None] * 4

    def ask(i: int) -> None:
        with np.errstate(all="ignore"):
            said[i] = state.ask()

    threads = [threading.Thread(target=ask, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for answers in said:
        if answers is None:
            raise Finding(f"{state.name}: a thread did not answer")
        state.check(answers, "asked by threads")
    return "asked by threads"


def _fit_beside_questions(state: State) -> str:
    """Questions during a fit of the same rows get the old answers or the new ones."""
    if state.answers is None:
        return "not fitted"
    learner = copy.deepcopy(state.learner)
    data = state.tables[0]
    arguments = () if data.y is None else (data.y,)
    try:
        after = state.ask(clone(learner).fit(data.X, *arguments))
    except LyceumError:
        return "not fitted beside"
    fitting = threading.Thread(target=learner.fit, args=(data.X, *arguments))
    fitting.start()
    try:
        for _ in range(3):
            now = state.ask(learner)
            for method, answer in now.items():
                good = (state.answers[method], after[method])
                if not any(_equal(one, answer) for one in good):
                    raise Finding(
                        f"{state.name}, {method}: asked during a fit: {answer}"
                    )
    finally:
        fitting.join()
    return "asked during a fit"


def _two_fits(state: State) -> str:
    """Two fits at once, and copies made meanwhile: each is one of the fits, or the state before."""
    if state.answers is None:
        return "not fitted"
    learner = copy.deepcopy(state.learner)
    if learner.get_params().get("warm_start"):
        return "warm"
    good = [state.answers]
    fits = []
    for data in state.tables[:2]:
        arguments = (data.X,) if data.y is None else (data.X, data.y)
        try:
            good.append(state.ask(clone(learner).fit(*arguments)))
        except LyceumError:
            return "not fitted twice"
        fits.append(threading.Thread(target=learner.fit, args=arguments))
    for fit in fits:
        fit.start()
    copies = [pickle.loads(pickle.dumps(learner)), copy.deepcopy(learner)]
    for fit in fits:
        fit.join()
    for model in (learner, *copies):
        said = state.ask(model)
        if not any(all(_equal(one[m], said[m]) for m in said) for one in good):
            raise Finding(
                f"{state.name}: two fits at once, or a copy during them: {said}"
            )
    return "fitted twice at once"


def _set_output(state: State) -> str:
    if not hasattr(state.learner, "set_output") or state.answers is None:
        return "no containers"
    state.learner.set_output(transform="pandas")
    # a frame may name what an array has as codes
    if state.name != "KBinsDiscretizer":
        state.check(state.ask(), "frames as answers")
    state.learner.set_output(transform="default")
    return "frames"


MOVES: dict[str, Callable[[State], str]] = {
    "fit": _fit,
    "fit again": _fit,
    "broken fit": _broken_fit,
    "cut off": _cut_off,
    "partial_fit": _partial_fit,
    "wrong question": _wrong_question,
    "clone": _clone,
    "pickle": _pickle,
    "deepcopy": _deepcopy,
    "save": _save,
    "nonsense": _nonsense_setting,
    "threads": _threads,
    "fit beside questions": _fit_beside_questions,
    "two fits": _two_fits,
    "set_output": _set_output,
}


# -- comparing -------------------------------------------------------------------------


def _dense(answer: Any) -> Any:
    return answer.toarray() if hasattr(answer, "toarray") else answer


def _equal(one: Any, two: Any) -> bool:
    if isinstance(one, str) or isinstance(two, str) or two is None:
        return isinstance(one, str) and isinstance(two, str)
    if one.shape != two.shape:
        return False
    if one.dtype.kind == "f" and two.dtype.kind in ("f", "O"):
        return np.array_equal(one, two.astype(float), equal_nan=True)
    return bool(np.all(one.astype(str) == two.astype(str)))


def _same_settings(one: dict[str, Any], two: dict[str, Any]) -> bool:
    return repr(sorted(one.items(), key=str)) == repr(sorted(two.items(), key=str))

"""Classes that stand where scikit-learn's stood: Lyceum's learners, which give way where they
cannot take what they are given.

A model that is pickled names its class here, so that it can be loaded wherever Lyceum is installed,
patched or not.
"""

from __future__ import annotations

import inspect
import time
import types
from abc import ABCMeta
from collections.abc import Callable
from contextvars import ContextVar
from functools import cache, wraps
from typing import Any

from lyceum.dropin import calls
from lyceum.dropin.differences import ASKED_FOR, parameters_of
from lyceum.dropin.modules import pickle_as_theirs
from lyceum.dropin.names import our_class, our_names, their_class
from lyceum.errors import Cancelled

_parameters = cache(parameters_of)

_LEARNING = ("fit", "fit_predict", "fit_transform", "partial_fit")

_falls_back = True
_is_collecting = False  # tests are being imported
# the learner in whose `fit` we are: `fit_transform` that calls `fit` counts once
_learning: ContextVar[Any] = ContextVar("lyceum_dropin_learning", default=None)


def set_fallback(fallback: bool) -> None:
    """Whether scikit-learn's class learns what ours refuses."""
    global _falls_back
    _falls_back = fallback


def set_collecting(collecting: bool) -> None:
    """Whether pytest imports test modules."""
    global _is_collecting
    _is_collecting = collecting


class StandInType(ABCMeta):  # some learners are abstract in a base
    """The type of stand-ins: objects of scikit-learn's class count as theirs, and what inherits
    from one inherits from scikit-learn's class."""

    _theirs: type

    def __new__(
        meta, name: str, bases: tuple[type, ...], body: dict[str, Any], **options: Any
    ) -> Any:
        if not any(isinstance(base, StandInType) for base in bases):
            return super().__new__(meta, name, bases, body, **options)
        for base in bases:
            if isinstance(base, StandInType):
                calls.note(base.__name__, "theirs", f"{name} inherits from it")
        originals = tuple(getattr(base, "_theirs", base) for base in bases)
        return types.new_class(
            name, originals, options, lambda space: space.update(body)
        )

    def __call__(cls, *values: Any, **settings: Any) -> Any:
        calls.touched.add(cls.__name__)
        unknown = sorted(set(settings) - set(_parameters(cls)))
        if unknown and set(unknown) <= set(_parameters(cls._theirs)):
            if _falls_back:
                reason = f"parameter {', '.join(unknown)}"
                calls.note(cls.__name__, "theirs", reason)
                pickle_as_theirs(cls._theirs)
                return cls._theirs(*values, **settings)
            if _is_collecting:
                known = {key: settings[key] for key in settings if key not in unknown}
                return _refusing(cls.__name__, unknown[0])(*values, **known)
        return super().__call__(*values, **settings)

    def __instancecheck__(cls, instance: Any) -> bool:
        return type.__instancecheck__(cls, instance) or isinstance(
            instance, cls._theirs
        )

    def __subclasscheck__(cls, other: type) -> bool:
        return type.__subclasscheck__(cls, other) or issubclass(other, cls._theirs)


def __getattr__(name: str) -> Any:
    """The stand-in of a name, for unpickling."""
    if name not in our_names() or their_class(name) is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return stand_in(name)


@cache
def stand_in(name: str) -> Any:
    """The class that stands for a name of scikit-learn's: Lyceum's, which may give way."""
    from sklearn.utils.metaestimators import available_if

    ours = our_class(name)
    theirs = their_class(name)
    body: dict[str, Any] = {
        "__module__": __name__,
        "__qualname__": name,
        "__doc__": ours.__doc__,
        "__signature__": inspect.signature(ours),  # not that of the type's `__call__`
        "_theirs": theirs,
        "_gives_arrays": True,  # of frames too, unless `set_output` says otherwise
        "__setstate__": _set_state,
    }
    for verb in _verbs(ours):
        method = inspect.getattr_static(ours, verb)
        if hasattr(method, "fn") and hasattr(method, "check"):
            # a method that is there only under some settings
            body[verb] = available_if(method.check)(_giving_way(method.fn, verb))
        else:
            body[verb] = _giving_way(method, verb)
    if name in ASKED_FOR:
        theirs.register(ours)
    return StandInType(name, (ours,), body)


@cache
def _refusing(name: str, unknown: str) -> Any:
    """The stand-in of a name that was given an unknown parameter while tests were collected: it
    fails in the tests that use it, where else none of their module could run."""

    def refuse(self: Any, *data: Any, **named: Any) -> Any:
        calls.touched.add(name)
        message = f"{name}.__init__() got an unexpected keyword argument {unknown!r}"
        raise TypeError(message)

    refuse._is_guarded = True  # type: ignore[attr-defined]
    usual = stand_in(name)
    body = {**vars(usual), **dict.fromkeys(_verbs(usual), refuse)}
    body = {key: body[key] for key in body if key not in ("__dict__", "__weakref__")}
    return StandInType(name, (usual.__base__,), body)


def _verbs(kind: type) -> list[str]:
    return [verb for verb in _LEARNING if hasattr(kind, verb)]


def _giving_way(method: Callable[..., Any], verb: str) -> Callable[..., Any]:
    """A method that learns; scikit-learn's learns what it refuses."""

    @wraps(method)
    def learn(self: Any, *data: Any, **named: Any) -> Any:
        if _learning.get() is self:
            return method(self, *data, **named)
        name = type(self).__name__
        calls.touched.add(name)
        token = _learning.set(self)
        start = time.perf_counter()
        try:
            answer = method(self, *data, **named)
        except Cancelled:
            raise
        except Exception as refusal:
            if not _falls_back or not _gives_way(self, verb):
                raise
            return _learn_as_theirs(self, verb, data, named, refusal)
        finally:
            _learning.reset(token)
        calls.note(name, "ours", "", time.perf_counter() - start)
        return answer

    learn._is_guarded = True  # type: ignore[attr-defined]  # the method it calls is guarded
    return learn


def _gives_way(learner: Any, verb: str) -> bool:
    """Whether scikit-learn's class has the method and all settings that are not as by default; not
    in the midst of `partial_fit`."""
    theirs = type(learner)._theirs
    has_begun = verb == "partial_fit" and hasattr(learner, "n_features_in_")
    known = set(_parameters(theirs))
    return hasattr(theirs, verb) and not has_begun and _changed(learner).keys() <= known


def _learn_as_theirs(
    learner: Any, verb: str, data: Any, named: Any, refusal: Exception
) -> Any:
    """Learn by scikit-learn's class, which the learner becomes."""
    theirs = type(learner)._theirs
    other = theirs(**_changed(learner))
    start = time.perf_counter()
    answer = getattr(other, verb)(*data, **named)
    seconds = time.perf_counter() - start
    reason = f"{type(refusal).__name__}: {refusal}"
    calls.note(type(learner).__name__, "theirs", reason, seconds)
    pickle_as_theirs(theirs)
    routing = vars(learner).get("_metadata_request")
    learner.__class__ = theirs
    learner.__dict__ = vars(other)
    if routing is not None:
        learner._metadata_request = routing
    return learner if answer is other else answer


def _set_state(self: Any, state: dict[str, Any]) -> None:
    """A model that was pickled by scikit-learn remains one of its class."""
    if "_sklearn_version" in state:
        self.__class__ = type(self)._theirs
        self.__setstate__(state)
    else:
        super(type(self), self).__setstate__(state)


def _changed(learner: Any) -> dict[str, Any]:
    """The settings that are not as by default."""
    kind: Any = type(learner)
    defaults = _parameters(kind)
    settings = learner.get_params(deep=False)
    return {
        name: value
        for name, value in settings.items()
        if value is not defaults[name] and repr(value) != repr(defaults[name])
    }

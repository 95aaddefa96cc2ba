"""scikit-learn's metadata routing: further arguments of a method, and the learners, splitters and
scorers inside that asked for them by `set_fit_request` and the like.

A learner names those inside by `_routes()`. While one of its methods runs, `routed` says what each
of them is to be given; scikit-learn finds that out, and refuses what nobody asked for.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from sklearn import get_config
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    process_routing,
)

from lyceum.errors import SettingError

Routed = Mapping[str, Mapping[str, Any]]

_WEIGHTS = "sample_weight"
# the learner whose method runs, and what those inside are given
_current: ContextVar[tuple[Any, Any]] = ContextVar("lyceum_routed", default=(None, {}))


@dataclass(frozen=True)
class Route:
    """Something inside of a learner: its name, the object, and (method of the learner, method of
    the object) pairs."""

    name: str
    taker: Any
    methods: tuple[tuple[str, str], ...]


def router_of(learner: Any, routes: list[Route], own_weights: bool) -> MetadataRouter:
    """What scikit-learn asks for by `get_metadata_routing`."""
    router = MetadataRouter(owner=learner)
    if own_weights:
        router.add_self_request(learner)
    for route in routes:
        mapping = MethodMapping()
        for caller, callee in route.methods:
            mapping.add(caller=caller, callee=callee)
        router.add(**{route.name: route.taker}, method_mapping=mapping)
    return router


def routed(learner: Any, name: str) -> Routed:
    """What something inside of a learner is given, method by method, in the current call."""
    current, given = _current.get()
    if current is not learner:  # a member's call within that of its ensemble
        return {}
    return given.get(name) or {}


@contextmanager
def routing(
    learner: Any, method: Callable[..., Any], data: tuple[Any, ...], named: Any
) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
    """The arguments that a method itself takes, while `routed` gives the others."""
    caller = method.__name__
    routes = []
    if named or len(data) > 2:  # more than X and y
        routes = [route for route in learner._routes() if caller in dict(route.methods)]
    # within a call of its own, as of the `fit` of a base class, what is given is routed already
    if not routes or _current.get()[0] is learner:
        yield data, named
        return
    parameters = list(inspect.signature(method).parameters)[1:]
    arguments = {**dict(zip(parameters, data)), **named}
    further = {
        name: value
        for name, value in arguments.items()
        if value is not None and (name == _WEIGHTS or name not in parameters)
    }
    if not get_config()["enable_metadata_routing"]:
        _refuse_further(f"{type(learner).__name__}.{caller}", further)
        yield data, named
        return
    given = process_routing(learner, caller, **further)
    own = {name: value for name, value in arguments.items() if name not in further}
    weights = further.get(_WEIGHTS)
    if not learner._uses_weights:  # those that something inside asked for
        asked = [given[route.name].get(caller, {}).get(_WEIGHTS) for route in routes]
        weights = next((w for w in asked if w is not None), None)
    if weights is not None and _WEIGHTS in parameters:
        own[_WEIGHTS] = weights
    token = _current.set((learner, given))
    try:
        yield (), own
    finally:
        _current.reset(token)


@contextmanager
def routed_through(learner: Any, inner: Any) -> Iterator[None]:
    """While a learner inside works for it: what is inside of that one is given the same."""
    current, given = _current.get()
    if current is not learner:
        yield
        return
    token = _current.set((inner, given))
    try:
        yield
    finally:
        _current.reset(token)


def _refuse_further(caller: str, further: Mapping[str, Any]) -> None:
    names = sorted(set(further) - {_WEIGHTS})
    if names:
        raise SettingError(
            f"{caller} was given {', '.join(names)} for what is inside of it, which is only"
            " supported if enable_metadata_routing=True: call"
            " sklearn.set_config(enable_metadata_routing=True) before"
        )

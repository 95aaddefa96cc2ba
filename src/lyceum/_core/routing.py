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
    """The arguments that a method itself takes, while `routed` gives the others.

    Weights are the method's own where the learner uses them itself; else they are those that the
    estimator inside asked for.
    """
    is_further = named or len(data) > 2
    if not is_further or not get_config()["enable_metadata_routing"]:
        yield data, named
        return
    caller = method.__name__
    routes = [route for route in learner._routes() if caller in dict(route.methods)]
    parameters = list(inspect.signature(method).parameters)[1:]
    arguments = {**dict(zip(parameters, data)), **named}
    further = {
        name: value
        for name, value in arguments.items()
        if value is not None and (name == _WEIGHTS or name not in parameters)
    }
    if not routes or not further:
        yield data, named
        return
    given = process_routing(learner, caller, **further)
    own = {name: value for name, value in arguments.items() if name not in further}
    if learner._uses_weights and _WEIGHTS in further:
        own[_WEIGHTS] = further[_WEIGHTS]
    elif not learner._uses_weights:
        asked = [given[route.name].get(caller, {}).get(_WEIGHTS) for route in routes]
        own[_WEIGHTS] = next((w for w in asked if w is not None), None)
    if own.get(_WEIGHTS) is None:
        own.pop(_WEIGHTS, None)
    token = _current.set((learner, given))
    try:
        yield (), own
    finally:
        _current.reset(token)

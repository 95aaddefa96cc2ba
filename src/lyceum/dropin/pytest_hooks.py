"""What `pytest -p lyceum.dropin` does: switch, and note which test touches which class."""

from __future__ import annotations

import json
import os
from typing import Any

from sklearn.base import BaseEstimator

from lyceum.dropin import calls, stand_ins, switch

_RESULTS = "LYCEUM_DROPIN_RESULTS"  # a file for one line of JSON per test
_CHECKS = "sklearn.tests.test_common"  # what every learner is checked for
_STRICT = "LYCEUM_DROPIN_STRICT"  # no fallback: the tests see Lyceum's learners alone


def pytest_configure(config: Any) -> None:
    """Switch before the first test module is imported."""
    switch.patch_sklearn(fallback=not os.environ.get(_STRICT))


def pytest_collection(session: Any) -> None:
    """Test modules are imported from now on."""
    stand_ins.set_collecting(True)


def pytest_collection_modifyitems(config: Any, items: list[Any]) -> None:
    """Leave out the checks of all learners of scikit-learn for those that are not ours and hold
    none of ours: nothing of ours is touched."""
    if not os.environ.get(_RESULTS):
        return
    others = [item for item in items if _is_of_others(item)]
    items[:] = [item for item in items if not _is_of_others(item)]
    config.hook.pytest_deselected(items=others)


def _is_of_others(item: Any) -> bool:
    """Whether this is a check of a learner, and not of ours."""
    case = getattr(item, "callspec", None)
    if item.module.__name__ != _CHECKS:
        return False
    values = case.params.values() if case is not None else ()
    learners = [value for value in values if isinstance(value, BaseEstimator)]
    parts = [part for learner in learners for part in _parts(learner)]
    return bool(learners) and not any(
        isinstance(type(part), stand_ins.StandInType) for part in parts
    )


def _parts(learner: BaseEstimator) -> list[Any]:
    """A learner and all that it holds."""
    return [learner, *learner.get_params(deep=True).values()]


def pytest_collection_finish(session: Any) -> None:
    """All test modules are imported."""
    stand_ins.set_collecting(False)


def pytest_runtest_setup(item: Any) -> None:
    """Begin to note the classes that a test touches."""
    calls.touched.clear()


def pytest_runtest_makereport(item: Any, call: Any) -> None:
    """Keep what a test raised, and where, for its line."""
    if call.excinfo is None:
        return
    entries = call.excinfo.traceback
    frames = [f"{entry.path}:{entry.lineno + 1}" for entry in entries[-6:]]
    try:
        line = str(entries[-1].statement)
    except AssertionError:  # compiled code has no source
        line = ""
    item._lyceum_raised = {
        "type": call.excinfo.typename,
        "text": str(call.excinfo.value)[:600],
        "line": line[:200],
        "frames": [frame.partition("site-packages/")[2] or frame for frame in frames],
    }
    item.user_properties.append(("lyceum_raised", item._lyceum_raised))


def pytest_runtest_logreport(report: Any) -> None:
    """Write the line of a test: its outcome and the classes that it touched."""
    if report.when == "call" or report.outcome != "passed":
        raised = dict(report.user_properties).get("lyceum_raised")
        _write(report, sorted(calls.touched), raised)


def _write(report: Any, classes: list[str], raised: dict[str, Any] | None) -> None:
    path = os.environ.get(_RESULTS)
    if not path:
        return
    line = {
        "test": report.nodeid,
        "outcome": report.outcome,
        "expected_failure": hasattr(report, "wasxfail"),
        "seconds": round(getattr(report, "duration", 0.0), 3),
        "classes": classes,
        "raised": raised,
    }
    with open(path, "a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def pytest_collectreport(report: Any) -> None:
    """A module that cannot be imported has a line, too."""
    if report.failed:
        raised = {"type": "Module", "text": str(report.longrepr)[-600:]}
        _write(report, ["(module)"], {**raised, "line": "", "frames": []})


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Show which classes learned, at the end of the run."""
    if not os.environ.get(_RESULTS):
        terminalreporter.write_line(str(calls.report()))

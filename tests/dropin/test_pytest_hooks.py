"""The lines that pytest writes of scikit-learn's tests."""

import json
from types import SimpleNamespace

import pytest
from sklearn.feature_selection import RFE
from sklearn.kernel_ridge import KernelRidge
from sklearn.preprocessing import Normalizer

from lyceum.dropin import pytest_hooks
from lyceum.dropin.stand_ins import stand_in


@pytest.fixture
def results(tmp_path, monkeypatch):
    path = tmp_path / "results.jsonl"
    monkeypatch.setenv("LYCEUM_DROPIN_RESULTS", str(path))
    return path


def case(module, **values):
    names = SimpleNamespace(__name__=module)
    return SimpleNamespace(module=names, callspec=SimpleNamespace(params=values))


def kept(cases):
    config = SimpleNamespace(hook=SimpleNamespace(pytest_deselected=lambda items: None))
    left = list(cases)
    pytest_hooks.pytest_collection_modifyitems(config, left)
    return [cases.index(one) for one in left]


@pytest.mark.usefixtures("results")
def test_checks_of_all_learners_run_for_ours_and_what_holds_ours():
    checks = "sklearn.tests.test_common"
    ours = stand_in("KernelRidge")()
    cases = [
        case(checks, estimator=ours, check=print),
        case(checks, estimator=RFE(ours)),
        case(checks, estimator=KernelRidge()),
        case(checks, transform="default"),
        case("sklearn.ensemble.tests.test_stacking", estimator=Normalizer()),
    ]
    assert kept(cases) == [0, 1, 3, 4]


def test_a_run_without_results_leaves_nothing_out():
    assert kept([case("sklearn.tests.test_common", estimator=Normalizer())]) == [0]


def test_a_module_that_cannot_be_imported_has_a_line(results):
    report = SimpleNamespace(
        failed=True, longrepr="no torch", nodeid="sklearn/a.py", outcome="failed"
    )
    pytest_hooks.pytest_collectreport(report)
    line = json.loads(results.read_text(encoding="utf-8"))
    assert line["classes"] == ["(module)"]
    assert line["raised"]["text"] == "no torch"

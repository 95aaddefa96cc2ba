"""`make portable` tries every value of every dimension, and its table says what came of it."""

from pathlib import Path

import pytest
from portability.configurations import (
    CONFIGURATIONS,
    HASH_SEEDS,
    KERNELS,
    LEVELS,
    QUICK,
    THREADS,
)
from portability.environments import is_private, oldest
from portability.results import BEGIN, END, Result, Results

ROOT = Path(__file__).parents[2]


def values(field):
    return {getattr(configuration, field) for configuration in CONFIGURATIONS}


def test_every_value_of_every_dimension_is_tried():
    assert values("level") >= set(LEVELS)
    assert values("kernels") >= set(KERNELS)
    assert values("threads") == set(THREADS)
    assert values("hash_seed") == set(HASH_SEEDS)
    assert values("versions") == {"oldest", "current", "newest"}
    assert values("place") == {"checkout", "awkward path", "read-only"}
    assert values("other_user") == values("loaded") == {True, False}


@pytest.mark.parametrize("level", LEVELS)
def test_every_level_meets_every_number_of_threads(level):
    met = {
        configuration.threads
        for configuration in CONFIGURATIONS
        if configuration.level == level
    }
    assert met == set(THREADS)


def test_names_are_different_and_tests_are_there():
    assert len(values("name")) == len(CONFIGURATIONS)
    for configuration in (*CONFIGURATIONS, QUICK):
        assert all((ROOT / path).exists() for path in configuration.tests)


def test_the_oldest_version_is_the_lower_bound():
    assert oldest("numpy>=2.0") == "numpy==2.0"
    assert oldest("nanobind>=3.1,<3.2") == "nanobind==3.1"
    assert oldest("dask[array,dataframe]>=2024.5") == "dask[array,dataframe]==2024.5"


def test_a_folder_that_is_closed_to_others_is_private(tmp_path):
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    assert is_private(closed / "python")


def test_a_run_that_ended_badly_is_a_failure(tmp_path):
    report = tmp_path / "report.xml"
    assert Result.of(report, 3, "").failed == 1
    report.write_text(
        '<testsuites><testsuite tests="7" failures="0" errors="0" skipped="2"'
        ' time="1.5"/></testsuites>'
    )
    assert Result.of(report, 0, "") == Result(passed=5, skipped=2, seconds=1.5)
    assert Result.of(report, 1, "").failed == 1


def test_the_table_replaces_what_stands_between_the_markers(tmp_path):
    document = tmp_path / "page.md"
    document.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    results = Results(tmp_path / "results.json")
    results.add("POSIX", Result(passed=12, seconds=3.0))
    results.add("Python 3.14", Result(not_tried="there is no python3.14 here"))
    Results(tmp_path / "results.json").write(document)
    text = document.read_text()
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "old\n" not in text
    assert "| core | 12 | 0 | 0 | 3 |" in text
    assert "not tried: there is no python3.14 here" in text

"""Identifiers that repeat, numbers that tell the target, and piles of one value: where they are
flagged, and where not."""

import numpy as np
import pyarrow as pa
import pytest

from lyceum.data import inspect

G = np.random.default_rng(0)
N = 300
X = G.normal(size=N)
AGES = G.integers(18, 80, N).astype(float)


def flags(target=None, **columns):
    found = inspect(pa.table(columns), target)
    return {c.name: [flag.code for flag in c.flags] for c in found.columns}


def test_a_number_called_an_identifier_is_one_though_some_cases_have_two_rows():
    ids = np.r_[np.arange(1000, 1270), np.arange(1000, 1030)] * 7
    assert flags(ID=ids)["ID"] == ["identifier", "repeated_identifier"]
    assert flags(size=ids)["size"] == []


def test_cases_with_many_rows_suggest_groups_and_are_kept():
    cases = np.repeat(np.arange(30), 10)
    names = [f"s{case}" for case in cases]
    assert flags(Subject=cases)["Subject"] == ["repeated_identifier"]
    for name in ("distid", "schid", "sch_id", "HHID"):
        assert flags(**{name: cases})[name] == ["repeated_identifier"], name
    for name in ("acid", "paid", "hybrid", "district"):
        assert flags(**{name: cases})[name] == [], name
    assert flags(patient_id=names)["patient_id"] == ["repeated_identifier"]
    assert flags(person=cases % 2)["person"] == flags(age=cases)["age"] == []


@pytest.mark.parametrize(
    ("noise", "word"), [(0.02, "almost perfectly"), (0.15, "nearly"), (0.5, None)]
)
def test_a_column_that_alone_tells_the_target_is_flagged_by_how_much(noise, word):
    density = -X + noise * G.normal(size=N)
    found = inspect(pa.table({"density": density, "fat": X}), "fat")
    texts = [flag.text for flag in found["density"].flags if flag.code == "leak"]
    assert texts == [] if word is None else f"tells the target {word} (" in texts[0]


def test_a_pile_at_the_end_of_a_range_may_mean_not_measured():
    insulin = np.where(np.arange(N) % 2, 0.0, 14.0 + 100.0 * G.random(N))
    rain = np.where(np.arange(N) % 2, 0.0, 10.0 * G.random(N) ** 3)
    visits = np.where(np.arange(N) % 2, 0.0, G.poisson(12.0, N) // 1 % 30 + 1.0)
    visits[:2] = 1.0
    found = inspect(pa.table({"insulin": insulin, "rain": rain, "visits": visits}))
    [flag] = found["insulin"].flags
    assert flag.code == "pile"
    assert flag.text.startswith("is 0 in 50% of the rows, and from 14")
    assert flag.text.endswith("does 0 mean that it was not measured?")
    assert not found["rain"].flags
    assert not found["visits"].flags
    assert not inspect(pa.table({"age": AGES}))["age"].flags

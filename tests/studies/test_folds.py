"""Folds by groups and in the order of time; the same rule holds for inner folds and the holdout."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

import lyceum
from lyceum.errors import StudyError
from lyceum.studies import Recipe
from lyceum.studies.plan.fold_scheme import FoldScheme
from lyceum.studies.plan.plan import Plan
from lyceum.studies.plan.row_order import without_order_columns
from lyceum.studies.plan.study_data import StudyData


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 6))
def test_a_group_is_never_learned_from_and_tested_together_and_every_row_is_tested_once(
    seed, n_folds
):
    rng = np.random.default_rng(seed)
    groups, y = rng.integers(0, 12, 90), rng.integers(0, 3, 90)
    scheme = FoldScheme(3, True, groups=groups)
    parts = list(scheme.splits(y, n_folds, seed))
    assert sorted(np.concatenate([test for _, test in parts])) == list(range(90))
    for train, test in parts:
        assert not set(groups[train]) & set(groups[test])
        assert len(train) + len(test) == 90


def test_groups_of_equal_size_fill_folds_of_equal_size_with_every_class():
    groups = np.repeat(np.arange(20), 5)
    y = (groups % 2).astype(np.int64)
    for _, test in FoldScheme(3, True, groups=groups).splits(y, 5, 0):
        assert len(test) == 20
        assert np.bincount(y[test]).tolist() == [10, 10]


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 5), st.booleans())
def test_in_the_order_of_time_all_that_is_learned_from_is_earlier(
    seed, n_folds, grouped
):
    rng = np.random.default_rng(seed)
    times, groups = rng.integers(0, 30, 80).astype(float), rng.integers(0, 40, 80)
    scheme = FoldScheme(3, False, groups=groups if grouped else None, times=times)
    parts = list(scheme.splits(np.zeros(80), n_folds, seed))
    assert 1 <= len(parts) <= n_folds
    tested = np.concatenate([test for _, test in parts])
    assert len(tested) == len(set(tested))
    assert grouped or max(times) in times[parts[-1][1]]
    for train, test in parts:
        assert times[train].max() < times[test].min()
        assert not grouped or not set(groups[train]) & set(groups[test])


@pytest.mark.parametrize("n_groups", [2, 3, 12])
def test_groups_that_go_on_through_time_leave_every_fold_half_of_the_earlier_rows(
    n_groups,
):
    times, groups = np.arange(240.0), np.arange(240) % n_groups
    y = np.random.default_rng(0).integers(0, 2, 240)
    parts = list(FoldScheme(3, True, groups=groups, times=times).splits(y, 5, 0))
    assert len(parts) == 5
    for train, test in parts:
        assert 2 * len(train) >= np.count_nonzero(times < times[test].min()) - 1
        assert times[train].max() < times[test].min()
        assert not set(groups[train]) & set(groups[test])
    assert len(np.unique(groups[np.concatenate([test for _, test in parts])])) > 1


def test_folds_with_one_class_to_learn_from_are_left_out():
    times, y = np.arange(60.0), (np.arange(60) >= 25).astype(int)
    parts = list(FoldScheme(3, True, times=times).splits(y, 5, 0))
    assert [int(times[test].min()) for _, test in parts] == [30, 40, 50]


def test_the_holdout_is_of_the_latest_rows_or_of_whole_groups():
    y, times = np.zeros(50), np.arange(50.0)[::-1]
    rest, held = FoldScheme(3, False, times=times).held_out(y, 0.2, 0)
    assert sorted(times[held]) == list(range(40, 50))
    assert len(rest) == 40
    groups = np.arange(50) % 10
    rest, held = FoldScheme(3, False, groups=groups).held_out(y, 0.2, 0)
    assert len(held) == 10
    assert not set(groups[rest]) & set(groups[held])


@pytest.fixture
def panel(tmp_path):
    """Five visits of each of 24 persons: a person's number gives the answer away, were it seen."""
    rng = np.random.default_rng(0)
    person = np.repeat(np.arange(24), 5)
    day = np.tile(np.arange(5), 24)
    y = np.where(rng.random(24) < 0.5, "yes", "no")[person]
    path = tmp_path / "panel.csv"
    lines = [f"p{p},2024-01-{d + 1:02},{p + rng.normal() / 9},{rng.normal()},{label}"
             for p, d, label in zip(person, day, y)]  # fmt: skip
    path.write_text("person,day,mark,noise,y\n" + "\n".join(lines))
    return path


def planned(path, **options):
    recipe = Recipe(data=str(path), target="y", learners=("NaiveBayes",), **options)
    data = StudyData.of(without_order_columns(recipe)).check_rows()
    return Plan.of(recipe, data), data


def test_columns_of_groups_and_times_are_not_learned_from_unless_kept(panel):
    plan, data = planned(panel, group="person", time="day")
    assert data.schema.names == ("mark", "noise")
    assert any("'person'" in note for note in plan.notes)
    assert any("'day'" in note for note in plan.notes)
    assert "day" in planned(panel, time="day", keep=("day",))[1].schema.names


def test_inner_folds_keep_groups_apart_too(panel):
    plan, data = planned(panel, group="person", folds=4, ignore=("day", "noise"))
    person = np.repeat(np.arange(24), 5)
    for split in plan.splits(data.y).values():
        rows = data.rows.take(split.train)
        for train, test in plan.scheme.take(split.train).inner(rows, 0, 10**6):
            # the only column is the person's number and a little noise
            one, two = (set(np.round(part.source.X[:, 0])) for part in (train, test))
            assert not one & two
        assert not set(person[split.train]) & set(person[split.test])


def test_a_study_of_groups_over_time_says_what_is_tested_and_which_folds_were_left_out(
    panel, tmp_path
):
    plan, _ = planned(panel, group="person", time="day", folds=4)
    assert any("go on over time" in note for note in plan.notes)
    late = tmp_path / "late.csv"
    late.write_text(
        "t,x,y\n"
        + "\n".join(f"{t},{t * 7 % 11},{'no' if t < 25 else 'yes'}" for t in range(60))
    )
    plan, data = planned(late, time="t", folds=5)
    assert plan.folds == len(plan.splits(data.y)) == 3
    assert any("2 of the 5 folds were left out" in note for note in plan.notes)
    late.write_text(
        "t,x,y\n"
        + "\n".join(f"{t},{t * 7 % 11},{'no' if t < 55 else 'yes'}" for t in range(60))
    )
    with pytest.raises(StudyError, match="leave out time"):
        planned(late, time="t", folds=3)


@pytest.mark.usefixtures("no_pictures")
def test_a_study_by_groups_does_not_reward_knowing_the_person(panel, tmp_path):
    ask = {
        "learners": ["KNeighborsClassifier"],
        "folds": 4,
        "ignore": ["day", "noise"],
        "n_settings": 3,
    }
    apart = lyceum.study(panel, "y", group="person", out=tmp_path / "apart", **ask)
    mixed = lyceum.study(
        panel,
        "y",
        out=tmp_path / "mixed",
        **{**ask, "ignore": ["day", "noise", "person"]},
    )
    assert mixed.comparison["KNeighborsClassifier"].loss < 0.1
    assert apart.comparison["KNeighborsClassifier"].loss > 0.25
    people = apart.out_of_sample("KNeighborsClassifier").groups
    assert apart.comparison.n_groups == len(np.unique(people))
    assert mixed.out_of_sample("KNeighborsClassifier").groups is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"group": "nobody"}, "nobody"),
        ({"time": "y"}, "is the target"),
        ({"time": "person"}, "neither numbers nor dates"),
        ({"time": "day", "repeats": 2}, "only once"),
    ],
)
def test_what_cannot_group_or_order_is_refused(panel, options, message):
    with pytest.raises(StudyError, match=message):
        planned(panel, **options)


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_groups_and_times_of_a_file_that_does_not_fit_are_those_of_its_rows(
    name, tmp_path
):
    rng = np.random.default_rng(0)
    n = 30_000
    frame = pd.DataFrame({f"x{j}": rng.normal(size=n).round(3) for j in range(4)})
    frame["person"] = np.where(
        np.arange(n) % 7 == 0, None, [f"p{i % 500}" for i in range(n)]
    )
    frame["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(
        np.arange(n) // 3 % 1_000, "D"
    )
    frame["y"] = np.where(np.arange(n) % 11 == 0, None, rng.choice(["a", "b"], n))
    path = tmp_path / name
    frame.to_csv(path, index=False) if name == "t.csv" else frame.to_parquet(
        path, row_group_size=9_000
    )
    plan, data = planned(path, group="person", time="day", memory_mb=1)
    assert data.is_sample
    rows = frame.iloc[data.numbers]
    person, day = rows["person"].to_numpy(), rows["day"].to_numpy()
    known = rows["person"].notna().to_numpy()
    groups, times = plan.scheme.groups, plan.scheme.times
    assert pd.crosstab(person[known], groups[known]).astype(bool).sum().sum() == len(
        set(person[known])
    )
    assert len(np.unique(groups)) == len(set(person[known])) + np.count_nonzero(~known)
    assert np.array_equal(
        np.unique(times, return_inverse=True)[1], np.unique(day, return_inverse=True)[1]
    )
    with pytest.raises(
        StudyError, match="time = 'person': its values are neither numbers nor dates"
    ):
        planned(path, time="person", memory_mb=1)
    with pytest.raises(
        StudyError, match="group: there is no column 'persom': did you mean 'person'"
    ):
        planned(path, group="persom", memory_mb=1)

"""Every note on the table, the folds and the plan, where it must appear and where it must not."""

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest

from lyceum.data import Column, Schema
from lyceum.errors import StudyError
from lyceum.studies.plan import table_notes as _table_notes
from lyceum.studies.plan.candidate import ColumnWarning
from lyceum.studies.plan.facts import StudyPlanRecord
from lyceum.studies.plan.fold_scheme import (
    FoldScheme,
    fold_counts,
    fold_notes,
    limited_folds,
)
from lyceum.studies.plan.plan import Plan, _search_notes


@dataclass
class Found:
    """What an inspection found."""

    n_missing: int = 0
    n_infinite: int = 0
    n_repeated: int = 0
    notes: tuple = ()
    n_rows: int = 50
    n_distinct: tuple = (40, 45, 2)

    @property
    def columns(self):
        usual = {"name": "x", "kind": "continuous", "low": 0.0}
        return [SimpleNamespace(n_distinct=n, **usual) for n in self.n_distinct]

    def __getitem__(self, name):
        assert name == "y"
        return self


def recipe(**changes):
    usual = {
        "target": "y",
        "keep": (),
        "kinds": {},
        "text": True,
        "folds": None,
        "repeats": 1,
        "time": None,
        "group": None,
        "ignore": (),
        "n_settings": 12,
        "budget_minutes": None,
    }
    return SimpleNamespace(**{**usual, **changes})


# -- the table -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("found", "notes"),
    [
        (Found(), ()),
        (
            Found(n_missing=1),
            ("1 row without a target was left out: nothing can be learned from it.",),
        ),
        (
            Found(n_missing=1200),
            (
                "1,200 rows without a target were left out: nothing can be learned from them.",
            ),
        ),
        (
            Found(n_infinite=2),
            (
                "2 rows with an infinite target were left out: nothing can be learned from them.",
            ),
        ),
        (
            Found(n_repeated=1),
            (
                (
                    "1 row repeats an earlier row; where they are the same case, the errors here"
                    " are too small."
                ),
            ),
        ),
        # three columns of categories repeat in any table that is long enough
        (Found(n_repeated=2177, n_rows=2201, n_distinct=(4, 2, 2)), ()),
        (
            Found(n_repeated=3),
            (
                (
                    "3 rows repeat an earlier row; where they are the same case, the errors here"
                    " are too small."
                ),
            ),
        ),
        (Found(notes=("the file is Latin-1",)), ("The file is Latin-1.",)),
    ],
)
def test_notes_on_the_table(found, notes):
    assert _table_notes.table_notes(found, recipe()) == notes


def test_a_column_is_said_to_be_kept_only_where_nobody_asked_for_it():
    odd = ColumnWarning("a", "identifier", "differs in every row?", False)
    [note] = _table_notes.kept_notes((odd,), recipe())
    assert note.startswith(
        "Column 'a' differs in every row. It was kept because no other column is left"
    )
    for silent in (
        recipe(keep=("a",)),
        recipe(kinds={"a": "categorical"}),
        recipe(target="a"),
    ):
        assert not list(_table_notes.kept_notes((odd,), silent))
    text = ColumnWarning("a", "free_text", "is free text", False)
    assert not list(_table_notes.kept_notes((text,), recipe()))
    assert list(_table_notes.kept_notes((text,), recipe(text=False)))
    assert not list(
        _table_notes.kept_notes(
            (ColumnWarning("a", "identifier", "x", True),), recipe(text=False)
        )
    )


def test_counts_are_singular_or_plural():
    cells = [
        _table_notes.infinite_note(SimpleNamespace(n_infinite=n, name="a"))
        for n in (1, 2)
    ]
    assert cells[0] == "1 infinite cell was taken as missing in column 'a'."
    assert cells[1] == "2 infinite cells were taken as missing in column 'a'."
    assert _table_notes.zero_weight_note(1) == "1 row of weight 0 was left out."
    assert (
        _table_notes.zero_weight_note(1000) == "1,000 rows of weight 0 were left out."
    )


def test_the_share_of_rare_classes_is_that_of_all_rows():
    one = _table_notes.rare_note(np.array(["x"]), 99)
    assert one.startswith("The class with a single row ('x') was left out")
    assert (
        "never predicts it: such rows, 1.0 % of all, are not counted as errors." in one
    )
    many = _table_notes.rare_note(np.array(list("abcdef")), 6)
    assert many.startswith(
        "6 classes with a single row ('a', 'b', 'c', 'd', 'e', ...) were left out"
    )
    assert "never predicts them: such rows, 50 % of all" in many


def test_a_target_of_single_rows_is_refused_for_the_right_reason():
    names = _table_notes.single_rows_text("y", np.array([1, 1, 1]))
    assert names.startswith(
        "every class of the target 'y' has a single row: it names the rows"
    )
    one = _table_notes.single_rows_text("y", np.array([7, 1, 1]))
    assert one.startswith("only one class of the target 'y' has more than one row")


# -- the folds -------------------------------------------------------------------------


def data(y, task="classification"):
    return SimpleNamespace(y=np.asarray(y), task=task)


def test_few_rows_are_drawn_several_times_unless_every_draw_is_the_same():
    assert fold_counts(recipe(), 14) == (5, 3)
    assert fold_counts(recipe(folds=14), 14) == (14, 1)  # one fold per row
    assert fold_counts(recipe(time="t"), 14) == (5, 1)
    assert fold_counts(recipe(repeats=4), 14) == (5, 4)
    assert fold_counts(recipe(), 28) == (10, 1)
    with pytest.raises(StudyError, match="there are 14 rows; give fewer folds"):
        fold_counts(recipe(folds=15), 14)


def test_the_note_on_few_rows_says_what_was_done():
    y, every = np.tile([0, 1], 7), np.arange(14)
    [drawn] = fold_notes(recipe(), data(y), every, 5, 3)
    assert drawn.startswith(
        "There are only 14 rows: 5 folds were drawn 3 times, so that less hangs on one"
    )
    assert "is known to about ± 23 percentage points only" in drawn
    [once] = fold_notes(recipe(time="t"), data(y), every, 5, 1)
    assert "drawn" not in once
    numbers = data(np.arange(14.0), "regression")
    [drawn] = fold_notes(recipe(), numbers, every, 5, 3)
    assert drawn.endswith(
        "less hangs on one draw; the order of the learners may still be chance."
    )
    assert fold_notes(recipe(), data(np.tile(y, 2)), np.arange(28), 10, 1) == []


def test_folds_that_do_not_test_a_class_are_counted_where_folds_are_stratified():
    y = np.r_[np.zeros(37, int), np.ones(3, int)]
    every = np.arange(40)
    [note] = fold_notes(recipe(), data(y), every, 10, 1)
    tests = [test for _, test in FoldScheme(3, True).splits(y, 10, 0)]
    assert sum(not y[test].any() for test in tests) == 7
    assert (
        note
        == "The smallest class has 3 rows: of 10 folds, 7 test no row of it, and its errors say"
        " little."
    )
    [note] = fold_notes(recipe(), data(y), every, 4, 1)
    assert "of 4 folds, 1 tests no row of it" in note
    [note] = fold_notes(recipe(group="g"), data(y), every, 10, 1)
    assert note == "The smallest class has 3 rows: its errors say little."
    one = np.r_[np.zeros(39, int), 1]
    assert "has 1 row:" in fold_notes(recipe(), data(one), every, 10, 1)[0]
    assert fold_notes(recipe(), data(y), every, 3, 1) == []


def test_folds_limited_by_groups_or_times_are_said():
    y = np.tile([0, 1], 20)
    groups = FoldScheme(3, True, groups=np.arange(40) % 4)
    folds, drawn, notes = limited_folds(recipe(group="g"), 10, groups, y)
    assert (folds, drawn) == (4, 4)
    assert notes == (
        "There are 4 folds and not 10, because there are so few groups.",
        "Rows with the same 'g' are never both learned from and tested on in a fold.",
    )
    assert limited_folds(recipe(), 10, FoldScheme(3, True), y) == (10, 10, ())
    two = FoldScheme(3, True, times=np.repeat([0.0, 1.0], 20))
    folds, _, notes = limited_folds(recipe(time="t"), 10, two, y)
    assert (folds, notes[0]) == (
        1,
        "There is 1 fold and not 10, because there are so few times.",
    )
    assert notes[1].startswith(
        "Every fold learns from the rows before a moment of 't' and is tested on the"
    )
    with pytest.raises(StudyError, match="drawn only once"):
        limited_folds(recipe(time="t", repeats=2), 10, two, y)


def test_folds_without_enough_earlier_rows_are_counted():
    # only one class before the middle
    late = np.r_[np.zeros(20, int), np.tile([0, 1], 10)]
    scheme = FoldScheme(3, True, times=np.arange(40.0))
    folds, drawn, notes = limited_folds(recipe(time="t"), 4, scheme, late)
    assert (folds, drawn) == (2, 4)
    assert (
        "2 of the 4 folds were left out, because too few rows came before to learn from."
        in notes
    )
    with pytest.raises(
        StudyError, match="before no moment are there enough rows of two classes"
    ):
        limited_folds(recipe(time="t"), 4, scheme, np.r_[np.zeros(38, int), 1, 1])


def test_ranking_by_auc_is_refused_where_no_fold_has_two_classes():
    y = np.tile([0, 1], 10)

    def plan(folds, metric):
        rule = SimpleNamespace(
            metric=metric, can_judge=lambda part: len(np.unique(part)) > 1
        )
        made = SimpleNamespace(rule=rule)
        scheme = FoldScheme(3, True)
        made.splits = lambda y: dict(
            enumerate(
                SimpleNamespace(test=test) for _, test in scheme.splits(y, folds, 0)
            )
        )
        Plan._check_metric(made, y)

    auc = SimpleNamespace(name="auc")
    with pytest.raises(
        StudyError, match="no fold tests rows of two classes; give fewer folds"
    ):
        plan(20, auc)
    plan(5, auc)
    plan(20, None)


def test_a_search_on_some_of_the_rows_is_said(monkeypatch):
    monkeypatch.setattr("lyceum.studies.plan.plan.SEARCH_ROWS", 100)
    [note] = _search_notes(recipe(), 200, 10)
    assert note.startswith(
        "Settings were searched on a random 100 of the rows to learn from in every fold"
    )
    assert _search_notes(recipe(time="t"), 200, 10)[0].startswith(
        "Settings were searched on the latest 100"
    )
    assert _search_notes(recipe(), 110, 10) == ()
    assert _search_notes(recipe(n_settings=1), 200, 10) == ()


# -- the question ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("classes", "why", "question"),
    [
        (
            None,
            "numbers, 13 distinct",
            "'y' is predicted as a number (numbers, 13 distinct).",
        ),
        (
            ("a", "b"),
            "text with 2 values",
            "'y' is predicted as a class out of 2 (text with 2 values).",
        ),
        (
            (1, 2),
            "whole numbers, taken as classes",
            (
                "'y' is predicted as a class out of 2 (whole numbers, taken as classes; --task"
                " regression takes it otherwise)."
            ),
        ),
        (
            None,
            "whole numbers, taken as numbers",
            (
                "'y' is predicted as a number (whole numbers, taken as numbers; --task"
                " classification takes it otherwise)."
            ),
        ),
    ],
)
def test_the_question_says_what_is_predicted_and_how_to_change_it(
    classes, why, question
):
    target = Column("y", "continuous", None, why)
    facts = SimpleNamespace(schema=Schema((), target), classes=classes)
    assert StudyPlanRecord.question.fget(facts) == question


# -- kinds of targets that are not handled -------------------------------------------------


def _columns(**kinds):
    columns = [
        SimpleNamespace(name=name, kind=kind, low=low, n_distinct=n)
        for name, (kind, low, n) in kinds.items()
    ]
    return SimpleNamespace(columns=columns)


def test_survival_data_are_recognized_by_a_time_and_an_event():
    number, event = ("continuous", 0.0, 90), ("binary", 0.0, 2)
    data = _columns(time=number, status=event, age=number)
    [text] = _table_notes.survival_notes(data, recipe(target="time", ignore=()))
    assert "'time' beside 'status' looks like survival data" in text
    assert "not handled here" in text
    [text] = _table_notes.survival_notes(data, recipe(target="status", ignore=()))
    assert "consider --ignore 'time'" in text
    for target, ignore in (("age", ()), ("time", ("status",))):
        told = _table_notes.survival_notes(data, recipe(target=target, ignore=ignore))
        assert not list(told)
    plain = _columns(time=number, status=number)
    assert not list(
        _table_notes.survival_notes(plain, recipe(target="time", ignore=()))
    )


def test_counts_are_recognized_as_whole_numbers_from_zero_on():
    g = np.random.default_rng(0)
    counts = g.negative_binomial(1, 0.2, 200).astype(float)
    [text] = _table_notes.count_note("days", counts)
    assert f"looks like a count (whole numbers from 0 to {counts.max():.0f}," in text
    assert "no model of counts" in text
    for other in (counts + 0.5, counts + 1, g.normal(size=200), np.arange(200.0)):
        assert not list(_table_notes.count_note("days", other))

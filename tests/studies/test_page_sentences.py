"""The sentences of the page and of the command, on studies made of given predictions."""

import html
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from tests.studies.fake_studies import fake_study
from tests.studies.test_statements import Y, clear, noise, numbers

from lyceum.cli.commands import study as command
from lyceum.report import Explanation, Table
from lyceum.studies import Candidate, ColumnWarning, Failure
from lyceum.studies.report.effect_figures import _pair
from lyceum.studies.report.example import Example
from lyceum.studies.report.format import (
    aligned_interval,
    aligned_loss,
    decimal_text,
    p_cell,
    percent_text,
    score_text,
)
from lyceum.studies.report.glossary import glossary, mark_terms
from lyceum.studies.report.headline import headline
from lyceum.studies.report.model_effects import PairEffect
from lyceum.studies.report.page import _Page, _section
from lyceum.studies.report.parts import ExampleView, IntervalScale, TableCells
from lyceum.studies.result import Study
from lyceum.studies.run.problems import Problems

COSTS = {("yes", "no"): 5.0, ("no", "yes"): 1.0}
REJECTED = np.where(np.arange(200) < 50, 0.5, clear(Y))


def study_of(found, **changes):
    """What the page and the command ask of a study."""
    comparison = changes.pop("comparison", found.comparison)
    recipe = SimpleNamespace(
        target="y", data=("a/b.csv",), time=None, weight=None, inner_folds=3, seed=0
    )
    usual = {
        "comparison": comparison, "choice": comparison[comparison.choice], "recipe": recipe,
        "classes": None if comparison.learners[0].error is None else ("no", "yes"),
        "n_rows": 200, "n_fitted": 200, "n_missing": 0, "n_without_target": 0, "schema": ("a",),
        "candidates": [Candidate("b", "b", "naive Bayes", "", ())], "skipped": (), "failures": (),
        "problems": (), "suspects": (), "left_out": (), "finished": True, "answer": "An answer.",
        "question": "A question.", "headline": "A headline.", "effects": None,
        "choice_sentence": "It was chosen.",
    }  # fmt: skip
    return SimpleNamespace(**{**usual, **changes})


def page_of(found, **changes):
    return _Page(study_of(found, **changes), Problems())


def text_of(section, found, **changes):
    """A section of the page as text."""
    page = page_of(found, **changes)
    names = {
        "page": page,
        "study": page.study,
        "comparison": page.study.comparison,
        "choice": page.study.choice,
        "problems": [],
    }
    problems = Problems()
    made = str(_section(section, names, problems))
    assert not list(problems)
    return " ".join(
        html.unescape(re.sub(r"<[^>]+>", " ", made)).replace("\u00a0", " ").split()
    )


def figures(found, **changes):
    shown = page_of(found, **changes).key_figures
    return {
        name: (value.replace("\u00a0", " "), text.replace("\u00a0", " "))
        for name, value, text in shown
    }


# -- the numbers to remember -----------------------------------------------------------


def test_the_numbers_to_remember_agree_with_the_ranking():
    found = fake_study(Y, {"a": clear(Y)})
    shown = figures(found)
    assert list(shown) == ["Error rate", "Constant guess", "AUC", "Rows tested"]
    assert shown["Error rate"] == ("0.0 %", "95 % interval 0.0 % to 1.9 %")
    assert shown["Rows tested"] == (
        "200",
        "in 10 folds, by models that had not seen them",
    )
    guess = fake_study(Y, {"a": 1 - clear(Y)})
    assert "Constant guess" not in figures(guess)
    one = replace(found.comparison, n_folds=1)
    assert figures(found, comparison=one)["Rows tested"][1].startswith("in 1 fold,")


def test_wrong_decisions_and_rejections_are_shown_where_the_ranking_does_not_say_them():
    doubt = figures(fake_study(Y, {"a": REJECTED}, doubt=0.3))
    assert doubt["Decided wrong"] == ("0.0 %", "of the rows that are not rejected")
    assert doubt["Rejected"] == ("25 %", "of the rows, left to a person")
    costs = figures(fake_study(Y, {"a": clear(Y)}, loss=COSTS))
    assert costs["Decided wrong"][1] == "by the decisions made"
    assert "Rejected" not in costs
    assert "Decided wrong" not in figures(fake_study(Y, {"a": clear(Y)}))
    assert "AUC" not in list(figures(fake_study(Y, {"a": clear(Y)}, metric="auc")))[1:]


def test_no_variance_is_explained_where_r2_is_negative():
    y = numbers()
    better, worse = fake_study(y, {"a": 0.9 * y}), fake_study(y, {"a": -y})
    assert figures(better)["Variance explained"] == ("99 %", "R² on unseen rows")
    assert worse.comparison[worse.comparison.choice].r2 <= 0.0
    assert figures(worse)["Variance explained"][0] == "none"
    assert "Variance explained" not in figures(
        fake_study(y, {"a": 0.9 * y}, metric="r2")
    )


@pytest.mark.parametrize(
    ("n", "words"), [(1, "1 row that was not used"), (50, "50 rows that were not used")]
)
def test_rows_held_out_are_counted(n, words):
    found = fake_study(Y, {"a": clear(Y)}, holdout=(n, 0.1, (0.05, 0.2)))
    value, remark = figures(found)["On rows held out"]
    assert value == "10.0 %"
    assert remark == f"{words} for any choice; 95 % interval 5.0 % to 20.0 %"
    assert (
        page_of(found)
        .held_out.replace("\u00a0", " ")
        .startswith(f"{words} for any choice: 10.0 % (95 %")
    )
    assert "On rows held out" not in figures(fake_study(Y, {"a": clear(Y)}))


# -- sections --------------------------------------------------------------------------


def test_the_ranking_says_which_way_is_better_and_what_behind_means():
    text = text_of("ranking", fake_study(Y, {"a": clear(Y), "b": noise(Y)}))
    assert "less is better" in text
    assert (
        "permutation test on the losses of 200 rows, corrected for the number of learners"
        in text
    )
    assert "behind by" in text
    assert "Not compared" not in text
    two = text_of("ranking", fake_study(Y, {"a": clear(Y)}, folds=2))
    assert "permutation test on the losses of 200 rows" in two
    auc = text_of("ranking", fake_study(Y, {"a": clear(Y)}, metric="auc"))
    assert "more is better" in auc
    few = text_of("ranking", fake_study(Y[:4], {"a": clear(Y[:4])}, folds=2))
    assert "No test is possible with so few rows." in few
    assert "permutation" not in few


def test_what_was_not_compared_is_listed_by_its_label():
    failure = Failure("c", "SVC", 0, 1, "it broke")
    text = text_of(
        "ranking", fake_study(Y, {"a": clear(Y)}), failures=(failure,), skipped=("b",)
    )
    assert "SVC failed in fold 2: it broke" in text
    assert (
        "naive Bayes : the time allowed ended before it had enough folds to be compared."
        in text
    )


def test_a_committee_shows_no_loss_on_training_rows():
    train = {"train": {"a": 0.123}}
    plain = text_of("ranking", fake_study(Y, {"a": clear(Y)}, **train))
    fused = text_of(
        "ranking", fake_study(Y, {"a": clear(Y)}, members={"a": {"b": 1.0}}, **train)
    )
    assert "12.3 %" in plain
    assert "12.3 %" not in fused


def test_earnings_are_on_the_axis():
    base = fake_study(Y, {"a": clear(Y)}).comparison.learners
    spans = {"a": (-5.0, -4.0), "b": (-4.5, -3.5), "constant": (-0.2, 0.1)}
    learners = [
        replace(
            base[0],
            name=name,
            loss=sum(ends) / 2,
            interval=ends,
            is_baseline=name == "constant",
        )
        for name, ends in spans.items()
    ]
    # the constant guess is less than four times as far
    near = IntervalScale.of(learners)
    assert (near.low, near.high) == (-5.0, 0.1)
    far = IntervalScale.of(
        [*learners[:2], replace(learners[2], loss=9.0, interval=(8.0, 10.0))]
    )
    assert far.low == -5.0
    assert -3.5 < far.high < -3.0


def test_an_early_end_is_in_the_header():
    found = fake_study(Y, {"a": clear(Y)})
    assert "The time allowed ended this study early" in text_of(
        "header", found, finished=False
    )
    assert "The time allowed" not in text_of("header", found)


def test_the_rows_behind_the_effects_and_the_model_are_said():
    found = fake_study(Y, {"a": clear(Y)})
    for n, words in (
        (1, "without them. What"),
        (3, "without them, fold by fold. What"),
    ):
        effects = SimpleNamespace(
            n_rows=1200, n_models=n, importance=(), effects=(), pair=None
        )
        page = page_of(found, effects=effects)
        page.__dict__["effect_figures"] = []
        names = {"page": page, "study": page.study}
        text = " ".join(
            re.sub(r"<[^>]+>", " ", str(_section("effects", names, Problems()))).split()
        )
        assert "Measured on 1,200 rows that a had not seen" in text
        assert words in text
    assert page_of(found).fitted_on == "all 200 rows"
    assert page_of(found, n_fitted=64, n_rows=4096).fitted_on == "64 of the 4,096 rows"
    assert page_of(found, n_fitted=None).fitted_on == "all 200 rows"


def test_counts_on_the_page_are_singular_or_plural():
    found = fake_study(Y, {"a": clear(Y)})
    one = page_of(found, n_rows=1, n_missing=1, n_without_target=1).data
    assert (
        one
        == "b.csv: 1 row, 1 column used, 1 missing cell; 1 row without a target left out"
    )
    more = page_of(found, n_rows=2000, schema=("a", "b"), n_missing=3).data
    assert more == "b.csv: 2,000 rows, 2 columns used, 3 missing cells"
    assert page_of(found).data.endswith("no missing cells")
    assert page_of(found).folds == "10 stratified folds compared"
    timed = SimpleNamespace(**{**vars(study_of(found).recipe), "time": "t"})
    assert page_of(found, recipe=timed).folds == "10 folds compared"
    assert page_of(fake_study(numbers(), {"a": numbers()})).folds == "10 folds compared"


def test_settings_that_were_not_searched_are_not_counted():
    page = page_of(fake_study(Y, {"a": clear(Y)}))
    learner = replace(page.study.choice, settings_tried=12, folds_done=10)
    for searched, words in (
        (10, "12"),
        (3, "12 in 3 of 10 folds"),
        (0, "1, its defaults"),
    ):
        assert page.settings_tried(replace(learner, folds_searched=searched)) == words
    assert page.settings(learner) == "the defaults"
    assert page.settings(replace(learner, params={"C": 1.0})) == "C = 1"


def test_an_example_is_right_wrong_or_neither():
    study = study_of(fake_study(Y, {"a": clear(Y)}))
    why = Explanation(
        ["a", "b"],
        np.array([[0.5, 0.0]]),
        np.array([0.1]),
        np.array(["yes"]),
        "log-odds",
    )
    for decided, right in (("yes", True), ("no", False), ("reject", None)):
        example = Example(
            3, {"a": None}, "yes", decided, (0.0002, 0.9998), why, "clearest mistake"
        )
        view = ExampleView(example, study)
        assert view.right is right
        assert view.chances == [("yes", "> 99.9\u00a0%"), ("no", "< 0.1\u00a0%")]
        assert [bar[:3] for bar in view.bars] == [
            ("a", "missing", "+0.500"),
            ("b", "", "0"),
        ]


@pytest.mark.parametrize(
    ("is_time", "shown"),
    [
        (
            False,
            ("100,000,003.27", "100,000,003.17", "100,000,000.00", "100,000,003.27"),
        ),
        (
            True,
            (
                "1973-03-03 09:46:43",
                "1973-03-03 09:46:43",
                "100,000,000.00",
                "100,000,003.27",
            ),
        ),
    ],
)
def test_an_example_shows_the_digits_that_its_error_is_in(is_time, shown):
    """A target far from 0 was 1.000e+08 in every example, the largest error too."""
    y = numbers()
    target = SimpleNamespace(target=SimpleNamespace(is_time=is_time))
    study = study_of(
        fake_study(y, {"a": y + np.tile([0.1, -0.1], len(y) // 2)}), schema=target
    )
    assert study.choice.rmse == pytest.approx(0.1)
    why = Explanation(
        ["a"], np.array([[3.27]]), np.array([1e8]), np.array([1e8 + 3.27]), "y"
    )
    view = ExampleView(
        Example(3, {}, 1e8 + 3.17, 1e8 + 3.27, None, why, "largest error"), study
    )
    assert (view.decided, view.truth, view.base, view.score) == shown
    near = Explanation(
        ["a"], np.array([[3.27]]), np.array([1.0]), np.array([4.27]), "y"
    )
    view = ExampleView(Example(3, {}, 4.17, 4.27, None, near, "largest error"), study)
    assert (view.base, view.score) == ("1", "4.27")


@pytest.mark.parametrize(
    ("strength", "words"),
    [
        ((0.001,), ": their two effects nearly add up."),
        ((0.3,), ": 30 % of the variation here is not the sum"),
        (
            (0.3, 0.0, 0.1),
            ": 30 % of the variation of P(y) and 10 % of that of P(v) is not the sum of their two"
            " effects; for P(u) the two nearly add up.",
        ),
        (
            (0.001, 0.002, 0.001),
            ": their two effects nearly add up, for P(y), P(u) and P(v) alike.",
        ),
    ],
)
def test_two_columns_add_up_or_not_class_by_class(strength, words, monkeypatch):
    monkeypatch.setattr(
        "lyceum.studies.report.effect_figures.figure_of", lambda *parts: parts
    )
    pair = PairEffect(
        ("a", "b"),
        ((0.0, 1.0), (0.0, 1.0)),
        "y",
        ((0.0, 1.0), (1.0, 2.0)),
        strength[0],
        ("y", "u", "v")[: len(strength)],
        strength,
    )
    [made] = _pair(study_of(fake_study(Y, {"a": clear(Y)}), schema=()), pair)
    assert words in made[2]


def test_what_rounding_leaves_of_a_zero_is_written_as_zero():
    table = Table("", ("column", "adds"), [("a", 0.25), ("b", -4.44e-16), ("c", 1e-5)])
    assert [row[1] for row in TableCells.of(table).rows] == ["0.25", "0", "1.000e-05"]
    tiny = Table("", ("column", "adds"), [("a", 2e-16), ("b", -4.44e-16)])
    assert [row[1] for row in TableCells.of(tiny).rows] == ["2.000e-16", "-4.440e-16"]


# -- numbers as text -------------------------------------------------------------------


def test_small_and_large_numbers_are_never_rounded_to_something_else():
    assert (percent_text(0.00001), percent_text(0.99999)) == ("< 0.1 %", "> 99.9 %")
    assert (percent_text(0.0), percent_text(1.0)) == ("0.0 %", "100 %")
    assert (p_cell(0.0499), p_cell(0.04996), p_cell(0.0501), p_cell(None)) == (
        "0.0499",
        "0.0499",
        "0.050",
        "",
    )
    assert (decimal_text(-1e-9), score_text(0.99971), score_text(1.0)) == (
        "0.000",
        "0.9997",
        "1.000",
    )
    found = fake_study(Y, {"a": clear(Y)}).comparison
    assert aligned_loss(found, 0.0001) == "< 0.1 %"
    large = replace(
        found,
        criterion="RMSE",
        learners=tuple(replace(s, loss=4e9) for s in found.learners),
    )
    assert aligned_loss(large, 4.5651e8) == "4.57e+08"
    costs = replace(
        found, criterion="mean cost", learners=(replace(found.learners[0], loss=-1.5),)
    )
    assert aligned_interval(costs, (-0.001, 0.001)) == ("0.00", "0.00")


# -- the study as text and at the command line -----------------------------------------


def test_a_study_prints_in_lines_of_eighty_characters():
    found = fake_study(Y, {"a": clear(Y), "b": noise(Y)})
    study = study_of(
        found,
        answer=found.answer,
        problems=("The ROC figure could not be made: it broke.",),
    )
    study.comparison = replace(found.comparison, statements=found.statements)
    study.folder, study.ranking = "s", Study.ranking.fget(study)
    text = Study.__str__(study)
    assert max(map(len, text.splitlines())) <= 80
    assert not any(line.lstrip("- ").startswith("%") for line in text.splitlines())
    for sentence in (
        found.answer,
        *found.statements,
        *study.problems,
        "behind by",
    ):
        assert " ".join(sentence.split()) in " ".join(text.split())


def test_the_command_says_what_behind_and_tried_mean():
    found = fake_study(Y, {"a": clear(Y)})
    note = command._ranking_note(study_of(found))
    assert note.startswith("behind by: how much worse than the best, ± the reach")
    assert note.endswith("tried: settings compared in every fold.")
    few = command._ranking_note(
        study_of(fake_study(Y[:4], {"a": clear(Y[:4])}, folds=2))
    )
    assert few.startswith("No test can tell learners apart with so few rows.")
    learners = [
        replace(s, settings_tried=9, folds_searched=2)
        for s in found.comparison.learners
    ]
    untuned = replace(found.comparison, learners=tuple(learners))
    assert command._ranking_note(study_of(found, comparison=untuned)).endswith(
        "in every fold (*: only its defaults in some folds; 1*: in all)."
    )
    assert [
        command._settings_tried(replace(learners[0], folds_searched=n))
        for n in (10, 2, 0)
    ] == [
        "9",
        "9*",
        "1*",
    ]
    assert command._settings_tried(found.comparison.baseline) == ""


def test_the_command_warns_of_what_went_wrong_and_of_nothing_else():
    found = fake_study(Y, {"a": clear(Y)})
    assert list(command._warnings(study_of(found))) == []
    leak = ColumnWarning("z", "leak", "gives the target away", False)
    wrong = study_of(
        found, failures=(Failure("c", "SVC", 0, 1, "it broke."),), suspects=(leak,), finished=False,
        problems=("The ROC figure could not be made: it broke.",),
    )  # fmt: skip
    assert list(command._warnings(wrong)) == [
        "SVC failed and was not compared: it broke",
        "column 'z' gives the target away",
        "The ROC figure could not be made: it broke.",
        "the time allowed ended the study early: run it again with more time to continue it",
    ]
    left = study_of(
        found, suspects=(leak, ColumnWarning("z", "identifier", "numbers rows", True))
    )
    assert list(command._warnings(left)) == []


def test_likely_targets_are_named_with_their_values():
    def column(name, kind="binary", n=2, flags=(), top=(("no", 3), ("yes", 2))):
        return SimpleNamespace(name=name, kind=kind, n_distinct=n, flags=flags, top=top)

    identifier = SimpleNamespace(code="identifier")
    columns = [
        column("id", "categorical", 9, (identifier,)),
        column("age", "continuous", 40),
        column("class"),
    ]
    found = _Found(columns=columns)
    assert command._likely(found) == ["--target class (no, yes)"]
    columns[2] = column("class", "categorical", 5, top=(("a", 3), ("b", 2), ("c", 1)))
    assert command._likely(found) == ["--target class (a, b, c, ...)"]
    columns[2] = column("z", "continuous", 40)
    assert command._likely(found) == ["--target z (numbers)"]


class _Found(SimpleNamespace):
    """An inspection of a table."""

    def __getitem__(self, name):
        return next(column for column in self.columns if column.name == name)


# -- words for people who know no statistics -----------------------------------------------


MANY = (np.random.default_rng(0).permutation(3_000) >= 1_200).astype(int)


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (
            fake_study(Y, {"a": np.where(np.arange(200) < 46, 1 - clear(Y), clear(Y))}),
            "A predicts 'y', wrong in 23 of 100 rows; a constant guess is wrong in 44 of 100.",
        ),
        (
            fake_study(Y, {"a": np.where(np.arange(200) < 87, 1 - clear(Y), clear(Y))}),
            "A predicts 'y', wrong in 435 of 1,000 rows; a constant guess is wrong in 440 of"
            " 1,000, a difference that chance could make.",
        ),
        (
            # one row of 3,000 less than a guess: both are 400 of 1,000
            fake_study(
                MANY, {"a": np.where(np.arange(3_000) == MANY.argmin(), 0.49, 0.51)}
            ),
            "A predicts 'y', wrong in 400 of 1,000 rows: hardly better than a constant guess.",
        ),
        (
            fake_study(Y[:20], {"a": clear(Y[:20])}, folds=4),
            "A predicts 'y', wrong in none of the 20 rows tested; a constant guess is wrong in",
        ),
        (
            # decides as the guess does, with better chances
            fake_study(Y, {"a": np.where(Y == 1, 0.45, 0.3)}),
            "A predicts 'y', wrong in 44 of 100 rows: no better than a constant guess.",
        ),
        (
            fake_study(numbers(), {"a": numbers() + 7.4}),
            "A predicts 'y' and is typically off by 7.40; a constant guess is off by",
        ),
        (
            fake_study(numbers(), {"a": numbers() * (1 + 1e-13)}),
            "A predicts 'y' exactly, but for rounding; a constant guess is off by",
        ),
        (
            fake_study(Y, {"a": clear(Y)}, loss=COSTS),
            "A decides on 'y', which costs 0 per decision, 0 for the 200 rows tested; a constant",
        ),
        (
            fake_study(Y, {"a": 1 - clear(Y)}),
            "None of the learners that were tried predicts 'y' better than a constant guess.",
        ),
    ],
)
def test_the_headline_has_no_technical_word(found, text):
    assert headline(study_of(found)).startswith(text)


def test_every_technical_word_is_explained_where_it_stands_and_at_the_end():
    marked = str(mark_terms("An AUC of 0.9 < 1 and a log loss; the AUC again."))
    assert marked.count("<abbr") == 2
    assert "0.9 &lt; 1" in marked
    names = [
        name for name, _ in glossary("RMSE, 95\u00a0% interval and standard errors")
    ]
    assert names == ["95 % interval", "RMSE", "standard error"]
    assert glossary("a tree and a foldable chair") == []

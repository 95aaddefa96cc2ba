"""What the commands say when something is wrong or missing, in the words of the command line."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from lyceum.cli import screen as _screen
from lyceum.cli.commands.study import _costs
from lyceum.cli.losses import complete_loss
from lyceum.cli.options import option_words
from lyceum.errors import DataError, StudyError
from lyceum.progress import report
from lyceum.studies import Recipe
from lyceum.studies.plan.study_data import StudyData
from lyceum.studies.run.session import Request


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("folds = 1: give more", "--folds 1: give more"),
        ("budget_minutes = -1.0: give minutes", "--budget -1.0: give minutes"),
        ("kinds: 'age' = 'foo': choose one", "--kind: 'age' = 'foo': choose one"),
        ("learners: there is no learner 'X'", "--learners: there is no learner 'X'"),
        (
            "say which column to predict, target=...",
            "say which column to predict, --target COLUMN",
        ),
        (
            "x is a file: give a folder, out=...",
            "x is a file: give a folder, --out FOLDER",
        ),
        (
            "leave it out, or say kinds = {y = 'categorical'}",
            "leave it out, or say --kind y=categorical",
        ),
        (
            "the target 'y' is the same in every row: choose",
            "the target 'y' is the same in every row: choose",
        ),
    ],
)
def test_errors_name_options(message, words):
    assert option_words(message) == words


def test_costs_that_are_not_said_are_one_and_said():
    loss, note = complete_loss({("a", "b"): 5.0}, ["a", "b", "c"])
    assert loss.values.tolist() == [[0, 5, 1], [1, 0, 1], [1, 1, 0]]
    assert note == "Not given in the loss, so taken as 1: a:c, b:a, b:c, c:a, c:b."
    assert complete_loss({("a", "b"): 5.0, ("b", "a"): 2.0}, ["a", "b"])[1] == ""


@pytest.mark.parametrize("pair", [("bda", "good"), ("bad", "goood")])
def test_a_misspelt_class_is_named_with_the_nearest(pair):
    with pytest.raises(DataError, match=r"did you mean '(bad|good)'\?"):
        complete_loss({pair: 1.0}, ["bad", "good"])


def test_an_action_of_its_own_is_no_misspelling():
    loss, _ = complete_loss({("bad", "ask"): 0.5}, ["bad", "good"])
    assert loss.actions == ("bad", "good", "ask")


@pytest.mark.parametrize("name", ["evaluate", "predict", "compare"])
def test_losses_that_are_not_typed_are_one_in_every_command(
    command, models, credit, name
):
    which = (
        [models["logistic"], models["bayes"]]
        if name == "compare"
        else [models["logistic"]]
    )
    more = ["-o", "-"] if name == "predict" else ["--json"]
    code, out, err = command(name, *which, credit, "--loss", "bad:good=5", *more)
    assert (code, err) == (
        0,
        "lyceum: Not given in the loss, so taken as 1: good:bad.\n",
    )
    assert command(name, *which, credit, "--loss", "bad:good=5,good:bad=1", *more) == (
        0,
        out,
        "",
    )


def test_losses_are_completed_for_the_classes_of_a_recipe(credit, tmp_path, capsys):
    recipe = Recipe(data=str(credit), target="class").write(tmp_path / "recipe.toml")
    request = Request(Recipe.read(recipe), make_loss=_costs("bad:good=5"))
    assert capsys.readouterr().err == ""
    found = request.with_loss(StudyData.of(request.recipe)).recipe.loss
    assert found.values.tolist() == [[0, 5], [1, 0]]
    assert (
        capsys.readouterr().err
        == "lyceum: Not given in the loss, so taken as 1: good:bad.\n"
    )
    numbers = replace(request.recipe, target="age")
    with pytest.raises(
        StudyError, match="the target 'age' holds numbers, and loss is for classes"
    ):
        replace(request, recipe=numbers).with_loss(StudyData.of(numbers))


def test_a_study_shows_its_own_stages_and_never_more_time_than_it_has(monkeypatch):
    seen, file = [], io.StringIO()
    options = {"file": file, "force_terminal": True, "width": 80}
    monkeypatch.setattr(_screen, "_PlainConsole", lambda stderr: Console(**options))
    monkeypatch.setattr(
        _screen.Progress, "update", lambda bar, *a, **k: seen.append(_shown(bar))
    )
    with _screen.progress_bar("studying", ("tasks", "conclusions"), minutes=0.5):
        for stage, done, total in [
            ("rows", 9, None),
            ("tasks", 7, 10),
            ("rows", 0, 9),
            ("conclusions", 0, 3),
        ]:
            report(stage, done, total)
    assert [stages for stages, _ in seen] == [["rows"], ["tasks"], ["conclusions"]]
    assert [left for _, left in seen[1:]] == [["0:00:29"], ["0:00:29"]]


def _shown(bar):
    """The stages that are shown, and the time left of each."""
    return [task.description.split(": ")[1] for task in bar.tasks], [
        bar.columns[-1].render(task).plain for task in bar.tasks
    ]

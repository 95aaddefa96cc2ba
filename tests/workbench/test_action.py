"""One value as a command, as Python and as a recipe; addresses that are spelled as options."""

import shlex
import shutil
import tomllib

import pytest

pytest.importorskip("starlette")

from starlette.datastructures import QueryParams
from tests.workbench.started import opened

from lyceum import datasets
from lyceum.decision import LossMatrix
from lyceum.studies import Recipe
from lyceum.web import Refused
from lyceum.workbench.action import Action
from lyceum.workbench.address import Address

STUDY = Action(
    "study",
    "lyceum.study",
    ("my loans.csv",),
    {
        "target": "class",
        "loss": {("bad", "good"): 5.0, ("good", "bad"): 1.0},
        "kinds": {"age": "continuous"},
        "ignore": ("id", "name"),
        "learners": ["NaiveBayes", "SVC"],
        "doubt": None,
        "keep": (),
    },
    {"kinds": "--kind"},
    result="study",
)


def test_the_command_has_the_words_of_the_shell():
    assert shlex.split(STUDY.as_command()) == [
        "lyceum",
        "study",
        "my loans.csv",
        "--target",
        "class",
        "--loss",
        "bad:good=5,good:bad=1",
        "--kind",
        "age=continuous",
        "--ignore",
        "id",
        "--ignore",
        "name",
        "--learners",
        "NaiveBayes,SVC",
    ]


def test_the_python_is_a_call_with_the_same_values():
    calls = []

    class Lyceum:
        def study(self, *arguments, **options):
            calls.append((arguments, options))

    text = STUDY.as_python().replace("import lyceum", "")
    exec(text, {"lyceum": Lyceum()})
    ((arguments, options),) = calls
    assert arguments == ("my loans.csv",)
    assert options == STUDY.given


def test_the_recipe_is_toml():
    table = tomllib.loads(STUDY.as_recipe())
    assert table["data"] == ["my loans.csv"]
    assert table["learners"] == ["NaiveBayes", "SVC"]
    assert table["kinds"] == {"age": "continuous"}


def test_what_comes_first_is_said_first():
    repair = Action("repair", "lyceum.workflows.repair_table", ("a.csv",), {"out": "b"})
    study = Action("study", "lyceum.study", ("b",), before=repair)
    assert study.as_command().splitlines() == [
        "lyceum repair a.csv --out b",
        "lyceum study b",
    ]


def test_an_address_is_read_as_options_are():
    query = QueryParams(
        "file=a.csv&kind=a%3Db%3Dbinary&kind=age%3Dcontinuous&doubt=&n=3"
    )
    address = Address.of(query)
    assert address.kinds == {"a=b": "binary", "age": "continuous"}
    assert address.text("doubt") is None
    assert address.count("n", 1) == 3
    with pytest.raises(Refused, match="kind=x: write COLUMN= one of"):
        _ = Address.of(QueryParams("kind=x")).kinds
    with pytest.raises(Refused, match="n is a number, not 'many'"):
        Address.of(QueryParams("n=many")).number("n")


def test_the_recipe_of_a_question_is_that_of_the_study(tmp_path):
    shutil.copy(datasets.path("german_credit"), tmp_path / "credit.csv")
    query = "file=credit.csv&target=class&loss=bad:good=5&doubt=0.5&folds=3&budget=2"
    with opened(tmp_path) as workbench:
        answer = workbench.get(f"/api/question?{query}&learners=NaiveBayes,SVC")
    action = answer["question"]["action"]
    (tmp_path / "recipe.toml").write_text(action["recipe"])
    recipe = Recipe.read(tmp_path / "recipe.toml", relative=False)
    assert recipe == Recipe(
        data=("credit.csv",),
        target="class",
        loss=LossMatrix([[0, 5], [1, 0]], classes=["bad", "good"]),
        doubt=0.5,
        folds=3,
        budget_minutes=2.0,
        learners=("NaiveBayes", "SVC"),
    )
    assert action["command"] == (
        "lyceum study credit.csv --target class --doubt 0.5 --budget 2.0 --folds 3"
        " --learners NaiveBayes,SVC --loss bad:good=5,good:bad=1 --out credit-study"
    )

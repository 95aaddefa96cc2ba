"""A recipe is a file: what is written is what is read, and mistakes are named by their key."""

import pytest
from hypothesis import given, settings, strategies as st

from lyceum.decision import LossMatrix
from lyceum.errors import StudyError
from lyceum.linear import Ridge
from lyceum.studies import LearnerChoice, Recipe

FULL = Recipe(
    data=("a.csv", "b.csv"),
    target="class",
    kinds={"zip": "categorical"},
    ignore=("id",),
    keep=("code",),
    weight="w",
    learners=(
        LearnerChoice("NaiveBayes"),
        LearnerChoice("LogisticRegression", {"C": 2.0}, {}),
        LearnerChoice(
            "LogisticRegression", {}, {"C": (0.01, 100.0, "log"), "max_iter": [50, 100]}
        ),
    ),
    loss=LossMatrix([[0, 5], [1, 0]], ["bad", "good"]),
    doubt=0.3,
    folds=7,
    repeats=2,
    inner_folds=4,
    holdout=0.25,
    bootstrap_632=True,
    choose="best",
    seed=11,
    budget_minutes=1.5,
    memory_mb=100,
)


@pytest.mark.parametrize(
    "recipe", [FULL, Recipe(data="a.csv", target="y")], ids=["full", "least"]
)
def test_what_is_written_is_what_is_read(recipe, tmp_path):
    path = recipe.write(tmp_path / "recipe.toml")
    again = Recipe.read(path, relative=False)
    assert again == recipe
    assert again.digest == recipe.digest
    assert again.write(tmp_path / "again.toml").read_bytes() == path.read_bytes()


MARKS = [
    "#",
    "{",
    "]",
    "=",
    "'",
    '"',
    '"""',
    "\\",
    "\r\n",
    "\t",
    "\0",
    "\x7f",
    "\u2028",
]
NAME = st.one_of(
    st.text(min_size=1, max_size=6),
    st.lists(st.sampled_from(MARKS), min_size=1, max_size=4).map("".join),
)


@settings(max_examples=200, deadline=None)
@given(data=NAME, target=NAME, others=st.lists(NAME, min_size=2, max_size=2))
def test_any_names_are_read_as_they_were_written(
    data, target, others, tmp_path_factory
):
    recipe = Recipe(
        data=data,
        target=target,
        kinds={others[0]: "categorical"},
        ignore=(others[1],),
        loss=LossMatrix([[0, 5], [1, 0]], [others[0] + "a", others[1] + "b"]),
    )
    path = recipe.write(tmp_path_factory.getbasetemp() / "recipe.toml")
    assert Recipe.read(path, relative=False) == recipe


def test_half_a_character_in_a_recipe_is_refused(tmp_path):
    recipe = Recipe(data="a.csv", target="a\ud800")
    with pytest.raises(StudyError, match=r"'\\ud800', half a character"):
        recipe.write(tmp_path / "recipe.toml")
    assert not (tmp_path / "recipe.toml").exists()


def test_every_key_but_data_and_budget_changes_the_digest():
    plain = Recipe(data="a.csv", target="y")
    table = FULL.as_dict()
    for name in set(table) - {"data", "target"}:
        changed = Recipe.from_dict({"data": "a.csv", "target": "y", name: table[name]})
        assert (changed.digest == plain.digest) == (name == "budget_minutes"), name
    assert Recipe(data="elsewhere.csv", target="y").digest == plain.digest


def test_paths_are_relative_to_the_recipe(tmp_path):
    (tmp_path / "deep").mkdir()
    recipe = Recipe(data=str(tmp_path / "table.csv"), target="y").relative_to(
        tmp_path / "deep"
    )
    assert recipe.data == ("../table.csv",)
    read = Recipe.read(recipe.write(tmp_path / "deep" / "recipe.toml"))
    assert read.data == (str(tmp_path / "table.csv"),)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("folds", 1, "folds = 1: give a whole number of at least 2"),
        ("folds", True, "folds = True"),
        ("folds", 2.5, "folds = 2.5"),
        ("target", "", "target = ''"),
        ("holdout", 1.0, "holdout = 1.0: give the share"),
        ("doubt", -0.1, "doubt = -0.1"),
        ("doubt", float("nan"), "doubt = nan"),
        ("seed", -1, "seed = -1"),
        ("choose", "luckiest", "choose = 'luckiest': choose one of simplest, best"),
        ("bootstrap_632", 1, "bootstrap_632 = 1: give true or false"),
        ("kinds", {"a": "number"}, "kinds: 'a' = 'number'"),
        ("budget_minutes", -1, "budget_minutes = -1"),
        ("data", [], "data = "),
        ("loss", [[0, 1], [1]], "loss: a loss matrix must hold numbers"),
        ("learners", [3], "learners: cannot take 3"),
        ("learners", [{"nom": "Ridge"}], "learners: there is no key 'nom'"),
        ("learners", [{"settings": {}}], "learners: a learner needs its name"),
        (
            "learners",
            [{"name": "Ridge", "search": {"alpha": 3}}],
            "learners: search of 'alpha'",
        ),
        (
            "learners",
            [{"name": "Ridge", "search": {"alpha": {"low": 1}}}],
            "learners: the range of 'alpha'",
        ),
        ("flods", 5, "no key 'flods': did you mean 'folds'"),
    ],
)
def test_a_mistake_is_named_by_its_key(key, value, message):
    with pytest.raises(StudyError) as error:
        Recipe.from_dict({"data": "a.csv", "target": "y", key: value})
    assert message in str(error.value)


def test_a_recipe_must_say_data_and_target(tmp_path):
    with pytest.raises(StudyError, match="does not say 'target'"):
        Recipe.from_dict({"data": "a.csv"})
    with pytest.raises(StudyError, match="there is no recipe"):
        Recipe.read(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_text("folds = [")
    with pytest.raises(StudyError, match="is not TOML"):
        Recipe.read(tmp_path / "bad.toml")


def test_a_learner_with_settings_is_a_choice_of_these_settings():
    assert LearnerChoice.of(Ridge(alpha=3.0)) == LearnerChoice("Ridge", {"alpha": 3.0})
    assert (
        LearnerChoice.of(Ridge(alpha=1.0))
        == LearnerChoice.of("Ridge")
        == LearnerChoice("Ridge")
    )


@pytest.mark.parametrize(
    "make",
    [
        lambda: LearnerChoice("Ridge", {"alpha": None}),
        lambda: LearnerChoice("Ridge", {"alpha": object()}),
        lambda: LearnerChoice("Ridge", {}, {"alpha": 3.0}),
        lambda: LearnerChoice("Ridge", {}, {"alpha": (1.0, 2.0)}),
    ],
)
def test_a_setting_that_no_file_can_hold_is_refused_at_once(make):
    with pytest.raises(StudyError, match="alpha"):
        make()


def test_a_loss_file_is_looked_for_beside_the_recipe(tmp_path):
    LossMatrix([[0, 5], [1, 0]], ["bad", "good"]).write(tmp_path / "costs.csv")
    (tmp_path / "recipe.toml").write_text(
        'data = "a.csv"\ntarget = "y"\nloss = "costs.csv"\n'
    )
    assert Recipe.read(tmp_path / "recipe.toml").loss["bad", "good"] == 5

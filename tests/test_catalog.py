"""The catalog and the syllabus say what is true of the classes."""

import importlib
import inspect
import re
from pathlib import Path

import pytest
from sklearn.base import is_classifier, is_clusterer, is_regressor

from lyceum import catalog
from lyceum.data import Schema
from lyceum.errors import LyceumError
from lyceum.syllabus import SECTIONS, rows

ENTRIES = catalog.learners()
TESTS = Path(__file__).parent


def by_name(entry):
    return entry.name


def test_names_are_unique_and_found():
    names = [entry.name for entry in ENTRIES]
    assert len(set(names)) == len(names)
    assert all(catalog.find(name).name == name for name in names)


def test_every_learner_of_the_first_issue_is_cataloged():
    wanted = {
        "NaiveBayes",
        "LinearDiscriminantAnalysis",
        "QuadraticDiscriminantAnalysis",
        "LinearRegression",
        "Ridge",
        "LogisticRegression",
        "PCA",
        "KMeans",
        "StandardScaler",
        "MinMaxScaler",
        "OneHotEncoder",
        "SimpleImputer",
        "MissingCategory",
        "DropMissing",
        "IterativeImputer",
    }
    assert wanted <= {entry.name for entry in ENTRIES}


def test_an_unknown_name_or_task_is_answered_with_what_there_is():
    with pytest.raises(LyceumError, match="did you mean Ridge"):
        catalog.find("Rigde")
    with pytest.raises(LyceumError, match="choose one of classification"):
        catalog.learners("cooking")


@pytest.mark.parametrize("entry", ENTRIES, ids=by_name)
def test_an_entry_is_true_of_its_class(entry):
    learner = entry.load()()
    assert type(learner).__name__ == entry.name
    assert type(learner).__module__.startswith(entry.package)
    assert entry.about.endswith(".")


@pytest.mark.parametrize("entry", ENTRIES, ids=by_name)
def test_the_task_is_that_of_scikit_learns_tags(entry):
    learner = entry.load()()
    found = {
        "classification": is_classifier,
        "regression": is_regressor,
        "clustering": is_clusterer,
    }
    assert [task for task, accepts in found.items() if accepts(learner)] == [
        task for task in found if task == entry.task
    ]
    offers = "score_samples" if entry.task == "density" else "transform"
    assert entry.task in found or hasattr(learner, offers)


@pytest.mark.parametrize("entry", ENTRIES, ids=by_name)
def test_the_ends_of_the_search_space_are_valid_parameters(entry):
    for name, choices in entry.space.items():
        if isinstance(choices, tuple):
            low, high, scale = choices
            assert low < high
            assert scale == "linear" or (scale == "log" and low > 0)
            choices = [low, high]
        for value in choices:
            entry.load()(**{name: value})._validate_params()


def test_types_are_classes_under_their_public_names():
    types = catalog.types()
    assert all(isinstance(kind, type) for kind in types.values())
    assert types["lyceum.data.Schema"] is Schema
    assert {f"{entry.package}.{entry.name}" for entry in ENTRIES} <= set(types)


def test_types_by_name_are_those_of_cataloged_learners():
    names = (
        "lyceum.linear.Ridge",
        "lyceum.linear.penalized.ridge.Ridge",
        "builtins.dict",
        "os.system",
    )
    assert "lyceum.linear.Ridge" in catalog.types(names)
    assert not [
        name
        for name in catalog.types(names)
        if name.startswith(("lyceum.trees", "lyceum.bayes"))
    ]
    assert catalog.types(["lyceum.linear.Ridge"]) == catalog.types(names)
    assert catalog.types(["os.system", "lyceum.nothing.At", "Ridge"]) == {}


# -- the syllabus ----------------------------------------------------------------------


def test_every_section_has_its_rows_in_order():
    numbers = [tuple(map(int, row.number.split("."))) for row in rows()]
    assert numbers == sorted(numbers)
    assert {section for section, _ in numbers} == set(SECTIONS)
    for section in SECTIONS:
        inside = [row for number, row in numbers if number == section]
        assert inside == list(range(1, len(inside) + 1))
    assert len(numbers) == 91


def test_everything_covered_is_a_row_and_exists():
    known = {row.number for row in rows()}
    for named in (*catalog.items(), *ENTRIES):
        assert set(named.syllabus) <= known
        assert named.load() is not None


def test_a_row_lacks_something_only_if_something_is_there():
    assert [row.number for row in rows() if row.lacks and not row.where] == []


def test_every_clause_is_proved_by_a_marked_test():
    marked = set()
    for file in TESTS.rglob("test_*.py"):
        for marks in re.findall(
            r"mark\.syllabus\(([^)]*)\)", file.read_text(encoding="utf-8")
        ):
            marked |= set(re.findall(r"\d+\.\d+(?:\.\d+)?", marks))
    numbers = {row.number for row in rows()}
    clauses = {clause.number for row in rows() for clause in row.clauses}
    assert clauses - marked == set()
    assert marked - clauses - numbers == set()


CLAUSES = [clause for row in rows() for clause in row.clauses]


def test_every_row_has_clauses_and_what_covers_it_is_named_in_one():
    for row in rows():
        text = " ".join(name for clause in row.clauses for name in clause.where)
        named = set(re.findall(r"[\w.]+", text))
        assert row.clauses
        for path in row.where:
            short = path.removeprefix("lyceum.")
            assert any(f"{name}.".startswith(f"{short}.") for name in named), (
                f"{row.number}: no clause names {short}"
            )


@pytest.mark.parametrize("clause", CLAUSES, ids=lambda clause: clause.number)
def test_where_a_clause_lives_is_public_and_takes_what_is_said(clause):
    for name in clause.where:
        path, _, settings = name.rstrip(")").partition("(")
        room, public, *attributes = path.split(".")
        owner = importlib.import_module(f"lyceum.{room}")
        assert public in owner.__all__
        value = getattr(owner, public)
        for attribute in attributes:
            fields = getattr(value, "__dataclass_fields__", {})
            assert hasattr(value, attribute) or attribute in fields
            value = getattr(value, attribute, None)
        for setting in filter(None, settings.split(", ")):
            parameter, _, choice = setting.partition("=")
            assert parameter in inspect.signature(value).parameters
            constraints = getattr(value, "_parameter_constraints", {})
            if choice and parameter in constraints:
                choices = " ".join(map(str, constraints[parameter]))
                assert choice.strip('"') in choices


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("random forest", "RandomForestClassifier"),
        ("gradient_boosting", "GradientBoosting"),
        ("logistic", "LogisticRegression"),
        ("zzz", ""),
    ],
)
def test_an_unknown_learner_is_answered_with_the_three_nearest_names(name, near):
    with pytest.raises(LyceumError) as error:
        catalog.find(name)
    text = str(error.value)
    assert near in text.split(":")[1].split("?")[0]
    names = [entry.name for entry in catalog.learners()]
    words = text.replace(",", " ").replace("?", " ").split()
    assert sum(word in names for word in words) == 3

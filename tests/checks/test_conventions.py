"""One name for one thing, typed parameters and complete docstrings in every family."""

from __future__ import annotations

import inspect
import re
from numbers import Number

import pytest
from tests.checks.cases import learner_named
from tests.checks.docstrings import fitted_names, names_in, section, sections
from tests.checks.fits import fit
from tests.checks.other_learners import OTHER_LEARNERS, fit_other, public_learners
from tests.checks.tables import data_for

from lyceum import catalog
from lyceum._core.constraints import HasMethods, Interval, Options, StrOptions
from lyceum.dropin import shared_classes
from lyceum.errors import SettingError

NAMES = [entry.name for entry in catalog.learners()]

# what the same thing is called elsewhere
OTHER_NAMES = {
    "xbar_": "mean_",
    "theta_": "means_",
    "n_samples_seen_": "n_rows_",
    "n_samples_": "n_rows_",
    "explained_ratio_": "explained_variance_ratio_",
    "variance_": "var_",  # of every column; variances_ are those of every class
    "intercept_standard_errors_": "intercept_standard_error_",
    "shift_": "center_",
    "target_shift_": "target_mean_",
}


# the measure of a recorded step where a method does not step down an objective: the mistakes of a
# pass, the error of a round's member under its own weights, the rows that got a label
MEASURES = {
    "AdaBoostClassifier": "error",
    "AdaBoostRegressor": "error",
    "KernelPerceptron": "mistakes",
    "Perceptron": "mistakes",
    "SelfTrainingClassifier": "labeled",
    "TrAdaBoost": "error",
}


def parameters(kind: type) -> dict[str, inspect.Parameter]:
    found = dict(inspect.signature(kind.__init__).parameters)
    del found["self"]
    return found


KINDS = [entry.load() for entry in catalog.learners()] + [
    type(learner) for learner in OTHER_LEARNERS
]


def violations(broken):
    """The learners that break a convention, with how."""
    return {kind.__name__: how for kind in KINDS if (how := broken(kind))}


def test_parameters_are_typed():
    def untyped(kind):
        return [
            name
            for name, one in parameters(kind).items()
            if one.annotation is one.empty
        ]

    assert violations(untyped) == {}


def test_random_state_is_typed_alike():
    def otherwise(kind):
        found = parameters(kind).get("random_state")
        return found and found.annotation != "int | np.random.RandomState | None"

    assert violations(otherwise) == {}


def test_only_the_base_annotates_how_categories_are_coded():
    def annotated(kind):
        bases = [base for base in kind.__mro__ if base.__module__.startswith("lyceum.")]
        return [
            base.__name__
            for base in bases
            if "_coding" in vars(base).get("__annotations__", {})
        ]

    assert {
        name: found
        for name, found in violations(annotated).items()
        if found != ["Learner"]
    } == {}


def test_parameters_have_the_names_and_defaults_of_all_families():
    defaults = {"random_state": None, "record": False}

    def otherwise(kind):
        found = parameters(kind)
        named = sorted({"progress", "n_folds", "folds", "seed"} & set(found))
        _, theirs = shared_classes().get(kind.__name__, (None, None))
        as_there = {} if theirs is None else parameters(theirs)
        return named + [
            name
            for name, value in defaults.items()
            if name in found
            and found[name].default is not value
            # scikit-learn's Perceptron has random_state=0
            and (name not in as_there or found[name].default != as_there[name].default)
        ]

    assert violations(otherwise) == {}


# class labels, which are of any type
UNCHECKED = {"reference", "default_class", "reject_label"}
# names that scikit-learn has for two things
SHARED_NAMES = {
    "learning_rate": "a factor in descents and ensembles, the schedule of the factor in networks",
    "dtype": "any type of numbers for codes, one of two for bins, as in scikit-learn",
    "weights": (
        "how the votes of neighbors are weighted, the weight of every member of a committee"
    ),
}


def type_of(constraint):
    """The coarse type that one of scikit-learn's constraints asks for; None for None."""
    if isinstance(constraint, StrOptions) or constraint is str:
        return "text"
    if isinstance(constraint, Interval | Options):
        return (
            "number"
            if issubclass(constraint.type, Number)
            else constraint.type.__name__
        )
    if isinstance(constraint, HasMethods):
        return "estimator"
    if constraint is None or isinstance(constraint, str):
        return {"verbose": "number", "array-like": "list"}.get(constraint, constraint)
    if constraint in (list, tuple, dict):
        return "list"
    is_number = isinstance(constraint, type) and issubclass(constraint, Number)
    if is_number:
        return "number"
    return getattr(constraint, "__name__", type(constraint).__name__)


def test_one_name_has_one_type():
    """A type that all learners with the parameter take: elsewhere they may take more, such as
    "auto"."""
    types, takers = {}, {}
    for kind in KINDS:
        for name in parameters(kind):
            given = kind._parameter_constraints[name]
            found = (
                {type_of(one) for one in given} - {None}
                if isinstance(given, list)
                else {given}
            )
            assert found != {"no_validation"} or name in UNCHECKED, (
                kind.__name__,
                name,
            )
            types[name] = types.get(name, found) & found
            takers.setdefault(name, {}).setdefault(tuple(sorted(found)), []).append(
                kind.__name__
            )
    assert len(types) > 200
    assert {
        name: takers[name] for name, common in types.items() if not common
    }.keys() == SHARED_NAMES.keys()


def test_folds_are_given_alike():
    """Ten by default where they choose a pruning, five elsewhere; None where none are needed, and
    where it is scikit-learn's default for penalties."""
    ten = {"CART", "CARTRegressor", "DecisionTreeClassifier", "DecisionTreeRegressor"}
    none = {"BayesOptimalClassifier", "CalibratedClassifierCV", "MinimumRiskClassifier"}
    none |= {"RidgeCV", "LassoCV", "ElasticNetCV"}
    defaults = dict.fromkeys(ten, 10) | dict.fromkeys(none)

    def otherwise(kind):
        found, taken = (
            parameters(kind).get("cv"),
            kind._parameter_constraints.get("cv", ()),
        )
        if found is None:
            return None
        others = [
            one
            for one in taken
            if one != "cv_object" and not isinstance(one, StrOptions)
        ]
        asked = (
            found.default == defaults.get(kind.__name__, 5)
            and found.annotation == "Any"
        )
        return others or "cv_object" not in taken or not asked

    assert violations(otherwise) == {}


def test_every_parameter_is_described():
    assert (
        violations(
            lambda kind: names_in(section(kind, "Parameters")) ^ set(parameters(kind))
        )
        == {}
    )


def test_there_are_examples():
    assert violations(lambda kind: ">>>" not in section(kind, "Examples")) == {}


# what has no single source: recoding, compositions of other learners, and least squares
WITHOUT_REFERENCES = {
    *(
        "ClusterClassifier",
        "ClusterFeatures",
        "ClusterLabels",
        "DatetimeEncoder",
        "DropMissing",
        "SimpleImputer",
    ),
    *(
        "RowSVD",
        "LinearRegression",
        "MinMaxScaler",
        "MissingCategory",
        "OneHotEncoder",
        "StandardScaler",
    ),
    *("MeanRegressor", "PriorClassifier"),
}


def test_there_are_references():
    assert (
        set(violations(lambda kind: not section(kind, "References")))
        == WITHOUT_REFERENCES
    )


def test_references_have_a_year():
    def undated(kind):
        text = section(kind, "References")
        return text and not re.search(r"\b1[89]\d\d\b|\b20\d\d\b", text)

    assert violations(undated) == {}


def test_there_is_a_see_also():
    assert violations(lambda kind: not section(kind, "See Also")) == {}


def test_sections_are_those_of_numpydoc_in_order():
    order = ["Parameters", "Attributes", "See Also", "Notes", "References", "Examples"]

    def otherwise(kind):
        found = [title for title in sections(kind) if title in order]
        others = set(sections(kind)) - {*order, "Methods"}
        return found if found != sorted(found, key=order.index) else others

    assert violations(otherwise) == {}


SOLVERS = [
    (entry.name, solver)
    for entry in catalog.learners()
    if "record" in parameters(entry.load())
    for one in entry.load()._parameter_constraints.get("solver", ())
    if isinstance(one, StrOptions)
    for solver in sorted(one.options)
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("name", "solver"), SOLVERS)
def test_every_solver_records_its_steps(name, solver):
    learner = learner_named(name).set_params(record=True, solver=solver)
    data = data_for(learner)
    try:
        fitted = fit(learner, data.X, data.y)
    except SettingError as error:
        pytest.skip(str(error))  # with other settings than the default
    needed = {"step", MEASURES.get(name, "objective")}
    assert len(fitted.record_) > 0 or not len(fitted.history_)  # in closed form
    assert [
        needed - step.keys() for step in fitted.record_ if needed - step.keys()
    ] == []


def test_what_predicts_explains_itself():
    """The laws of explanations pass over a learner without `explain`."""
    made = map(learner_named, NAMES)
    answers = [
        one for one in made if hasattr(one, "predict") or hasattr(one, "score_samples")
    ]
    assert len(answers) > 80
    assert [type(one).__name__ for one in answers if not hasattr(one, "explain")] == []


@pytest.mark.parametrize(
    "learner", OTHER_LEARNERS, ids=lambda learner: type(learner).__name__
)
def test_fitted_attributes_of_other_learners_are_described(learner):
    found = fitted_names(fit_other(learner))
    assert sorted(found - names_in(section(type(learner), "Attributes"))) == []
    assert not found & OTHER_NAMES.keys()


def test_every_public_learner_is_cataloged_or_listed():
    """A learner that is in neither would be held to no convention."""
    bases = {"OnePassClassifier", "OnePassLearner"}  # to be subclassed
    assert {kind.__name__ for kind in public_learners()} - {
        kind.__name__ for kind in KINDS
    } == bases


def names_in_scikit_learn(kind):
    """The attributes of scikit-learn's class of the same name: ours has them too."""
    _, theirs = shared_classes().get(kind.__name__, (None, None))
    return set() if theirs is None else set(names_in(section(theirs, "Attributes")))


@pytest.mark.filterwarnings(
    "ignore:Perceptron made:sklearn.exceptions.ConvergenceWarning"
)
@pytest.mark.parametrize("name", NAMES)
def test_fitted_attributes_are_described_and_have_one_name_everywhere(name):
    learner = learner_named(name)
    for option in ("record", "oob_score"):
        if option in learner.get_params() and learner.get_params().get(
            "bootstrap", True
        ):
            learner.set_params(**{option: True})
    data = data_for(learner)
    fitted = fit(learner, data.X, data.y)
    assert fitted.n_rows_ == len(data.X)
    found = fitted_names(fitted)
    others = found & OTHER_NAMES.keys() - names_in_scikit_learn(type(fitted))
    assert {name: OTHER_NAMES[name] for name in others} == {}
    missing = found - names_in(section(type(fitted), "Attributes"))
    assert not missing, sorted(missing)
    if hasattr(fitted, "trees_"):
        assert isinstance(fitted.trees_, list)
    if hasattr(fitted, "record_"):
        assert isinstance(fitted.record_, list)
        needed = {"step", MEASURES.get(type(fitted).__name__, "objective")}
        assert [
            needed - step.keys() for step in fitted.record_ if needed - step.keys()
        ] == []
    if hasattr(fitted, "history_"):
        assert all(isinstance(axis, str) for axis in fitted.history_axes)
        assert len(fitted.history_axes) == 2

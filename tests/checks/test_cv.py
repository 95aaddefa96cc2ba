"""`cv` takes a number, a splitter, a list and a generator of splits wherever a learner has it."""

import inspect

import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.model_selection import KFold, ShuffleSplit
from tests.checks.cases import learner_named
from tests.checks.fits import Case, outcome, same
from tests.checks.tables import data_for

from lyceum import catalog
from lyceum.bayes import RegularizedDiscriminant
from lyceum.decomposition import SequentialFeatureSelector
from lyceum.errors import SettingError
from lyceum.trees import DecisionTreeClassifier, DecisionTreeRegressor

USED = {  # so that there is something to cross-validate
    "RegularizedDiscriminant": {"alpha": "cv", "gamma": "cv"},
    "VotingClassifier": {"weights": "learned"},
    "VotingRegressor": {"weights": "learned"},
    "AuxiliaryTargets": {"auxiliary": [1]},
    "DecisionTreeClassifier": {"ccp_alpha": "cv"},
    "DecisionTreeRegressor": {"ccp_alpha": "cv"},
    "CART": {"ccp_alpha": "cv"},
    "CARTRegressor": {"ccp_alpha": "cv"},
}
NAMES = [
    entry.name
    for entry in catalog.learners()
    if "cv" in inspect.signature(entry.load().__init__).parameters
]


@pytest.mark.parametrize("name", NAMES)
def test_splitters_lists_and_generators_are_the_same_folds(name):
    learner = learner_named(name).set_params(**USED.get(name, {}))
    if "random_state" in learner.get_params():
        learner.set_params(random_state=0)
    data = data_for(learner, 45)
    folds = KFold(3, shuffle=True, random_state=0)
    given = (folds, list(folds.split(data.X)), folds.split(data.X))
    found = [
        outcome(learner.set_params(cv=cv).fit(data.X, data.y), data.X, Case())
        for cv in given
    ]
    same(found[0], found[1], rtol=0.0)
    same(found[0], found[2], rtol=0.0)
    learner.set_params(cv=ShuffleSplit(3, test_size=0.4, random_state=0)).fit(
        data.X, data.y
    )


@pytest.mark.parametrize(
    "learner",
    [
        RegularizedDiscriminant(),
        SequentialFeatureSelector(),
        SequentialFeatureSelector(DecisionTreeRegressor(max_depth=1)),
    ],
)
def test_a_generator_that_is_used_up_is_refused(learner):
    data = data_for(RegularizedDiscriminant(), 45)
    y = data.y if is_classifier(learner) else data.X[:, 0]
    with pytest.raises((SettingError, ValueError), match="split"):
        learner.set_params(cv=iter([])).fit(data.X[:, 1:], y)


def test_a_discriminant_chosen_by_given_splits_has_the_losses_of_fits_without_them():
    data = data_for(RegularizedDiscriminant(), 60)
    splits = list(ShuffleSplit(4, test_size=0.3, random_state=1).split(data.X))
    model = RegularizedDiscriminant(
        alpha=[0.2, 1.0], gamma=[0.1], cv=splits, scoring="error"
    ).fit(data.X, data.y)
    for row, alpha in zip(model.scores_, (0.2, 1.0)):
        wrong = [
            RegularizedDiscriminant(alpha=alpha, gamma=0.1)
            .fit(data.X[train], data.y[train])
            .predict(data.X[test])
            != data.y[test]
            for train, test in splits
        ]
        np.testing.assert_allclose(row, [np.mean(np.concatenate(wrong))])


def test_losses_of_numbers_are_refused_for_words():
    data = data_for(RegularizedDiscriminant(), 45)
    with pytest.raises(SettingError, match="loss='absolute' is of numbers"):
        SequentialFeatureSelector(
            DecisionTreeClassifier(), scoring="absolute", n_features_to_select=2
        ).fit(data.X, data.y)


def test_a_tree_pruned_by_given_splits_ignores_rows_of_weight_zero():
    data = data_for(DecisionTreeClassifier(), 60)
    weights = np.ones(60)
    weights[[4, 17, 40]] = 0.0
    splits = list(KFold(4, shuffle=True, random_state=2).split(data.X))
    used = np.flatnonzero(weights)
    # of the rows with weight, without the others
    numbers = np.cumsum(weights).astype(int) - 1
    fewer = [
        tuple(numbers[np.intersect1d(side, used)] for side in pair) for pair in splits
    ]
    model = DecisionTreeClassifier(ccp_alpha="cv", cv=splits, random_state=0)
    one = model.fit(data.X, data.y, weights).alpha_choice_
    two = model.set_params(cv=fewer).fit(data.X[used], data.y[used]).alpha_choice_
    np.testing.assert_allclose(one.risks, two.risks)
    assert one.alpha == two.alpha


def test_the_number_of_folds_of_a_tree_is_leave_one_out_at_most():
    data = data_for(DecisionTreeRegressor(), 20)
    alone = [(np.delete(np.arange(20), k), np.array([k])) for k in range(20)]
    model = DecisionTreeRegressor(ccp_alpha="cv", random_state=0)
    one = model.set_params(cv=50).fit(data.X, data.y).alpha_choice_
    two = model.set_params(cv=alone).fit(data.X, data.y).alpha_choice_
    np.testing.assert_allclose(one.risks, two.risks)

"""Random forests and extremely randomized trees: what is drawn, what is out of bag, what is
averaged."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn import ensemble as theirs
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder
from tests.ensemble.forest_cases import (
    CLASSIFIERS,
    REGRESSORS,
    assert_same,
    table,
    target_of,
)
from threadpoolctl import threadpool_limits

import lyceum
from lyceum import datasets
from lyceum._core.trees import GROUPS, LEAF, shares
from lyceum.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from lyceum.errors import Cancelled, SettingError
from lyceum.progress import Update, watch

# -- settings --------------------------------------------------------------------------

# a few trees leave rows that every tree drew
pytestmark = pytest.mark.filterwarnings("ignore:Some inputs do not have OOB scores")


@pytest.mark.parametrize("kind", [*CLASSIFIERS, *REGRESSORS])
@pytest.mark.parametrize(
    "option",
    [
        {"max_depth": 2},
        {"min_samples_split": 60},
        {"min_samples_leaf": 25},
        {"min_samples_leaf": 0.1},
        {"min_weight_fraction_leaf": 0.1},
        {"max_leaf_nodes": 4},
        {"min_impurity_decrease": 0.05},
    ],
)
def test_every_limit_of_growth_has_an_effect(kind, option):
    frame, labels, score = table(200)
    y = target_of(kind, labels, score)
    free = kind(n_estimators=3, random_state=0).fit(frame, y)
    bound = kind(n_estimators=3, random_state=0, **option).fit(frame, y)
    assert sum(tree.n_leaves for tree in bound.trees_) < 0.5 * sum(
        tree.n_leaves for tree in free.trees_
    )
    for tree in bound.trees_:
        assert tree.depth <= option.get("max_depth", 99)
        assert tree.n_leaves <= option.get("max_leaf_nodes", 999)
        least = option.get("min_samples_leaf", 1)
        assert tree.n_rows.min() >= (least if least >= 1 else 20)


@pytest.mark.parametrize(
    ("kind", "criteria"),
    [
        (RandomForestClassifier, ["gini", "entropy", "misclassification"]),
        (ExtraTreesClassifier, ["gini", "entropy", "misclassification"]),
        (RandomForestRegressor, ["squared_error", "absolute_error", "sd"]),
        (ExtraTreesRegressor, ["squared_error", "sd"]),
    ],
)
def test_every_criterion_grows_other_trees_that_learn(kind, criteria):
    frame, labels, score = table(200)
    y = target_of(kind, labels, score)
    forests = [
        kind(n_estimators=20, criterion=c, random_state=0).fit(frame, y)
        for c in criteria
    ]
    assert all(forest.score(frame, y) > 0.8 for forest in forests)
    assert len({forest.trees_[0].threshold.tobytes() for forest in forests}) == len(
        criteria
    )


def test_class_weights_move_the_decision():
    frame, y, _ = table(400)
    options = {"n_estimators": 20, "max_depth": 3, "random_state": 0}
    said = [
        np.mean(
            RandomForestClassifier(class_weight=weight, **options)
            .fit(frame, y)
            .predict(frame)
            == "top"
        )
        for weight in ({"top": 0.1}, None, {"top": 10.0})
    ]
    assert said[0] < said[1] < said[2]
    balanced = RandomForestClassifier(
        class_weight="balanced", bootstrap=False, **options
    ).fit(frame, y)
    np.testing.assert_allclose(balanced.trees_[0].node_values[0], np.full(3, 400 / 3))
    with pytest.raises(SettingError, match="class_weight names the class 'bottom'"):
        RandomForestClassifier(class_weight={"bottom": 2.0}).fit(frame, y)


@pytest.mark.parametrize("kind", [*CLASSIFIERS, *REGRESSORS])
@pytest.mark.parametrize("missing", ["learned", "fractions"])
def test_missing_cells_are_learned_from_and_predicted_over(kind, missing):
    frame, labels, score = table(150, gaps=0.15)
    y = target_of(kind, labels, score)
    forest = kind(n_estimators=20, missing=missing, random_state=0).fit(frame, y)
    assert forest.score(frame, y) > 0.75
    assert np.isfinite(np.asarray(forest.apply(frame))).all()
    if missing == "fractions":
        assert all((tree.missing == -1).all() for tree in forest.trees_)


@pytest.mark.parametrize("form", ["groups", "one_vs_rest"])
def test_categories_are_split_in_two(form):
    frame, y, _ = table(300)
    forest = RandomForestClassifier(
        n_estimators=10, categorical_split=form, random_state=0
    ).fit(frame, y)
    sizes = set()
    for tree in forest.trees_:
        by_color = np.flatnonzero(tree.feature == 3)
        assert (tree.kind[by_color] == GROUPS).all()
        for node in by_color:
            branches = tree.branches[
                tree.table[node] : tree.table[node] + tree.n_codes[node]
            ]
            sizes.add(min(np.count_nonzero(branches == side) for side in (0, 1)))
    assert sizes == ({1, 2} if form == "groups" else {1})
    unknown = frame.head(2).assign(color=pd.Categorical(["violet", "red"]))
    assert forest.predict_proba(unknown).shape == (2, 3)


def test_more_categories_than_bins_share_one():
    rng = np.random.default_rng(0)
    code = rng.integers(0, 300, 2000)
    names = np.array([f"c{i:03d}" for i in range(300)])
    frame = pd.DataFrame(
        {"town": pd.Categorical(names[code], names), "x": rng.normal(size=2000)}
    )
    y = (code < 150) ^ (rng.random(2000) < 0.05)
    forest = RandomForestClassifier(
        n_estimators=10, max_features=None, oob_score=True, random_state=0
    )
    assert forest.fit(frame, y).oob_score_ > 0.75


# -- what a forest says ----------------------------------------------------------------


@pytest.mark.syllabus("11.3.3")
@pytest.mark.parametrize("kind", [*CLASSIFIERS, *REGRESSORS])
def test_a_forest_is_the_mean_of_its_trees(kind):
    frame, labels, score = table(200, gaps=0.05)
    forest = kind(n_estimators=7, random_state=0).fit(
        frame, target_of(kind, labels, score)
    )
    ends = np.asarray(forest.apply(frame))
    assert ends.shape == (200, 7)
    values = []
    for tree, leaf in zip(forest.trees_, ends.T):
        assert np.isin(
            tree.kind[leaf], [LEAF, GROUPS]
        ).all()  # a category not drawn stays where it is new
        values.append(
            (shares(tree.node_values) if kind in CLASSIFIERS else tree.node_values)[
                leaf
            ]
        )
    mean = np.mean(values, axis=0)
    if kind in CLASSIFIERS:
        np.testing.assert_allclose(forest.predict_proba(frame), mean, atol=1e-12)
        np.testing.assert_allclose(
            np.exp(forest.predict_log_proba(frame)), mean, atol=1e-12
        )
        assert (
            forest.predict(frame)
            == forest.classes_[forest.predict_proba(frame).argmax(axis=1)]
        ).all()
    else:
        np.testing.assert_allclose(forest.predict(frame), mean[:, 0], rtol=1e-12)


def test_staged_predictions_are_those_of_the_first_trees():
    frame, labels, score = table(100)
    forest = RandomForestClassifier(n_estimators=5, random_state=0).fit(frame, labels)
    stages, classes = (
        list(forest.staged_predict_proba(frame)),
        list(forest.staged_predict(frame)),
    )
    for count in (1, 3, 5):
        first = RandomForestClassifier(n_estimators=count, random_state=0).fit(
            frame, labels
        )
        np.testing.assert_allclose(
            stages[count - 1], first.predict_proba(frame), atol=1e-12
        )
        assert (
            classes[count - 1] == forest.classes_[stages[count - 1].argmax(axis=1)]
        ).all()
    assert len(stages) == len(classes) == 5
    numbers = RandomForestRegressor(n_estimators=5, random_state=0).fit(frame, score)
    np.testing.assert_allclose(
        list(numbers.staged_predict(frame))[-1], numbers.predict(frame), rtol=1e-12
    )


@pytest.mark.syllabus("11.3.4")
@pytest.mark.parametrize("kind", [*CLASSIFIERS, *REGRESSORS])
def test_importances_sum_to_one_and_find_what_matters(kind):
    frame, labels, score = table(400)
    forest = kind(n_estimators=20, random_state=0).fit(
        frame, target_of(kind, labels, score)
    )
    importances = forest.feature_importances_
    assert importances.sum() == pytest.approx(1.0)
    assert (importances > 0).all()
    assert importances.argmin() == 2


@pytest.mark.parametrize("kind", [*CLASSIFIERS, *REGRESSORS])
def test_explanations_add_up_to_the_prediction(kind):
    frame, labels, score = table(150, gaps=0.1)
    forest = kind(n_estimators=8, random_state=0).fit(
        frame, target_of(kind, labels, score)
    )
    said = (
        forest.predict_proba(frame).max(axis=1)
        if kind in CLASSIFIERS
        else forest.predict(frame)
    )
    np.testing.assert_allclose(forest.explain(frame).scores, said, rtol=1e-10)


def test_the_summary_tells_size_draws_and_out_of_bag_score():
    frame, y, _ = table(100)
    forest = RandomForestClassifier(n_estimators=4, oob_score=True, random_state=0).fit(
        frame, y
    )
    text = str(forest.summary())
    for part in ("trees", "2 of 4", "out-of-bag score", "color", "depth"):
        assert part in text


def test_progress_is_reported_after_every_tree():
    frame, y, _ = table(60)
    seen = []
    with watch(seen.append):
        RandomForestClassifier(n_estimators=3, random_state=0).fit(frame, y)
    assert [u for u in seen if u.stage == "trees"] == [
        Update("trees", k, 3) for k in (1, 2, 3)
    ]


def test_a_cancelled_fit_leaves_the_forest_as_it_was():
    frame, y, _ = table(60)
    forest = RandomForestClassifier(n_estimators=3, random_state=0).fit(frame, y)
    before = forest.predict_proba(frame)
    with watch() as watched:
        watched.cancel()
        with pytest.raises(Cancelled, match="cancelled after"):
            forest.set_params(n_estimators=50).fit(frame, y)
    np.testing.assert_array_equal(forest.predict_proba(frame), before)


# -- threads and files -----------------------------------------------------------------


@pytest.mark.parametrize("kind", [*CLASSIFIERS, *REGRESSORS])
def test_one_thread_and_two_give_the_forest_to_the_bit(kind):
    frame, labels, score = table(500, gaps=0.05)
    forests = []
    for threads in (1, 2):
        with threadpool_limits(threads, user_api="openmp"):
            forest = kind(
                n_estimators=7, bootstrap=True, oob_score=True, random_state=5
            )
            forests.append(forest.fit(frame, target_of(kind, labels, score)))
    assert_same(*forests)
    assert forests[0].oob_score_ == forests[1].oob_score_
    np.testing.assert_array_equal(
        *(np.asarray(forest.predict(frame)) for forest in forests)
    )


@pytest.mark.parametrize("kind", [*CLASSIFIERS, *REGRESSORS])
def test_a_forest_comes_back_from_a_pickle_and_a_model_file(kind, tmp_path):
    frame, labels, score = table(100, gaps=0.05)
    y = target_of(kind, labels, score)
    forest = kind(n_estimators=3, warm_start=True).fit(frame, y)
    lyceum.save(forest, tmp_path / "forest.lyceum")
    for other in (
        pickle.loads(pickle.dumps(forest)),
        lyceum.load(tmp_path / "forest.lyceum"),
    ):
        np.testing.assert_array_equal(other.predict(frame), forest.predict(frame))
        grown = [
            model.set_params(n_estimators=5).fit(frame, y)
            for model in (other, clone_of(forest))
        ]
        assert_same(*grown)


def clone_of(forest):
    other = clone(forest)
    other.__dict__.update(forest.__dict__)
    return other


# -- quality ---------------------------------------------------------------------------


@pytest.mark.syllabus("11.3.3")
def test_german_credit_is_learned_as_well_as_by_scikit_learn():
    frame = pd.read_csv(datasets.path("german_credit"))
    y = frame.pop("class")
    text = [name for name in frame if frame[name].dtype.kind not in "if"]
    ours, scikits = [], []
    for seed in range(2):
        forest = RandomForestClassifier(n_estimators=25, random_state=seed)
        ours.append(
            cross_val_score(
                forest, frame.astype(dict.fromkeys(text, "category")), y, cv=3
            ).mean()
        )
        coded = frame.copy()
        coded[text] = OrdinalEncoder().fit_transform(frame[text])
        other = theirs.RandomForestClassifier(n_estimators=25, random_state=seed)
        scikits.append(cross_val_score(make_pipeline(other), coded, y, cv=3).mean())
    assert np.mean(ours) > np.mean(scikits) - 0.012
    assert np.mean(ours) > 0.74


@pytest.mark.parametrize(
    ("kind", "other"),
    [
        (RandomForestRegressor, theirs.RandomForestRegressor),
        (ExtraTreesRegressor, theirs.ExtraTreesRegressor),
    ],
)
def test_diabetes_is_learned_as_well_as_by_scikit_learn(kind, other):
    X, y = load_diabetes(return_X_y=True)
    scores = [
        np.mean(
            [
                cross_val_score(f(n_estimators=25, random_state=seed), X, y, cv=3)
                for seed in range(2)
            ]
        )
        for f in (kind, other)
    ]
    assert scores[0] > scores[1] - 0.012
    assert scores[0] > 0.4


def test_the_summary_counts_the_rows_of_the_table():
    X, y = load_iris(return_X_y=True)
    w = np.ones(len(y))
    w[:7] = 0.0
    assert (
        RandomForestClassifier(n_estimators=3).fit(X, y).summary().facts["rows"] == 150
    )
    assert (
        RandomForestClassifier(n_estimators=3).fit(X, y, w).summary().facts["rows"]
        == 150
    )  # by n_rows_


@pytest.mark.syllabus("11.3")
def test_extra_trees_draw_one_category_against_the_others():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"c": rng.choice(list("abcdef"), 400)})
    y = rng.integers(0, 2, 400)
    grown = {
        split: ExtraTreesClassifier(
            n_estimators=20, categorical_split=split, random_state=0
        )
        .fit(frame, y)
        .trees_
        for split in ("groups", "one_vs_rest")
    }

    def left_sizes(trees):
        sizes = set()
        for tree in trees:
            first = int(tree.table[0])
            side = tree.branches[first : first + int(tree.n_codes[0])]
            sizes.add(min(int((side == 0).sum()), int((side == 1).sum())))
        return sizes

    assert left_sizes(grown["one_vs_rest"]) == {1}
    assert left_sizes(grown["groups"]) > {1}


@pytest.mark.syllabus("6.8.4")
@pytest.mark.parametrize("kind", [RandomForestClassifier, ExtraTreesRegressor])
def test_single_trees_are_learners_of_their_own(kind):
    X, y = load_iris(return_X_y=True)
    forest = kind(5, random_state=0).fit(X, y)
    assert len(forest) == len(forest.estimators_) == 5
    if kind is RandomForestClassifier:
        each = np.mean([tree.predict_proba(X) for tree in forest.estimators_], axis=0)
        np.testing.assert_allclose(each, forest.predict_proba(X), atol=1e-12)
    else:
        each = np.mean([tree.predict(X) for tree in forest.estimators_], axis=0)
        np.testing.assert_allclose(each, forest.predict(X), atol=1e-9)
    assert forest[0].text().startswith("y")
    assert forest[-1].get_n_leaves() == forest.trees_[-1].n_leaves


def test_all_columns_may_be_said_as_a_share_of_one():
    X, y = load_iris(return_X_y=True)
    share = RandomForestClassifier(5, max_features=1.0, random_state=0).fit(X, y)
    every = RandomForestClassifier(5, max_features=None, random_state=0).fit(X, y)
    np.testing.assert_array_equal(share.predict_proba(X), every.predict_proba(X))

"""Ensembles."""

from typing import Any

from lyceum.catalog.entry import Entry, Item, pair

_FOREST = {"max_features": ["sqrt", 0.5, None], "min_samples_leaf": [1, 3, 10]}
# few settings, far apart: a forest takes long, and its settings matter little
_FORESTS: tuple[dict[str, Any], ...] = (
    {},
    {"max_features": 0.5, "min_samples_leaf": 1},
    {"max_features": "sqrt", "min_samples_leaf": 5},
    {"max_features": 0.5, "min_samples_leaf": 5},
)
# learned by benchmarks/portfolio.py from 18 tables with classes and 28 with numbers
_CLASS_BOOSTS = (
    {"learning_rate": 0.1, "max_iter": 300, "max_leaf_nodes": 4},
    {"learning_rate": 0.03, "max_iter": 100, "max_leaf_nodes": 4},
    {"learning_rate": 0.1, "max_iter": 300, "max_leaf_nodes": 31},
    {"learning_rate": 0.03, "max_iter": 300, "max_leaf_nodes": 4},
)
_NUMBER_BOOSTS = (
    {"learning_rate": 0.1, "max_iter": 300, "max_leaf_nodes": 31},
    {"learning_rate": 0.03, "max_iter": 100, "max_leaf_nodes": 4},
    {"learning_rate": 0.1, "max_iter": 300, "max_leaf_nodes": 8},
    {"learning_rate": 0.03, "max_iter": 300, "max_leaf_nodes": 8},
)
# slower steps on parts of rows and columns: many where columns tell much, and small trees where
# they tell little; chosen on seven tables, of which the duel has one, Ames houses
_VARIED_BOOSTS = {
    "with many slow steps": {
        "learning_rate": 0.03,
        "max_iter": 600,
        "max_leaf_nodes": 10,
        "min_samples_leaf": 5,
        "max_features": 0.5,
        "subsample": 0.8,
    },
    "with small trees": {
        "learning_rate": 0.03,
        "max_iter": 300,
        "max_leaf_nodes": 4,
        "max_features": 0.5,
        "subsample": 0.7,
    },
}
# an eighth of the time of the first, and better than the first on an eighth of the rows
_HASTY_BOOST = {"learning_rate": 0.2, "max_iter": 60, "max_leaf_nodes": 8}
# of 300 classes a round has 300 trees, and a tree looks at the sums of 300 classes
_FRUGAL_BOOST = {"learning_rate": 0.2, "max_iter": 20, "max_leaf_nodes": 8}
_FRUGAL_FOREST = {"n_estimators": 30}
_BOOSTING = {
    "learning_rate": (0.02, 0.3, "log"),
    "max_leaf_nodes": [7, 15, 31],
    "min_samples_leaf": [5, 20, 60],
}

ENTRIES = (
    *pair(
        "Bagging",
        about=(
            "Any learner on bootstrap samples or random subspaces; posteriors or votes averaged.",
            "Any learner on bootstrap samples or random subspaces; predictions averaged.",
        ),
        cost="the learner's, times the members",
        syllabus=("11.3",),
        in_study="never",
    ),
    *pair(
        "RandomForest",
        about=(
            "Trees on bootstrap samples, a few columns drawn at every node; posteriors averaged.",
            "Regression trees on bootstrap samples, averaged.",
        ),
        cost="two passes, one byte per cell kept; n·√d·log n per tree",
        syllabus=("11.3",),
        space=_FOREST,
        portfolio=_FORESTS,
        frugal=_FRUGAL_FOREST,
        regressor={
            "promise": 0.59,
            "cost": "two passes, one byte per cell kept; n·d·log n per tree",
        },
        promise=0.66,
    ),
    *pair(
        "ExtraTrees",
        about=(
            "Trees whose thresholds are drawn, the best of a few columns taken.",
            "Regression trees whose thresholds are drawn, averaged.",
        ),
        cost="two passes, one byte per cell kept; n·√d·log n per tree",
        syllabus=("11.3",),
        space=_FOREST,
        in_study="never",
        regressor={"cost": "two passes, one byte per cell kept; n·d·log n per tree"},
    ),
    *pair(
        "AdaBoost",
        about=(
            "Learners in turn, each on the rows that those before got wrong; a weighted vote.",
            "Regressors in turn, each on the rows that the last missed most; weighted median.",
        ),
        cost="n·d·log n once, n·d per round of stumps",
        syllabus=("11.4",),
        space={"learning_rate": (0.05, 1.0, "log")},
        portfolio=({}, {"learning_rate": 0.1}, {"learning_rate": 0.3}),
        regressor={"cost": "the learner's, times the rounds", "in_study": "never"},
        promise=0.47,
    ),
    *pair(
        "HistGradientBoosting",
        about=(
            "Small trees in turn along the gradient of the logistic or multinomial loss.",
            "Small trees in turn along the gradient of the squared, absolute or Huber loss.",
        ),
        cost="two passes, one byte per cell kept; n·d per round",
        syllabus=("11.4",),
        space=_BOOSTING,
        portfolio=_CLASS_BOOSTS,
        hasty=_HASTY_BOOST,
        frugal=_FRUGAL_BOOST,
        variants=_VARIED_BOOSTS,
        # without a penalty, steps on rows that are all but sure grow without bound
        study_settings={"l2_regularization": 1.0},
        promise=0.61,
        regressor={"promise": 0.71, "portfolio": _NUMBER_BOOSTS},
    ),
    *pair(
        "GradientBoosting",
        about=(
            "Exact trees in turn along the gradient of the logistic or exponential loss.",
            "Exact trees in turn along the gradient of the squared, absolute or Huber loss.",
        ),
        cost="n·d·log n once, n·d·depth per round and score",
        syllabus=("11.4",),
        space={"learning_rate": (0.02, 0.3, "log"), "max_depth": [1, 2, 3, 5, 8]},
        in_study="never",
    ),
    *pair(
        "GenericBoosting",
        about=(
            "Any regressor down the gradient of the logistic or multinomial loss; exact trees.",
            "Any regressor boosted down the gradient of the squared loss; by default exact trees.",
        ),
        cost="the learner's, times the rounds",
        syllabus=("11.4",),
        space={"learning_rate": (0.02, 0.3, "log")},
        in_study="never",
    ),
    Entry(
        name="OneVsRestClassifier",
        task="classification",
        about=(
            "One binary machine per class against all others; the highest score or most votes"
            " decide."
        ),
        cost="the learner's, times K",
        syllabus=("9.6",),
        space={"decision": ["scores", "votes"]},
        in_study="never",
    ),
    Entry(
        name="OneVsOneClassifier",
        task="classification",
        about=(
            "One binary machine per pair of classes; votes decide, posteriors by pairwise coupling."
        ),
        cost="the learner's on 2n/K rows, times K(K-1)/2",
        syllabus=("9.6",),
        space={"decision": ["votes", "posteriors"]},
        in_study="never",
    ),
    Entry(
        name="OutputCodeClassifier",
        task="classification",
        about=(
            "Every class a word of a code, one binary machine per place; the nearest word decides."
        ),
        cost="the learner's, times the columns of the code",
        syllabus=("9.6",),
        space={"decoding": ["loss", "hamming"]},
        in_study="never",
    ),
    *pair(
        "Voting",
        about=(
            "Any classifiers, each with its own columns and settings, fused by votes, sums or other"
            " rules.",
            "Any regressors, each with its own columns and settings, fused by means, medians or"
            " other rules.",
        ),
        cost="that of the members; times the folds for weights by validation",
        syllabus=("11.1", "11.2", "11.5", "11.7"),
        space={"rule": ["vote", "sum", "product"]},
        in_study="never",
        regressor={
            "syllabus": ("11.1", "11.2", "11.5"),
            "space": {"rule": ["sum", "median"]},
        },
    ),
    *pair(
        "Stacking",
        about=(
            "A classifier that learns from the posteriors that other classifiers give out of fold.",
            "A regressor that learns from the predictions that other regressors make out of fold.",
        ),
        cost="that of the members, times the folds and one",
        syllabus=("11.5",),
        space={"passthrough": [False, True]},
        in_study="never",
    ),
    Entry(
        name="CascadeClassifier",
        task="classification",
        about="Cheap classifiers first; what they doubt goes on to the next, within a budget.",
        cost=(
            "that of the stages, times the folds and one; a row goes from stage to stage until one"
            " is sure"
        ),
        syllabus=("11.6",),
        space={"thresholds": [None, [0.8], [0.9], [0.99]]},
        in_study="never",
    ),
    Entry(
        name="MixtureOfExperts",
        task="regression",
        about="Experts that a softmax gate shares rows out to, learned together by EM.",
        cost="iterations times the experts' own and n·d·L for the gate",
        syllabus=("11.6",),
        space={"n_experts": [2, 3, 5], "gate_alpha": (1e-3, 1.0, "log")},
        in_study="never",
    ),
    Entry(
        name="HierarchicalMixtureOfExperts",
        task="regression",
        about="Experts at the leaves of a tree of softmax gates, learned together by EM.",
        cost="iterations times the experts' own and n·d·L for the gates",
        syllabus=("11.6",),
        space={"depth": [1, 2, 3], "gate_alpha": (1e-3, 1.0, "log")},
        in_study="never",
    ),
    Entry(
        name="AuxiliaryTargets",
        task="classification",
        about=(
            "A learner helped by columns that are known in training only, which it learns to"
            " predict."
        ),
        cost="that of the learner, and n·d·log n per auxiliary target and fold",
        syllabus=("11.5",),
        space={"cv": [3, 5, 10]},
        in_study="never",
    ),
)

ITEMS: tuple[Item, ...] = (
    Item("MultiOutputClassifier", ("9.6",)),
    Item("couple_posteriors", ("9.6",)),
    Item("fuse", ("11.2",)),
    Item("simplex_weights", ("11.2",)),
    Item("diversity", ("11.7",)),
    Item("prune_ensemble", ("11.7",)),
)

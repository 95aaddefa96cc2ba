"""Every learner by name: what it does, what it takes, how it scales, what to search, and what it covers.

Nothing is imported before it is asked for: `learners()` and `find(name)` answer from this file alone, and
`entry.load()` imports the class.
"""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from lyceum.errors import LyceumError

__all__ = ["Entry", "Item", "covering", "find", "learners", "types"]

Task = Literal["classification", "regression", "clustering", "density", "reduction", "preparation"]
Scale = Literal["one pass", "many passes", "in memory"]
TASKS: tuple[Task, ...] = (
    "classification",
    "regression",
    "clustering",
    "density",
    "reduction",
    "preparation",
)

ALL = ("binary", "categorical", "continuous")
_SHRINK = (1e-4, 1e4, "log")
_GAPS = ("lyceum.prepare._statistics.Gaps", "lyceum.prepare._statistics.Together")
_TREE = (
    "lyceum.tree_core.Tree",
    "lyceum.tree_core.Considered",
    "lyceum.trees.AlphaChoice",
    "lyceum.trees.CostComplexityPath",
)
_BAG = (*_TREE, "lyceum.ensemble._draws.Draws")
_FOREST = {"max_features": ["sqrt", 0.5, None], "min_samples_leaf": [1, 3, 10]}
_BOOST = {"learning_rate": (0.02, 0.3, "log"), "max_leaf_nodes": [7, 15, 31], "min_samples_leaf": [5, 20, 60]}
_LEAVES = {"min_samples_leaf": (1, 50, "log"), "max_depth": [3, 5, 8, 12]}


@dataclass(frozen=True, slots=True)
class Item:
    """A public name that covers rows of the syllabus without being a learner."""

    name: str
    home: str
    covers: tuple[str, ...]

    def load(self) -> Any:
        """The object itself."""
        return getattr(importlib.import_module(self.home), self.name)


@dataclass(frozen=True, slots=True)
class Entry:
    """One learner.

    `scales` says how it reads rows: once, several times, or only in memory; the first two also run on files
    larger than memory and on Dask. `space` has, for every parameter worth searching, a list of choices or
    (low, high, "log" or "linear"). `scaled` says that a penalty or a distance makes the units of columns
    matter, so that numbers are standardised first. `unasked` says whether a study tries it without being
    asked to: with its settings searched, as it is where a fit takes long, or never where another learner does
    the same or it gives no posteriors.
    """

    name: str
    home: str
    task: Task
    about: str
    kinds: tuple[str, ...]
    missing: bool  # whether missing cells are taken as they are
    sparse: bool  # whether sparse arrays are taken
    scales: Scale
    cost: str
    covers: tuple[str, ...]
    space: Mapping[str, Any] = field(default_factory=dict, hash=False)
    parts: tuple[str, ...] = ()  # other classes that its model files hold
    scaled: bool = False
    unasked: Literal["searched", "as it is", "never"] = "searched"

    def load(self) -> type:
        """The class itself."""
        return getattr(importlib.import_module(self.home), self.name)


_LEARNERS = (
    Entry(
        "NaiveBayes", "lyceum.bayes", "classification",
        "Columns independent given the class: a table, Gaussian, histogram or kernel density for each.",
        ALL, True, False, "one pass", "n·d to fit, n·d·K to predict",
        ("1.3", "2.5", "3.1", "3.2", "3.5"),
        {
            "continuous": ["gaussian", "histogram"],
            "estimate": ["m"], "m": (0.1, 100.0, "log"), "var_smoothing": (1e-9, 1e-1, "log"),
        },
        (
            "lyceum.bayes._kernel_columns.ClassValues",
            "lyceum.bayes._kernel_columns.KernelLog",
            "lyceum.bayes._mixed_moments.MixedMoments",
        ),
    ),
    Entry(
        "MultinomialNaiveBayes", "lyceum.bayes", "classification",
        "Counts, as of words, drawn from the distribution of the class.",
        ALL, False, True, "one pass", "stored cells to fit, times K to predict",
        ("2.5", "3.2", "3.5"),
        {"alpha": (1e-3, 1e2, "log")},
        unasked="never",
    ),
    Entry(
        "BernoulliNaiveBayes", "lyceum.bayes", "classification",
        "Which columns, as words, are there in a row and which are not.",
        ALL, False, True, "one pass", "stored cells to fit, times K to predict",
        ("2.5", "3.2", "3.5"),
        {"alpha": (1e-3, 1e2, "log")},
        unasked="never",
    ),
    Entry(
        "LinearDiscriminant", "lyceum.bayes", "classification",
        "Gaussian classes that share one covariance: linear boundaries.",
        ALL, False, False, "one pass", "n·d² to fit, d³ to solve, n·d·K to predict",
        ("2.5", "3.3", "3.5"),
        {"covariance": ["full", "diagonal", "spherical"]},
    ),
    Entry(
        "QuadraticDiscriminant", "lyceum.bayes", "classification",
        "Gaussian classes with a covariance each: quadratic boundaries.",
        ALL, False, False, "one pass", "n·d² to fit, K·d³ to solve, n·d²·K to predict",
        ("2.5", "3.3", "3.5"),
        {"covariance": ["full", "diagonal", "spherical"]},
    ),
    Entry(
        "RegularizedDiscriminant", "lyceum.bayes", "classification",
        "Gaussian classes whose covariances are drawn to the pooled one and to a simple shape.",
        ALL, False, False, "many passes", "n·d² to fit, n·d²·K for every alpha scored; two passes",
        ("2.5", "3.3", "3.4", "3.5"),
        {"alpha": (0.0, 1.0, "linear"), "gamma": (0.0, 1.0, "linear"), "shrink": ["identity", "diagonal"]},
    ),
    Entry(
        "BayesianGaussianClassifier", "lyceum.bayes", "classification",
        "Gaussian classes averaged over a Normal-inverse-Wishart posterior: Student-t densities.",
        ALL, False, False, "one pass", "n·d² to fit, K·d³ to solve, n·d²·K to predict",
        ("2.5", "3.5", "3.6"),
        {"covariance": ["separate", "shared"], "kappa_0": (1e-3, 1e1, "log")},
        unasked="never",
    ),
    Entry(
        "ParzenClassifier", "lyceum.density", "classification",
        "A kernel density a class, turned round by Bayes' theorem.",
        ALL, False, False, "in memory", "n·log n to fit; up to n·d a row to predict, far less in few columns",
        ("2.5", "4.2", "4.3", "4.5"),
        {"kernel": ["gaussian", "laplace", "cauchy"]},
        scaled=True,
    ),
    Entry(
        "HistogramDensity", "lyceum.density", "density",
        "The share of the rows in every cell of a grid.",
        ALL, False, False, "many passes", "n·d to fit, n·log(cells) to score",
        ("4.1", "15.4"),
        {"bin_width": ["scott", "sturges", "sqrt"]},
        ("lyceum.density._grid_cells.CellWeights",),
    ),
    Entry(
        "KernelDensity", "lyceum.density", "density",
        "A small window about every row (Parzen), within a relative error that is chosen.",
        ALL, False, False, "in memory", "n·log n to fit; up to n·d a row to score, far less in few columns",
        ("4.2", "4.3", "15.4"),
        {"kernel": ["gaussian", "epanechnikov", "laplace"], "bandwidth": ["reference", "likelihood"]},
    ),
    Entry(
        "NeighborDensity", "lyceum.density", "density",
        "How far one must go to find k rows.",
        ALL, False, False, "in memory", "nothing to fit; a search for k neighbours a row to score",
        ("4.4", "15.4"),
        {"n_neighbors": [1, 5, 20, None]},
        scaled=True,
    ),
    Entry(
        "GaussianDensity", "lyceum.density", "density",
        "One Gaussian over all columns: maximum likelihood, or learned from a prior.",
        ALL, False, False, "one pass", "n·d² to fit, d³ to solve, n·d² to score",
        ("3.5", "3.6", "15.4"),
        {"estimate": ["ml", "map", "bayes"]},
    ),
    Entry(
        "LinearRegression", "lyceum.linear", "regression",
        "Least squares with standard errors, t and R².",
        ALL, False, True, "one pass", "n·d² to fit, d³ to solve",
        ("7.1",),
    ),
    Entry(
        "Ridge", "lyceum.linear", "regression",
        "Least squares with an L2 penalty, in closed form.",
        ALL, False, True, "one pass", "n·d² to fit, d³ to solve",
        ("7.2",),
        {"alpha": _SHRINK},
        scaled=True,
    ),
    Entry(
        "RidgeCV", "lyceum.linear", "regression",
        "Ridge regression with the penalty chosen by cross-validation, from the statistics of folds.",
        ALL, False, True, "one pass", "n·d² to fit, d³ a fold to solve",
        ("7.2",),
        scaled=True,
        unasked="never",
    ),
    Entry(
        "Lasso", "lyceum.linear", "regression",
        "Least squares with an L1 penalty: many coefficients are exactly zero.",
        ALL, False, True, "one pass", "n·d² to fit, or n·d a round on columns in memory",
        ("7.2",),
        {"alpha": _SHRINK},
        scaled=True,
    ),
    Entry(
        "ElasticNet", "lyceum.linear", "regression",
        "Least squares with an L1 and an L2 penalty.",
        ALL, False, True, "one pass", "n·d² to fit, or n·d a round on columns in memory",
        ("7.2",),
        {"alpha": _SHRINK, "l1_ratio": (0.05, 1.0, "linear")},
        scaled=True,
    ),
    Entry(
        "LassoCV", "lyceum.linear", "regression",
        "Lasso with the penalty chosen by cross-validation, from the statistics of folds.",
        ALL, False, True, "one pass", "n·d² to fit; a path a fold",
        ("7.2",),
        scaled=True,
        unasked="never",
    ),
    Entry(
        "ElasticNetCV", "lyceum.linear", "regression",
        "Elastic net with penalty and L1 share chosen by cross-validation.",
        ALL, False, True, "one pass", "n·d² to fit; a path a fold and share",
        ("7.2",),
        scaled=True,
        unasked="never",
    ),
    Entry(
        "LogisticRegression", "lyceum.linear", "classification",
        "Linear log-odds, binary or softmax, with an L1 or L2 penalty.",
        ALL, False, True, "many passes", "n·d·K a pass by quasi-Newton, n·d² by Newton; some ten passes",
        ("7.4", "7.5", "7.6"),
        {"C": _SHRINK, "l1_ratio": (0.0, 1.0, "linear")},
        scaled=True,
    ),
    Entry(
        "Perceptron", "lyceum.linear", "classification",
        "A separating hyperplane by correcting mistakes, with a verdict on separability.",
        ALL, False, True, "many passes", "n·d·K a pass, row after row in one thread",
        ("7.7",),
        scaled=True,
        unasked="never",
    ),
    Entry(
        "MarginClassifier", "lyceum.linear", "classification",
        "A linear classifier by hinge, logistic, exponential or squared loss of the margin.",
        ALL, False, True, "many passes", "n·d²·K a pass by Newton, n·d·K by quasi-Newton; some ten passes",
        ("7.8",),
        {"C": _SHRINK, "loss": ["hinge", "logistic", "exponential", "squared"]},
        scaled=True,
        unasked="never",
    ),
    Entry(
        "MLPClassifier", "lyceum.neural", "classification",
        "A feed-forward network of any depth, trained by backpropagation.",
        ALL, False, False, "many passes", "n·(number of weights) an epoch, in one thread",
        ("8.1", "8.2", "8.3"),
        {"hidden_layer_sizes": [32, 100, 300], "alpha": (1e-7, 1e-2, "log"), "dropout": [0.0, 0.2]},
        unasked="as it is",
    ),
    Entry(
        "MLPRegressor", "lyceum.neural", "regression",
        "A feed-forward network of any depth, trained by backpropagation.",
        ALL, False, False, "many passes", "n·(number of weights) an epoch, in one thread",
        ("8.1", "8.2", "8.3"),
        {"hidden_layer_sizes": [32, 100, 300], "alpha": (1e-7, 1e-2, "log"), "dropout": [0.0, 0.2]},
        unasked="as it is",
    ),
    Entry(
        "DecisionTreeClassifier", "lyceum.trees", "classification",
        "Questions to one column after the other: every split form, criterion, gap and pruning.",
        ALL, True, False, "many passes",
        "n·d·log n to fit in memory; with max_bins from files and Dask, a pass or two a level",
        ("1.3", "6.1", "6.2", "6.3", "6.4", "6.5", "6.6", "6.8"),
        {**_LEAVES, "criterion": ["gini", "entropy", "gain_ratio"]}, _TREE,
    ),
    Entry(
        "ID3", "lyceum.trees", "classification",
        "Quinlan's ID3: a branch a category by information gain.",
        ALL, True, False, "many passes", "as DecisionTreeClassifier", ("6.1",), parts=_TREE, unasked="never",
    ),
    Entry(
        "C45", "lyceum.trees", "classification",
        "Quinlan's C4.5: gain ratio, fractions for gaps, pruning by a confidence bound.",
        ALL, True, False, "many passes", "as DecisionTreeClassifier", ("6.1", "6.4", "6.6"),
        {"confidence": (0.01, 0.5, "log")}, _TREE, unasked="never",
    ),
    Entry(
        "CART", "lyceum.trees", "classification",
        "Breiman's CART: binary splits by Gini, pruned by cost and complexity.",
        ALL, True, False, "in memory", "as DecisionTreeClassifier, eleven times", ("6.1", "6.6"),
        parts=_TREE, unasked="never",
    ),
    Entry(
        "DecisionTreeRegressor", "lyceum.trees", "regression",
        "A constant in every leaf, by variance, absolute error or standard deviation.",
        ALL, True, False, "many passes",
        "n·d·log n to fit in memory; with max_bins from files and Dask, a pass or two a level",
        ("1.3", "6.2", "6.7", "6.8"),
        {**_LEAVES}, _TREE,
    ),
    Entry(
        "ModelTreeRegressor", "lyceum.trees", "regression",
        "M5: a tree with a linear model at every leaf.",
        ALL, True, False, "in memory", "n·d·log n to grow, n·d² for the models",
        ("6.7",),
        {"smoothing": [0.0, 15.0], "min_samples_split": (4, 64, "log")},
        (*_TREE, "lyceum.trees.StepColumns"),
    ),
    Entry(
        "BaggingClassifier", "lyceum.ensemble", "classification",
        "Any learner on many bootstrap samples or random subspaces; posteriors or votes averaged.",
        ALL, True, False, "in memory", "the learner's, times the members", ("11.3",),
        parts=_BAG, unasked="never",
    ),
    Entry(
        "BaggingRegressor", "lyceum.ensemble", "regression",
        "Any learner on many bootstrap samples or random subspaces; predictions averaged.",
        ALL, True, False, "in memory", "the learner's, times the members", ("11.3",),
        parts=_BAG, unasked="never",
    ),
    Entry(
        "RandomForestClassifier", "lyceum.ensemble", "classification",
        "Trees on bootstrap samples, a few columns drawn at every node; posteriors averaged.",
        ALL, True, False, "many passes", "two passes, a byte a cell kept; n·√d·log n a tree",
        ("11.3",), _FOREST, _TREE, unasked="as it is",
    ),
    Entry(
        "RandomForestRegressor", "lyceum.ensemble", "regression",
        "Regression trees on bootstrap samples, averaged.",
        ALL, True, False, "many passes", "two passes, a byte a cell kept; n·d·log n a tree",
        ("11.3",), _FOREST, _TREE, unasked="as it is",
    ),
    Entry(
        "ExtraTreesClassifier", "lyceum.ensemble", "classification",
        "Trees whose thresholds are drawn, the best of a few columns taken.",
        ALL, True, False, "many passes", "two passes, a byte a cell kept; n·√d·log n a tree",
        ("11.3",), _FOREST, _TREE, unasked="never",
    ),
    Entry(
        "ExtraTreesRegressor", "lyceum.ensemble", "regression",
        "Regression trees whose thresholds are drawn, averaged.",
        ALL, True, False, "many passes", "two passes, a byte a cell kept; n·d·log n a tree",
        ("11.3",), _FOREST, _TREE, unasked="never",
    ),
    Entry(
        "AdaBoostClassifier", "lyceum.ensemble", "classification",
        "Learners one after the other, each on the rows that those before got wrong; a weighted vote.",
        ALL, True, False, "in memory", "n·d·log n once, n·d a round of stumps", ("11.4",),
        {"learning_rate": (0.05, 1.0, "log")}, _TREE, unasked="as it is",
    ),
    Entry(
        "GradientBoostingClassifier", "lyceum.ensemble", "classification",
        "Small trees one after the other along the gradient of the logistic or multinomial loss.",
        ALL, True, False, "many passes", "two passes, a byte a cell kept; n·d a round",
        ("11.4",), _BOOST, _TREE, unasked="as it is",
    ),
    Entry(
        "GradientBoostingRegressor", "lyceum.ensemble", "regression",
        "Small trees one after the other along the gradient of the squared, absolute or Huber loss.",
        ALL, True, False, "many passes", "two passes, a byte a cell kept; n·d a round",
        ("11.4",), _BOOST, _TREE, unasked="as it is",
    ),
    Entry(
        "KMeans", "lyceum.cluster", "clustering",
        "Lloyd's algorithm: every row to its nearest centre, every centre to the mean of its rows.",
        ALL, False, True, "many passes", "n·d·k a pass",
        ("12.1",),
        {"n_clusters": (2, 20, "linear")},
        scaled=True,
    ),
    Entry(
        "PCA", "lyceum.reduce", "reduction",
        "The directions of largest variance, from the covariance matrix.",
        ALL, False, True, "one pass", "n·d² to fit, d³ to solve",
        ("13.1",),
        {"n_components": [0.5, 0.8, 0.9, 0.95, 0.99]},
        ("lyceum.reduce._centered_rows.CenteredRows",),
        scaled=True,
    ),
    Entry(
        "Standardize", "lyceum.prepare", "preparation",
        "Numbers to mean 0 and standard deviation 1.",
        ALL, True, False, "one pass", "n·d", ("1.2",),
    ),
    Entry(
        "MinMax", "lyceum.prepare", "preparation",
        "Numbers to a given range.",
        ALL, True, False, "one pass", "n·d", ("1.2",),
    ),
    Entry(
        "BasisExpansion", "lyceum.linear", "preparation",
        "Numbers as polynomials, Gaussian bumps or sigmoid steps of them.",
        ALL, False, False, "one pass", "n·d to fit, n a function to transform", ("7.3",),
        {"kind": ["polynomial", "gaussian", "sigmoid"], "degree": [2, 3], "n_centers": [5, 10, 20]},
    ),
    Entry(
        "OneOfC", "lyceum.prepare", "preparation",
        "A column of 0 and 1 for every category.",
        ALL, True, False, "one pass", "n·d", ("1.2",),
    ),
    Entry(
        "FillMissing", "lyceum.prepare", "preparation",
        "Missing cells filled with the mean, the median or the commonest value.",
        ALL, True, False, "one pass", "n·d", ("1.3",), parts=_GAPS,
    ),
    Entry(
        "MissingCategory", "lyceum.prepare", "preparation",
        "Missing as a category of its own.",
        ALL, True, False, "one pass", "n·d", ("1.3",), parts=_GAPS,
    ),
    Entry(
        "DropMissing", "lyceum.prepare", "preparation",
        "Rows with missing cells left out.",
        ALL, True, False, "one pass", "n·d", ("1.3",), parts=_GAPS,
    ),
    Entry(
        "PredictMissing", "lyceum.prepare", "preparation",
        "Missing cells predicted from the other columns.",
        ALL, True, False, "many passes", "a regression or a classifier for every column with gaps", ("1.3",),
    ),
)  # fmt: skip

_ITEMS = (
    Item("Schema", "lyceum.data", ("1.1",)),
    Item("inspect", "lyceum.data", ("1.1",)),
    Item("scan", "lyceum.data", ("1.1",)),
    Item("describe", "lyceum.statistics", ("1.4",)),
    Item("splitter", "lyceum.evaluate", ("1.5", "14.5")),
    Item("train_validation_test", "lyceum.evaluate", ("1.5",)),
    Item("ProbabilityTable", "lyceum.probability", ("2.1",)),
    Item("bayes_theorem", "lyceum.probability", ("2.1",)),
    Item("LossMatrix", "lyceum.decision", ("2.2",)),
    Item("minimum_risk", "lyceum.decision", ("2.2", "2.3")),
    Item("MinimumRiskClassifier", "lyceum.decision", ("2.2", "2.3")),
    Item("error_reject_curve", "lyceum.decision", ("2.3",)),
    Item("BayesOptimalClassifier", "lyceum.decision", ("2.4",)),
    Item("bayes_error", "lyceum.decision", ("2.4",)),
    Item("best_threshold", "lyceum.decision", ("2.6",)),
    Item("majority_vote_error", "lyceum.evaluate", ("11.1",)),
    Item("confusion", "lyceum.evaluate", ("14.1",)),
    Item("cobweb", "lyceum.plot", ("14.1",)),
    Item("binary_report", "lyceum.evaluate", ("14.2",)),
    Item("class_report", "lyceum.evaluate", ("14.2",)),
    Item("roc", "lyceum.evaluate", ("14.3",)),
    Item("auc_fawcett", "lyceum.evaluate", ("14.3",)),
    Item("auc_hand_till", "lyceum.evaluate", ("14.3",)),
    Item("macro_average_modified", "lyceum.evaluate", ("14.3",)),
    Item("regression_report", "lyceum.evaluate", ("14.4",)),
    Item("cross_validate", "lyceum.evaluate", ("14.5",)),
    Item("bootstrap_632", "lyceum.evaluate", ("14.5",)),
    Item("mcnemar", "lyceum.evaluate", ("14.6",)),
    Item("five_by_two", "lyceum.evaluate", ("14.5", "14.6")),
    Item("corrected_t", "lyceum.evaluate", ("14.6",)),
    Item("bayes_factor", "lyceum.evaluate", ("14.6",)),
    Item("information_criteria", "lyceum.evaluate", ("14.6",)),
    Item("error_interval", "lyceum.evaluate", ("14.7",)),
    Item("hoeffding", "lyceum.evaluate", ("14.7",)),
    Item("chebyshev", "lyceum.evaluate", ("14.7",)),
    Item("holdout_size", "lyceum.evaluate", ("14.7",)),
    Item("bias_variance", "lyceum.evaluate", ("14.8",)),
    Item("learning_curve", "lyceum.evaluate", ("14.8",)),
    Item("validation_curve", "lyceum.evaluate", ("14.8",)),
    Item("class_priors", "lyceum.probability", ("2.5",)),
    Item("DriftingMeans", "lyceum.bayes", ("3.5",)),
    Item("NormalMean", "lyceum.bayes", ("3.6",)),
    Item("fuse_gaussians", "lyceum.density", ("3.6",)),
    Item("reference_bandwidth", "lyceum.density", ("4.3",)),
    Item("likelihood_bandwidth", "lyceum.density", ("4.3",)),
    Item("elastic_net_path", "lyceum.linear", ("7.2",)),
    Item("lasso_path", "lyceum.linear", ("7.2",)),
    Item("simple_regression", "lyceum.linear", ("7.1",)),
    Item("laplace_contours", "lyceum.plot", ("7.6",)),
    Item("margin_loss", "lyceum.linear", ("7.8",)),
    Item("training_curves", "lyceum.plot", ("8.3",)),
    Item("permutation_importance", "lyceum.trees", ("6.8", "11.3")),
    Item("tree", "lyceum.plot", ("6.8",)),
)

_PLAIN_TYPES = (
    "lyceum.data.Column",
    "lyceum.data.Schema",
    "lyceum.decision.LossMatrix",
    "lyceum.decision.MinimumRiskClassifier",
    "lyceum.studies.MeanRegressor",
    "lyceum.studies.PriorClassifier",
    "lyceum.studies._baseline.ClassWeights",
    "lyceum.studies._baseline.TargetMean",
)


def learners(task: Task | None = None) -> tuple[Entry, ...]:
    """The catalogued learners, all or those for one task.

    >>> [entry.name for entry in learners("clustering")]
    ['KMeans']
    """
    if task is not None and task not in TASKS:
        raise LyceumError(f"there is no task {task!r}: choose one of {', '.join(TASKS)}")
    return tuple(entry for entry in _LEARNERS if task in (None, entry.task))


def find(name: str) -> Entry:
    """The entry of one learner.

    >>> find("Ridge").home
    'lyceum.linear'
    """
    for entry in _LEARNERS:
        if entry.name == name:
            return entry
    names = [entry.name for entry in _LEARNERS]
    near = difflib.get_close_matches(name, names, 1)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(names)}"
    raise LyceumError(f"there is no learner {name!r}: {hint}")


def covering(row: str) -> tuple[Entry | Item, ...]:
    """What covers a row of the syllabus."""
    return tuple(named for named in (*_ITEMS, *_LEARNERS) if row in named.covers)


def types() -> dict[str, type]:
    """The classes that a model file may hold, by public name: learners, their statistics, schemas."""
    named = {f"{entry.home}.{entry.name}": entry.load() for entry in _LEARNERS}
    for path in (*_PLAIN_TYPES, *(part for entry in _LEARNERS for part in entry.parts)):
        home, _, name = path.rpartition(".")
        named[path] = getattr(importlib.import_module(home), name)
    statistics = importlib.import_module("lyceum.statistics")
    for name in statistics.__all__:
        found = getattr(statistics, name)
        if isinstance(found, type):
            named[f"lyceum.statistics.{name}"] = found
    return named

"""Linear models."""

from lyceum.catalog.entry import Entry, Item

_SHRINK = (1e-4, 1e4, "log")

ENTRIES = (
    Entry(
        name="LinearRegression",
        task="regression",
        about="Least squares with standard errors, t and R².",
        cost="n·d² to fit, d³ to solve",
        syllabus=("7.1",),
        promise=0.47,
    ),
    Entry(
        name="Ridge",
        task="regression",
        about="Least squares with an L2 penalty, in closed form.",
        cost="n·d² to fit, d³ to solve",
        syllabus=("7.2",),
        space={"alpha": _SHRINK},
        promise=0.41,
    ),
    Entry(
        name="RidgeCV",
        task="regression",
        about=(
            "Ridge regression with the penalty chosen by cross-validation, from the statistics of"
            " folds."
        ),
        cost="n·d² to fit, d³ per fold to solve",
        syllabus=("7.2",),
        in_study="never",
    ),
    Entry(
        name="Lasso",
        task="regression",
        about="Least squares with an L1 penalty: many coefficients are exactly zero.",
        cost="n·d² to fit, or n·d per round on columns in memory",
        syllabus=("7.2",),
        space={"alpha": _SHRINK},
        promise=0.41,
    ),
    Entry(
        name="ElasticNet",
        task="regression",
        about="Least squares with an L1 and an L2 penalty.",
        cost="n·d² to fit, or n·d per round on columns in memory",
        syllabus=("7.2",),
        space={"alpha": _SHRINK, "l1_ratio": (0.05, 1.0, "linear")},
        promise=0.41,
    ),
    Entry(
        name="LassoCV",
        task="regression",
        about="Lasso with the penalty chosen by cross-validation, from the statistics of folds.",
        cost="n·d² to fit; one path per fold",
        syllabus=("7.2",),
        in_study="never",
    ),
    Entry(
        name="ElasticNetCV",
        task="regression",
        about="Elastic net with penalty and L1 share chosen by cross-validation.",
        cost="n·d² to fit; one path per fold and share",
        syllabus=("7.2",),
        in_study="never",
    ),
    Entry(
        name="LogisticRegression",
        task="classification",
        about="Linear log-odds, binary or softmax, with an L1 or L2 penalty.",
        cost="n·d·K per pass by quasi-Newton, n·d² by Newton; some ten passes",
        syllabus=("7.4", "7.5", "7.6"),
        space={"C": _SHRINK, "l1_ratio": [0.0, 0.5, 1.0]},
        promise=0.47,
    ),
    Entry(
        name="Perceptron",
        task="classification",
        about="A separating hyperplane by correcting mistakes, with a verdict on separability.",
        cost="n·d·K per pass, row after row in one thread",
        syllabus=("7.7",),
        in_study="never",
    ),
    Entry(
        name="MarginClassifier",
        task="classification",
        about="A linear classifier by hinge, logistic, exponential or squared loss of the margin.",
        cost="n·d²·K per pass by Newton, n·d·K by quasi-Newton; some ten passes",
        syllabus=("7.8",),
        space={
            "C": _SHRINK,
            "loss": ["hinge", "squared_hinge", "logistic", "exponential", "squared"],
        },
        in_study="never",
    ),
    Entry(
        name="BasisExpansion",
        task="preparation",
        about="Numbers as polynomials, Gaussian bumps or sigmoid steps of them.",
        cost="n·d to fit, n per function to transform",
        syllabus=("7.3",),
        space={
            "kind": ["polynomial", "gaussian", "sigmoid"],
            "degree": [2, 3],
            "n_centers": [5, 10, 20],
        },
    ),
)

ITEMS: tuple[Item, ...] = (
    Item("elastic_net_path", ("7.2",)),
    Item("lasso_path", ("7.2",)),
    Item("ridge_path", ("7.2",)),
    Item("simple_regression", ("7.1",)),
    Item("log_bound", ("7.5",)),
    Item("sigmoid_bound", ("7.5",)),
    Item("margin_loss", ("7.8",)),
)

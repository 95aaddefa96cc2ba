"""Classifiers by Bayes' theorem and Gaussian classes."""

from lyceum.catalog.entry import Entry, Item

ENTRIES = (
    Entry(
        name="NaiveBayes",
        task="classification",
        about=(
            "Columns independent given the class: a table, Gaussian, histogram or kernel density"
            " for each."
        ),
        cost="n·d to fit, n·d·K to predict",
        syllabus=("1.3", "2.5", "3.1", "3.2", "3.5"),
        space={
            "continuous": ["gaussian", "histogram"],
            "estimate": ["m"],
            "m": (0.1, 100.0, "log"),
            "var_smoothing": (1e-09, 0.1, "log"),
        },
        promise=0.42,
    ),
    Entry(
        name="MultinomialNB",
        task="classification",
        about="Counts, as of words, drawn from the distribution of the class.",
        cost="stored cells to fit, times K to predict",
        syllabus=("2.5", "3.2", "3.5"),
        space={"alpha": (0.001, 100.0, "log")},
        in_study="never",
    ),
    Entry(
        name="BernoulliNB",
        task="classification",
        about="Which columns, as words, are there in a row and which are not.",
        cost="stored cells to fit, times K to predict",
        syllabus=("2.5", "3.2", "3.5"),
        space={"alpha": (0.001, 100.0, "log")},
        in_study="never",
    ),
    Entry(
        name="LinearDiscriminantAnalysis",
        task="classification",
        about="Gaussian classes that share one covariance: linear boundaries.",
        cost="n·d² to fit, d³ to solve, n·d·K to predict",
        syllabus=("2.5", "3.3", "3.5"),
        space={"covariance": ["full", "diagonal", "spherical"]},
        promise=0.42,
    ),
    Entry(
        name="QuadraticDiscriminantAnalysis",
        task="classification",
        about="Gaussian classes with a covariance each: quadratic boundaries.",
        cost="n·d² to fit, K·d³ to solve, n·d²·K to predict",
        syllabus=("2.5", "3.3", "3.5"),
        space={"covariance": ["full", "diagonal", "spherical"]},
        promise=0.34,
    ),
    Entry(
        name="RegularizedDiscriminant",
        task="classification",
        about=(
            "Gaussian classes whose covariances are drawn to the pooled one and to a simple shape."
        ),
        cost="n·d² to fit, n·d²·K for every alpha scored; two passes",
        syllabus=("2.5", "3.3", "3.4", "3.5"),
        space={
            "alpha": (0.0, 1.0, "linear"),
            "gamma": (0.0, 1.0, "linear"),
            "shrinkage": ["identity", "diagonal"],
        },
        promise=0.53,
    ),
    Entry(
        name="BayesianGaussianClassifier",
        task="classification",
        about=(
            "Gaussian classes averaged over a Normal-inverse-Wishart posterior: Student-t"
            " densities."
        ),
        cost="n·d² to fit, K·d³ to solve, n·d²·K to predict",
        syllabus=("2.5", "3.5", "3.6"),
        space={"covariance": ["separate", "shared"], "kappa_0": (0.001, 10.0, "log")},
        in_study="never",
    ),
)

ITEMS: tuple[Item, ...] = (
    Item("DriftingMeans", ("3.5",)),
    Item("NormalMean", ("3.6",)),
)

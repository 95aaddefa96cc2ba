"""Mixtures."""

from lyceum.catalog.entry import Entry, Item

ENTRIES: tuple[Entry, ...] = (
    Entry(
        name="GaussianMixture",
        task="density",
        about="A sum of Gaussians by expectation-maximization; components cannot collapse.",
        cost="n·d²·K per pass",
        syllabus=("12.4", "4.6"),
        space={
            "n_components": (1, 20, "linear"),
            "covariance_type": ["full", "tied", "diag", "spherical"],
        },
        in_study="never",
    ),
    Entry(
        name="BayesianGaussianMixture",
        task="density",
        about=(
            "A mixture of Gaussians by variational inference, which finds the number of components."
        ),
        cost="n·d²·K per pass",
        syllabus=("12.4", "4.6"),
        space={
            "weight_concentration_prior": (0.001, 10.0, "log"),
            "covariance_type": ["full", "tied", "diag", "spherical"],
        },
        in_study="never",
    ),
    Entry(
        name="StudentMixture",
        task="density",
        about="A mixture of Student-t distributions, whose heavy tails keep outliers from pulling.",
        cost="n·d²·K per pass",
        syllabus=("12.4",),
        space={
            "n_components": (1, 20, "linear"),
            "covariance_type": ["full", "tied", "diag", "spherical"],
        },
        in_study="never",
    ),
    Entry(
        name="BernoulliMixture",
        task="density",
        about="A mixture over columns of 0 and 1 and over categories: latent classes.",
        cost="n·d·K per pass",
        syllabus=("12.4",),
        space={"n_components": (1, 20, "linear"), "alpha": (0.01, 1.0, "log")},
        in_study="never",
    ),
    Entry(
        name="MultinomialMixture",
        task="density",
        about="A mixture over rows of counts, such as words in texts.",
        cost="n·d·K per pass",
        syllabus=("12.4",),
        space={"n_components": (1, 20, "linear"), "alpha": (0.01, 1.0, "log")},
        in_study="never",
    ),
)
ITEMS: tuple[Item, ...] = ()

"""Probability tables and priors."""

from lyceum.catalog.entry import Item

ITEMS = (
    Item("ProbabilityTable", package="lyceum.probability", syllabus=("2.1",)),
    Item("bayes_theorem", package="lyceum.probability", syllabus=("2.1",)),
    Item("class_priors", package="lyceum.probability", syllabus=("2.5",)),
    Item("BetaBernoulli", package="lyceum.probability", syllabus=("3.6",)),
    Item("DirichletMultinomial", package="lyceum.probability", syllabus=("2.5", "3.6")),
    Item("GammaPoisson", package="lyceum.probability", syllabus=("3.6",)),
    Item("NormalInverseWishart", package="lyceum.probability", syllabus=("3.6",)),
)

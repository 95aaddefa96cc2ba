"""Probability tables and priors."""

from lyceum.catalog.entry import Item

ITEMS = (
    Item("ProbabilityTable", ("2.1",)),
    Item("bayes_theorem", ("2.1",)),
    Item("class_priors", ("2.5",)),
    Item("BetaBernoulli", ("3.6",)),
    Item("DirichletMultinomial", ("2.5", "3.6")),
    Item("fuse_gaussians", ("3.6",)),
    Item("GammaPoisson", ("3.6",)),
    Item("NormalInverseWishart", ("3.6",)),
)

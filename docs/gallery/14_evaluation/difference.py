"""
Is one better than the other?
=============================

The difference of two learners on the same folds with its corrected interval. Where it crosses
0, the rows do not tell.
"""

from lyceum import plot
from lyceum.bayes import NaiveBayes
from lyceum.datasets import load
from lyceum.ensemble import RandomForestClassifier
from lyceum.evaluate import corrected_t, cross_validate
from lyceum.trees import CART

rows = load("german_credit")
bayes, tree, forest = (
    cross_validate(learner, rows, cv=5)
    for learner in (
        NaiveBayes(),
        CART(random_state=0),
        RandomForestClassifier(50, random_state=0),
    )
)
plot.comparison(
    {
        "Bayes − CART": corrected_t(bayes, tree),
        "Bayes − forest": corrected_t(bayes, forest),
    }
)

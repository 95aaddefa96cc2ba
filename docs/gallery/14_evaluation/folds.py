"""
Five folds are five answers
===========================

The loss in every fold and their mean. The spread says how much one split would have told.
"""

from lyceum import plot
from lyceum.bayes import NaiveBayes
from lyceum.datasets import load
from lyceum.evaluate import cross_validate
from lyceum.trees import CART

rows = load("german_credit")
results = {
    "naive Bayes": cross_validate(NaiveBayes(), rows, cv=5),
    "CART": cross_validate(CART(random_state=0), rows, cv=5),
}
plot.cross_validation(results)

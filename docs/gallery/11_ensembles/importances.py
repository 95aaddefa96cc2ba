"""
What a forest looks at
======================

The fall of impurity by each column of a forest on credits. Columns with many values are
favored: compare with permutation.
"""

from lyceum import plot
from lyceum.datasets import load
from lyceum.ensemble import RandomForestClassifier

plot.importances(
    RandomForestClassifier(60, random_state=0).fit(load("german_credit")), most=10
)

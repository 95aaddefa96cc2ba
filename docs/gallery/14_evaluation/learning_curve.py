"""
More rows or a better model?
============================

Losses against the number of training rows. Where both curves have met, more rows will not help.
"""

from lyceum import plot
from lyceum.bayes import NaiveBayes
from lyceum.datasets import load
from lyceum.evaluate import learning_curve

plot.learning_curve(learning_curve(NaiveBayes(), load("german_credit"), cv=5))

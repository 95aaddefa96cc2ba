"""
Do probabilities mean what they say?
====================================

The share of bad credits among those with a given posterior. Below the diagonal the classifier
is too sure.
"""

from lyceum import plot
from lyceum.bayes import NaiveBayes
from lyceum.datasets import load
from lyceum.trees import CART

rows = load("german_credit")
train = rows.take(range(0, 1000, 2))
other = rows.take(range(1, 1000, 2))
truth = other.y
scores = {
    type(learner).__name__: learner.fit(train).predict_proba(other)[:, 0]
    for learner in (NaiveBayes(), CART(random_state=0))
}
plot.calibration(truth, scores["NaiveBayes"], pos_label="bad", n_bins=8)

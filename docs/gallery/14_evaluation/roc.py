"""
Scores as a curve
=================

True against false positives as the threshold falls. The area is the chance that a bad credit
scores above a good one.
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
ax = plot.roc(truth, scores["NaiveBayes"], pos_label="bad", label="naive Bayes")
plot.roc(truth, scores["CART"], pos_label="bad", label="CART", ax=ax)

"""
Posteriors that mean what they say
==================================

Naive Bayes counts alike columns twice and is too sure. A sigmoid of their logits, learned on
other rows, bends its posteriors back.
"""

from lyceum import plot
from lyceum.bayes import NaiveBayes
from lyceum.datasets import load
from lyceum.decision import CalibratedClassifierCV

rows = load("german_credit")
scores = {}
for name, learner in {
    "plain": NaiveBayes(),
    "with a sigmoid": CalibratedClassifierCV(
        NaiveBayes(), "logit", cv=3, random_state=0
    ),
}.items():
    scores[name] = learner.fit(rows.take(range(500))).predict_proba(
        rows.take(range(500, 1000))
    )[:, 0]
truth = rows.y[500:]
ax = plot.calibration(truth, scores["plain"], pos_label="bad", label="plain", n_bins=6)
plot.calibration(
    truth,
    scores["with a sigmoid"],
    pos_label="bad",
    label="with a sigmoid",
    n_bins=6,
    ax=ax,
)

"""
All costs in one picture
========================

Expected cost against how much weight the positive class has. Each threshold is a line, the
lower envelope is what the classifier can do.
"""

from lyceum import plot
from lyceum.bayes import NaiveBayes
from lyceum.datasets import load

rows = load("german_credit")
bad = NaiveBayes().fit(rows).predict_proba(rows)[:, 0]
plot.cost_curve(rows.y, bad, pos_label="bad", cost_fp=1, cost_fn=5)

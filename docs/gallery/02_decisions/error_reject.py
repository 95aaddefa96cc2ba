"""
The price of being sure
=======================

Leaving the doubtful rows to a person lowers the error among the others. The curve says how much
doubt buys how much certainty.
"""

from lyceum import plot
from lyceum.bayes import NaiveBayes
from lyceum.datasets import load
from lyceum.decision import error_reject_curve

rows = load("german_credit")
model = NaiveBayes().fit(rows)
curve = error_reject_curve(rows.y, model.predict_proba(rows), classes=model.classes_)
plot.error_reject(curve, doubt=0.2)

"""
The threshold that costs least
==============================

A missed bad credit costs five times a refused good one. The cost at every threshold; the best
one is far from one half.
"""

import matplotlib.pyplot as plt

from lyceum.bayes import NaiveBayes
from lyceum.datasets import load
from lyceum.decision import best_threshold, threshold_costs

rows = load("german_credit")
model = NaiveBayes().fit(rows)
bad = model.predict_proba(rows)[:, 0]
thresholds, costs = threshold_costs(rows.y, bad, cost_fp=1, cost_fn=5, pos_label="bad")
best = best_threshold(rows.y, bad, cost_fp=1, cost_fn=5, pos_label="bad")
figure, ax = plt.subplots(figsize=(5.2, 3.6), layout="constrained")
ax.plot(thresholds[1:], costs[1:])
ax.axvline(best, linestyle=":")
ax.set(xlabel="refuse where P(bad) is above", ylabel="cost", xlim=(0, 1))

"""
How many rounds?
================

The error of boosted trees on training rows and on others, round by round. Shallow trees and a
small rate keep the second from rising.
"""

from sklearn.metrics import zero_one_loss

from lyceum import plot
from lyceum.datasets import load
from lyceum.ensemble import AdaBoostClassifier

rows = load("german_credit")
train = rows.take(range(0, 1000, 2))
other = rows.take(range(1, 1000, 2))
model = AdaBoostClassifier(n_estimators=60).fit(train)
curves = {
    name: [zero_one_loss(part.y, answer) for answer in model.staged_predict(part)]
    for name, part in (("training", train), ("other rows", other))
}
plot.staged_errors(curves, best="other rows", x="rounds")

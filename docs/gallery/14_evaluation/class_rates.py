"""
Precision and recall of every class
===================================

One bar per class and measure. An average would hide the weak class.
"""

from lyceum import plot
from lyceum.bayes import NaiveBayes
from lyceum.datasets import load
from lyceum.evaluate import class_report

rows = load("penguins")
answers = (
    NaiveBayes().fit(rows.take(range(0, 344, 2))).predict(rows.take(range(1, 344, 2)))
)
plot.class_rates(class_report(rows.y[1::2], answers))

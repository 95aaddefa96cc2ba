"""
Who is taken for whom
=====================

Counts of true against predicted classes. Mistakes stand beside the diagonal.
"""

from lyceum import plot
from lyceum.bayes import NaiveBayes
from lyceum.datasets import load
from lyceum.evaluate import confusion_matrix

rows = load("penguins")
answers = (
    NaiveBayes().fit(rows.take(range(0, 344, 2))).predict(rows.take(range(1, 344, 2)))
)
plot.confusion(
    confusion_matrix(rows.y[1::2], answers), ["Adelie", "Chinstrap", "Gentoo"]
)

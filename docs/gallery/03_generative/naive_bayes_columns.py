"""
One column, one density per class
=================================

The conditional of one column, as naive Bayes has it: smoothed by a kernel. Where the curves
cross, this column alone would change its mind.
"""

import pandas as pd

from lyceum import plot
from lyceum.bayes import NaiveBayes
from lyceum.datasets import path

table = pd.read_csv(path("penguins")).dropna()
flippers = table[["flipper_length_mm"]]
model = NaiveBayes(continuous="kernel").fit(flippers, table["species"])
plot.class_densities(model, flippers, table["species"])

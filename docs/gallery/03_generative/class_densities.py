"""
One column, one density per class
=================================

The Gaussian of each class, times its prior, for one column of the penguins. Where the curves
cross, this column alone would change its mind.
"""

import pandas as pd

from lyceum import plot
from lyceum.bayes import QuadraticDiscriminantAnalysis
from lyceum.datasets import path

table = pd.read_csv(path("penguins")).dropna()
flippers = table[["flipper_length_mm"]]
model = QuadraticDiscriminantAnalysis().fit(flippers, table["species"])
plot.class_densities(model, flippers, table["species"])

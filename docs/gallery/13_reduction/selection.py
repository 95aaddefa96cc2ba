"""
Which columns are worth having?
===============================

How much each column says about the species, by symmetrical uncertainty. A filter looks at one
column at a time.
"""

from lyceum import plot
from lyceum.datasets import load
from lyceum.decomposition import SelectKBest

rows = load("penguins")
model = SelectKBest(k=3).fit(rows)
plot.importances(
    model.scores_,
    names=[column.name for column in rows.schema.columns],
    label="symmetrical uncertainty",
)

"""
A graph learned from rows
=========================

Two thousand patients drawn from the clinic's network, and the graph that a search by BIC finds.
Arrows whose direction no row can tell may differ.
"""

from lyceum import plot
from lyceum.bayesnets import learn_structure, read_bif
from lyceum.datasets import path

patients = read_bif(path("asia")).sample(2000, random_state=0)
plot.bayes_net(learn_structure(patients, score="bic").net)

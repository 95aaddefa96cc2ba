"""
A chest clinic
==============

The network of Lauritzen and Spiegelhalter with a smoker's positive X-ray. All other posteriors
follow at once.
"""

from lyceum import plot
from lyceum.bayesnets import read_bif
from lyceum.datasets import path

plot.bayes_net(read_bif(path("asia")), evidence={"smoke": "yes", "xray": "yes"})

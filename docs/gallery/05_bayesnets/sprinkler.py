"""
Rain, sprinkler and wet grass
=============================

Two causes of one effect, with the probabilities of all three. Without evidence the causes are
independent.
"""

from lyceum import plot
from lyceum.bayesnets import BayesNet, TableNode

states = ["no", "yes"]
wet = [[[1.0, 0.0], [0.1, 0.9]], [[0.2, 0.8], [0.0, 1.0]]]
net = BayesNet(
    [
        TableNode("rain", states, table=[0.8, 0.2]),
        TableNode("sprinkler", states, table=[0.7, 0.3]),
        TableNode("wet", states, ["rain", "sprinkler"], wet),
    ]
)
plot.bayes_net(net)

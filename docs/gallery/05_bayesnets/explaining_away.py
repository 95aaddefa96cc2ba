"""
Explaining away
===============

The grass is wet and the sprinkler was on. The sprinkler explains the grass, and rain is hardly
more probable than before.
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
plot.bayes_net(net, evidence={"wet": "yes", "sprinkler": "yes"})

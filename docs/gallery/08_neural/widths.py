"""
Hidden nodes and smoothness
===========================

A function fitted by networks of two, five and twenty hidden nodes. Few nodes cannot bend often
enough.
"""

import matplotlib.pyplot as plt
import numpy as np

from lyceum.neural import MLPRegressor

rng = np.random.default_rng(0)
x = np.linspace(0, 6, 80)[:, None]
y = np.sin(x[:, 0]) + rng.normal(0, 0.1, 80)
figure, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
ax.scatter(x, y, s=8, color="gray")
for nodes in (2, 5, 20):
    model = MLPRegressor(
        hidden_layer_sizes=(nodes,),
        activation="tanh",
        max_iter=1500,
        learning_rate_init=0.05,
        random_state=0,
    )
    ax.plot(x, model.fit(x, y).predict(x), label=f"{nodes} nodes")
ax.legend()
ax.set(xlabel="x", ylabel="y")

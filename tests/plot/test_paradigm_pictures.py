"""Pictures of labels, policies and cascades."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from lyceum import plot
from lyceum.datasets import load
from lyceum.ensemble import CascadeClassifier
from lyceum.errors import DataError
from lyceum.reinforcement import GridWorld, QLearning, value_iteration
from lyceum.semi_supervised import active_learning

X = np.random.default_rng(0).normal(size=(80, 2))


@pytest.mark.syllabus("15.2")
def test_curves_show_means_of_runs():
    y = X[:, 0] > 0
    runs = [
        active_learning(
            LogisticRegression(), X, y, n_queries=4, test=(X, y), random_state=seed
        )
        for seed in range(3)
    ]
    ax = plot.label_curves({"margin": runs, "one": runs[0]})
    np.testing.assert_allclose(
        ax.lines[0].get_ydata(), np.mean([run.scores for run in runs], axis=0)
    )
    np.testing.assert_array_equal(ax.lines[1].get_xdata(), runs[0].n_labeled)
    with pytest.raises(DataError, match="have no scores"):
        plot.label_curves(
            {"a": active_learning(LogisticRegression(), X, y, n_queries=1)}
        )


@pytest.mark.syllabus("15.5")
def test_a_policy_is_drawn_with_its_values():
    best = value_iteration(GridWorld(), 0.9)
    ax = plot.policy(best)
    np.testing.assert_allclose(ax.images[0].get_array(), best.values.reshape(3, 4))
    assert (
        next(text.get_text() for text in ax.texts if text.get_text())
        == f"{best.values[0]:.2f}"
    )
    plot.policy(QLearning(n_episodes=20, random_state=0).fit(GridWorld()))
    with pytest.raises(DataError, match="no grid of shape"):
        plot.policy(best, shape=(2, 2))


@pytest.mark.syllabus("11.6")
def test_stages_show_shares_that_sum_to_what_reaches_them():
    model = CascadeClassifier(random_state=0).fit(load("penguins"))
    ax = plot.stages(model)
    widths = np.array([patch.get_width() for patch in ax.patches]).reshape(3, -1)
    np.testing.assert_allclose(
        widths.sum(axis=0), [one.reached for one in model.stages_]
    )

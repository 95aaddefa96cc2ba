"""Intervals by boosted quantiles, staged errors, early stopping, and a Poisson count."""

import numpy as np
from sklearn.datasets import make_friedman1
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.metrics import log_loss, mean_pinball_loss, mean_squared_error
from sklearn.model_selection import train_test_split

rng = np.random.RandomState(42)
X = rng.uniform(0, 10.0, size=(4000, 1))
expected = (X * np.sin(X)).ravel()
spread = 0.5 + X.ravel() / 10
y = expected + rng.lognormal(sigma=spread) - np.exp(spread**2 / 2)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
settings = {
    "learning_rate": 0.05,
    "n_estimators": 120,
    "max_depth": 2,
    "min_samples_leaf": 9,
    "min_samples_split": 9,
}
bounds = {}
for level in (0.05, 0.5, 0.95):
    model = GradientBoostingRegressor(loss="quantile", alpha=level, **settings)
    bounds[level] = model.fit(X_train, y_train).predict(X_test)
    loss = mean_pinball_loss(y_test, bounds[level], alpha=level)
    print(f"loss at {level}: {loss:.4f} +- 0.01")
covered = np.mean((bounds[0.05] <= y_test) & (y_test <= bounds[0.95]))
print(f"covered: {covered:.3f} +- 0.02")
histogram = HistGradientBoostingRegressor(
    loss="quantile", quantile=0.95, random_state=0
)
above = histogram.fit(X_train, y_train).predict(X_test)
print(f"below the upper bound: {np.mean(y_test <= above):.3f} +- 0.02")

X, y = make_friedman1(5000, noise=1.0, random_state=0)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
squared = GradientBoostingRegressor(n_estimators=150, random_state=0).fit(
    X_train, y_train
)
errors = [mean_squared_error(y_test, p) for p in squared.staged_predict(X_test)]
print(f"after 50: {errors[49]:.3f} +- 0.03")
print(f"after 150: {errors[-1]:.3f} +- 0.03")
print(f"first deviance: {squared.train_score_[0]:.3f} +- 0.05")
stopped = HistGradientBoostingRegressor(
    max_iter=1000, early_stopping=True, n_iter_no_change=5, random_state=0
).fit(X_train, y_train)
print(f"stopped early: {stopped.n_iter_ < 1000}")
print(f"its error: {mean_squared_error(y_test, stopped.predict(X_test)):.3f} +- 0.1")
counts = np.random.RandomState(0).poisson(np.exp(X[:, 3]))
poisson = HistGradientBoostingRegressor(loss="poisson", max_iter=50).fit(X, counts)
print(f"mean count: {poisson.predict(X).mean():.3f} +- 0.02")

labels = np.digitize(y, np.quantile(y, [0.33, 0.66]))
for name, model in {
    "classic": GradientBoostingClassifier(n_estimators=60, random_state=0),
    "histogram": HistGradientBoostingClassifier(max_iter=60, random_state=0),
}.items():
    model.fit(X[:3500], labels[:3500])
    loss = log_loss(labels[3500:], model.predict_proba(X[3500:]))
    print(f"{name} log loss: {loss:.3f} +- 0.03")

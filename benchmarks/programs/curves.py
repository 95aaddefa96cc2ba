"""Learning and validation curves of four learners, read as bias and variance."""

import numpy as np
from sklearn.datasets import load_digits, make_regression
from sklearn.linear_model import Lasso, Ridge
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import (
    LeaveOneOut,
    RepeatedKFold,
    ShuffleSplit,
    TimeSeriesSplit,
    cross_val_score,
    learning_curve,
    validation_curve,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.svm import SVC

X, y = load_digits(return_X_y=True)
cv = ShuffleSplit(n_splits=5, test_size=0.2, random_state=0)
for name, model in {"bayes": GaussianNB(), "machine": SVC(gamma=0.001)}.items():
    sizes, training, test = learning_curve(
        model, X, y, cv=cv, train_sizes=np.linspace(0.2, 1.0, 4)
    )
    print(f"{name} rows: {sizes.tolist()}")
    print(f"{name} training: {training.mean(axis=1)[-1]:.6f}")
    print(f"{name} test: {test.mean(axis=1)[-1]:.6f}")
    print(f"{name} gap: {(training - test).mean():.6f}")

widths = np.logspace(-5, -1, 5)
training, test = validation_curve(
    SVC(), X, y, param_name="gamma", param_range=widths, cv=3
)
print(f"best width: {widths[test.mean(axis=1).argmax()]:.5f}")
print(f"overfitted: {training.mean(axis=1)[-1] - test.mean(axis=1)[-1]:.4f}")

X, y = make_regression(600, 30, n_informative=8, noise=20.0, random_state=0)
folds = RepeatedKFold(n_splits=5, n_repeats=4, random_state=0)
for name, model in {
    "ridge": Ridge(alpha=1.0),
    "lasso": Lasso(alpha=1.0, tol=1e-8, max_iter=10_000),
    "neighbors": KNeighborsRegressor(5),
}.items():
    scores = cross_val_score(
        model, X, y, cv=folds, scoring="neg_root_mean_squared_error"
    )
    print(f"{name} error: {-scores.mean():.4f}")
    print(f"{name} deviation: {scores.std():.4f}")
single = cross_val_score(
    Ridge(alpha=1.0),
    X[:150],
    y[:150],
    cv=LeaveOneOut(),
    scoring="neg_mean_squared_error",
)
print(f"one left out: {-single.mean():.4f}")
later = TimeSeriesSplit(n_splits=4)
errors = []
for training_rows, test_rows in later.split(X):
    model = Ridge().fit(X[training_rows], y[training_rows])
    errors.append(mean_squared_error(y[test_rows], model.predict(X[test_rows])))
print(f"later rows: {np.mean(errors):.3f}")
alphas = np.logspace(-2, 2, 5)
training, test = validation_curve(
    Lasso(tol=1e-8, max_iter=20_000), X, y, param_name="alpha", param_range=alphas, cv=5
)
print(f"best penalty: {alphas[test.mean(axis=1).argmax()]:.3f}")

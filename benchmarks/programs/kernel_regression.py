"""Kernel ridge and support vector regression of one noisy curve."""

import numpy as np
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVR

rng = np.random.RandomState(42)
X = 5 * rng.rand(1500, 1)
y = np.sin(X).ravel()
y[::5] += 3 * (0.5 - rng.rand(X.shape[0] // 5))
new = np.linspace(0, 5, 1000)[:, None]
machine = GridSearchCV(
    SVR(kernel="rbf", gamma=0.1, tol=1e-5),
    {"C": [1e0, 1e1, 1e2], "gamma": np.logspace(-1, 1, 3)},
    cv=5,
)
ridge = GridSearchCV(
    KernelRidge(kernel="rbf", gamma=0.1),
    {"alpha": [1e0, 0.1, 1e-2, 1e-3], "gamma": np.logspace(-1, 1, 3)},
    cv=5,
)
for name, search in {"machine": machine, "ridge": ridge}.items():
    search.fit(X, y)
    error = np.sqrt(np.mean((search.predict(new) - np.sin(new).ravel()) ** 2))
    print(f"{name} score: {search.best_score_:.5f} +- 0.0005")
    print(f"{name} error: {error:.4f} +- 0.001")
    print(f"{name} gamma: {search.best_params_['gamma']:.3f}")
share = machine.best_estimator_.support_.shape[0] / len(X)
print(f"support vectors: {share:.3f} +- 0.02")

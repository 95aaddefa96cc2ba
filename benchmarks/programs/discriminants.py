"""Linear and quadratic discriminants, shrinkage, and a projection."""

import numpy as np
from sklearn.datasets import load_wine
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB

X, y = load_wine(return_X_y=True)
models = {
    "linear": LinearDiscriminantAnalysis(),
    "shrunken": LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"),
    "quadratic": QuadraticDiscriminantAnalysis(),
    "naive": GaussianNB(),
}
for name, model in models.items():
    print(f"{name}: {cross_val_score(model, X, y, cv=5).mean():.6f}")
model = LinearDiscriminantAnalysis(n_components=2).fit(X, y)
projected = model.transform(X)
print(f"shape: {projected.shape}")
print(f"first share: {model.explained_variance_ratio_[0]:.6f}")
spread = np.ptp(projected, axis=0)
print(f"spread: {spread[0]:.4f} {spread[1]:.4f}")
print(f"mean log posterior: {model.predict_log_proba(X).max(axis=1).mean():.6f}")

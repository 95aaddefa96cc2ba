"""Calibrate scores of two classifiers and compare their Brier scores."""

import numpy as np
from sklearn.calibration import CalibratedClassifierCV, calibration_curve
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, log_loss
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

X, y = make_classification(
    n_samples=20_000, n_features=20, n_informative=2, n_redundant=10, random_state=42
)
X_train, X_test, y_train, y_test = train_test_split(
    X, y, test_size=0.9, random_state=42
)
models = {
    "logistic": LogisticRegression(C=1.0),
    "naive": GaussianNB(),
    "naive isotonic": CalibratedClassifierCV(GaussianNB(), cv=2, method="isotonic"),
    "naive sigmoid": CalibratedClassifierCV(GaussianNB(), cv=2, method="sigmoid"),
    "machine sigmoid": CalibratedClassifierCV(LinearSVC(max_iter=20_000), cv=3),
}
for name, model in models.items():
    model.fit(X_train, y_train)
    posterior = model.predict_proba(X_test)[:, 1]
    observed, predicted = calibration_curve(y_test, posterior, n_bins=10)
    print(f"{name} brier: {brier_score_loss(y_test, posterior):.4f} +- 0.002")
    print(f"{name} log loss: {log_loss(y_test, posterior):.3f} +- 0.03")
    print(f"{name} gap: {np.abs(observed - predicted).mean():.3f} +- 0.03")

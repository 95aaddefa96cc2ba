"""Nested and plain cross-validation of a search, with intervals, on three machines."""

import numpy as np
from scipy.stats import loguniform, sem
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer, recall_score
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    RandomizedSearchCV,
    cross_val_predict,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

X, y = load_breast_cancer(return_X_y=True)
inner = KFold(n_splits=4, shuffle=True, random_state=1)
outer = KFold(n_splits=4, shuffle=True, random_state=2)
machine = make_pipeline(StandardScaler(), SVC(kernel="rbf"))
grid = {"svc__C": [1, 10, 100], "svc__gamma": [0.01, 0.1]}
search = GridSearchCV(machine, grid, cv=inner)
search.fit(X, y)
plain = search.best_score_
nested = cross_val_score(search, X, y, cv=outer)
print(f"plain: {plain:.6f}")
print(f"nested: {nested.mean():.6f}")
print(f"standard error: {sem(nested):.6f}")
print(f"C: {search.best_params_['svc__C']}")

linear = make_pipeline(StandardScaler(), LogisticRegression(max_iter=500))
drawn = RandomizedSearchCV(
    linear,
    {"logisticregression__C": loguniform(1e-3, 1e3)},
    n_iter=15,
    cv=inner,
    random_state=0,
    scoring={"accuracy": "accuracy", "recall": make_scorer(recall_score, pos_label=0)},
    refit="accuracy",
)
drawn.fit(X, y)
print(f"drawn: {drawn.best_score_:.6f}")
recalls = drawn.cv_results_["mean_test_recall"]
print(f"largest recall: {recalls.max():.6f}")
print(f"C of the best: {drawn.best_params_['logisticregression__C']:.6f}")

results = cross_validate(
    make_pipeline(StandardScaler(), LinearSVC(tol=1e-6, max_iter=100_000)),
    X,
    y,
    cv=outer,
    scoring=["accuracy", "roc_auc", "f1"],
    return_train_score=True,
    return_estimator=True,
)
for name in ("test_accuracy", "test_roc_auc", "test_f1", "train_accuracy"):
    print(f"{name}: {results[name].mean():.4f} +- 0.001")
print(f"models: {len(results['estimator'])}")
posteriors = cross_val_predict(linear, X, y, cv=outer, method="predict_proba")
print(f"rows surer than 99 %: {np.sum(posteriors.max(axis=1) > 0.99)} +- 2")

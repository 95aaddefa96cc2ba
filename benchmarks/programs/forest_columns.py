"""Which columns a forest uses: impurity and permutation."""

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.inspection import permutation_importance
from sklearn.model_selection import train_test_split

X, y = make_classification(
    n_samples=6000,
    n_features=12,
    n_informative=3,
    n_redundant=0,
    shuffle=False,
    random_state=0,
)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=42)
forest = RandomForestClassifier(n_estimators=100, random_state=0, oob_score=True)
forest.fit(X_train, y_train)
extra = ExtraTreesClassifier(n_estimators=100, random_state=0).fit(X_train, y_train)
print(f"forest: {forest.score(X_test, y_test):.4f} +- 0.015")
print(f"out of bag: {forest.oob_score_:.4f} +- 0.015")
print(f"extra trees: {extra.score(X_test, y_test):.4f} +- 0.02")
print(f"informative share: {forest.feature_importances_[:3].sum():.3f} +- 0.05")
drops = permutation_importance(forest, X_test, y_test, n_repeats=5, random_state=0)
print(
    f"columns that matter: {sorted(np.argsort(drops.importances_mean)[-3:].tolist())}"
)
depths = [tree.get_depth() for tree in forest.estimators_]
print(f"mean depth: {np.mean(depths):.1f} +- 2")

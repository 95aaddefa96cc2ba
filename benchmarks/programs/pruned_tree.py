"""Grow a tree, look at its path of pruning, and print it."""

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_val_score, train_test_split
from sklearn.tree import DecisionTreeClassifier, export_text

table = load_breast_cancer()
X_train, X_test, y_train, y_test = train_test_split(
    table.data, table.target, random_state=0
)
full = DecisionTreeClassifier(random_state=0).fit(X_train, y_train)
path = full.cost_complexity_pruning_path(X_train, y_train)
print(f"steps of pruning: {len(path.ccp_alphas)}")
print(f"impurity of the root: {path.impurities[-1]:.6f}")
scores = []
for alpha in path.ccp_alphas[:-1]:
    tree = DecisionTreeClassifier(random_state=0, ccp_alpha=alpha)
    scores.append(cross_val_score(tree, X_train, y_train, cv=5).mean())
best = path.ccp_alphas[int(np.argmax(scores))]
pruned = DecisionTreeClassifier(random_state=0, ccp_alpha=best).fit(X_train, y_train)
# equal splits are decided by chance there and by the order of columns here
print(f"test accuracy: {pruned.score(X_test, y_test):.4f} +- 0.03")
print(f"root: {table.feature_names[pruned.tree_.feature[0]]}")
text = export_text(pruned, feature_names=list(table.feature_names), max_depth=0)
print(f"first line: {text.splitlines()[0]}")

"""Nine classifiers on three tables of two columns, as in every introduction."""

import numpy as np
from sklearn.datasets import make_circles, make_classification, make_moons
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.ensemble import AdaBoostClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

classifiers = {
    "neighbors": KNeighborsClassifier(3),
    "linear machine": SVC(kernel="linear", C=0.025, random_state=42),
    "curved machine": SVC(gamma=2, C=1, random_state=42),
    "logistic": LogisticRegression(),
    "tree": DecisionTreeClassifier(max_depth=5, random_state=42),
    "forest": RandomForestClassifier(max_depth=5, n_estimators=50, random_state=42),
    "network": MLPClassifier(alpha=1, max_iter=300, random_state=42),
    "boosting": AdaBoostClassifier(random_state=42),
    "bayes": GaussianNB(),
    "quadratic": QuadraticDiscriminantAnalysis(),
}
random = {
    "forest": 0.03,
    "network": 0.08,
    "boosting": 0.03,
    "tree": 0.03,
}  # what chance may change

X, y = make_classification(
    1500,
    n_features=2,
    n_redundant=0,
    n_informative=2,
    random_state=1,
    n_clusters_per_class=1,
)
X += 2 * np.random.RandomState(2).uniform(size=X.shape)
tables = {
    "moons": make_moons(1500, noise=0.3, random_state=0),
    "circles": make_circles(1500, noise=0.2, factor=0.5, random_state=1),
    "lines": (X, y),
}
for table, (X, y) in tables.items():
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.4, random_state=42
    )
    for name, classifier in classifiers.items():
        steps = make_pipeline(StandardScaler(), classifier)
        steps.fit(X_train, y_train)
        score = steps.score(X_test, y_test)
        print(f"{table} {name}: {score:.4f} +- {random.get(name, 0.0)}")
        if hasattr(steps, "decision_function"):
            grid = steps.decision_function([[0.0, 0.0], [1.0, 1.0]])
        else:
            grid = steps.predict_proba([[0.0, 0.0], [1.0, 1.0]])[:, 1]
        assert grid.shape == (2,)

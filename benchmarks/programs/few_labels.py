"""Learn from a few labels: propagation, spreading and self-training."""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import accuracy_score
from sklearn.semi_supervised import (
    LabelPropagation,
    LabelSpreading,
    SelfTrainingClassifier,
)
from sklearn.svm import SVC

X, y = load_digits(return_X_y=True)
rng = np.random.RandomState(2)
order = rng.permutation(len(y))
X, y = X[order] / 16.0, y[order]
known = 150
partial = y.copy()
partial[known:] = -1
models = {
    "propagation": LabelPropagation(
        kernel="knn", n_neighbors=7, max_iter=5000, tol=1e-6
    ),
    "spreading": LabelSpreading(gamma=1.0, alpha=0.2, max_iter=200, tol=1e-6),
    "self-training": SelfTrainingClassifier(
        SVC(gamma=0.5, probability=True), threshold=0.8
    ),
}
for name, model in models.items():
    model.fit(X, partial)
    right = accuracy_score(y[known:], model.predict(X[known:]))
    print(f"{name}: {right:.4f} +- {0.04 if name == 'self-training' else 0.002}")
spread = models["spreading"]
print(
    f"transduction: {(spread.transduction_[known:] == y[known:]).mean():.4f} +- 0.002"
)
print(f"classes: {len(spread.classes_)}")

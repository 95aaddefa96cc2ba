"""A network on digits beside features of kernels, components and selected columns."""

import numpy as np
from sklearn.datasets import load_digits, make_classification
from sklearn.decomposition import PCA, KernelPCA
from sklearn.feature_selection import (
    SelectFromModel,
    SelectKBest,
    SequentialFeatureSelector,
    f_classif,
)
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import LogisticRegression
from sklearn.manifold import MDS
from sklearn.model_selection import cross_val_score, train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC, LinearSVC

X, y = load_digits(return_X_y=True)
X = MinMaxScaler().fit_transform(X)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
network = MLPClassifier(
    (60,),
    max_iter=60,
    alpha=1e-4,
    solver="adam",
    random_state=1,
    learning_rate_init=0.01,
)
network.fit(X_train, y_train)
print(f"network: {network.score(X_test, y_test):.4f} +- 0.015")
print(f"losses fall: {network.loss_curve_[-1] < network.loss_curve_[0] / 20}")
print(f"weights: {[w.shape for w in network.coefs_]}")
exact = SVC(gamma=0.2).fit(X_train, y_train)
print(f"exact kernel: {exact.score(X_test, y_test):.6f}")
for name, features in {
    "random features": RBFSampler(gamma=0.2, n_components=500, random_state=1),
    "landmarks": Nystroem(gamma=0.2, n_components=300, random_state=1),
}.items():
    steps = make_pipeline(features, LinearSVC(tol=1e-5, max_iter=10_000))
    steps.fit(X_train, y_train)
    print(f"{name}: {steps.score(X_test, y_test):.4f} +- 0.02")

pca = PCA(n_components=0.9).fit(X_train)
print(f"components: {pca.n_components_}")
print(f"noise: {pca.noise_variance_:.8f}")
back = pca.inverse_transform(pca.transform(X_test))
print(f"lost: {np.mean((X_test - back) ** 2):.8f}")
kernel = KernelPCA(n_components=5, kernel="rbf", gamma=0.05).fit(X_train)
print(f"kernel components: {kernel.eigenvalues_.sum():.4f}")
distances = MDS(2, random_state=0, n_init=1, max_iter=50, init="random").fit_transform(
    X[:100]
)
print(f"map: {distances.shape}")

X, y = make_classification(
    2000, 25, n_informative=4, n_redundant=0, shuffle=False, random_state=0
)
best = SelectKBest(f_classif, k=4).fit(X, y)
print(f"by one column: {best.get_support(indices=True).tolist()}")
forward = SequentialFeatureSelector(
    KNeighborsClassifier(5), n_features_to_select=3, cv=3
).fit(X[:600, :10], y[:600])
print(f"forward: {forward.get_support(indices=True).tolist()}")
sparse = SelectFromModel(
    LogisticRegression(penalty="l1", solver="saga", C=0.02, tol=1e-6)
)
steps = make_pipeline(StandardScaler(), sparse, LogisticRegression())
print(f"selected: {cross_val_score(steps, X, y, cv=5).mean():.4f} +- 0.003")

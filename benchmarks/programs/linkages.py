"""Hierarchical clusters: linkages, a cut by height, and the tree of merges."""

import numpy as np
from sklearn.cluster import AgglomerativeClustering
from sklearn.datasets import load_iris, make_blobs
from sklearn.metrics import adjusted_rand_score

X, y = load_iris(return_X_y=True)
for linkage in ("ward", "complete", "average", "single"):
    model = AgglomerativeClustering(n_clusters=3, linkage=linkage).fit(X)
    print(f"{linkage}: {adjusted_rand_score(y, model.labels_):.6f}")
    print(f"{linkage} leaves: {model.n_leaves_}")
cut = AgglomerativeClustering(n_clusters=None, distance_threshold=5.0).fit(X)
print(f"clusters below height 5: {cut.n_clusters_}")
print(f"last merge: {cut.distances_[-1]:.6f}")
print(f"children: {cut.children_.shape}")
manhattan = AgglomerativeClustering(4, metric="manhattan", linkage="average").fit(X)
print(f"sizes: {sorted(np.bincount(manhattan.labels_).tolist())}")
many, truth = make_blobs(4000, centers=5, n_features=4, random_state=3)
found = AgglomerativeClustering(5).fit_predict(many)
print(f"many rows: {adjusted_rand_score(truth, found):.6f}")

"""Clusters of any form by density: moons, blobs and noise."""

import numpy as np
from sklearn import metrics
from sklearn.cluster import DBSCAN, HDBSCAN
from sklearn.datasets import make_blobs, make_moons
from sklearn.preprocessing import StandardScaler

centers = [[1, 1], [-1, -1], [1, -1]]
X, labels = make_blobs(
    n_samples=3000, centers=centers, cluster_std=0.35, random_state=0
)
X = StandardScaler().fit_transform(X)
db = DBSCAN(eps=0.2, min_samples=10).fit(X)
print(f"clusters: {len(set(db.labels_)) - (1 if -1 in db.labels_ else 0)}")
print(f"noise: {np.sum(db.labels_ == -1)}")
print(f"core rows: {len(db.core_sample_indices_)}")
print(f"v-measure: {metrics.v_measure_score(labels, db.labels_):.6f}")
moons, sides = make_moons(2000, noise=0.06, random_state=0)
print(
    f"moons: {metrics.adjusted_rand_score(sides, DBSCAN(eps=0.1).fit_predict(moons)):.6f}"
)
hierarchy = HDBSCAN(min_cluster_size=50, copy=True).fit(X)
print(f"hierarchy: {hierarchy.labels_.max() + 1}")
print(f"hierarchy noise: {np.sum(hierarchy.labels_ == -1)} +- 20")

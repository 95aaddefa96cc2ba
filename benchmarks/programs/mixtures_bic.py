"""Choose the number and shape of Gaussian components by BIC."""

import numpy as np
from sklearn.mixture import BayesianGaussianMixture, GaussianMixture

rng = np.random.default_rng(1)
stretched = rng.normal(size=(1500, 2)) @ np.array([[0.0, -0.7], [3.5, 0.7]])
round_one = 0.7 * rng.normal(size=(1500, 2)) + [-6.0, 3.0]
X = np.vstack([stretched, round_one])
bic = {}
for shape in ("spherical", "tied", "diag", "full"):
    for n_components in range(1, 5):
        model = GaussianMixture(
            n_components,
            covariance_type=shape,
            n_init=3,
            random_state=0,
            tol=1e-6,
            max_iter=500,
        ).fit(X)
        bic[shape, n_components] = model.bic(X)
best = min(bic, key=bic.get)
print(f"shape: {best[0]}")
print(f"components: {best[1]}")
model = GaussianMixture(2, random_state=0, tol=1e-8, max_iter=500).fit(X)
print(f"bic: {model.bic(X):.1f} +- 0.5")
weights = np.sort(model.weights_)
print(f"smaller weight: {weights[0]:.4f} +- 0.0005")
means = model.means_[np.argsort(model.means_[:, 0])]
print(f"left mean: {means[0, 0]:.3f} +- 0.002")
bayes = BayesianGaussianMixture(
    n_components=6, weight_concentration_prior=0.01, random_state=0, max_iter=500
)
bayes.fit(X)
print(f"large components: {(bayes.weights_ > 0.05).sum()} +- 1")

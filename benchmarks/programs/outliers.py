"""Find what does not belong: isolation, density and robust distance."""

import numpy as np
from sklearn.covariance import EllipticEnvelope
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import LocalOutlierFactor
from sklearn.svm import OneClassSVM

rng = np.random.RandomState(42)
inner = 0.3 * rng.randn(3000, 2)
inner = np.r_[inner + 2, inner - 2]
outer = rng.uniform(low=-4, high=4, size=(300, 2))
X = np.r_[inner, outer]
truth = np.r_[np.zeros(len(inner)), np.ones(len(outer))]
forest = IsolationForest(n_estimators=100, max_samples=256, random_state=rng).fit(X)
print(f"isolation: {roc_auc_score(truth, -forest.score_samples(X)):.3f} +- 0.02")
print(f"offset: {forest.offset_}")
sized = IsolationForest(contamination=0.05, random_state=0).fit(X)
print(f"flagged: {(sized.predict(X) == -1).mean():.3f} +- 0.002")
factor = LocalOutlierFactor(n_neighbors=20, contamination=0.05)
print(f"local factor: {(factor.fit_predict(X) == -1).sum()} +- 1")
print(
    f"its area: {roc_auc_score(truth, -factor.negative_outlier_factor_):.4f} +- 0.001"
)
one = OneClassSVM(nu=0.05, gamma=0.5).fit(inner[::6])
print(f"one class: {(one.predict(outer) == -1).mean():.3f} +- 0.02")
ellipse = EllipticEnvelope(random_state=0, contamination=0.05).fit(inner[:3000])
print(f"ellipse: {(ellipse.predict(outer) == -1).mean():.3f} +- 0.02")

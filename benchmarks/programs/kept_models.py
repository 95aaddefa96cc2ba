"""Models are cloned, changed, pickled, loaded, updated and inspected."""

import io
import pickle
import tempfile
from pathlib import Path

import joblib
import numpy as np
from sklearn.base import clone
from sklearn.cluster import MiniBatchKMeans
from sklearn.datasets import load_iris, make_classification
from sklearn.decomposition import IncrementalPCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC
from sklearn.utils.validation import check_is_fitted

X, y = load_iris(return_X_y=True)
models = [
    make_pipeline(StandardScaler(), LogisticRegression()),
    make_pipeline(MinMaxScaler(), SVC()),
    KNeighborsClassifier(7),
    GaussianNB(),
    RandomForestClassifier(20, random_state=0),
]
for model in models:
    model.fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(model.predict(X), again.predict(X))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.joblib"
        joblib.dump(model, path)
        assert np.array_equal(model.predict(X), joblib.load(path).predict(X))
    fresh = clone(model)
    assert repr(fresh.get_params()) == repr(clone(model).get_params())
    try:
        fresh.predict(X)
    except NotFittedError:
        pass
    else:
        raise AssertionError("an unfitted model answered")
print(f"models kept: {len(models)}")

model = LogisticRegression()
model.set_params(C=0.1, max_iter=300).fit(X, y)
check_is_fitted(model)
print(f"C: {model.get_params()['C']}")
print(f"weight: {np.abs(model.coef_).max():.3f} +- 0.002")

X, y = make_classification(20_000, 20, random_state=0)
stream = GaussianNB()
for rows in np.array_split(np.arange(len(X)), 20):
    stream.partial_fit(X[rows], y[rows], classes=[0, 1])
whole = GaussianNB().fit(X, y)
print(f"stream: {stream.score(X, y):.6f}")
print(f"same means: {np.allclose(stream.theta_, whole.theta_)}")
counts = MultinomialNB().partial_fit(np.abs(X), y, classes=[0, 1])
print(f"counts: {counts.score(np.abs(X), y):.6f}")
pca = IncrementalPCA(n_components=5, batch_size=1000).fit(X)
print(f"share: {pca.explained_variance_ratio_.sum():.6f}")
batches = MiniBatchKMeans(3, random_state=0, n_init=3).fit(X)
print(f"inertia per row: {batches.inertia_ / len(X):.2f} +- 1.5")
buffer = io.BytesIO()
pickle.dump(whole, buffer)
print(f"small file: {buffer.tell() < 20_000}")

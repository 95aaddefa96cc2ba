"""From texts to classes by latent topics: a search over a pipeline, with a report."""

import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import NMF, TruncatedSVD
from sklearn.feature_extraction.text import (
    CountVectorizer,
    TfidfTransformer,
    TfidfVectorizer,
)
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.metrics import classification_report, confusion_matrix
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import Normalizer
from sklearn.svm import LinearSVC

rng = np.random.default_rng(3)
stems = ["ka", "lo", "mi", "ne", "po", "ru", "sa", "ti", "vu", "ze"]
vocabulary = [
    first + second + third for first in stems for second in stems for third in stems[:3]
]
topics = ["letters", "reports", "orders", "complaints"]
shares = rng.dirichlet(np.full(len(vocabulary), 0.08), size=len(topics))
background = rng.dirichlet(np.full(len(vocabulary), 0.5))
texts, labels = [], []
for number, topic in enumerate(topics):
    for _ in range(700):
        mixed = 0.25 * shares[number] + 0.75 * background
        texts.append(" ".join(rng.choice(vocabulary, 40, p=mixed)))
        labels.append(topic)
X_train, X_test, y_train, y_test = train_test_split(texts, labels, random_state=0)

steps = Pipeline(
    [
        ("count", CountVectorizer()),
        ("weigh", TfidfTransformer()),
        ("classify", LogisticRegression(max_iter=1000)),
    ]
)
grid = {
    "count__binary": [True, False],
    "weigh__use_idf": [True, False],
    "classify__C": [1.0, 10.0],
}
search = GridSearchCV(steps, grid, cv=3).fit(X_train, y_train)
print(f"best score: {search.best_score_:.5f} +- 0.001")
predicted = search.predict(X_test)
report = classification_report(y_test, predicted, output_dict=True)
print(f"macro f1: {report['macro avg']['f1-score']:.5f} +- 0.003")
print(f"right: {np.trace(confusion_matrix(y_test, predicted))} +- 2")

vectors = TfidfVectorizer(sublinear_tf=True)
train = vectors.fit_transform(X_train)
test = vectors.transform(X_test)
for name, model in {
    "machine": LinearSVC(tol=1e-6, max_iter=20_000),
    "perceptron": Perceptron(max_iter=200, random_state=0),
}.items():
    score = model.fit(train, y_train).score(test, y_test)
    print(f"{name}: {score:.4f} +- {0.04 if name == 'perceptron' else 0.003}")

svd = TruncatedSVD(n_components=20, algorithm="arpack", random_state=0)
latent = svd.fit_transform(train)
print(f"latent share: {svd.explained_variance_ratio_.sum():.4f}")
latent = Normalizer(copy=False).fit_transform(latent)
clusters = KMeans(4, n_init=10, random_state=0).fit_predict(latent)
purity = sum(
    np.max(np.unique(np.array(y_train)[clusters == k], return_counts=True)[1])
    for k in range(4)
)
print(f"purity: {purity / len(y_train):.3f} +- 0.12")
parts = NMF(n_components=4, random_state=0, max_iter=300).fit_transform(train)
print(f"parts: {parts.shape[1]}")

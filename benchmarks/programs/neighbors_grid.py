"""Search the number of neighbors, their weights and the metric in a pipeline."""

from sklearn.datasets import load_wine, make_classification
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

X, y = load_wine(return_X_y=True)
steps = Pipeline([("scale", StandardScaler()), ("knn", KNeighborsClassifier())])
grid = {
    "knn__n_neighbors": [1, 3, 5, 9, 15],
    "knn__weights": ["uniform", "distance"],
    "knn__p": [1, 2],
}
search = GridSearchCV(steps, grid, cv=StratifiedKFold(5, shuffle=True, random_state=0))
search.fit(X, y)
print(f"best score: {search.best_score_:.6f}")
for name, value in sorted(search.best_params_.items()):
    print(f"{name}: {value}")
print(f"settings tried: {len(search.cv_results_['params'])}")
many, labels = make_classification(20_000, 10, n_informative=6, random_state=0)
model = KNeighborsClassifier(15).fit(many[:15_000], labels[:15_000])
print(f"many rows: {model.score(many[15_000:], labels[15_000:]):.6f}")
distances, _ = NearestNeighbors(n_neighbors=3).fit(many).kneighbors(many[:500])
print(f"mean distance of the third: {distances[:, 2].mean():.6f}")

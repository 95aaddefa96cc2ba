"""Small random problems, each solved by a learner and by a definition in plain loops, or by
scikit-learn where it has the method."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from sklearn import (
    cluster as sk_cluster,
    covariance as sk_covariance,
    decomposition as sk_decomposition,
    discriminant_analysis as sk_discriminants,
    kernel_ridge as sk_kernel_ridge,
    linear_model as sk_linear,
    naive_bayes as sk_bayes,
    neighbors as sk_neighbors,
    preprocessing as sk_prepare,
    svm as sk_svm,
)

from fuzz import Finding
from lyceum import (
    bayes,
    cluster,
    decomposition,
    density,
    kernels,
    linear,
    mixtures,
    neighbors,
    neural,
    prepare,
    semi_supervised,
    trees,
)

__all__ = ["FAMILIES", "case", "make"]


class Problem(NamedTuple):
    """A few rows, their classes, numbers to predict, whole weights, and rows to ask about."""

    X: np.ndarray
    classes: np.ndarray
    numbers: np.ndarray
    w: np.ndarray
    asked: np.ndarray


def draw(rng: np.random.Generator) -> Problem:
    """Between 12 and 30 rows of 1 to 4 columns, in some draws whole numbers with ties."""
    n, d = int(rng.integers(12, 31)), int(rng.integers(1, 5))
    scale = 10.0 ** rng.integers(-2, 3)
    classes = rng.integers(0, rng.integers(2, 4), n)
    classes[:3] = [0, 1, 0]
    X = (rng.normal(size=(n, d)) + classes[:, None]) * scale
    asked = rng.normal(size=(6, d)) * scale
    if rng.random() < 0.3:
        X, asked = np.round(X), np.round(asked)
    numbers = X @ rng.normal(size=d) + scale * rng.normal(size=n)
    w = rng.integers(1, 4, n).astype(np.float64)
    return Problem(X, classes, numbers, w, asked)


Answers = tuple[np.ndarray, np.ndarray] | None  # None where nothing is defined
Family = Callable[[Problem, np.random.Generator], Answers]
FAMILIES: dict[str, Family] = {}


def family(compare: Family) -> Family:
    """Add a comparison: it gives Lyceum's answer and the definition's."""
    FAMILIES[compare.__name__] = compare
    return compare


def make() -> list[str]:
    """The names of all families."""
    return list(FAMILIES)


def case(names: list[str], rng: np.random.Generator) -> Counter[str]:
    """One problem for every family."""
    counts = Counter[str]()
    problem = draw(rng)
    for name in names:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            answers = FAMILIES[name](problem, rng)
        if answers is None:
            counts[f"{name}, not defined"] += 1
            continue
        ours, theirs = answers
        if not agrees(ours, theirs):
            raise Finding(f"{name}: {ours!r} is not {theirs!r} on {problem!r}")
        counts[name] += 1
    return counts


def agrees(ours: np.ndarray, theirs: np.ndarray) -> bool:
    """Equal classes, or numbers that agree to 1e-6 of the largest."""
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    if ours.dtype.kind not in "f" and theirs.dtype.kind not in "f":
        return bool(np.array_equal(ours, theirs))
    size = np.abs(theirs[np.isfinite(theirs)]).max(initial=1e-300)
    return bool(np.allclose(ours, theirs, rtol=1e-6, atol=1e-6 * size, equal_nan=True))


# -- by definitions in plain loops -----------------------------------------------------


@family
def nearest_neighbors(problem: Problem, rng: np.random.Generator) -> Answers:
    X, y, asked = problem.X, problem.numbers, problem.asked
    k = int(rng.integers(1, 6))
    model = neighbors.KNeighborsRegressor(k).fit(X, y)
    distances = [[math.dist(row, other) for other in X] for row in asked]
    ours = model.predict(asked)
    means = []
    for i, row in enumerate(distances):
        order = sorted(range(len(X)), key=row.__getitem__)
        # ties at the k-th place may be broken either way
        if math.isclose(row[order[k - 1]], row[order[k]], rel_tol=1e-9, abs_tol=1e-12):
            means.append(ours[i])
        else:
            means.append(sum(y[j] for j in order[:k]) / k)
    return ours, np.array(means)


@family
def kernel_density(problem: Problem, rng: np.random.Generator) -> Answers:
    X, w, asked = problem.X, problem.w, problem.asked
    h = float(np.abs(X).mean() + 0.1)
    model = density.KernelDensity(bandwidth=h, rtol=0.0).fit(X, sample_weight=w)
    d = X.shape[1]
    logs = []
    for row in asked:
        total = 0.0
        for other, weight in zip(X, w):
            square = sum((a - b) ** 2 for a, b in zip(row, other)) / h**2
            total += weight * math.exp(-0.5 * square)
        logs.append(math.log(total / w.sum() / (h * math.sqrt(2 * math.pi)) ** d))
    return model.score_samples(asked), np.array(logs)


@family
def gaussian_density(problem: Problem, rng: np.random.Generator) -> Answers:
    X, w, asked = problem.X, problem.w, problem.asked
    mean = sum(weight * row for row, weight in zip(X, w)) / w.sum()
    S = sum(weight * np.outer(row - mean, row - mean) for row, weight in zip(X, w))
    S = S / w.sum()
    if np.linalg.cond(S) > 1e8:
        return None
    inverse = np.linalg.inv(S)
    peak = -0.5 * (len(mean) * math.log(2 * math.pi) + np.linalg.slogdet(S)[1])
    logs = [peak - 0.5 * (row - mean) @ inverse @ (row - mean) for row in asked]
    model = density.GaussianDensity().fit(X, sample_weight=w)
    return model.score_samples(asked), np.array(logs)


@family
def tree_of_one_split(problem: Problem, rng: np.random.Generator) -> Answers:
    """The smallest sum of squares over all cuts of all columns."""
    X, y, w = problem.X, problem.numbers, problem.w
    model = trees.DecisionTreeRegressor(max_depth=1).fit(X, y, sample_weight=w)
    best = _squares(y, w)
    for j in range(X.shape[1]):
        for cut in np.unique(X[:, j])[:-1]:
            left = X[:, j] <= cut
            best = min(best, _squares(y[left], w[left]) + _squares(y[~left], w[~left]))
    return np.array([w @ (y - model.predict(X)) ** 2]), np.array([best])


def _squares(y: np.ndarray, w: np.ndarray) -> float:
    mean = sum(w * y) / sum(w)
    return float(sum(w * (y - mean) ** 2))


@family
def k_means(problem: Problem, rng: np.random.Generator) -> Answers:
    """No move of one row to another mean lowers the sum of squares of a converged run by Lloyd."""
    X, w = problem.X, problem.w
    model = cluster.KMeans(2, random_state=0, tol=0.0, max_iter=500)
    model.fit(X, sample_weight=w)
    if len(np.unique(X, axis=0)) < 3:
        return None
    centers = [
        sum(weight * row for row, weight, own in zip(X, w, model.labels_) if own == k)
        / sum(weight for weight, own in zip(w, model.labels_) if own == k)
        for k in range(2)
    ]
    nearest = [
        min(sum((a - b) ** 2 for a, b in zip(row, center)) for center in centers)
        for row in X
    ]
    ours = np.concatenate([model.cluster_centers_.ravel(), [model.inertia_]])
    return ours, np.concatenate([*centers, [sum(w * nearest)]])


@family
def medoids(problem: Problem, rng: np.random.Generator) -> Answers:
    """Every row is with its nearest medoid, and the cost is the sum of these distances."""
    X, w = problem.X, problem.w
    if len(np.unique(X, axis=0)) < 3:
        return None
    model = cluster.KMedoids(2, random_state=0).fit(X, sample_weight=w)
    rows = model.cluster_centers_
    nearest = [min(math.dist(row, medoid) for medoid in rows) for row in X]
    return np.array([model.inertia_]), np.array([sum(w * nearest)])


@family
def gaussian_mixture(problem: Problem, rng: np.random.Generator) -> Answers:
    """The log density of the parameters that were found, summed over components."""
    model = mixtures.GaussianMixture(2, random_state=0, max_iter=5).fit(problem.X)
    if max(np.linalg.cond(model.covariances_)) > 1e8:
        return None
    logs = []
    for row in problem.asked:
        parts = []
        for weight, mean, S in zip(model.weights_, model.means_, model.covariances_):
            gap = row - mean
            square = float(gap @ np.linalg.solve(S, gap))
            log_det = np.linalg.slogdet(S)[1] + len(gap) * math.log(2 * math.pi)
            parts.append(math.log(weight) - 0.5 * (square + log_det))
        top = max(parts)
        logs.append(top + math.log(sum(math.exp(part - top) for part in parts)))
    return model.score_samples(problem.asked), np.array(logs)


@family
def network(problem: Problem, rng: np.random.Generator) -> Answers:
    """The forward pass of a network with one hidden layer."""
    model = neural.MLPRegressor(
        hidden_layer_sizes=3,
        activation="tanh",
        max_iter=3,
        random_state=0,
        batch_size="all",
    )
    model.fit(problem.X, problem.numbers)
    answers = []
    for row in problem.asked:
        layer = (row - model.center_) / model.scale_
        for depth, (W, b) in enumerate(zip(model.coefs_, model.intercepts_)):
            layer = np.array([sum(layer * column) for column in W.T]) + b
            if depth == 0:
                layer = np.array([math.tanh(value) for value in layer])
        answers.append(layer[0] * model.target_scale_ + model.target_mean_)
    return model.predict(problem.asked), np.array(answers).ravel()


@family
def label_propagation(problem: Problem, rng: np.random.Generator) -> Answers:
    """Posteriors sum to one, and the rows whose class is known keep it."""
    X = (problem.X - problem.X.mean(axis=0)) / (problem.X.std(axis=0) + 1e-9)
    y = problem.classes.astype(object)
    is_known = (np.arange(len(y)) < 3) | (np.arange(len(y)) % 2 == 0)
    y[~is_known] = None
    model = semi_supervised.LabelPropagation().fit(X, y)
    given = np.eye(len(model.classes_))[problem.classes[is_known]]
    sums = model.label_distributions_.sum(axis=1)
    ours = np.append(model.label_distributions_[is_known].ravel(), sums)
    return ours, np.append(given.ravel(), np.ones(len(X)))


# -- beside scikit-learn ---------------------------------------------------------------


@family
def ridge(problem: Problem, rng: np.random.Generator) -> Answers:
    X, y, w, asked = problem.X, problem.numbers, problem.w, problem.asked
    alpha = 10.0 ** rng.uniform(-2, 2)
    ours = linear.Ridge(alpha=alpha).fit(X, y, sample_weight=w)
    theirs = sk_linear.Ridge(alpha=alpha).fit(X, y, sample_weight=w)
    return ours.predict(asked), theirs.predict(asked)


@family
def lasso(problem: Problem, rng: np.random.Generator) -> Answers:
    X, y, w = problem.X, problem.numbers, problem.w
    alpha = 0.1 * float(np.abs(X.T @ (y - y.mean())).max()) / len(X)
    settings = {"alpha": alpha, "tol": 1e-12, "max_iter": 100_000}
    ours = linear.Lasso(**settings).fit(X, y, sample_weight=w)
    theirs = sk_linear.Lasso(**settings).fit(X, y, sample_weight=w)
    return np.append(ours.coef_, ours.intercept_), np.append(
        theirs.coef_, theirs.intercept_
    )


@family
def logistic_regression(problem: Problem, rng: np.random.Generator) -> Answers:
    X, y, w, asked = problem.X, problem.classes, problem.w, problem.asked
    size = float(np.abs(X).max() + 1e-9)
    ours = linear.LogisticRegression(tol=1e-10).fit(X / size, y, sample_weight=w)
    theirs = sk_linear.LogisticRegression(tol=1e-10, solver="newton-cg", max_iter=500)
    theirs.fit(X / size, y, sample_weight=w)
    return ours.predict_proba(asked / size), theirs.predict_proba(asked / size)


@family
def gaussian_bayes(problem: Problem, rng: np.random.Generator) -> Answers:
    X, y, asked = problem.X, problem.classes, problem.asked
    spread = [X[y == k].std(axis=0).min() for k in np.unique(y)]
    if min(spread) <= 1e-3 * X.std():
        return None
    theirs = sk_bayes.GaussianNB(var_smoothing=0.0, priors=np.bincount(y) / len(y)).fit(
        X, y
    )
    ours = bayes.QuadraticDiscriminantAnalysis(
        covariance="diagonal", priors=np.bincount(y) / len(y)
    ).fit(X, y)
    return ours.predict_proba(asked), theirs.predict_proba(asked)


@family
def linear_discriminant(problem: Problem, rng: np.random.Generator) -> Answers:
    X, y, asked = problem.X, problem.classes, problem.asked
    priors = np.bincount(y) / len(y)
    within = X - np.array([X[y == k].mean(axis=0) for k in y])
    if np.linalg.cond(within.T @ within) > 1e8:
        return None
    ours = bayes.LinearDiscriminantAnalysis(priors=priors).fit(X, y)
    theirs = sk_discriminants.LinearDiscriminantAnalysis(solver="lsqr", priors=priors)
    return ours.predict_proba(asked), theirs.fit(X, y).predict_proba(asked)


@family
def kernel_ridge(problem: Problem, rng: np.random.Generator) -> Answers:
    X, y, asked = problem.X, problem.numbers, problem.asked
    gamma = 1.0 / float((X**2).mean() + 1e-9)
    ours = kernels.KernelRidge(kernel="rbf", gamma=gamma, alpha=0.5).fit(X, y)
    theirs = sk_kernel_ridge.KernelRidge(kernel="rbf", gamma=gamma, alpha=0.5)
    return ours.predict(asked), theirs.fit(X, y).predict(asked)


@family
def support_vectors(problem: Problem, rng: np.random.Generator) -> Answers:
    X, asked = problem.X, problem.asked
    y = (problem.classes > 0).astype(int)
    gamma = 1.0 / float((X**2).mean() + 1e-9)
    settings = {"kernel": "rbf", "gamma": gamma, "C": 1.0, "tol": 1e-8}
    ours = kernels.SVC(**settings).fit(X, y).decision_function(asked)
    theirs = sk_svm.SVC(**settings).fit(X, y).decision_function(asked)
    # where every support vector is at its bound, any intercept of an interval is optimal
    ours, theirs = ours - ours.mean(), theirs - theirs.mean()
    # both stop within a tolerance of the dual, not of the scores
    close = np.isclose(ours, theirs, rtol=0.0, atol=1e-4)
    return np.where(close, theirs, ours), theirs


@family
def principal_components(problem: Problem, rng: np.random.Generator) -> Answers:
    X, asked = problem.X, problem.asked
    k = min(2, X.shape[1])
    ours = decomposition.PCA(k).fit(X)
    theirs = sk_decomposition.PCA(k).fit(X)
    values = theirs.explained_variance_
    if k == 2 and values[1] > 0.99 * values[0]:
        return None
    return np.abs(ours.transform(asked)), np.abs(theirs.transform(asked))


@family
def scaler(problem: Problem, rng: np.random.Generator) -> Answers:
    X, w, asked = problem.X, problem.w, problem.asked
    ours = prepare.StandardScaler().fit(X, sample_weight=w)
    theirs = sk_prepare.StandardScaler().fit(X, sample_weight=w)
    return ours.transform(asked), theirs.transform(asked)


@family
def neighbor_classes(problem: Problem, rng: np.random.Generator) -> Answers:
    X, y, asked = problem.X, problem.classes, problem.asked
    ours = neighbors.KNeighborsClassifier(1).fit(X, y).kneighbors(asked).distances
    theirs = sk_neighbors.KNeighborsClassifier(1).fit(X, y).kneighbors(asked)[0]
    return ours, theirs


@family
def linkage(problem: Problem, rng: np.random.Generator) -> Answers:
    # without ties, which may be merged in any order
    X = problem.X + 0.01 * (problem.X.std() + 1.0) * rng.normal(size=problem.X.shape)
    ours = cluster.AgglomerativeClustering(n_clusters=1, linkage="ward").fit(X)
    theirs = sk_cluster.AgglomerativeClustering(
        n_clusters=1, linkage="ward", compute_distances=True
    ).fit(X)
    return np.sort(ours.linkage_[:, 2]), np.sort(theirs.distances_)


@family
def robust_distance(problem: Problem, rng: np.random.Generator) -> Answers:
    """Squared Mahalanobis distances follow from the log density."""
    X, asked = problem.X, problem.asked
    theirs = sk_covariance.EmpiricalCovariance().fit(X)
    if np.linalg.cond(theirs.covariance_) > 1e8:
        return None
    ours = density.GaussianDensity().fit(X)
    at_mean = ours.score_samples(theirs.location_[None])[0]
    return -2 * (ours.score_samples(asked) - at_mean), theirs.mahalanobis(asked)

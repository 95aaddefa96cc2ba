"""The formulas of steps, calculated from the columns of the record, are what the code does."""

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist
from scipy.special import gammaln, logsumexp, multigammaln
from scipy.stats import multivariate_normal, multivariate_t

from lyceum.cluster import AgglomerativeClustering, FuzzyCMeans, KMeans, KMedoids
from lyceum.decomposition import SequentialFeatureSelector
from lyceum.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    GradientBoostingRegressor,
    HierarchicalMixtureOfExperts,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    MixtureOfExperts,
)
from lyceum.kernels import SVC, KernelPerceptron
from lyceum.linear import (
    ElasticNet,
    ElasticNetCV,
    LinearRegression,
    LogisticRegression,
    MarginClassifier,
    Perceptron,
)
from lyceum.mixtures import (
    BayesianGaussianMixture,
    BernoulliMixture,
    GaussianMixture,
    MultinomialMixture,
    StudentMixture,
)
from lyceum.neighbors import (
    AttributeWeights,
    KNeighborsRegressor,
    LearnedMetric,
    RBFNetworkClassifier,
    RBFNetworkRegressor,
)
from lyceum.neural import MLPClassifier, MLPRegressor
from lyceum.prepare import IterativeImputer
from lyceum.semi_supervised import SelfTrainingClassifier
from lyceum.transfer import TrAdaBoost
from lyceum.trees import ID3, CARTRegressor, ModelTreeRegressor

RNG = np.random.default_rng(0)
X = np.vstack([RNG.normal(0, 1, (20, 2)), RNG.normal(1.5, 1, (20, 2))])
Z = X - X.mean(axis=0)
CODES = np.repeat([0, 1], 20)
SIGNS = 2 * CODES - 1
NUMBERS = X @ [1.0, 2.0] + RNG.normal(size=40)
KWARGS = {"record": True, "random_state": 0}
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def pairs(model):
    """Every step with the next one."""
    return list(zip(model.record_, model.record_[1:]))


def residuals(step):
    return NUMBERS - X @ step["coef"] - step["intercept"]


@pytest.mark.parametrize("standardize", [True, False])
def test_linear_regression(standardize):
    model = LinearRegression(
        solver="gradient_descent",
        learning_rate=0.1,
        decay=False,
        standardize=standardize,
        max_iter=4,
        record=True,
    ).fit(X, NUMBERS)
    for step, after in pairs(model):
        r = residuals(step)
        assert step["objective"] == pytest.approx(r @ r)
        moved = after["coef"] - step["coef"]
        expected = 0.1 * X.T @ r / 40
        if standardize:
            expected = 0.1 * Z.T @ r / 40 / X.var(axis=0)
        np.testing.assert_allclose(moved, expected, rtol=1e-9)
        middle = X.mean(axis=0) if standardize else np.zeros(2)
        risen = after["intercept"] - step["intercept"] + moved @ middle
        assert risen == pytest.approx(0.1 * r.mean(), abs=1e-12)


@pytest.mark.parametrize("learner", [ElasticNet, ElasticNetCV])
def test_elastic_net(learner):
    model = learner(l1_ratio=0.3, record=True).fit(X, NUMBERS)
    for step in model.record_[1:]:
        b = step["coef"]
        r = residuals(step)
        penalty = 0.3 * np.abs(b).sum() + 0.5 * 0.7 * b @ b
        F = 0.5 * r @ r / 40 + step.get("alpha", 1.0) * penalty
        assert step["objective"] == pytest.approx(F)
        b0 = NUMBERS.mean() - X.mean(axis=0) @ b
        assert step["intercept"] == pytest.approx(b0)


@pytest.mark.parametrize("C", [1.0, 0.5])
def test_logistic_regression(C):
    for step in LogisticRegression(C=C, record=True).fit(X, CODES).record_[1:]:
        w = step["coef"].ravel()
        scores = X @ w + step["intercept"]
        F = np.log1p(np.exp(-SIGNS * scores)).sum() + 0.5 * w @ w / C
        assert step["objective"] == pytest.approx(F)
        wrong = 1 / (1 + np.exp(-scores)) - CODES
        g = np.append(Z.T @ wrong + w / C, wrong.sum()) / 40
        spreads = np.append(X.std(axis=0), 1.0) * 0.5
        assert step["gradient"] == pytest.approx(np.abs(g / spreads).max(), abs=1e-12)


@pytest.mark.parametrize("C", [1.0, 0.5])
def test_margin_classifier(C):
    model = MarginClassifier(loss="squared_hinge", C=C, record=True).fit(X, CODES)
    for step in model.record_:
        w = step["coef"].ravel()
        margins = SIGNS * (X @ w + step["intercept"])
        losses = np.maximum(0, 1 - margins) ** 2
        assert step["objective"] == pytest.approx(losses.sum() + 0.5 * w @ w / C)


def test_perceptrons():
    model = Perceptron(record=True, max_iter=5).fit(X, CODES)
    assert all(0 < step["mistakes"] <= 40 for step in model.record_)
    kernel = KernelPerceptron(kernel="linear", max_iter=5, record=True).fit(X, CODES)
    before = np.zeros(40)
    for step in kernel.record_:
        counted = np.bincount(step["updates"], minlength=40)
        np.testing.assert_array_equal(step["row_mistakes"].ravel() - before, counted)
        assert step["mistakes"] == len(step["updates"])
        before = step["row_mistakes"].ravel()


def test_svc():
    model = SVC(kernel="linear", C=1.0, record=True).fit(X, CODES)
    K = X @ X.T
    assert len(pairs(model)) > 5
    for step, after in pairs(model):
        alpha = after["alpha"]
        v = alpha * SIGNS
        assert after["objective"] == pytest.approx(alpha.sum() - 0.5 * v @ K @ v)
        i, j = after["pair"]
        errors = SIGNS - K @ (step["alpha"] * SIGNS)
        d = (errors[i] - errors[j]) / (K[i, i] + K[j, j] - 2 * K[i, j])
        if d < 0:
            i, j, d = j, i, -d
        # both stay between 0 and C
        most = [
            1.0 - step["alpha"][k] if SIGNS[k] * sign > 0 else step["alpha"][k]
            for k, sign in ((i, 1), (j, -1))
        ]
        d = min(d, *most)
        assert alpha[i] == pytest.approx(step["alpha"][i] + SIGNS[i] * d, abs=1e-9)
        assert alpha[j] == pytest.approx(step["alpha"][j] - SIGNS[j] * d, abs=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_adaboost(n_classes):
    y = np.arange(40) % n_classes
    model = AdaBoostClassifier(n_estimators=4, learning_rate=0.5, record=True).fit(X, y)
    for (step, after), member in zip(pairs(model), model.estimators_):
        d = step["weights"]
        wrong = member.predict(X) != y
        error = d[wrong].sum()
        alpha = 0.25 * np.log((1 - error) / error) + 0.25 * np.log(n_classes - 1)
        assert (step["error"], step["alpha"]) == pytest.approx((error, alpha))
        d = d * np.exp(np.where(wrong, alpha, -alpha))
        np.testing.assert_allclose(after["weights"], d / d.sum())


def test_adaboost_of_numbers():
    model = AdaBoostRegressor(n_estimators=3, learning_rate=0.5, **KWARGS)
    model.fit(X, NUMBERS)
    for (step, after), member in zip(pairs(model), model.estimators_):
        d = step["weights"]
        L = np.abs(NUMBERS - member.predict(X))
        L /= L.max()
        error = d @ L
        alpha = 0.5 * np.log((1 - error) / error)
        assert (step["error"], step["alpha"]) == pytest.approx((error, alpha))
        d = d * np.exp(alpha * (L - 1))
        np.testing.assert_allclose(after["weights"], d / d.sum())


@pytest.mark.parametrize(
    "model",
    [
        HistGradientBoostingRegressor(max_iter=3, record=True),
        GradientBoostingRegressor(n_estimators=3, record=True),
    ],
    ids=lambda model: type(model).__name__,
)
def test_boosting_of_numbers(model):
    errors = model.fit(X, NUMBERS).predict(X) - NUMBERS
    assert model.record_[-1]["objective"] == pytest.approx(0.5 * (errors**2).mean())


def test_boosting_of_classes():
    model = HistGradientBoostingClassifier(max_iter=3, record=True).fit(X, CODES)
    p = model.predict_proba(X)[np.arange(40), CODES]
    assert model.record_[-1]["objective"] == pytest.approx(-np.log(p).mean())


def test_kmeans():
    model = KMeans(n_clusters=2, **KWARGS).fit(X)
    for step, after in pairs(model):
        squares = ((X[:, None] - step["centers"]) ** 2).sum(axis=-1)
        assert step["objective"] == pytest.approx(squares.min(axis=1).sum())
        nearest = squares.argmin(axis=1)
        means = [X[nearest == k].mean(axis=0) for k in (0, 1)]
        np.testing.assert_allclose(after["centers"], means)


def test_fuzzy_c_means():
    model = FuzzyCMeans(n_clusters=2, **KWARGS).fit(X)
    # the first centers are rows, from which the distance is 0
    for step, after in pairs(model)[1:]:
        squares = ((X[:, None] - step["centers"]) ** 2).sum(axis=-1)
        u = 1 / squares / (1 / squares).sum(axis=1, keepdims=True)
        assert step["objective"] == pytest.approx((u**2 * squares).sum())
        centers = (u.T**2 @ X) / (u**2).sum(axis=0)[:, None]
        np.testing.assert_allclose(after["centers"], centers)


def test_medoids_and_merges():
    (step,) = KMedoids(n_clusters=2, record=True).fit(X).record_
    distances = np.sqrt(((X[:, None] - X[step["medoids"]]) ** 2).sum(axis=-1))
    assert step["objective"] == pytest.approx(distances.min(axis=1).sum())
    records = AgglomerativeClustering(linkage="single").fit(X).steps().records
    for number, step in enumerate(records):
        one, other = (np.asarray(step[name]) for name in ("one", "other"))
        gaps = np.sqrt(((X[one][:, None] - X[other]) ** 2).sum(axis=-1))
        assert step["height"] == pytest.approx(gaps.min())
        assert step["clusters"] == 39 - number


def log_joint(step):
    """ln π_k p_k(x) of every row and component."""
    columns = []
    for k in range(2):
        mu, S = step["means"][k], step["covariances"][k]
        if "degrees" in step:
            density = multivariate_t(mu, S, df=step["degrees"][k])
        else:
            density = multivariate_normal(mu, S)
        columns.append(np.log(step["weights"][k]) + density.logpdf(X))
    return np.transpose(columns)


@pytest.mark.parametrize("learner", [GaussianMixture, StudentMixture])
def test_mixtures_of_ellipses(learner):
    model = learner(n_components=2, prior_rows=0, max_iter=5, **KWARGS).fit(X)
    for step, after in pairs(model):
        joint = log_joint(step)
        assert step["objective"] == pytest.approx(logsumexp(joint, axis=1).sum())
        r = np.exp(joint - logsumexp(joint, axis=1)[:, None])
        np.testing.assert_allclose(after["weights"], r.mean(axis=0))
        for k in range(2):
            u = np.ones(40)
            if "degrees" in step:
                D = X - step["means"][k]
                squares = np.sum(D @ np.linalg.inv(step["covariances"][k]) * D, axis=1)
                u = (step["degrees"][k] + 2) / (step["degrees"][k] + squares)
            weights = r[:, k] * u
            mu = weights @ X / weights.sum()
            S = (weights[:, None] * (X - mu)).T @ (X - mu) / r[:, k].sum()
            np.testing.assert_allclose(after["means"][k], mu)
            np.testing.assert_allclose(after["covariances"][k], S)


@pytest.mark.parametrize("learner", [BernoulliMixture, MultinomialMixture])
def test_mixtures_of_counts(learner):
    ones = (X > 0.5).astype(float)
    counts = np.abs(X).round()
    cells = ones if learner is BernoulliMixture else counts
    model = learner(n_components=2, alpha=1e-9, max_iter=5, **KWARGS).fit(cells)
    for step, after in pairs(model):
        p = step["probabilities"]
        joint = np.log(step["weights"]) + cells @ np.log(p).T
        if learner is BernoulliMixture:
            joint += (1 - cells) @ np.log1p(-p).T
        else:
            ways = gammaln(cells.sum(axis=1) + 1) - gammaln(cells + 1).sum(axis=1)
            joint += ways[:, None]
        F = logsumexp(joint, axis=1)
        assert step["objective"] == pytest.approx(F.sum(), abs=1e-5)
        r = np.exp(joint - F[:, None])
        np.testing.assert_allclose(after["weights"], r.mean(axis=0), rtol=1e-6)
        expected = r.T @ cells
        if learner is BernoulliMixture:
            expected /= r.sum(axis=0)[:, None]
        else:
            expected /= expected.sum(axis=1, keepdims=True)
        # alpha is what is added to every count
        np.testing.assert_allclose(after["probabilities"], expected, atol=1e-8)


def test_networks():
    setting = {"max_iter": 1, "tol": None, "batch_size": 40, "alpha": 0.0}
    # one step too short to move anything: the loss of the epoch is that of its end
    model = MLPRegressor(
        hidden_layer_sizes=(2,), learning_rate_init=1e-12, **setting, **KWARGS
    )
    errors = model.fit(X, NUMBERS).predict(X) - NUMBERS
    half = 0.5 * (errors**2).mean() / NUMBERS.var()
    assert model.record_[0]["objective"] == pytest.approx(half)
    model = MLPClassifier((2,), learning_rate_init=1e-12, **setting, **KWARGS)
    p = model.fit(X, CODES).predict_proba(X)[np.arange(40), CODES]
    assert model.record_[0]["objective"] == pytest.approx(-np.log(p).mean())
    radial = RBFNetworkRegressor(fit_by="gradient", n_centers=3, max_iter=5, **KWARGS)
    errors = radial.fit(X, NUMBERS).predict(X) - NUMBERS
    share = (errors**2).mean() / NUMBERS.var()
    assert radial.record_[-1]["objective"] == pytest.approx(share)


def entropy(codes):
    p = np.bincount(codes) / len(codes)
    return -(p[p > 0] * np.log2(p[p > 0])).sum()


def test_trees():
    cells = np.where(X > 0.5, "high", "low")
    step = (
        ID3(record=True).fit(pd.DataFrame(cells, columns=["0", "1"]), CODES).record_[0]
    )
    assert step["objective"] == pytest.approx(entropy(CODES))
    for candidate in step["candidates"]:
        column = cells[:, int(candidate["column"])]
        parts = [CODES[column == value] for value in np.unique(column)]
        left = sum(len(part) / 40 * entropy(part) for part in parts)
        assert candidate["gain"] == pytest.approx(step["objective"] - left)
    root = CARTRegressor(record=True, random_state=0).fit(X, NUMBERS).record_[0]
    assert root["objective"] == pytest.approx(NUMBERS.var())


def test_self_training():
    labels = np.where(np.arange(40) % 3, CODES, -1)
    model = SelfTrainingClassifier().fit(X, labels)
    for step in model.steps().records:
        if step["labeled"]:
            assert step["threshold"] >= model.threshold


@pytest.mark.parametrize("fit_by", ["least_squares", "gradient"])
def test_radial_classifier(fit_by):
    model = RBFNetworkClassifier(n_centers=3, fit_by=fit_by, max_iter=5, **KWARGS)
    model.fit(X, CODES)
    hot = np.eye(2)[CODES]
    H = np.exp(
        -0.5
        * cdist(X, model.centers_, "seuclidean", V=X.var(axis=0)) ** 2
        / model.widths_**2
    )
    outputs = H @ model.weights_[:, 0] + model.bias_ + model.class_prior_
    # the loss is that of the outputs, from which the posteriors come
    loss = ((outputs - hot) ** 2).sum(axis=1).mean()
    assert model.record_[-1]["objective"] == pytest.approx(loss)
    kept = np.maximum(outputs, 1e-9)
    posteriors = kept / kept.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X), posteriors)


def test_radial_classifier_of_likelihood():
    model = RBFNetworkClassifier(n_centers=3, outputs="logistic", **KWARGS)
    p = model.fit(X, CODES).predict_proba(X)[np.arange(40), CODES]
    assert model.record_[-1]["objective"] == pytest.approx(-np.log(p).mean())


@pytest.mark.parametrize("targets", [CODES, NUMBERS], ids=["classes", "numbers"])
def test_learned_metric(targets):
    model = LearnedMetric(alpha=0.1, max_iter=5, **KWARGS).fit(X, targets)
    assert len(model.record_) > 2
    for step in model.record_:
        squares = cdist(X @ step["components"].T, X @ step["components"].T) ** 2
        np.fill_diagonal(squares, np.inf)
        p = np.exp(-squares)
        p /= p.sum(axis=1, keepdims=True)
        y = (targets - targets.mean()) / targets.std()
        losses = (p @ y - y) ** 2
        if targets is CODES:
            losses = (p * (CODES[:, None] != CODES)).sum(axis=1)
        L = step["components"] * X.std(axis=0)
        assert step["objective"] == pytest.approx(losses.mean() + 0.05 * (L**2).sum())


@pytest.mark.parametrize("targets", [CODES, NUMBERS], ids=["classes", "numbers"])
def test_attribute_weights(targets):
    model = AttributeWeights(n_neighbors=3, **KWARGS).fit(X, targets)
    for step in model.record_:
        Z = X / X.std(axis=0) * step["weights"]
        distances = cdist(Z, Z)
        np.fill_diagonal(distances, np.inf)
        near = targets[np.argsort(distances, axis=1)[:, :3]]
        misses = near.mean(axis=1) - targets
        if targets is CODES:
            misses = (near != CODES[:, None]).mean(axis=1)
        assert step["objective"] == pytest.approx((misses**2).mean())


def test_tradaboost():
    target = np.arange(40) % 3 == 0
    model = TrAdaBoost(n_estimators=4, random_state=0).fit(X, CODES, domain=target)
    assert len(model.estimators_) == 4
    d = np.where(target, 0.5 / target.sum(), 0.5 / (~target).sum())
    beta = 1 / (1 + np.sqrt(2 * np.log((~target).sum()) / 4))
    for step, member, vote in zip(model.record_, model.estimators_, model.votes_):
        wrong = member.predict(X) != CODES
        assert step["error"] == pytest.approx(d[wrong & target].sum() / d[target].sum())
        assert step["source_weight"] == pytest.approx(d[~target].sum())
        raised = np.where(target & wrong, d * np.exp(min(vote, 20)), d)
        raised[target] *= d[target].sum() / raised[target].sum()
        d = np.where(~target & wrong, raised * beta, raised)
        d /= d.sum()


def test_iterative_imputer():
    cells = np.column_stack([X, NUMBERS])
    known = np.arange(40) % 4 > 0
    cells[~known, 0] = np.nan
    model = IterativeImputer(record=True).fit(cells)
    # before the first round every prediction is the mean
    before = np.full(known.sum(), cells[known, 0].mean())
    for step in model.record_:
        predicted = cells[known, 1:] @ step["coef"][1:, 0] + step["intercept"][0]
        change = np.sqrt(((predicted - before) ** 2).mean()) / cells[known, 0].std()
        assert step["objective"] == pytest.approx(change, abs=1e-12)
        before = predicted


def test_model_tree():
    root = ModelTreeRegressor(record=True).fit(X, NUMBERS).record_[0]
    assert root["objective"] == pytest.approx(NUMBERS.std())
    assert root["candidates"]
    for candidate in root["candidates"]:
        below = X[:, int(str(candidate["column"]).strip("x"))] <= candidate["threshold"]
        left = sum(
            part.size / 40 * part.std() for part in (NUMBERS[below], NUMBERS[~below])
        )
        assert candidate["gain"] == pytest.approx(NUMBERS.std() - left)


@pytest.mark.parametrize("kind", ["dirichlet_distribution", "dirichlet_process"])
def test_bound_of_one_component_is_the_log_evidence(kind):
    model = BayesianGaussianMixture(
        n_components=1,
        weight_concentration_prior_type=kind,
        weight_concentration_prior=1.0,
        mean_precision_prior=0.5,
        mean_prior=[0.0, 0.0],
        degrees_of_freedom_prior=4.0,
        covariance_prior=np.eye(2),
        **KWARGS,
    ).fit(X)
    # the Normal-Wishart prior is conjugate, so that the bound is reached
    mean = X.mean(axis=0)
    scatter = 40 * np.cov(X.T, bias=True)
    S = np.eye(2) + scatter + 40 * 0.5 / 40.5 * np.outer(mean, mean)
    evidence = (
        -40 * np.log(np.pi)
        + multigammaln(22, 2)
        - multigammaln(2, 2)
        - 22 * np.linalg.slogdet(S)[1]
        + np.log(0.5 / 40.5)
    )
    if kind == "dirichlet_process":
        # all rows fall to the first stick, whose share has the prior Beta(1, 1): ∫ v⁴⁰ dv
        evidence -= np.log(41)
    step = model.record_[-1]
    assert step["objective"] == pytest.approx(evidence)
    np.testing.assert_allclose(step["means"][0], 40 * mean / 40.5)
    np.testing.assert_allclose(step["covariances"][0], S / 44)
    assert step["weights"] == pytest.approx([1.0])


def test_selected_columns():
    cells = np.column_stack([X, np.arange(40) % 7])
    folds = [
        (np.flatnonzero(np.arange(40) % 4 != k), np.arange(k, 40, 4)) for k in range(4)
    ]
    model = SequentialFeatureSelector(
        KNeighborsRegressor(3), n_features_to_select=2, scoring="squared", cv=folds
    ).fit(cells, NUMBERS)
    assert [len(step["columns"]) for step in model.record_] == [0, 1, 2]
    for step in model.record_[1:]:
        part = cells[:, list(step["columns"])]
        misses = np.zeros(40)
        for train, test in folds:
            fitted = KNeighborsRegressor(3).fit(part[train], NUMBERS[train])
            misses[test] = fitted.predict(part[test]) - NUMBERS[test]
        assert step["objective"] == pytest.approx((misses**2).mean())


@pytest.mark.parametrize("learner", [MixtureOfExperts, HierarchicalMixtureOfExperts])
def test_experts(learner):
    model = learner(LogisticRegression(), gate_alpha=1e-9, max_iter=5, **KWARGS)
    model.fit(X, CODES)
    p = model.predict_proba(X)[np.arange(40), CODES]
    assert model.record_[-1]["objective"] == pytest.approx(np.log(p).sum(), rel=1e-6)
    for step, after in pairs(model):
        gain = after["objective"] - step["objective"]
        assert after["gain"] == pytest.approx(gain)
        assert after["shares"].sum() == pytest.approx(1.0)

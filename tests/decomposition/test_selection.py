"""Ranking of columns and selection of subsets, against definitions, scikit-learn and exhaustive
search."""

import itertools
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy import sparse, stats
from sklearn import config_context, feature_selection
from sklearn.cluster import KMeans
from sklearn.feature_selection import chi2, mutual_info_classif
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsClassifier

from lyceum.data import scan
from lyceum.decomposition import SelectKBest, SequentialFeatureSelector
from lyceum.errors import DataError, SettingError
from lyceum.prepare import KBinsDiscretizer

pytestmark = pytest.mark.syllabus("13.3")
WEATHER = pd.DataFrame(
    {
        "outlook": [
            "s",
            "s",
            "o",
            "r",
            "r",
            "r",
            "o",
            "s",
            "s",
            "r",
            "s",
            "o",
            "o",
            "r",
        ],
        "windy": [0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 1, 0, 1],
    }
).assign(windy=lambda t: t["windy"].astype(bool))
PLAY = np.array(["n", "n", "y", "y", "y", "n", "y", "n", "y", "y", "y", "y", "y", "n"])


@pytest.mark.syllabus("13.3.2")
def test_the_gains_of_the_weather_are_quinlans():
    gain = SelectKBest("information_gain").fit(WEATHER, PLAY).scores_
    np.testing.assert_allclose(gain, [0.2467, 0.0481], atol=1e-4)
    ratio = SelectKBest("gain_ratio").fit(WEATHER, PLAY).scores_
    np.testing.assert_allclose(ratio, [0.1564, 0.0488], atol=1e-4)
    H_y, H_outlook = 0.9403, 1.5774
    both = SelectKBest().fit(WEATHER, PLAY).scores_
    assert both[0] == pytest.approx(2 * 0.2467 / (H_y + H_outlook), abs=1e-4)


def test_chi_square_is_scipys():
    ranking = SelectKBest("chi2").fit(WEATHER, PLAY)
    table = pd.crosstab(WEATHER["outlook"], PLAY).to_numpy()
    expected = stats.chi2_contingency(table, correction=False)
    assert ranking.scores_[0] == pytest.approx(expected.statistic)
    assert ranking.pvalues_[0] == pytest.approx(expected.pvalue)


def test_correlations_by_kind():
    rng = np.random.default_rng(0)
    x, group = rng.normal(size=200), rng.integers(0, 3, 200)
    y = x + group + rng.normal(size=200)
    frame = pd.DataFrame({"x": x, "group": np.array(list("abc"))[group]})
    numbers = SelectKBest("correlation").fit(frame, y).scores_
    assert numbers[0] == pytest.approx(abs(np.corrcoef(x, y)[0, 1]))
    means = [y[group == k].mean() for k in range(3)]
    between = sum((group == k).sum() * (means[k] - y.mean()) ** 2 for k in range(3))
    assert numbers[1] == pytest.approx(np.sqrt(between / ((y - y.mean()) ** 2).sum()))
    classes = SelectKBest("correlation").fit(frame, group).scores_
    assert classes[1] == pytest.approx(1.0)


@pytest.mark.parametrize(
    "measure",
    [
        "information_gain",
        "gain_ratio",
        "symmetrical_uncertainty",
        "chi2",
        "correlation",
        "relief",
    ],
)
@pytest.mark.parametrize("numbers", [False, True])
def test_columns_that_tell_come_before_noise_on_mixed_tables_with_missing_cells(
    measure, numbers
):
    rng = np.random.default_rng(1)
    n = 400
    y = rng.integers(0, 2, n)
    frame = pd.DataFrame(
        {
            "noise": rng.normal(size=n),
            "tells": y + 0.4 * rng.normal(size=n),
            "word": np.where(rng.random(n) < 0.85, np.array(["a", "b"])[y], "c"),
            "other": rng.choice(["u", "v", "w"], n),
        }
    )
    frame.loc[rng.random(n) < 0.1, "tells"] = np.nan
    frame.loc[rng.random(n) < 0.1, "word"] = None
    target = y + 0.1 * rng.normal(size=n) if numbers else y
    ranking = SelectKBest(measure, k=2, max_samples=100, random_state=0).fit(
        frame, target
    )
    assert set(ranking.ranking_[:2].tolist()) == {1, 2}
    assert list(ranking.transform(frame).columns) == ["tells", "word"]
    assert list(ranking.get_feature_names_out()) == ["tells", "word"]


def test_relief_sees_columns_that_only_tell_together():
    rng = np.random.default_rng(2)
    X = rng.integers(0, 2, (300, 6)).astype(float)
    y = X[:, 1].astype(int) ^ X[:, 4].astype(int)
    assert set(
        SelectKBest("relief", max_samples=300).fit(X, y).ranking_[:2].tolist()
    ) == {1, 4}
    assert SelectKBest("information_gain").fit(X, y).scores_[[1, 4]].max() < 0.05


@pytest.mark.parametrize("numbers", [False, True])
def test_relief_is_what_its_definition_gives_row_by_row(numbers):
    rng = np.random.default_rng(4)
    n, k = 40, 3
    group = rng.integers(0, 3, n)
    frame = pd.DataFrame(
        {"x": rng.normal(size=n).round(1), "g": np.array(list("abc"))[group]}
    )
    frame.loc[::7, "x"] = np.nan
    y = rng.normal(size=n) if numbers else np.array(list("uvw"))[rng.integers(0, 3, n)]
    x, span = frame["x"].to_numpy(), frame["x"].max() - frame["x"].min()
    apart = np.dstack([np.abs(x[:, None] - x) / span, group[:, None] != group])
    apart[np.isnan(apart)] = 0.5
    near = apart.sum(axis=2).round(12)
    pairs, expected = [], np.zeros(2)
    for i in range(n):
        order = [j for j in np.argsort(near[i], kind="stable") if j != i]
        pairs += [(i, j) for j in order[:k]]
        for label in () if numbers else "uvw":
            mean = apart[i, [j for j in order if y[j] == label][:k]].mean(axis=0)
            share = (y == label).mean() / (1 - (y == y[i]).mean())
            expected += (-mean if label == y[i] else share * mean) / n
    if numbers:
        unlike = np.array([abs(y[i] - y[j]) / np.ptp(y) for i, j in pairs])
        by = np.array([apart[i, j] for i, j in pairs])
        expected = unlike @ by / unlike.sum() - (1 - unlike) @ by / (1 - unlike).sum()
    found = SelectKBest("relief", n_neighbors=k, max_samples=n).fit(frame, y).scores_
    np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_numbers_are_cut_as_discretize_cuts_them():
    rng = np.random.default_rng(5)
    X, w = rng.normal(size=(300, 2)), rng.integers(1, 4, 300).astype(float)
    y = (X[:, 0] > 0).astype(int)
    coded = (
        KBinsDiscretizer(6, encode="categories")
        .fit(X, sample_weight=w)
        .transform(pd.DataFrame(X))
    )
    ours = SelectKBest("information_gain", n_bins=6).fit(X, y, w).scores_
    coded = pd.DataFrame(coded).astype(str)
    np.testing.assert_allclose(
        ours, SelectKBest("information_gain").fit(coded, y, w).scores_
    )


@pytest.mark.parametrize("measure", ["symmetrical_uncertainty", "chi2", "correlation"])
@pytest.mark.parametrize("target", ["kind", "size"])
def test_files_larger_than_memory_are_ranked_as_the_frame_is(measure, target, tmp_path):
    rng = np.random.default_rng(6)
    kind = rng.integers(0, 3, 900)
    frame = pd.DataFrame(
        {
            "x": (rng.normal(size=900) + kind).round(1),
            "word": np.array(list("abc"))[kind],
        }
    )
    frame["kind"], frame["size"] = (
        np.array(list("uvw"))[kind * (rng.random(900) < 0.7)],
        kind + frame["x"],
    )
    frame.loc[::9, "x"] = np.nan
    frame.to_csv(tmp_path / "table.csv", index=False)
    streamed = scan(tmp_path / "table.csv", target=target, memory=0)
    held = SelectKBest(measure).fit(frame.drop(columns=target), frame[target])
    found = SelectKBest(measure).fit(streamed)
    np.testing.assert_allclose(found.scores_, held.scores_, rtol=1e-9)
    if measure == "correlation" and target == "size":
        known = frame["x"].notna()
        r = np.corrcoef(frame["x"][known], frame["size"][known])[0, 1]
        assert found.scores_[0] == pytest.approx(abs(r))


def test_information_gain_orders_as_mutual_information():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(2000, 3)) * 1.0
    y = (X[:, 0] + 0.5 * X[:, 1] > 0).astype(int)
    ours = SelectKBest("information_gain").fit(X, y)
    peer = mutual_info_classif(X, y, random_state=0)
    assert ours.ranking_.tolist() == np.argsort(-peer).tolist()


# -- subsets ---------------------------------------------------------------------------


def table(n=300, d=8, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) @ (np.eye(d) + 0.3 * rng.normal(size=(d, d)))
    return X, X[:, 2] - 2 * X[:, 5] + 0.5 * X[:, 6] + 0.5 * rng.normal(size=n)


def brute_bic(X, y, columns):
    A = np.column_stack([np.ones(len(X)), X[:, columns]])
    residual = y - A @ np.linalg.lstsq(A, y, rcond=None)[0]
    return len(y) * np.log((residual**2).mean()) + np.log(len(y)) * len(columns)


@pytest.mark.syllabus("13.3.1")
@pytest.mark.parametrize("method", ["forward", "backward", "plus_minus", "floating"])
def test_every_search_finds_the_best_set_by_bic(method):
    X, y = table()
    sets = [list(c) for r in range(1, 9) for c in itertools.combinations(range(8), r)]
    best = min(sets, key=lambda columns: brute_bic(X, y, columns))
    found = SequentialFeatureSelector(
        n_features_to_select=None, direction=method, criterion="bic"
    ).fit(X, y)
    assert found.get_support(indices=True).tolist() == best
    assert found.loss_ == pytest.approx(brute_bic(X, y, best))
    for step in found.record_:
        if step["columns"]:
            assert step["objective"] == pytest.approx(
                brute_bic(X, y, step["columns"]), rel=1e-8
            )


@pytest.mark.parametrize("method", ["forward", "backward", "floating"])
def test_gram_losses_are_those_of_least_squares_refitted_in_every_fold(method):
    from lyceum._core.statistics import row_uniforms

    X, y = table(seed=4)
    found = SequentialFeatureSelector(
        n_features_to_select=3, direction=method, cv=4, random_state=3
    ).fit(X, y)
    fold = np.minimum((row_uniforms(0, len(X), 3) * 4).astype(int), 3)
    for step in found.record_:
        if not step["columns"]:
            continue
        errors = 0.0
        for f in range(4):
            A, b = X[fold != f][:, step["columns"]], y[fold != f]
            model = LinearRegression().fit(A, b)
            errors += (
                (y[fold == f] - model.predict(X[fold == f][:, step["columns"]])) ** 2
            ).sum()
        assert step["objective"] == pytest.approx(errors / len(X), rel=1e-6)


@pytest.mark.syllabus("13.3.1")
def test_any_learner_is_cross_validated_and_results_are_kept_in_a_file(tmp_path):
    rng = np.random.default_rng(5)
    y = rng.integers(0, 3, 150)
    X = rng.normal(size=(150, 5))
    X[:, 3] += 3.0 * y
    cache = tmp_path / "results.jsonl"
    settings = {"n_features_to_select": None, "direction": "floating"}
    settings |= {"cv": 3, "cache": cache, "random_state": 0}
    first = SequentialFeatureSelector(KNeighborsClassifier(), **settings).fit(X, y)
    assert first.support_[3]
    assert first.n_evaluated_ == len(cache.read_text().splitlines())
    again = SequentialFeatureSelector(KNeighborsClassifier(), **settings).fit(X, y)
    assert again.n_evaluated_ == 0
    assert again.record_ == first.record_


def test_a_cache_of_other_rows_is_not_used_and_a_line_cut_off_is_measured_again(
    tmp_path,
):
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 60)
    X = rng.normal(size=(60, 3))
    X[:, 1] += 2.0 * y
    cache = tmp_path / "results.jsonl"
    search = SequentialFeatureSelector(
        KNeighborsClassifier(), n_features_to_select=None, cv=3, cache=cache
    )
    first = search.fit(X, y).record_
    for rows, target, weights in (
        (X[::2], y[::2], None),
        (X, 1 - y, None),
        (X + 1e-9, y, None),
    ):
        alone = SequentialFeatureSelector(
            KNeighborsClassifier(), n_features_to_select=None, cv=3, random_state=0
        ).fit(rows, target, weights)
        found = search.fit(rows, target, weights)
        assert found.n_evaluated_ == alone.n_evaluated_
        assert found.loss_ == alone.loss_
    lines = cache.read_text().splitlines(keepends=True)
    # as if the process had been stopped
    cache.write_text("".join(lines[:2]) + lines[2][:-9])
    assert search.fit(X, y).record_ == first
    assert cache.read_text().splitlines(keepends=True)[:3] == lines[:3]
    cache.write_text("something else\n")
    with pytest.raises(DataError, match="line 1 of cache"):
        search.fit(X, y)


def test_classes_without_a_learner_and_streams(tmp_path):
    rng = np.random.default_rng(6)
    y = rng.integers(0, 3, 300)
    frame = pd.DataFrame(rng.normal(size=(300, 4)), columns=list("abcd"))
    frame["c"] += y
    frame["town"] = np.array(["Ulm", "Bonn", "Köln"])[(y + (rng.random(300) < 0.2)) % 3]
    memory = SequentialFeatureSelector(n_features_to_select=2, random_state=0).fit(
        frame, y
    )
    assert frame.columns[memory.support_].tolist() == ["c", "town"]
    frame.assign(y=y).to_csv(tmp_path / "t.csv", index=False)
    stream = SequentialFeatureSelector(n_features_to_select=2, random_state=0).fit(
        scan(tmp_path / "t.csv", target="y", memory=0)
    )
    np.testing.assert_array_equal(stream.support_, memory.support_)
    assert stream.loss_ == pytest.approx(memory.loss_)


def test_constant_and_repeated_columns_are_no_error():
    X, y = table()
    X = np.column_stack([X, np.ones(300), X[:, 5]])
    for method in ("forward", "backward", "floating"):
        found = SequentialFeatureSelector(
            n_features_to_select=None, direction=method, random_state=0
        ).fit(X, y)
        assert found.support_[[2, 6]].all()
        assert found.support_[[5, 9]].any()
        assert np.isfinite(found.loss_)


def test_bad_requests_are_refused():
    X, y = table(50)
    with pytest.raises(
        SettingError, match="n_features_to_select=9, but the table has 8 columns"
    ):
        SequentialFeatureSelector(n_features_to_select=9).fit(X, y)
    with pytest.raises(SettingError, match="come back to where they were"):
        SequentialFeatureSelector(direction="plus_minus", plus=1, minus=1).fit(X, y)
    with pytest.raises(DataError, match="requires y"):
        SequentialFeatureSelector().fit(X)


@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize("wanted", ["auto", 3, 0.4])
def test_the_columns_are_those_of_scikit_learn(direction, wanted):
    X, y = table()
    folds = list(KFold(4, shuffle=True, random_state=1).split(X))
    settings = {"n_features_to_select": wanted, "direction": direction, "cv": folds}
    ours = SequentialFeatureSelector(
        LinearRegression(), scoring="squared", **settings
    ).fit(X, y)
    theirs = feature_selection.SequentialFeatureSelector(
        LinearRegression(), scoring="neg_mean_squared_error", **settings
    ).fit(X, y)
    assert ours.n_features_to_select_ == theirs.n_features_to_select_
    assert ours.get_support().tolist() == theirs.get_support().tolist()
    assert ours.support_.tolist() == theirs.support_.tolist()


def test_the_search_stops_at_tol_as_that_of_scikit_learn():
    X, y = table()
    folds = list(KFold(4, shuffle=True, random_state=1).split(X))
    for tol in (0.5, 0.05, 0.002):
        ours = SequentialFeatureSelector(
            LinearRegression(), tol=tol, scoring="squared", cv=folds
        ).fit(X, y)
        theirs = feature_selection.SequentialFeatureSelector(
            LinearRegression(), tol=tol, scoring="neg_mean_squared_error", cv=folds
        ).fit(X, y)
        assert ours.support_.tolist() == theirs.support_.tolist()


def test_functions_of_scikit_learn_score_columns():
    rng = np.random.default_rng(8)
    y = rng.integers(0, 3, 120)
    X = rng.normal(size=(120, 12)) + np.outer(y, rng.normal(size=12))
    for function in (
        feature_selection.f_classif,
        feature_selection.mutual_info_classif,
    ):
        score = (
            partial(function, random_state=0)
            if "mutual" in function.__name__
            else function
        )
        for k in (10, 3, "all"):
            ours = SelectKBest(score, k=k).fit(X, y)
            theirs = feature_selection.SelectKBest(score, k=k).fit(X, y)
            np.testing.assert_allclose(ours.scores_, theirs.scores_)
            assert ours.get_support().tolist() == theirs.get_support().tolist()
    ours = SelectKBest(feature_selection.f_classif).fit(X, y)
    theirs = feature_selection.SelectKBest().fit(X, y)
    np.testing.assert_allclose(ours.pvalues_, theirs.pvalues_)
    np.testing.assert_array_equal(ours.transform(X), theirs.transform(X))


@pytest.mark.parametrize("scoring", [None, "neg_mean_absolute_error"])
@pytest.mark.parametrize("tol", [None, 1e-3])
@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_scores_and_folds_are_those_of_scikit_learn(direction, tol, scoring):
    X, y = table()
    settings = {"direction": direction, "tol": tol, "scoring": scoring, "cv": 3}
    ours = SequentialFeatureSelector(LinearRegression(), **settings)
    theirs = feature_selection.SequentialFeatureSelector(LinearRegression(), **settings)
    assert ours.fit(X, y).support_.tolist() == theirs.fit(X, y).support_.tolist()


def test_sparse_rows_and_clusters_are_searched():
    X, y = table()
    dense = SequentialFeatureSelector(LinearRegression()).fit(X, y)
    rows = SequentialFeatureSelector(LinearRegression()).fit(sparse.csr_array(X), y)
    assert rows.support_.tolist() == dense.support_.tolist()
    clusters = SequentialFeatureSelector(KMeans(2, n_init=1, random_state=0)).fit(X)
    assert clusters.transform(X).shape == (len(X), X.shape[1] // 2)


def test_a_loss_gets_no_metadata_and_a_forward_search_no_negative_tol():
    X, y = table()
    with pytest.raises(SettingError, match="tol must be strictly positive"):
        SequentialFeatureSelector(n_features_to_select=None, tol=-1.0).fit(X, y)
    with pytest.raises(SettingError, match="only supported if"):
        SequentialFeatureSelector(LinearRegression()).fit(X, y, groups=y)
    with config_context(enable_metadata_routing=True):
        learner = LinearRegression().set_fit_request(sample_weight=True)
        learner.set_score_request(sample_weight=False)
        selector = SequentialFeatureSelector(learner, scoring="squared")
        with pytest.raises(SettingError, match="give a scorer"):
            selector.fit(X, y, sample_weight=np.ones(len(X)))


def test_a_generator_of_splits_is_not_used_up_by_routing():
    X, y = table()
    w = np.ones(len(X))
    folds = KFold(3)
    with config_context(enable_metadata_routing=True):
        learner = LinearRegression().set_fit_request(sample_weight=True)
        learner.set_score_request(sample_weight=True)
        search = SequentialFeatureSelector(learner, cv=folds).fit(X, y, w)
        generator = SequentialFeatureSelector(learner, cv=folds.split(X)).fit(X, y, w)
    assert generator.get_support().tolist() == search.get_support().tolist()


@pytest.mark.parametrize("learner", [None, LinearRegression()])
def test_an_unknown_score_is_refused_with_a_learner_and_without(learner):
    X, y = table()
    with pytest.raises(SettingError, match="scoring='r3' is no loss and no score"):
        SequentialFeatureSelector(learner, scoring="r3").fit(X, y)


def test_functions_see_sparse_rows_labels_and_no_target():
    X = np.array([[9, 9, 0], [1, 9, 0], [4, 1, 0]])
    y = np.array([0, 1, 1])
    labels = np.array([[1, 1], [0, 1], [1, 0]])
    for target in (y, labels):
        theirs = feature_selection.SelectKBest(chi2, k=2).fit(X, target)
        for rows in (X, sparse.csr_array(X.astype(float))):
            ours = SelectKBest(chi2, k=2).fit(rows, target)
            np.testing.assert_allclose(ours.scores_, theirs.scores_)
            kept = ours.transform(rows)
            assert sparse.issparse(kept) == sparse.issparse(rows)
            kept = kept.toarray() if sparse.issparse(kept) else kept
            np.testing.assert_array_equal(kept, theirs.transform(X))
    alone = SelectKBest(lambda X: X.sum(axis=0), k=1).fit(X)
    assert alone.get_support(indices=True).tolist() == [1]
    tied = SelectKBest(lambda X: np.ones(3), k=1).fit(X)
    assert tied.get_support(indices=True).tolist() == [2]  # the last, as there


def test_no_column_is_kept_with_a_warning():
    X, y = table()
    none = SelectKBest(k=0).fit(X, y)
    with pytest.warns(UserWarning, match="No features were selected"):
        assert none.transform(X).shape == (len(X), 0)


def test_a_score_with_weights_is_refused_with_what_to_do():
    X = np.random.default_rng(0).normal(size=(30, 3))
    model = SequentialFeatureSelector(KNeighborsClassifier(3), scoring="accuracy")
    with pytest.raises(SettingError, match="enable_metadata_routing=True"):
        model.fit(X, np.arange(30) % 2, sample_weight=np.ones(30))

"""Scanned rows give what frames and arrays give: from memory, from files read in passes, and on
Dask."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneOut,
    RepeatedKFold,
    StratifiedKFold,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

from lyceum import scan
from lyceum.bayes import NaiveBayes
from lyceum.decision import MinimumRiskClassifier
from lyceum.errors import Cancelled, DataError, SettingError, SourceError
from lyceum.evaluate import (
    Bootstrap,
    FiveByTwo,
    Holdout,
    RandomSubsampling,
    StratifiedFolds,
    bias_variance,
    bootstrap_632,
    cross_validate,
    five_by_two,
    learning_curve,
    splitter,
    train_validation_test,
    validation_curve,
)
from lyceum.linear import LinearRegression, LogisticRegression
from lyceum.prepare import SimpleImputer
from lyceum.progress import watch
from lyceum.trees import DecisionTreeClassifier, DecisionTreeRegressor

N = 240


def table(seed=0, n=N):
    rng = np.random.default_rng(seed)
    size, color = rng.normal(size=n), rng.choice(["red", "green", "blue"], n)
    y = np.where(size + (color == "red") + rng.normal(size=n) > 0.5, "yes", "no")
    size[rng.random(n) < 0.1] = np.nan
    number = np.nan_to_num(size) * 2.0 + (color == "blue") + rng.normal(size=n)
    return pd.DataFrame(
        {
            "size": size,
            "color": color,
            "class": y,
            "number": number,
            "w": rng.random(n) + 0.5,
        }
    )


TABLE = table()
X, Y, NUMBER, W = (
    TABLE[["size", "color"]],
    TABLE["class"],
    TABLE["number"],
    TABLE["w"].to_numpy(),
)
SOURCES = ["frame", "parquet", "streamed parquet", "streamed csv", "dask"]


def rows_of(source, folder, target="class", frame=TABLE, weight=None):
    others = {"class", "number", "w"} - {target, weight}
    options = {"target": target, "weight": weight, "ignore": sorted(others)}
    if source == "frame":
        return scan(frame, **options)
    if source == "dask":
        dask = pytest.importorskip("dask.dataframe")
        return scan(dask.from_pandas(frame, npartitions=3), **options)
    if source == "streamed csv":
        frame.to_csv(folder / "table.csv", index=False)
        return scan(folder / "table.csv", memory=0, **options)
    frame.to_parquet(folder / "table.parquet", row_group_size=70, index=False)
    return scan(
        folder / "table.parquet",
        memory=0 if "streamed" in source else 512 << 20,
        **options,
    )


def same(one, two):
    """Equal results: numbers to rounding, row numbers and labels exactly; times are not
    compared."""
    _same(one.as_dict(), two.as_dict(), "")


def _same(one, two, name):
    assert type(one) is type(two), name
    if isinstance(one, dict):
        assert one.keys() == two.keys()
        for key in one:
            if not key.endswith("seconds"):
                _same(one[key], two[key], f"{name}.{key}")
    elif isinstance(one, list):
        assert len(one) == len(two), name
        for i, (left, right) in enumerate(zip(one, two)):
            _same(left, right, f"{name}[{i}]")
    elif isinstance(one, float):
        assert two == pytest.approx(one, rel=1e-9, abs=1e-12), name
    else:
        assert one == two, name


# -- cross-validation ------------------------------------------------------------------


MODELS = {
    "NaiveBayes": NaiveBayes(),
    "pipeline": make_pipeline(SimpleImputer(), LogisticRegression()),
    "tree": DecisionTreeClassifier(max_depth=3),
}
CASES = [
    *(("NaiveBayes", source) for source in SOURCES),
    *(("pipeline", source) for source in ("streamed parquet", "dask")),
    *(
        ("tree", source) for source in ("frame", "streamed csv")
    ),  # it holds all rows, which Dask is not asked for
]


@cache
def cross_validated_frame(name):
    return cross_validate(MODELS[name], X, Y, cv=3)


@pytest.mark.parametrize(("name", "source"), CASES)
def test_rows_of_any_source_give_what_the_frame_gives(name, source, tmp_path):
    expected = cross_validated_frame(name)
    found = cross_validate(MODELS[name], rows_of(source, tmp_path), cv=3)
    assert found.losses.tolist() == expected.losses.tolist()
    assert found.train_losses.tolist() == expected.train_losses.tolist()
    assert found.classes.tolist() == ["no", "yes"]
    same(expected, found)
    assert found.pooled_predictions().tolist() == expected.pooled_predictions().tolist()


@pytest.mark.parametrize("source", ["frame", "streamed csv"])
@pytest.mark.parametrize(
    "model",
    [LinearRegression(), DecisionTreeRegressor(max_depth=3)],
    ids=lambda m: type(m).__name__,
)
def test_regressors_too(model, source, tmp_path):
    filled = TABLE.assign(size=TABLE["size"].fillna(0.0))
    expected = cross_validate(
        model, filled[["size", "color"]], NUMBER, cv=3, loss="absolute"
    )
    rows = rows_of(source, tmp_path, "number", filled)
    same(expected, cross_validate(model, rows, cv=3, loss="absolute"))


@pytest.mark.parametrize("source", ["frame", "streamed parquet"])
def test_the_weights_of_rows_are_used_to_fit_and_in_the_means(source, tmp_path):
    expected = cross_validate(NaiveBayes(), X, Y, cv=3, sample_weight=W)
    found = cross_validate(NaiveBayes(), rows_of(source, tmp_path, weight="w"), cv=3)
    same(expected, found)
    assert found.mean != cross_validated_frame("NaiveBayes").mean


@pytest.mark.parametrize("source", ["frame", "streamed parquet"])
def test_test_rows_keep_the_order_given(source, tmp_path):
    rng = np.random.default_rng(3)
    order = rng.permutation(N)
    splits = [(order[60:], order[:60]), (order[:180], order[180:])]
    expected = cross_validate(NaiveBayes(), X, Y, cv=splits)
    found = cross_validate(NaiveBayes(), rows_of(source, tmp_path), cv=splits)
    assert found.test_rows[0].tolist() == order[:60].tolist()
    assert found.predicted[0].tolist() == expected.predicted[0].tolist()
    assert found.proba[0] == pytest.approx(expected.proba[0])


def test_rows_after_a_step_are_evaluated_too(tmp_path):
    rows = SimpleImputer().fit_transform(rows_of("streamed parquet", tmp_path))
    filled = SimpleImputer().fit_transform(rows_of("frame", tmp_path))
    found, expected = (
        cross_validate(LogisticRegression(), one, cv=3) for one in (rows, filled)
    )
    same(expected, found)


# -- splitters -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "scheme",
    [
        StratifiedFolds(3, random_state=0),
        StratifiedFolds(3, n_repeats=2, random_state=0),
        Holdout(random_state=0),
        RandomSubsampling(3, random_state=0),
        FiveByTwo(random_state=0),
        Bootstrap(3, random_state=0),
        splitter("k_fold", n_splits=3, random_state=0),
        splitter("leave_one_out"),
    ],
    ids=repr,
)
def test_every_splitter_divides_rows_as_it_divides_the_frame(scheme, tmp_path):
    expected = list(scheme.split(X, Y))
    found = list(scheme.split(rows_of("streamed csv", tmp_path)))
    assert len(found) == scheme.get_n_splits(X)
    for one, two in zip(expected, found):
        assert all(np.array_equal(a, b) for a, b in zip(one, two))
        assert all((np.diff(part) >= 0).all() for part in two)


@pytest.mark.syllabus("14.5.1")
@pytest.mark.parametrize(
    "scheme",
    [
        KFold(3),
        StratifiedKFold(3),
        RepeatedKFold(n_splits=2, n_repeats=2, random_state=0),
        Bootstrap(3, random_state=0),
        Holdout(random_state=1),
        splitter("k_fold", n_splits=3, random_state=0),
    ],
    ids=lambda scheme: type(scheme).__name__,
)
def test_cross_validation_takes_every_splitter(scheme, tmp_path):
    expected = cross_validate(NaiveBayes(), X, Y, cv=scheme)
    same(
        expected,
        cross_validate(NaiveBayes(), rows_of("streamed parquet", tmp_path), cv=scheme),
    )


def test_leave_one_out_of_rows(tmp_path):
    few = table(n=12)
    rows = rows_of("streamed parquet", tmp_path, frame=few)
    assert len(cross_validate(NaiveBayes(), rows, cv=LeaveOneOut()).losses) == 12


@pytest.mark.parametrize(
    "scheme",
    [GroupKFold(3), splitter("grouped", n_splits=3)],
    ids=["scikit-learn", "lyceum"],
)
def test_groups_stay_together(scheme, tmp_path):
    groups = np.arange(N) // 20
    rows = rows_of("streamed parquet", tmp_path)
    found = cross_validate(NaiveBayes(), rows, cv=scheme, groups=groups)
    same(cross_validate(NaiveBayes(), X, Y, cv=scheme, groups=groups), found)
    tested = [set(groups[test]) for test in found.test_rows]
    assert not tested[0] & tested[1]


def test_three_parts_of_rows(tmp_path):
    expected = train_validation_test(Y, random_state=0)
    found = train_validation_test(rows_of("streamed csv", tmp_path), random_state=0)
    assert all(np.array_equal(a, b) for a, b in zip(expected, found))


# -- everything else that resamples ----------------------------------------------------


RESAMPLED = {
    "bootstrap_632": lambda *data: bootstrap_632(NaiveBayes(), *data, n_rounds=4),
    "learning_curve": lambda *data: learning_curve(
        NaiveBayes(), *data, cv=3, train_sizes=(0.3, 1.0)
    ),
    "validation_curve": lambda *data: validation_curve(
        DecisionTreeClassifier(),
        *data,
        cv=3,
        param_name="max_depth",
        param_range=[1, 3],
    ),
    "five_by_two": lambda *data: five_by_two(
        NaiveBayes(), DecisionTreeClassifier(max_depth=2), *data
    ),
}


@cache
def resampled_frame(name):
    return RESAMPLED[name](X, Y)


@pytest.mark.parametrize("source", ["frame", "streamed parquet"])
@pytest.mark.parametrize("name", RESAMPLED)
def test_resampling_of_rows_gives_what_the_frame_gives(name, source, tmp_path):
    same(resampled_frame(name), RESAMPLED[name](rows_of(source, tmp_path)))


@pytest.mark.parametrize("source", ["frame", "streamed parquet"])
def test_bias_and_variance_of_rows(source, tmp_path):
    rows = rows_of(source, tmp_path)
    train, test = np.arange(N // 2), np.arange(N // 2, N)
    found = bias_variance(
        NaiveBayes(), rows.take(train), X_test=rows.take(test), n_rounds=5
    )
    expected = bias_variance(
        NaiveBayes(), X[: N // 2], Y[: N // 2], X[N // 2 :], Y[N // 2 :], n_rounds=5
    )
    same(expected, found)


def log_loss_of_codes(codes, proba):
    return -np.log(proba[np.arange(len(codes)), codes])


MEASURE = {
    "predict": lambda model, X: model.predict_proba(X),
    "loss": log_loss_of_codes,
    "coded_y": True,
}


@pytest.mark.parametrize("source", ["frame", "streamed parquet"])
def test_a_loss_may_measure_posteriors_by_class_codes(source, tmp_path):
    rows = rows_of(source, tmp_path)
    found = cross_validate(NaiveBayes(), rows, cv=3, **MEASURE)
    same(cross_validate(NaiveBayes(), X, Y, cv=3, **MEASURE), found)
    proba, codes = np.concatenate(found.proba), (Y == "yes").to_numpy().astype(int)
    losses = log_loss_of_codes(codes[np.concatenate(found.test_rows)], proba)
    assert np.average(found.losses, weights=found.n_test) == pytest.approx(
        losses.mean()
    )


def test_posteriors_are_measured_by_the_bootstrap_and_curves_too():
    def bounded(codes, proba):
        return 1.0 - proba[np.arange(len(codes)), codes]

    measure = MEASURE | {"loss": bounded}
    rows = rows_of("frame", None)
    drawn = bootstrap_632(NaiveBayes(), rows, n_rounds=3, **measure)
    assert 0.0 < drawn.error < drawn.no_information < 1.0
    curve = learning_curve(NaiveBayes(), rows, cv=3, **measure)
    assert curve.baseline == pytest.approx((Y == "yes").mean(), abs=0.02)
    assert curve.test_mean[-1] < curve.baseline
    with pytest.raises(SettingError, match="coded_y"):
        cross_validate(NaiveBayes(), rows, coded_y=True)


def test_progress_is_reported_and_the_work_can_be_stopped():
    seen = []
    with watch(
        lambda update: (
            seen.append((update.done, update.total))
            if update.stage == "folds"
            else None
        )
    ):
        cross_validate(NaiveBayes(), scan(TABLE, target="class"), cv=3)
    assert seen == [(1, 3), (2, 3), (3, 3)]
    with watch() as watched:
        watched.cancel()
        with pytest.raises(Cancelled):
            cross_validate(NaiveBayes(), scan(TABLE, target="class"), cv=3)


# -- what is refused -------------------------------------------------------------------


def test_rows_carry_their_own_target_and_weights():
    rows = scan(TABLE, target="class")
    alone = cross_validate(NaiveBayes(), rows, cv=3)
    assert (
        cross_validate(NaiveBayes(), rows, rows.y, cv=3).losses.tolist()
        == alone.losses.tolist()
    )
    with pytest.raises(DataError, match="carry their target"):
        cross_validate(NaiveBayes(), rows, Y[::-1])
    with pytest.raises(DataError, match="carry their target"):
        bias_variance(NaiveBayes(), rows, X_test=rows, y_test=Y[::-1])
    with pytest.raises(SettingError, match="give X_test"):
        bias_variance(NaiveBayes(), rows)
    with pytest.raises(DataError, match="no target"):
        cross_validate(NaiveBayes(), scan(TABLE))
    with pytest.raises(DataError, match="give y"):
        cross_validate(NaiveBayes(), X)


def test_rows_with_a_missing_target_are_named():
    holes = TABLE.assign(**{"class": TABLE["class"].where(np.arange(N) > 2)})
    with pytest.raises(DataError, match="target 'class' is missing in 3 rows"):
        cross_validate(NaiveBayes(), scan(holes, target="class"))


def test_estimators_that_take_no_rows_are_named():
    with pytest.raises(
        SourceError, match="GaussianNB of scikit-learn takes no scanned rows"
    ):
        cross_validate(GaussianNB(), scan(TABLE, target="class"))


# -- scores ----------------------------------------------------------------------------


@pytest.mark.parametrize("source", SOURCES)
def test_the_score_of_rows_is_that_of_the_frame(source, tmp_path):
    rows = rows_of(source, tmp_path, weight="w")
    for name in ("NaiveBayes", "pipeline"):
        model = clone(MODELS[name]).fit(X, Y)
        weights = {"sample_weight": W}
        assert model.score(rows) == pytest.approx(
            model.score(X, Y, **weights), rel=1e-12
        )
    regression = LinearRegression().fit(X.fillna(0.0), NUMBER)
    filled = rows_of(
        source, tmp_path, "number", TABLE.assign(size=TABLE["size"].fillna(0.0))
    )
    assert regression.score(filled) == pytest.approx(
        regression.score(X.fillna(0.0), NUMBER), rel=1e-12
    )


def test_decisions_under_a_loss_are_scored_on_rows():
    rows = scan(TABLE, target="class", ignore=("number", "w"))
    model = MinimumRiskClassifier(NaiveBayes(), [[0, 1], [5, 0]]).fit(rows)
    assert model.score(rows) == model.score(X, Y)
    assert model.mean_loss(rows) == model.mean_loss(X, Y)


def test_a_score_needs_a_target_and_only_one():
    model = NaiveBayes().fit(X, Y)
    with pytest.raises(DataError, match="requires y"):
        model.score(X)
    with pytest.raises(DataError, match="no target"):
        model.score(scan(X))
    with pytest.raises(DataError, match="carry their target"):
        model.score(scan(TABLE, target="class"), Y[::-1])

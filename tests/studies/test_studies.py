"""Studies of the bundled tables, from the file to the model, and every number against an
independent one."""

import json

import numpy as np
import pytest
from sklearn import metrics
from tests.studies.conftest import short_page, shorten_conclusions

import lyceum
from lyceum import datasets
from lyceum.decision import LossMatrix, minimum_risk
from lyceum.studies import LearnerChoice, Study
from lyceum.studies.report import page as _report
from lyceum.studies.run import conclusions as _conclusions

COSTS = {("bad", "good"): 5, ("good", "bad"): 1}
QUICK = (
    LearnerChoice("NaiveBayes", {}, {}),
    LearnerChoice("LogisticRegression", {}, {"C": [0.1, 1.0]}),
)
pytestmark = pytest.mark.usefixtures("no_pictures")


@pytest.fixture(scope="module")
def credit(tmp_path_factory):
    out = tmp_path_factory.mktemp("credit") / "study"
    with pytest.MonkeyPatch.context() as patch:
        n_folds = _conclusions._CURVE_FOLDS
        shorten_conclusions(patch)
        patch.setattr(_conclusions, "_CURVE_FOLDS", n_folds)
        patch.setattr(_report, "render", short_page)
        return lyceum.study(
            datasets.path("german_credit"),
            "class",
            learners=QUICK,
            loss=COSTS,
            folds=4,
            holdout=0.2,
            out=out,
        )


@pytest.fixture(scope="module")
def computers(tmp_path_factory, no_pictures_in_module):
    out = tmp_path_factory.mktemp("cpu") / "study"
    return lyceum.study(
        datasets.path("cpu"),
        "class",
        learners=["LinearRegression", "Ridge"],
        folds=4,
        repeats=2,
        n_settings=2,
        out=out,
    )


def test_the_cheapest_constant_under_the_published_costs_is_to_call_everyone_bad(
    credit,
):
    baseline = credit.comparison.baseline
    assert baseline.loss == pytest.approx(0.7)
    assert baseline.confusion[0][1] == baseline.confusion[1][1] == 0
    assert credit.comparison.criterion == "mean cost"


def test_learners_beat_the_constant_and_the_choice_is_saved(credit):
    assert credit.best.loss < 0.62
    assert credit.choice.is_level
    assert not credit.choice.is_baseline
    assert {path.name for path in credit.folder.iterdir()} == {
        "recipe.toml", "study.sqlite", "predictions", "loss.csv", "model.lyceum", "report.html",
        "report.json", "results.json",
    }  # fmt: skip
    rows = datasets.load("german_credit")
    assert (np.asarray(credit.model.predict(rows)) == "bad").mean() > 0.4
    assert LossMatrix.read(credit.folder / "loss.csv")["bad", "good"] == 5


def test_costs_and_metrics_are_those_of_the_pooled_posteriors(credit):
    for learner in credit.comparison.learners:
        y, proba = credit.out_of_sample(learner.name)
        assert len(y) == credit.comparison.n_rows == 800
        decided = minimum_risk(proba, LossMatrix([[0, 5], [1, 0]])).index
        paid = np.array([[0, 5], [1, 0]])[y, decided]
        assert learner.cost == pytest.approx(paid.mean())
        assert learner.standard_error == pytest.approx(paid.std() / np.sqrt(len(y)))
        assert learner.error == pytest.approx((decided != y).mean())
        folds = credit.out_of_sample(learner.name).folds
        areas = [
            metrics.roc_auc_score(y[folds == f], proba[folds == f, 1]) for f in range(4)
        ]
        assert learner.auc == pytest.approx(np.mean(areas))
        assert learner.log_loss == pytest.approx(metrics.log_loss(y, proba))
        assert learner.brier == pytest.approx(metrics.brier_score_loss(y, proba[:, 1]))
        np.testing.assert_array_equal(
            learner.confusion, metrics.confusion_matrix(y, decided)
        )


def test_truth_and_rows_are_those_of_the_file(credit):
    sample = credit.out_of_sample(credit.best.name)
    truth = datasets.load("german_credit").source.y
    np.testing.assert_array_equal(sample.y, truth[sample.rows])
    assert len(set(sample.rows.tolist())) == len(sample.rows)


def test_fold_losses_are_means_over_their_folds(credit):
    sample, best = credit.out_of_sample(credit.best.name), credit.best
    paid = np.array([[0, 5], [1, 0]])[
        sample.y, minimum_risk(sample.predicted, [[0, 5], [1, 0]]).index
    ]
    by_fold = [paid[sample.folds == fold].mean() for fold in range(4)]
    assert best.fold_losses == pytest.approx(by_fold)


def test_the_holdout_is_judged_once_on_rows_that_no_fold_has(credit):
    held = credit.comparison.holdout
    assert held.n_rows == 200
    assert held.interval[0] <= held.loss <= held.interval[1]
    assert (
        "On 200 rows held out, which were not used for any choice, it has"
        in credit.answer
    )


def test_a_study_is_reopened_as_it_was(credit):
    again = Study.open(credit.folder)
    assert (
        again.as_dict()
        == credit.as_dict()
        == json.loads(credit.results_path.read_text(encoding="utf-8"))
    )
    assert again.recipe.loss == LossMatrix.from_costs(COSTS)
    assert str(again.schema) == str(credit.schema)
    assert again.answer == credit.answer
    assert again.schema["age"].kind == "continuous"


def test_the_summary_says_the_answer_and_ranks(credit):
    text = str(credit.summary())
    assert credit.answer in text
    assert text.index(credit.best.label) > 0
    assert "Hoeffding" in text
    assert "<table>" in credit._repr_html_()
    assert (
        "regression" in credit.model_summary().title.lower()
        or "Bayes" in credit.model_summary().title
    )


def test_examples_explain_the_final_model(credit):
    assert {example.picked for example in credit.examples} <= {
        "clearest right decision",
        "clearest mistake",
        "nearest to the decision border",
    }
    for example in credit.examples:
        posterior = credit.model.predict_proba(example.frame())
        np.testing.assert_allclose(posterior[0], example.posterior, rtol=1e-9)
        assert credit.model.predict(example.frame())[0] == example.decided
        odds = np.log(posterior[0, 1] / posterior[0, 0])
        told = float(example.explanation.scores[0])
        assert abs(told) == pytest.approx(abs(odds), rel=1e-6)


def test_the_learning_curve_ends_at_what_the_folds_measured(credit):
    curve = credit.comparison.learning_curve
    assert curve.train_sizes[-1] == 640
    assert curve.test_mean[-1] == pytest.approx(credit.choice.loss, abs=0.08)
    assert curve.baseline == pytest.approx(credit.comparison.baseline.loss)


def test_regression_is_ranked_by_the_root_of_the_mean_square(computers):
    assert computers.task == "regression"
    assert computers.comparison.criterion == "RMSE"
    for learner in computers.comparison.learners:
        sample = computers.out_of_sample(learner.name)
        assert len(sample.y) == 2 * 209
        assert learner.loss == pytest.approx(
            metrics.root_mean_squared_error(sample.y, sample.predicted)
        )
        assert learner.mae == pytest.approx(
            metrics.mean_absolute_error(sample.y, sample.predicted)
        )
        assert learner.r2 == pytest.approx(metrics.r2_score(sample.y, sample.predicted))
        assert learner.error is learner.auc is learner.p_mcnemar is None
    assert computers.comparison.hoeffding is None
    assert len(computers.best.fold_losses) == 8


def test_a_regression_example_is_what_the_model_says(computers):
    for example in computers.examples:
        assert computers.model.predict(example.frame())[0] == pytest.approx(
            example.decided
        )
        assert float(example.explanation.scores[0]) == pytest.approx(example.decided)


def test_penguins_with_missing_cells_are_told_apart(tmp_path):
    found = lyceum.study(
        datasets.path("penguins"),
        "species",
        learners=["LinearDiscriminantAnalysis", "NaiveBayes"],
        folds=3,
        n_settings=1,
        out=tmp_path / "study",
    )
    assert found.n_missing == 19
    assert found.best.error < 0.03
    assert found.best.auc > 0.99
    assert found.classes == ("Adelie", "Chinstrap", "Gentoo")
    assert found.comparison.criterion == "error rate"
    y, proba = found.out_of_sample("NaiveBayes")
    assert proba.shape == (344, 3)
    assert found.comparison["NaiveBayes"].log_loss == pytest.approx(
        metrics.log_loss(y, proba)
    )


def test_heart_disease_with_doubt_rejects_and_costs_what_it_says(tmp_path, monkeypatch):
    monkeypatch.setattr("lyceum.studies.run.conclusions._ROUNDS", 10)
    found = lyceum.study(
        datasets.path("heart_disease"), "diameter narrowing", learners=QUICK, doubt=0.2, folds=3,
        bootstrap_632=True, out=tmp_path / "study",
    )  # fmt: skip
    best = found.best
    y, proba = found.out_of_sample(best.name)
    sure = proba.max(axis=1) > 0.8
    paid = np.where(sure, proba.argmax(axis=1) != y, 0.2)
    assert best.reject_rate == pytest.approx(1 - sure.mean())
    assert best.cost == pytest.approx(paid.mean())
    assert found.actions == (0, 1, "reject")
    assert sum(row[2] for row in best.confusion) == (~sure).sum()
    assert any("rejects" in text for text in found.comparison.statements)
    for learner in found.comparison.learners:
        assert learner.error_632 == pytest.approx(learner.loss, abs=0.06)
    assert set(
        np.asarray(found.model.predict(datasets.load("heart_disease"))).tolist()
    ) <= {
        0,
        1,
        "reject",
    }


def test_a_frame_is_kept_with_the_study_so_that_its_recipe_runs_again(tmp_path):
    frame = lyceum._core.data.read_table(datasets.path("penguins"))
    ask = {"learners": ["NaiveBayes"], "folds": 2, "n_settings": 1}
    first = lyceum.study(frame, "species", out=tmp_path / "one", **ask)
    assert (tmp_path / "one" / "data.parquet").is_file()
    again = lyceum.study(recipe=tmp_path / "one" / "recipe.toml", out=tmp_path / "two")
    assert again.best.loss == first.best.loss
    resumed = lyceum.study(frame, "species", out=tmp_path / "one", **ask)
    assert resumed.as_dict() == first.as_dict()


def test_weights_count_as_repeated_rows_in_every_number(tmp_path):
    import pyarrow as pa

    rng = np.random.default_rng(3)
    x, w = rng.normal(size=120), rng.integers(1, 4, 120)
    y = np.where(x + rng.normal(size=120) > 0, "yes", "no")
    table = pa.table({"x": x, "w": w, "y": y})
    found = lyceum.study(
        table, "y", weight="w", learners=QUICK[:1], folds=3, out=tmp_path / "study"
    )
    sample = found.out_of_sample("NaiveBayes")
    np.testing.assert_array_equal(sample.weight, w[sample.rows])
    wrong = sample.predicted.argmax(axis=1) != sample.y
    assert found.best.error == pytest.approx(np.average(wrong, weights=sample.weight))
    assert np.sum(found.best.confusion) == w.sum()


def test_rows_of_weight_zero_are_as_if_they_were_not_there(tmp_path):
    import pyarrow as pa

    rng = np.random.default_rng(3)
    x = rng.normal(size=90)
    y = np.where(x + rng.normal(size=90) > 0, "yes", "no")
    table = pa.table({"x": x, "w": (np.arange(90) % 3 > 0).astype(float), "y": y})
    found = lyceum.study(
        table, "y", weight="w", learners=QUICK[:1], folds=3, out=tmp_path / "study"
    )
    assert found.n_studied == 60
    assert "30 rows of weight 0 were left out." in found.comparison.statements


def test_a_file_that_fits_is_read_once(tmp_path, monkeypatch):
    from lyceum._core.data.files import tables as _files

    reads = []

    def counted(*arguments):
        reads.append(arguments)
        return original(*arguments)

    original = _files._READERS["csv"]
    monkeypatch.setitem(_files._READERS, "csv", counted)
    lyceum.study(
        datasets.path("penguins"),
        "species",
        learners=QUICK[:1],
        folds=2,
        out=tmp_path / "study",
    )
    assert len(reads) == 1


def test_a_file_larger_than_memory_is_compared_on_a_sample_and_fitted_on_all_rows(
    tmp_path,
):
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    X = rng.normal(size=(40_000, 6))
    y = np.where(X[:, 0] + rng.normal(size=len(X)) > 0, "yes", "no")
    table = pa.table({**{f"x{j}": X[:, j] for j in range(6)}, "y": y})
    pq.write_table(table, tmp_path / "large.parquet", row_group_size=5_000)
    found = lyceum.study(
        tmp_path / "large.parquet",
        "y",
        learners=["LinearDiscriminantAnalysis"],
        folds=2,
        memory_mb=1,
        n_settings=1,
        out=tmp_path / "study",
    )
    assert found.n_rows == 40_000
    assert found.n_studied < 10_000
    whole = lyceum.bayes.LinearDiscriminantAnalysis().fit(lyceum.scan(table, "y"))
    fitted = found.model.steps[-1][1]
    np.testing.assert_allclose(fitted.means_, whole.means_, rtol=1e-9)
    assert any("random sample" in text for text in found.comparison.statements)


def test_a_class_of_two_rows_can_still_be_compared(tmp_path):
    import pyarrow as pa

    rng = np.random.default_rng(0)
    y = ["a"] * 30 + ["b"] * 28 + ["c"] * 2
    table = pa.table({"x": rng.normal(size=60), "z": rng.normal(size=60), "y": y})
    found = lyceum.study(
        table,
        "y",
        learners=["NaiveBayes", "LinearDiscriminantAnalysis", "C45"],
        n_settings=1,
        out=tmp_path / "study",
    )
    assert found.comparison.n_folds == 10
    assert len(found.comparison.learners) >= 3
    assert any(
        "smallest class has 2 rows: of 10 folds, 8 test no row of it" in text
        for text in found.comparison.statements
    )

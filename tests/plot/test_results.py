"""Pictures of the results of `evaluate`: the same as those of the arrays behind them."""

import contextlib

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

matplotlib.use("Agg")

from lyceum import evaluate, plot, scan
from lyceum.errors import SettingError


@pytest.fixture(autouse=True)
def _closes_its_figures():
    yield
    pyplot.close("all")


rng = np.random.default_rng(0)
X = rng.normal(size=(150, 3))
y = np.where(X[:, 0] + 0.8 * rng.normal(size=150) > 0, "yes", "no")
p = 1 / (1 + np.exp(-2 * X[:, 0]))
y3 = np.array(["a", "b", "c"])[np.clip(np.round(X[:, 0] + 1), 0, 2).astype(int)]
said3 = np.array(["a", "b", "c"])[
    np.clip(np.round(X[:, 0] + 0.5 * X[:, 1] + 1), 0, 2).astype(int)
]


def legend_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def drawn(ax):
    return [(line.get_label(), line.get_xydata().tolist()) for line in ax.lines]


@pytest.mark.parametrize(
    ("name", "function"),
    [("roc", "roc_curve"), ("precision_recall", "precision_recall_curve")],
)
def test_a_curve_looks_like_its_arrays(name, function):
    result = getattr(evaluate, function)(y, p)
    of_arrays, of_result = (
        getattr(plot, name)(y, p, label="tree"),
        getattr(plot, name)(result, label="tree"),
    )
    assert drawn(of_result) == drawn(of_arrays)
    assert legend_of(of_result) == legend_of(of_arrays)


def test_a_cost_curve_looks_like_its_arrays_with_the_costs_marked():
    result = evaluate.cost_curve(y, p, n_points=501)
    of_arrays = plot.cost_curve(y, p, cost_fp=1, cost_fn=4)
    assert drawn(plot.cost_curve(result, cost_fp=1, cost_fn=4)) == drawn(of_arrays)


def test_several_results_make_a_curve_each():
    curves = {
        "one": evaluate.roc_curve(y, p),
        "two": evaluate.roc_curve(y, p**2 * (1 + X[:, 1] ** 2)),
    }
    labels = legend_of(plot.roc(curves))
    assert [text.split("  ")[0] for text in labels] == ["one", "two", "chance"]


def test_calibration_draws_the_bins_of_the_result():
    result = evaluate.calibration_curve(y, p, n_bins=5)
    ax = plot.calibration(result, label="tree")
    assert ax.lines[0].get_xydata() == pytest.approx(
        np.column_stack([result.predicted, result.observed])
    )
    assert legend_of(ax)[0] == f"tree  calibration error {result.expected_error:.3f}"
    assert legend_of(plot.calibration({"a": result, "b": result}))[1].startswith("b  ")


def test_confusion_and_cobweb_take_the_matrix_as_it_is():
    matrix = evaluate.confusion_matrix(y3, said3)
    ax, of_array = plot.confusion(matrix), plot.confusion(matrix.counts, matrix.classes)
    assert [text.get_text() for text in ax.texts] == [
        text.get_text() for text in of_array.texts
    ]
    assert [text.get_text() for text in ax.get_yticklabels()] == ["a", "b", "c"]
    webs = [plot.cobweb(one) for one in (matrix, evaluate.cobweb(matrix))]
    assert (
        drawn(webs[0])
        == drawn(webs[1])
        == drawn(plot.cobweb(matrix.counts, list("abc")))
    )
    spokes = [
        [text.get_text() for text in web.texts if "→" in text.get_text()]
        for web in webs
    ]
    assert (
        spokes[0] == spokes[1] == ["a → b", "a → c", "b → a", "b → c", "c → a", "c → b"]
    )


def test_rejected_rows_and_rows_of_no_class_have_their_column_and_row():
    matrix = evaluate.confusion_matrix(
        ["a", "b", "?", "b"], ["a", "?", "a", "b"], reject="?"
    )
    ax = plot.confusion(matrix)
    assert [text.get_text() for text in ax.get_xticklabels()] == ["a", "b", "(reject)"]
    assert [text.get_text() for text in ax.get_yticklabels()] == [
        "a",
        "b",
        "(no class)",
    ]


def test_learning_curve_draws_losses_and_the_best_constant():
    result = evaluate.learning_curve(GaussianNB(), X, y, cv=3)
    ax = plot.learning_curve(result)
    assert ax.lines[0].get_xydata() == pytest.approx(
        np.column_stack([result.train_sizes, result.train_mean])
    )
    assert ax.lines[1].get_xydata() == pytest.approx(
        np.column_stack([result.train_sizes, result.test_mean])
    )
    assert list(ax.lines[2].get_ydata()) == [result.baseline] * 2
    assert legend_of(ax) == ["training", "validation", "best constant"]
    assert ax.get_ylabel() == "error rate"
    both = plot.learning_curve({"Bayes": result, "again": result})
    assert legend_of(both)[:2] == ["Bayes, training", "Bayes, validation"]


def test_validation_curve_marks_the_least_loss():
    values = [0.001, 0.1, 10.0]
    result = evaluate.validation_curve(
        LogisticRegression(), X, y, param_name="C", param_range=values, cv=3
    )
    ax = plot.validation_curve(result)
    assert f"best: {result.best:g}" in legend_of(ax)
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_xscale()) == (
        "C",
        "error rate",
        "log",
    )
    words = evaluate.validation_curve(
        LogisticRegression(),
        X,
        y,
        param_name="class_weight",
        param_range=[None, "balanced"],
        cv=3,
    )
    ticks = plot.validation_curve(words).get_xticklabels()
    assert [text.get_text() for text in ticks] == ["None", "balanced"]


def test_cross_validation_shows_every_split_and_the_mean():
    results = {
        "Bayes": evaluate.cross_validate(GaussianNB(), X, y, cv=5),
        "logistic": evaluate.cross_validate(LogisticRegression(), X, y, cv=5),
    }
    ax = plot.cross_validation(results)
    dots = [one for one in ax.collections if len(one.get_offsets()) == 5]
    assert [one.get_offsets()[:, 0].tolist() for one in dots] == [
        r.losses.tolist() for r in results.values()
    ]
    means = [line.get_xdata()[0] for line in ax.lines if line.get_marker() == "D"]
    assert means == [result.mean for result in results.values()]
    assert [text.get_text() for text in ax.get_yticklabels()] == ["Bayes", "logistic"]
    with pytest.raises(SettingError, match="different losses"):
        plot.cross_validation({**results, "other": evaluate.cross_validate(
            GaussianNB(), X, (y == "yes").astype(float), cv=5, loss="squared")})  # fmt: skip


def test_comparisons_show_the_difference_and_its_interval():
    one, two = (
        evaluate.cross_validate(m, X[:, :k], y, cv=5)
        for m, k in ((GaussianNB(), 3), (LogisticRegression(), 1))
    )
    test = evaluate.corrected_t(one.losses, two.losses, test_to_train=one.test_to_train)
    ax = plot.comparison({"Bayes − logistic": test})
    assert list(ax.lines[0].get_xdata()) == [test.low, test.high]
    assert list(ax.lines[1].get_xdata()) == [test.mean]
    halves = evaluate.five_by_two(GaussianNB(), LogisticRegression(), X, y)
    dots = plot.comparison(halves, label="5×2").collections[0].get_offsets()[:, 0]
    assert sorted(dots) == sorted(halves.differences.ravel())


def test_mcnemar_shows_the_rows_that_one_model_gets_wrong():
    test = evaluate.mcnemar(only_first_wrong=12, only_second_wrong=5)
    bars = [bar.get_width() for bar in plot.comparison(test, label="a, b").patches]
    assert bars == [-5, 12]
    with pytest.raises(SettingError, match="draw them apart"):
        plot.comparison(
            {
                "a": test,
                "b": evaluate.corrected_t([0.1, 0.2], [0.2, 0.2], test_to_train=1.0),
            }
        )


def test_areas_are_compared_with_their_interval_and_apart_from_losses():
    test = evaluate.delong(y, p, X[:, 1])
    ax = plot.comparison(test, label="one − two")
    assert list(ax.lines[0].get_xdata()) == [test.low, test.high]
    assert list(ax.lines[1].get_xdata()) == [test.difference]
    assert ax.get_xlabel() == "difference in area under the ROC curve, first − second"
    with pytest.raises(SettingError, match="compare areas and rows: draw them apart"):
        plot.comparison(
            {"a": test, "b": evaluate.mcnemar(only_first_wrong=12, only_second_wrong=5)}
        )


def test_a_bootstrap_shows_its_rounds_and_both_estimates():
    folds = evaluate.cross_validate(GaussianNB(), X, y, cv=5)
    rounds = evaluate.bootstrap_632(GaussianNB(), X, y, n_rounds=7)
    ax = plot.cross_validation({"folds": folds, "bootstrap": rounds})
    assert ax.collections[-1].get_offsets()[:, 0].tolist() == rounds.rounds.tolist()
    assert [line.get_xdata()[0] for line in ax.lines[-2:]] == [
        rounds.error,
        rounds.plus,
    ]
    assert {"one split", "one round", ".632 estimate", ".632+ estimate"} <= set(
        legend_of(ax)
    )


def test_reports_have_their_matrix_and_their_rates():
    report = evaluate.class_report(y3, said3)
    for picture in (plot.confusion, plot.cobweb):
        shown, of_matrix = picture(report), picture(report.confusion)
        assert [text.get_text() for text in shown.texts] == [
            text.get_text() for text in of_matrix.texts
        ]
    heights = [bar.get_height() for bar in plot.class_rates(report).patches]
    assert heights[:4] == [
        *(one.precision for one in report.per_class),
        report.macro.precision,
    ]
    assert heights[8:] == [*(one.f1 for one in report.per_class), report.macro.f1]


def test_a_two_by_two_table_has_its_matrix_and_its_rates():
    said = np.where(p > 0.4, "yes", "no")
    report = evaluate.binary_report(y, said)
    shown, of_matrix = (
        plot.confusion(report),
        plot.confusion(evaluate.confusion_matrix(y, said)),
    )
    assert [text.get_text() for text in shown.texts] == [
        text.get_text() for text in of_matrix.texts
    ]
    bars = plot.class_rates(report).patches
    assert [bar.get_height() for bar in bars][:3] == [
        report.accuracy,
        report.precision,
        report.recall,
    ]
    nobody = plot.class_rates(evaluate.binary_report(tp=0, fp=0, fn=3, tn=5))
    assert "undefined" in [text.get_text() for text in nobody.texts]


PICTURES = (
    "bias_variance",
    "calibration",
    "class_rates",
    "cobweb",
    "comparison",
    "confusion",
    "cost_curve",
    "cross_validation",
    "density_errors",
    "learning_curve",
    "precision_recall",
    "residuals",
    "roc",
    "validation_curve",
)
RESULTS = {
    "report": lambda: evaluate.regression_report([1.0, 2.0], [1.0, 2.5]),
    "test": lambda: evaluate.delong(y, p, X[:, 1]),
    "interval": lambda: evaluate.auc_interval(y, p),
    "table": lambda: evaluate.binary_report(tp=4, fp=1, fn=3, tn=5),
}


@pytest.mark.parametrize("picture", PICTURES)
@pytest.mark.parametrize("result", RESULTS)
def test_a_result_is_drawn_or_refused_in_a_sentence(picture, result):
    with contextlib.suppress(SettingError):
        assert getattr(plot, picture)(RESULTS[result]()).has_data()


def test_rows_in_the_place_of_y_are_their_target():
    rows = scan(pd.DataFrame({"x": X[:, 0], "y": y}), target="y")
    assert drawn(plot.roc(rows, p)) == drawn(plot.roc(y, p))
    assert drawn(plot.calibration(rows, p)) == drawn(plot.calibration(y, p))


def test_bias_and_variance_stand_side_by_side():
    results = {
        name: evaluate.bias_variance(model, X, y, X, y, n_rounds=5)
        for name, model in (("Bayes", GaussianNB()), ("logistic", LogisticRegression()))
    }
    ax = plot.bias_variance(results)
    heights = [bar.get_height() for bar in ax.patches]
    assert heights == [
        *(r.bias for r in results.values()),
        *(r.net_variance for r in results.values()),
    ]
    assert legend_of(ax) == ["error", "bias", "net variance"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: plot.roc(evaluate.roc_curve(y, p), p), "complete"),
        (lambda: plot.roc(y), "give y_true and scores"),
        (
            lambda: plot.roc({"a": evaluate.calibration_curve(y, p)}),
            "dict of name to RocCurve",
        ),
        (lambda: plot.calibration(evaluate.roc_curve(y, p)), "a Calibration"),
        (lambda: plot.learning_curve([1, 2]), "give a LearningCurve"),
        (
            lambda: plot.validation_curve(evaluate.roc_curve(y, p)),
            "give a ValidationCurve",
        ),
        (lambda: plot.comparison([0.1, 0.2]), "CorrectedT or FiveByTwoTest or McNemar"),
        (lambda: plot.bias_variance({}), "BiasVariance"),
    ],
)
def test_what_is_no_such_result_is_refused(call, message):
    with pytest.raises(SettingError, match=message):
        call()


def test_the_least_of_arrays_named_a_loss_is_the_best():
    ax = plot.validation_curve(
        [1, 2, 3], [0.1, 0.1, 0.1], [0.5, 0.2, 0.9], score="log loss"
    )
    assert "best: 2" in [text.get_text() for text in ax.get_legend().get_texts()]


@pytest.mark.parametrize("name", ["error_reject", "staged_errors", "importances"])
def test_a_result_that_a_picture_cannot_show_is_refused_in_a_sentence(name):
    for other in (evaluate.roc_curve(y, p), "text"):
        with pytest.raises(SettingError, match=r"^give an? .*, not (RocCurve|str)$"):
            getattr(plot, name)(other)


def test_importances_of_a_learner_that_has_none_say_where_to_get_them():
    with pytest.raises(
        SettingError, match=r"GaussianNB has no .*permutation_importance"
    ):
        plot.importances(GaussianNB().fit(X, y))


def test_errors_of_rounds_that_are_all_missing_have_no_best():
    ax = plot.staged_errors(
        {"training": [0.2, 0.1], "validation": [np.nan, np.nan]}, best="validation"
    )
    assert legend_of(ax) == ["training", "validation"]

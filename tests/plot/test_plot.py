"""Every picture by what it draws: the data of its lines, its labels, its legend."""

from itertools import pairwise

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot
from sklearn.metrics import (
    average_precision_score,
    roc_auc_score,
    roc_curve as their_roc_curve,
)

matplotlib.use("Agg")

from lyceum import plot
from lyceum.decision import error_reject_curve
from lyceum.errors import DataError, SettingError


@pytest.fixture(autouse=True)
def _closes_its_figures():
    before = dict(matplotlib.rcParams)
    yield
    pyplot.close("all")
    assert dict(matplotlib.rcParams) == before, "a picture changed global settings"


def binary(seed=0, n=200):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return y, np.clip(0.25 + 0.4 * y + 0.25 * rng.normal(size=n), 0, 1).round(2)


def three(seed=0, n=150):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    weights = rng.random((n, 3)) + 1.2 * np.eye(3)[y]
    return np.array(["a", "b", "c"])[y], weights / weights.sum(axis=1, keepdims=True)


def legend_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def line(ax, label):
    (found,) = [one for one in ax.lines if one.get_label().startswith(label)]
    return found


# -- what all share --------------------------------------------------------------------


def test_axes_given_are_the_axes_returned_and_none_are_made():
    y, p = binary()
    _, ax = pyplot.subplots()
    matrix = [[5, 1], [2, 6]]
    curve = error_reject_curve(y, np.column_stack([1 - p, p]))
    pictures = [
        lambda ax: plot.roc(y, p, ax=ax),
        lambda ax: plot.precision_recall(y, p, ax=ax),
        lambda ax: plot.cost_curve(y, p, ax=ax),
        lambda ax: plot.calibration(y, p, ax=ax),
        lambda ax: plot.confusion(matrix, ax=ax),
        lambda ax: plot.cobweb(matrix, ax=ax),
        lambda ax: plot.error_reject(curve, ax=ax),
        lambda ax: plot.learning_curve([1, 2], [1, 1], [0, 1], ax=ax),
        lambda ax: plot.validation_curve([1, 2], [1, 1], [0, 1], ax=ax),
    ]
    for draw in pictures:
        ax.clear()
        ax.set_aspect("auto")
        assert draw(ax) is ax
        ax.figure.canvas.draw()
    assert len(pyplot.get_fignums()) == 1
    assert all(draw(None).figure is not ax.figure for draw in pictures)


def test_axes_have_names_and_a_title_when_asked():
    ax = plot.roc(*binary(), title="Credit")
    assert (ax.get_xlabel(), ax.get_ylabel()) == (
        "false positive rate",
        "true positive rate",
    )
    assert ax.get_title(loc="left") == "Credit"


def test_neighboring_curves_differ_in_color_and_in_dashes():
    y, p = binary()
    ax = plot.roc(y, dict.fromkeys("abcdefg", p))
    drawn = ax.lines[:7]
    assert [one.get_color() for one in drawn] == list(plot.style.COLORS)
    for one, two in pairwise(drawn):
        assert (
            one.get_linestyle() != two.get_linestyle()
            or one._dash_pattern != two._dash_pattern
        )


def test_the_palette_has_no_two_colors_alike_without_red_green_or_saturation():
    # luminance differs or the blue channel does, for every pair: what deuteranopes and protanopes
    # keep
    rgb = (
        np.array(
            [[int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in plot.style.COLORS]
        )
        / 255
    )
    keep = np.column_stack([rgb @ [0.35, 0.60, 0.05], rgb[:, 2]])
    for i in range(len(keep)):
        for j in range(i):
            assert np.abs(keep[i] - keep[j]).max() > 0.06


def test_a_second_call_adds_a_curve_in_the_next_color():
    y, p = binary()
    ax = plot.roc(y, p, label="one")
    plot.roc(y, 1 - p, label="two", ax=ax)
    assert line(ax, "one").get_color() != line(ax, "two").get_color()
    assert sum(text == "chance" for text in legend_of(ax)) == 1


# -- ROC, precision–recall, cost -------------------------------------------------------


@pytest.mark.syllabus("14.3")
def test_roc_draws_the_curve_and_tells_its_area():
    y, p = binary()
    ax = plot.roc(y, p, label="tree")
    fpr, tpr, _ = their_roc_curve(y, p, drop_intermediate=False)
    drawn = line(ax, "tree").get_xydata()
    assert {*map(tuple, drawn)} <= {*zip(fpr.tolist(), tpr.tolist())}
    assert np.trapezoid(drawn[:, 1], drawn[:, 0]) == pytest.approx(roc_auc_score(y, p))
    assert legend_of(ax) == [f"tree  AUC {roc_auc_score(y, p):.3f}", "chance"]
    assert line(ax, "chance").get_xydata().tolist() == [[0, 0], [1, 1]]


def test_roc_of_two_columns_and_of_the_other_class_agree():
    y, p = binary()
    both = np.column_stack([1 - p, p])
    one, two, other = (
        plot.roc(y, both),
        plot.roc(y, p),
        plot.roc(y, both, pos_label=0),
    )
    assert np.array_equal(one.lines[0].get_xydata(), two.lines[0].get_xydata())
    drawn = other.lines[0].get_xydata()
    assert np.trapezoid(drawn[:, 1], drawn[:, 0]) == pytest.approx(
        roc_auc_score(y == 0, 1 - p)
    )


def test_three_classes_make_a_curve_each_and_several_classifiers_an_average():
    y, P = three()
    ax = plot.roc(y, P)
    expected = [
        f"{k} against the rest  AUC {roc_auc_score(y == k, P[:, i]):.3f}"
        for i, k in enumerate("abc")
    ]
    assert legend_of(ax) == [*expected, "chance"]
    ax = plot.roc(y, {"one": P, "two": P**2})
    assert legend_of(ax)[0] == f"one  AUC {roc_auc_score(y, P, multi_class='ovr'):.3f}"
    x, height = line(ax, "one").get_data()
    curves = [their_roc_curve(y == k, P[:, i])[:2] for i, k in enumerate("abc")]
    assert height == pytest.approx(np.mean([np.interp(x, *c) for c in curves], axis=0))


def test_a_long_curve_is_drawn_thin_but_measured_in_full():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60_000)
    p = rng.normal(size=60_000) + y
    ax = plot.roc(y, p)
    assert len(ax.lines[0].get_xdata()) <= 2000
    assert ax.lines[0].get_xydata()[[0, -1]].tolist() == [[0, 0], [1, 1]]
    assert f"{roc_auc_score(y, p):.3f}" in legend_of(ax)[0]


@pytest.mark.syllabus("14.2")
def test_precision_recall_draws_the_steps_that_average_precision_sums():
    y, p = binary()
    ax = plot.precision_recall(y, p, label="tree")
    drawn = line(ax, "tree")
    recall, precision = drawn.get_data()
    assert drawn.get_drawstyle() == "steps-pre"
    assert np.sum(np.diff(recall) * precision[1:]) == pytest.approx(
        average_precision_score(y, p)
    )
    assert legend_of(ax) == [
        f"tree  AP {average_precision_score(y, p):.3f}",
        f"share of positives {y.mean():.2f}",
    ]
    assert line(ax, "share").get_ydata().tolist() == [y.mean()] * 2


@pytest.mark.syllabus("2.6")
def test_cost_curve_is_the_lowest_of_all_lines_by_brute_force():
    y, p = binary(3, 60)
    ax = plot.cost_curve(y, p, label="tree")
    x, cost = line(ax, "tree").get_data()
    lowest = np.full(len(x), np.inf)
    for t in [*np.unique(p), np.inf]:
        fpr, fnr = np.mean(p[y == 0] >= t), np.mean(p[y == 1] < t)
        lowest = np.minimum(lowest, fnr * x + fpr * (1 - x))
    assert cost == pytest.approx(lowest)
    assert line(ax, "always").get_ydata().tolist() == [0, 0.5, 0]


def test_cost_curve_marks_the_costs_given():
    y, p = binary()
    ax = plot.cost_curve(y, p, cost_fp=1, cost_fn=5)
    share = y.mean()
    marks = [
        one.get_xdata()[0]
        for one in ax.lines
        if one.get_linestyle() == ":" and len(one.get_xdata()) == 2
    ]
    assert marks == pytest.approx([share * 5 / (share * 5 + 1 - share)])
    assert any("= 5" in text.get_text() for text in ax.texts)


def test_a_perfect_and_a_useless_score_have_flat_and_full_cost():
    y = np.array([0, 0, 1, 1])
    assert plot.cost_curve(y, y).lines[0].get_ydata() == pytest.approx(0.0)
    x, cost = plot.cost_curve(y, np.zeros(4)).lines[0].get_data()
    assert cost == pytest.approx(np.minimum(x, 1 - x))


# -- confusion, cobweb -----------------------------------------------------------------


@pytest.mark.syllabus("14.1")
def test_confusion_writes_counts_and_shades_by_the_share_of_the_true_class():
    ax = plot.confusion(
        [[30, 10, 0], [1, 3, 4]], ["bad", "good"], actions=["bad", "good", "reject"]
    )
    assert [text.get_text() for text in ax.texts] == [
        "30\n75%",
        "10\n25%",
        "0",
        "1\n12%",
        "3\n38%",
        "4\n50%",
    ]
    assert ax.images[0].get_array().tolist() == [[0.75, 0.25, 0.0], [0.125, 0.375, 0.5]]
    assert [text.get_text() for text in ax.get_xticklabels()] == [
        "bad",
        "good",
        "reject",
    ]
    assert [text.get_text() for text in ax.get_yticklabels()] == ["bad", "good"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("predicted", "true class")


def test_a_class_without_rows_is_shown_as_zeros():
    ax = plot.confusion([[0, 0], [1, 3]])
    assert ax.images[0].get_array().tolist() == [[0.0, 0.0], [0.25, 0.75]]


@pytest.mark.syllabus("14.1")
def test_cobweb_marks_every_mistake_at_its_rate_on_its_spoke():
    matrix = np.array([[8, 1, 1], [0, 10, 0], [2, 3, 5]])
    ax = plot.cobweb({"tree": matrix}, ["a", "b", "c"])
    radius = np.hypot(*line(ax, "tree").get_data())
    assert radius == pytest.approx([0.1, 0.1, 0.0, 0.0, 0.2, 0.3, 0.1])
    names = [text.get_text() for text in ax.texts if "→" in text.get_text()]
    assert names == ["a → b", "a → c", "b → a", "b → c", "c → a", "c → b"]
    assert np.hypot(*line(ax, "guessing").get_data()) == pytest.approx(1 / 3)
    assert legend_of(ax) == ["tree", "guessing, 33%"]


def test_cobweb_of_two_classes_keeps_classifiers_apart():
    ax = plot.cobweb({"one": [[8, 2], [1, 9]], "two": [[6, 4], [1, 9]]})
    assert np.hypot(*line(ax, "one").get_data()) == pytest.approx([0.2, 0.1, 0.0, 0.2])
    angle = np.arctan2(*line(ax, "two").get_data()[::-1])
    assert angle[:2] == pytest.approx([0.75 * np.pi, 0.25 * np.pi])


# -- calibration -----------------------------------------------------------------------


def test_calibration_draws_observed_shares_over_mean_predictions():
    p = np.repeat([0.1, 0.5, 0.9], 20)
    y = np.concatenate([np.arange(20) < hits for hits in (4, 10, 15)])
    ax = plot.calibration(y, p, n_bins=3, label="tree")
    assert line(ax, "tree").get_xydata() == pytest.approx(
        np.array([[0.1, 0.2], [0.5, 0.5], [0.9, 0.75]])
    )
    assert legend_of(ax) == [
        f"tree  calibration error {(0.1 + 0.0 + 0.15) / 3:.3f}",
        "calibrated",
    ]
    low, high = np.array(
        [path.vertices[:, 1] for path in ax.collections[0].get_paths()]
    ).T
    assert low[1] == pytest.approx(0.2993, abs=1e-3)  # Wilson's interval of 10 in 20
    assert high[1] == pytest.approx(0.7007, abs=1e-3)


def test_uniform_bins_leave_out_the_empty_ones():
    ax = plot.calibration([0, 1, 1, 0], [0.02, 0.03, 0.95, 0.99], strategy="uniform")
    assert line(ax, "calibration error").get_xydata() == pytest.approx(
        np.array([[0.025, 0.5], [0.97, 0.5]])
    )


def test_calibration_of_several_classifiers_pools_the_classes():
    y, P = three()
    ax = plot.calibration(y, {"one": P}, n_bins=1)
    assert line(ax, "one").get_xydata() == pytest.approx(np.array([[1 / 3, 1 / 3]]))


# -- error–reject, learning, validation ------------------------------------------------


@pytest.mark.syllabus("2.3")
def test_error_reject_draws_the_curve_without_its_empty_end_and_marks_doubt():
    y, p = binary()
    curve = error_reject_curve(y, np.column_stack([1 - p, p]))
    ax = plot.error_reject({"tree": curve}, doubt=0.3)
    expected = np.column_stack([curve.reject_rate[1:], curve.error[1:]])
    assert np.array_equal(line(ax, "tree").get_xydata(), expected)
    at = curve.at(0.3)
    assert line(ax, "_doubt").get_xydata().tolist() == [
        [at["reject_rate"], at["error"]]
    ]
    assert legend_of(ax) == [f"tree  area {curve.area:.3f}", "doubt costs 0.3"]
    assert ax.get_ylabel() == "error among accepted"


def test_error_reject_shows_costs_when_there_are_losses():
    y, p = binary()
    curve = error_reject_curve(y, np.column_stack([1 - p, p]), [[0, 1], [5, 0]])
    ax = plot.error_reject(curve)
    assert ax.get_ylabel() == "mean cost among accepted"
    assert np.array_equal(ax.lines[0].get_ydata(), curve.cost[1:])
    assert np.array_equal(
        plot.error_reject(curve, what="error").lines[0].get_ydata(), curve.error[1:]
    )


def test_few_accepted_rows_do_not_set_the_scale():
    y = np.r_[1, np.zeros(199, dtype=int)]
    p = np.r_[0.0, np.linspace(0.01, 0.4, 199)]  # the surest row is wrong
    ax = plot.error_reject(error_reject_curve(y, np.column_stack([1 - p, p])))
    assert ax.get_ylim()[1] < 0.2


@pytest.mark.syllabus("14.8")
def test_learning_curve_draws_means_and_a_band_of_one_standard_deviation():
    train, test = np.array([[1.0, 0.9], [0.8, 0.8]]), np.array([[0.5, 0.7], [0.6, 0.8]])
    ax = plot.learning_curve([10, 100], train, test, score="accuracy")
    assert line(ax, "training").get_ydata() == pytest.approx([0.95, 0.8])
    assert line(ax, "validation").get_xydata() == pytest.approx(
        np.array([[10, 0.6], [100, 0.7]])
    )
    band = ax.collections[1].get_paths()[0].vertices
    assert (band[:, 1].min(), band[:, 1].max()) == pytest.approx((0.5, 0.8))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("training rows", "accuracy")


def test_one_score_a_place_has_no_band():
    assert not plot.learning_curve([10, 100], [1, 1], [0.5, 0.6]).collections


@pytest.mark.syllabus("14.8")
def test_validation_curve_marks_the_best_value_on_a_fitting_axis():
    ax = plot.validation_curve(
        [0.01, 1, 100], [1, 1, 1], [[0.5, 0.5], [0.9, 0.7], [0.6, 0.6]], param_name="C"
    )
    assert ax.get_xscale() == "log"
    assert line(ax, "best: 1").get_xdata() == [1, 1]
    assert ax.get_xlabel() == "C"
    low = plot.validation_curve([1, 2, 3], [1, 1, 1], [0.3, 0.2, 0.4], best="min")
    assert (low.get_xscale(), line(low, "best: 2").get_xdata()) == ("linear", [2, 2])
    words = plot.validation_curve(["linear", "rbf"], [1, 1], [0.3, 0.2])
    assert [text.get_text() for text in words.get_xticklabels()] == ["linear", "rbf"]


# -- bad input -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: plot.roc([1, 1], [0.2, 0.3]),
            "all rows are of one class: a RocCurve needs",
        ),
        (lambda: plot.roc([0, 1], [0.2]), "shape"),
        (lambda: plot.roc([0, 1], [0.2, np.nan]), "missing values"),
        (
            lambda: plot.roc([0, 1, 2], [0.2, 0.1, 0.3]),
            "one column of scores for each class",
        ),
        (lambda: plot.roc([0, 1], np.full((2, 3), 0.3)), "3 columns for 2 classes"),
        (lambda: plot.roc([0, 1], np.full((2, 2), 0.5), pos_label=7), "pos_label is 7"),
        (lambda: plot.roc([0, 1], {}), "no scores"),
        (lambda: plot.roc([0, 1], {"a": [0, 1]}, label="b"), "label names one"),
        (lambda: plot.roc([], []), "at least one row"),
        (lambda: plot.cost_curve([0, 1], [0, 1], cost_fp=1), "both"),
        (
            lambda: plot.cost_curve([0, 1], [0, 1], cost_fp=-1, cost_fn=1),
            "not be negative",
        ),
        (lambda: plot.cost_curve(*three(), cost_fp=1, cost_fn=1), "one positive class"),
        (lambda: plot.calibration([0, 1], [-3.0, 2.0]), "posteriors, not scores"),
        (lambda: plot.calibration([0, 1], [0.3, 0.2], n_bins=0), "bins"),
        (lambda: plot.confusion([1, 2]), "rows = true class"),
        (lambda: plot.confusion([[1, -2], [0, 1]]), "negative"),
        (lambda: plot.confusion([[1, 2, 3], [0, 1, 2]]), "actions="),
        (lambda: plot.cobweb([[3]]), "two classes or more"),
        (lambda: plot.cobweb({"a": np.eye(2), "b": np.eye(3)}), "one size"),
        (lambda: plot.error_reject({}), "no curves"),
        (
            lambda: plot.learning_curve([1, 2, 3], [1, 1], [1, 1]),
            "one row for each point",
        ),
    ],
)
def test_what_cannot_be_drawn_is_refused(call, message):
    with pytest.raises((DataError, SettingError), match=message):
        call()

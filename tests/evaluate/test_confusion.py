"""Confusion matrices against scikit-learn, by hand, and at their edges."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn import metrics

from lyceum.errors import DataError, MissingValuesError, SettingError
from lyceum.evaluate import class_report, cobweb, confusion_matrix

RNG = np.random.default_rng(0)
Y = RNG.integers(0, 4, 300)
P = np.where(RNG.random(300) < 0.6, Y, RNG.integers(0, 4, 300))
W = RNG.integers(0, 4, 300)
NAMES = np.array(["ant", "bee", "cat", "dog"])


@pytest.mark.syllabus("14.1.1")
@pytest.mark.parametrize("kind", ["int", "text", "object", "float", "bool", "uint8"])
def test_counts_equal_scikit_learn_for_labels_of_any_type(kind):
    cast = {
        "int": lambda v: v, "text": lambda v: NAMES[v], "object": lambda v: NAMES[v].astype(object),
        "float": lambda v: v / 2.0, "bool": lambda v: v > 1, "uint8": lambda v: v.astype(np.uint8),
    }[kind]  # fmt: skip
    matrix = confusion_matrix(cast(Y), cast(P))
    codes = [np.unique(cast(column), return_inverse=True)[1] for column in (Y, P)]
    expected = metrics.confusion_matrix(*codes)
    assert np.array_equal(matrix.counts, expected)
    assert matrix.classes.tolist() == np.unique(cast(Y)).tolist()
    assert matrix.kappa == pytest.approx(metrics.cohen_kappa_score(*codes))


def test_truth_and_prediction_may_have_different_number_types():
    assert confusion_matrix([0, 1, 1], [0.0, 1.0, 0.0]).counts.tolist() == [
        [1, 0],
        [1, 1],
    ]
    assert confusion_matrix(np.array([True, False]), np.array([1, 0])).error == 0.0


@pytest.mark.syllabus("14.1")
def test_rates_are_shares_of_the_true_class():
    matrix = confusion_matrix(Y, P)
    assert matrix.rates == pytest.approx(
        metrics.confusion_matrix(Y, P, normalize="true")
    )
    assert matrix.accuracy + matrix.error == pytest.approx(1.0)


def test_weight_equals_repeated_rows():
    weighted, repeated = (
        confusion_matrix(Y, P, sample_weight=W),
        confusion_matrix(np.repeat(Y, W), np.repeat(P, W)),
    )
    assert np.array_equal(weighted.counts, repeated.counts)


def test_merge_of_blocks_equals_the_whole_with_a_class_missing_from_the_first():
    order = np.argsort(Y, kind="stable")
    y, p = NAMES[Y[order]], NAMES[P[order]]
    first = confusion_matrix(y[:50], y[:50])
    assert len(first.classes) == 1
    merged = first.merge(confusion_matrix(y[50:], p[50:], reject="dog"))
    again = confusion_matrix(y[50:], p[50:], reject="dog").merge(first)
    assert np.array_equal(merged.full, again.full)
    assert merged.classes.tolist() == NAMES[:3].tolist()
    assert merged.n == 300


@pytest.mark.syllabus("14.1.1")
def test_rejected_rows_have_a_column_and_strangers_a_row():
    matrix = confusion_matrix(
        ["a", "a", "b", "?", "?"], ["a", "?", "b", "b", "?"], reject="?"
    )
    assert matrix.full.tolist() == [[1, 0, 1], [0, 1, 0], [0, 1, 1]]
    assert matrix.reject_rate == pytest.approx(2 / 5)
    # the stranger taken for b, of three decided
    assert matrix.error == pytest.approx(1 / 3)
    text = str(matrix)
    assert text.count("(reject)") == 2
    assert "reject rate" in text


def test_a_missing_prediction_is_a_rejection_and_a_missing_truth_an_error():
    assert confusion_matrix([0, 1], [np.nan, 1.0]).rejected.tolist() == [1, 0]
    assert confusion_matrix(
        ["a", "b"], np.array([None, "b"], dtype=object)
    ).rejected.tolist() == [
        1,
        0,
    ]
    assert confusion_matrix(
        [0, 1], np.array([0, "doubt"], dtype=object), reject="doubt"
    ).rejected.tolist() == [0, 1]
    for reject in (None, 1.0):
        with pytest.raises(MissingValuesError, match="1 missing labels"):
            confusion_matrix([np.nan, 1.0, 0.0], [0.0, 1.0, 1.0], reject=reject)


def test_given_classes_and_a_reject_label_go_together():
    matrix = confusion_matrix(
        list("ab?"), list("?ba"), labels=["b", "a", "?"], reject="?"
    )
    assert matrix.classes.tolist() == ["b", "a"]
    assert matrix.full.tolist() == [[1, 0, 0], [0, 0, 1], [0, 1, 0]]


def test_kappa_of_one_class_is_zero_whatever_the_weights():
    assert (
        confusion_matrix([1] * 3, [1] * 3, sample_weight=[0.1, 0.2, 0.3]).kappa == 0.0
    )
    assert confusion_matrix([0] * 3, [1] * 3).kappa == 0.0


@pytest.mark.syllabus("14.1.2")
@pytest.mark.parametrize("K", [1, 2, 3, 5])
def test_some_vs_rest_are_all_divisions_and_agree_with_relabelled_rows(K):
    y, p = (np.random.default_rng(seed).integers(0, K, 200) for seed in (3, 4))
    matrix = confusion_matrix(y, p)
    tables = matrix.some_vs_rest()
    assert len(tables) == 2 ** (K - 1) - 1
    assert len({str(table.positive) for table in tables}) == len(tables)
    for table in tables:
        group = [int(label) for label in str(table.positive).split(", ")]
        inside = metrics.confusion_matrix(np.isin(y, group), np.isin(p, group))
        assert [table.tn, table.fp, table.fn, table.tp] == inside.ravel().tolist()


@pytest.mark.syllabus("14.1.2")
def test_one_vs_one_keeps_rows_of_the_pair_given_to_the_pair():
    tables = confusion_matrix(Y, P).one_vs_one()
    assert len(tables) == 6
    for table in tables:
        a, b = table.positive, table.negative
        kept = np.isin(Y, [a, b]) & np.isin(P, [a, b])
        expected = metrics.confusion_matrix(Y[kept], P[kept], labels=[b, a])
        assert [table.tn, table.fp, table.fn, table.tp] == expected.ravel().tolist()


@pytest.mark.syllabus("14.1.2")
def test_one_vs_all_equals_scikit_learn():
    expected = metrics.multilabel_confusion_matrix(Y, P)
    for table, one in zip(confusion_matrix(Y, P).one_vs_all(), expected):
        assert [table.tn, table.fp, table.fn, table.tp] == one.ravel().tolist()


@pytest.mark.syllabus("14.1.3")
def test_cobweb_has_a_spoke_for_every_way_to_be_wrong():
    matrix = confusion_matrix(NAMES[Y], NAMES[P])
    web = cobweb(matrix)
    assert len(web.rates) == 12
    assert web.chance == 0.25
    rate = web.rates[(web.truth == "bee") & (web.predicted == "dog")]
    assert rate == pytest.approx(((Y == 1) & (P == 3)).sum() / (Y == 1).sum())
    assert str(web).startswith("cobweb")
    assert len(cobweb(confusion_matrix([1], [1])).rates) == 0


@pytest.mark.syllabus("14.2")
@pytest.mark.parametrize("average", ["macro", "micro", "weighted"])
def test_averages_equal_scikit_learn(average):
    ours = getattr(class_report(Y, P, sample_weight=W), average)
    theirs = metrics.precision_recall_fscore_support(
        Y, P, average=average, sample_weight=W, zero_division=0
    )
    assert (ours.precision, ours.recall, ours.f1) == pytest.approx(theirs[:3])


@pytest.mark.syllabus("14.2.3")
def test_per_class_rates_equal_scikit_learn_with_a_class_never_predicted():
    guess = np.where(P == 2, 1, P)
    report = class_report(Y, guess)
    theirs = metrics.precision_recall_fscore_support(Y, guess, zero_division=0)
    for name, values in zip(("precision", "recall", "f1"), theirs):
        assert [getattr(one, name) for one in report.per_class] == pytest.approx(values)
    assert "macro" in str(report)


def test_a_rejected_row_counts_against_recall():
    report = class_report(["a", "a", "b"], ["a", "?", "b"], reject="?")
    assert report.per_class[0].recall == 0.5
    assert report.micro.precision == 1.0
    assert report.micro.recall == pytest.approx(2 / 3)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(-2, 3), st.integers(-2, 3), st.integers(0, 2)),
        max_size=12,
    )
)
def test_no_input_gives_nan_or_a_warning(rows):
    y, p, w = (np.array([row[i] for row in rows], dtype=int) for i in range(3))
    for matrix in (
        confusion_matrix(y, p),
        confusion_matrix(y, p, sample_weight=w),
        confusion_matrix(y, p, reject=3),
    ):
        assert np.isfinite(
            [matrix.accuracy, matrix.error, matrix.kappa, matrix.reject_rate]
        ).all()
        assert np.isfinite(matrix.full_rates).all()
        report = class_report(matrix)
        assert np.isfinite([report.macro.f1, report.micro.f1, report.weighted.f1]).all()
        assert isinstance(str(report) + str(matrix) + matrix._repr_html_(), str)
        assert report.per_class == () or sum(
            one.tp for one in report.per_class
        ) == np.trace(matrix.counts)


def test_errors_say_what_to_do():
    with pytest.raises(DataError, match="2 and 1 rows"):
        confusion_matrix([1, 2], [1])
    with pytest.raises(DataError, match="mix text and numbers"):
        confusion_matrix([1, 2], ["1", "2"])
    with pytest.raises(DataError, match="numeric target"):
        confusion_matrix(np.arange(6000), np.arange(6000))
    with pytest.raises(DataError, match="none of the labels"):
        confusion_matrix([1, 2], [1, 2], labels=[3])
    with pytest.raises(DataError, match="negative or missing"):
        confusion_matrix([1], [1], sample_weight=[-1.0])
    with pytest.raises(SettingError, match="no class 9"):
        confusion_matrix([1, 2], [1, 2]).versus([9])
    with pytest.raises(SettingError, match="65,535 divisions"):
        confusion_matrix(np.arange(17), np.arange(17)).some_vs_rest()
    with pytest.raises(DataError, match=r"shape \(1, 2\)"):
        confusion_matrix([[1, 2]], [1])


def test_given_classes_fix_the_order():
    matrix = confusion_matrix(["b", "a"], ["b", "b"], labels=["b", "a", "never"])
    assert matrix.counts.tolist() == [[1, 0, 0], [1, 0, 0], [0, 0, 0]]
    assert "never" in str(matrix)


@pytest.mark.syllabus("14.2")
@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(1, 3)),
        min_size=2,
        max_size=40,
    )
)
def test_weighted_kappa_equals_scikit_learn(rows):
    truth, guess, w = (np.array(column) for column in zip(*rows))
    matrix = confusion_matrix(truth, guess, sample_weight=w)
    if len(matrix.classes) < 2:
        return
    for weights in ("linear", "quadratic"):
        peer = metrics.cohen_kappa_score(
            truth, guess, weights=weights, sample_weight=w, labels=matrix.classes
        )
        # scikit-learn numbers the labels by place too
        if np.isfinite(peer):
            assert matrix.weighted_kappa(weights) == pytest.approx(peer, abs=1e-12)
    every = 1.0 - np.eye(len(matrix.classes))
    assert matrix.weighted_kappa(every) == pytest.approx(matrix.kappa, abs=1e-12)


def test_weighted_kappa_refuses_odd_weights_and_is_zero_by_chance():
    matrix = confusion_matrix([1, 1, 2, 2], [1, 2, 1, 2])
    assert matrix.weighted_kappa() == 0.0
    assert confusion_matrix([1, 1], [1, 1]).weighted_kappa() == 0.0
    with pytest.raises(SettingError, match="'quadratic'"):
        matrix.weighted_kappa("cubic")
    with pytest.raises(SettingError, match="0 on the diagonal"):
        matrix.weighted_kappa([[1, 1], [1, 1]])


@pytest.mark.syllabus("2.6.3")
def test_the_error_under_other_priors_is_that_of_rows_drawn_by_them():
    matrix = confusion_matrix(Y, P)
    priors = np.array([0.1, 0.2, 0.3, 0.4])
    weight = (priors / np.bincount(Y))[Y]
    assert matrix.error_under(priors) == pytest.approx(
        np.average(P != Y, weights=weight)
    )
    assert matrix.error_under(np.bincount(Y)) == pytest.approx(matrix.error)
    named = confusion_matrix(NAMES[Y], NAMES[P])
    assert named.error_under({"bee": 1.0}) == pytest.approx(np.mean(P[Y == 1] != 1))
    with pytest.raises(SettingError, match="priors are"):
        matrix.error_under([0.5, 0.5])

"""Loss matrices: labels, order, files, and what is refused."""

import copy
import pickle
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from lyceum._core.probability import label_key
from lyceum.decision import LossMatrix, minimum_risk
from lyceum.errors import DataError, SettingError

CREDIT = [[0.0, 5.0], [1.0, 0.0]]


def credit():
    return LossMatrix(CREDIT, classes=["bad", "good"])


def test_print_says_rows_are_true_classes_and_aligns():
    assert str(credit()).splitlines() == [
        "Loss: rows = true class, columns = action",
        "true \\ action  bad  good",
        "─────────────  ───  ────",
        "bad              0     5",
        "good             1     0",
    ]


def test_html_escapes_labels_and_says_which_way_round():
    shown = LossMatrix(CREDIT, classes=["<b>", "good"])._repr_html_()
    assert "&lt;b&gt;" in shown
    assert "<b>" not in shown
    assert "rows = true class, columns = action" in shown


def test_losses_are_found_by_label():
    assert credit()["bad", "good"] == 5.0
    with pytest.raises(
        DataError, match="'god' is not among 'bad', 'good'; did you mean 'good'"
    ):
        credit()["bad", "god"]


def test_values_cannot_be_changed_and_do_not_follow_the_array_they_came_from():
    given = np.array(CREDIT)
    loss = LossMatrix(given, classes=["bad", "good"])
    given[0, 1] = 7.0
    assert loss["bad", "good"] == 5.0
    with pytest.raises(ValueError, match="read-only"):
        loss.values[0, 1] = 7.0


def test_actions_default_to_classes_and_take_their_type():
    assert credit().actions == ("bad", "good")
    assert LossMatrix(CREDIT, classes=np.array([0, 1]), actions=["1", "0"]).actions == (
        1,
        0,
    )


def test_reorder_by_label_moves_rows_and_columns():
    loss = LossMatrix(
        [[0, 1, 2, 9], [3, 0, 4, 8], [5, 6, 0, 7]], list("abc"), [*"abc", "reject"]
    )
    moved = loss.for_classes(["c", "a", "b"])
    assert moved.actions == ("c", "a", "b", "reject")
    for k in "abc":
        for a in loss.actions:
            assert moved[k, a] == loss[k, a]


def test_numbers_match_the_text_that_shows_them():
    loss = LossMatrix(CREDIT, classes=["1", "0"]).for_classes(np.array([0, 1]))
    assert loss.classes == (0, 1)
    assert loss.actions == (0, 1)
    assert loss[1, 0] == 5.0
    assert (
        LossMatrix(CREDIT, ["true", "false"]).for_classes([False, True])[True, False]
        == 5.0
    )


def test_unlabeled_matrix_takes_the_order_of_the_classes():
    assert LossMatrix(CREDIT).for_classes(["x", "y"])["x", "y"] == 5.0


def test_a_class_that_the_classifier_does_not_know_is_left_out():
    loss = LossMatrix(np.arange(9.0).reshape(3, 3), list("abc")).for_classes(["a", "c"])
    assert loss.values.tolist() == [[0.0, 2.0], [6.0, 8.0]]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: LossMatrix([1, 2]), "two dimensions"),
        (lambda: LossMatrix([[1, 2], [3]]), "rows of equal length"),
        (lambda: LossMatrix([["a", "b"], ["c", "d"]]), "must hold numbers"),
        (lambda: LossMatrix(np.zeros((0, 2))), "two dimensions"),
        (lambda: LossMatrix([[0, np.nan], [1, 0]]), "row 0, column 1 is nan"),
        (lambda: LossMatrix([[0, 1], [np.inf, 0]]), "row 1, column 0 is inf"),
        (lambda: LossMatrix(CREDIT, ["a", "b", "c"]), "2 rows for 3 classes"),
        (lambda: LossMatrix(CREDIT, ["a", "a"]), "'a' twice"),
        (lambda: LossMatrix(CREDIT, "ab"), "is the text 'ab'"),
        (lambda: LossMatrix(CREDIT, [0, 1], actions=0), "actions is 0: give a list"),
        (
            lambda: LossMatrix([[0, 1, 2], [1, 0, 2]], ["a", "b"]),
            "needs names for its actions",
        ),
        (lambda: LossMatrix(CREDIT, ["a", "b"], ["a"]), "2 columns for 1 actions"),
        (
            lambda: LossMatrix(CREDIT, ["a", "b"]).for_classes(["a", "c"]),
            "no row for a class: 'c'",
        ),
        (
            lambda: LossMatrix(CREDIT).for_classes(["a", "b", "c"]),
            "2 rows for 3 classes",
        ),
        (
            lambda: LossMatrix([[1.0], [2.0]], ["a", "b"], ["pass"]).without_reject(),
            "names a class",
        ),
    ],
)
def test_a_wrong_matrix_is_refused_with_a_reason(make, message):
    with pytest.raises(DataError, match=message):
        make()


def test_zero_one_costs_every_mistake_one():
    loss = LossMatrix.zero_one(["a", "b", "c"])
    assert loss.is_zero_one
    assert loss.values.tolist() == [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
    assert LossMatrix.zero_one(2).classes is None
    assert not credit().is_zero_one
    assert not LossMatrix(1 - np.eye(2), ["a", "b"], ["b", "a"]).is_zero_one


def test_from_costs_sorts_classes_as_classifiers_do():
    loss = LossMatrix.from_costs({("good", "bad"): 1, ("bad", "good"): 5})
    assert loss == credit()


def test_from_costs_puts_other_actions_last():
    costs = {("b", "a"): 1, ("a", "b"): 2, ("a", "ask"): 0.5, ("b", "ask"): 0.25}
    loss = LossMatrix.from_costs(costs)
    assert loss.actions == ("a", "b", "ask")
    assert loss.values.tolist() == [[0, 2, 0.5], [1, 0, 0.25]]
    assert loss.names_class.tolist() == [0, 1, -1]


def test_from_costs_wants_every_pair_unless_there_is_a_default():
    with pytest.raises(
        DataError, match="no cost for the action 'a' when the truth is 'b'"
    ):
        LossMatrix.from_costs({("a", "b"): 2}, classes=["a", "b"])
    assert (
        LossMatrix.from_costs({("a", "b"): 2}, ["a", "b"], default=1)["b", "a"] == 1.0
    )
    with pytest.raises(DataError, match="name only"):
        LossMatrix.from_costs({("a", "b"): 2})
    with pytest.raises(DataError, match="pairs"):
        LossMatrix.from_costs({"ab": 2})
    with pytest.raises(DataError, match="the true class 'z'"):
        LossMatrix.from_costs({("z", "b"): 2}, classes=["a", "b"])


@pytest.mark.parametrize("suffix", [".csv", ".toml"])
@pytest.mark.parametrize(
    "loss",
    [
        credit(),
        LossMatrix(CREDIT, classes=[0, 1]),
        LossMatrix(
            [[0, 1, 0.1], [1e-7, 0, 1e20]],
            ['say "hi", ok', "naïve é"],
            ['say "hi", ok', "naïve é", "?"],
        ),
    ],
    ids=["text", "numbers", "awkward"],
)
def test_files_give_back_what_was_written(tmp_path, loss, suffix):
    path = loss.write(tmp_path / f"loss{suffix}")
    assert LossMatrix.read(path) == loss
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


MARKS = [
    "#",
    "//",
    "{",
    "=",
    "'",
    '"',
    "\\",
    "\r",
    "\n",
    "\t",
    "\0",
    ",",
    ";",
    " ",
    "1",
    "\ufeff",
]
LABEL = st.one_of(
    st.text(max_size=6),
    st.lists(st.sampled_from(MARKS), max_size=4).map("".join),
    st.integers(-(10**20), 10**20),
)


def same_labels(loss, labels):
    return list(map(label_key, loss.classes)) == list(map(label_key, labels))


@settings(max_examples=300, deadline=None)
@given(
    classes=st.lists(LABEL, min_size=2, max_size=4, unique_by=label_key),
    seed=st.integers(0, 10**6),
)
@pytest.mark.parametrize("suffix", [".csv", ".toml"])
def test_any_labels_are_read_as_they_were_written_or_refused(
    classes, seed, suffix, tmp_path_factory
):
    values = np.random.default_rng(seed).uniform(0, 9, (len(classes), len(classes)))
    loss = LossMatrix(values, classes)
    path = tmp_path_factory.getbasetemp() / f"loss{suffix}"
    # a CSV file has no blanks, line breaks and zero characters as they are
    texts = [label for label in classes if isinstance(label, str)]
    odd = [text for text in texts if text != text.strip() or set(text) & set("\r\0")]
    if suffix == ".csv" and odd:
        with suppress(DataError):
            loss.write(path, force=True)
            assert same_labels(LossMatrix.read(path), classes)
        return
    loss.write(path, force=True)
    again = LossMatrix.read(path)
    assert same_labels(again, classes)
    assert np.array_equal(again.values, values)


@pytest.mark.parametrize("suffix", [".csv", ".toml"])
def test_labels_that_no_file_can_hold_are_refused(tmp_path, suffix):
    path = tmp_path / f"loss{suffix}"
    with pytest.raises(DataError, match=r"'\\ud800', half a character"):
        LossMatrix(CREDIT, ["a", "\ud800"]).write(path)
    assert not path.exists()


def test_a_label_of_thousands_of_digits_is_a_text(tmp_path):
    path = tmp_path / "loss.csv"
    digits = "9" * 5000
    path.write_text(f"true,a,{digits}\na,0,1\n{digits},1,0\n")
    assert LossMatrix.read(path).classes == ("a", digits)


def test_nothing_is_overwritten_without_force(tmp_path):
    path = credit().write(tmp_path / "loss.csv")
    with pytest.raises(FileExistsError, match="exists: choose another"):
        LossMatrix.zero_one(2).write(path)
    assert LossMatrix.read(path) == credit()
    LossMatrix.zero_one(["a", "b"]).write(path, force=True)
    assert LossMatrix.read(path).is_zero_one


def test_toml_says_which_way_round_and_takes_costs_by_name(tmp_path):
    path = credit().write(tmp_path / "loss.toml")
    assert "# rows = true class, columns = action" in path.read_text()
    path.write_text("[costs.bad]\ngood = 5\n[costs.good]\nbad = 1\n")
    assert LossMatrix.read(path) == credit()
    path.write_text("default = 2\nclasses = [0, 1]\n[costs.0]\n1 = 5\n")
    assert LossMatrix.read(path).values.tolist() == [[0, 5], [2, 0]]


def test_csv_from_a_spreadsheet_with_a_byte_order_mark_and_blank_lines(tmp_path):
    path = tmp_path / "loss.csv"
    path.write_bytes("\ufeff, bad , good\r\n\r\nbad,0,5\r\ngood, 1,0\r\n".encode())
    assert LossMatrix.read(path) == credit()


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "x,a,b\na,0\nb,1,0\n", "the row of 'a' has 1 losses for 2 actions"),
        ("a.csv", "x,a,b\na,0,much\nb,1,0\n", "'much', which is no number"),
        ("a.csv", "", "first row of actions"),
        ("a.toml", "loss = [[0, 1], [1", "not TOML"),
        ("a.toml", "classes = ['a', 'b']", "one of them"),
        ("a.toml", "loss = [[0, 1], [1, 0]]\nclases = ['a', 'b']", "no key 'clases'"),
        ("a.toml", "loss = [[0, 1], [1, 0]]\ndefault = 1", "default is for costs"),
        ("a.toml", "costs = 3", "must be numbers"),
        ("a.txt", "", "name it .csv or .toml"),
    ],
)
def test_a_wrong_file_is_refused_by_name(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(DataError, match=message):
        LossMatrix.read(tmp_path / name)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(DataError, match=r"there is no file .*none\.csv"):
        LossMatrix.read(tmp_path / "none.csv")
    with pytest.raises(SettingError, match="name it"):
        credit().write(tmp_path / "loss.xlsx")


def test_copies_and_pickles_are_equal_and_hash_alike():
    for other in (
        copy.deepcopy(credit()),
        pickle.loads(pickle.dumps(credit())),
        eval(repr(credit())),
    ):
        assert other == credit()
        assert hash(other) == hash(credit())
    assert credit() != LossMatrix(CREDIT)
    assert credit() != 3


def test_dict_gives_back_the_matrix():
    loss = LossMatrix([[0, 1, 2], [1, 0, 2]], ["a", "b"], ["a", "b", "pass"])
    assert LossMatrix.from_dict(loss.to_dict()) == loss
    assert minimum_risk(
        [[0.5, 0.5]], LossMatrix.from_dict({"loss": CREDIT})
    ).tolist() == [0]

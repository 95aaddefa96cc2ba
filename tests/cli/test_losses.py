"""Losses as people type them."""

import pytest

from lyceum.cli.losses import read_loss
from lyceum.decision import LossMatrix
from lyceum.errors import DataError


def test_typed_costs_and_a_file_are_the_same_matrix(tmp_path):
    (tmp_path / "loss.csv").write_text("true,bad,good\nbad,0,5\ngood,1,0\n")
    typed = LossMatrix.of(read_loss(" bad:good = 5 , good:bad=1"), ["bad", "good"])
    assert typed == LossMatrix.of(
        read_loss(str(tmp_path / "loss.csv")), ["bad", "good"]
    )


def test_labels_that_are_numbers_match(tmp_path):
    assert LossMatrix.of(read_loss("0:1=2,1:0=3"), [0, 1]).values.tolist() == [
        [0, 2],
        [3, 0],
    ]


def test_a_file_whose_name_has_an_equals_sign_is_a_file(tmp_path):
    path = tmp_path / "a=b.csv"
    path.write_text("true,x,y\nx,0,1\ny,1,0\n")
    assert isinstance(read_loss(str(path)), LossMatrix)


@pytest.mark.parametrize(
    "text", ["bad:good=x", "bad=5", ":good=5", "bad:=5", "bad:good=5,"]
)
def test_what_cannot_be_read_is_said_with_an_example(text):
    with pytest.raises(DataError, match="write true:action=cost"):
        read_loss(text)

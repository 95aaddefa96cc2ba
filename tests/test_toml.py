"""TOML of unknown origin: within bounds, and refused by a sentence."""

import pytest

from lyceum._core.toml import parse_toml
from lyceum.decision import LossMatrix
from lyceum.errors import DataError, LyceumError
from lyceum.studies import Recipe

TEXTS = {
    "names": (".".join("a" * 40_000) + " = 1", "more than 50 names with dots"),
    "quoted names": ("[" + " . ".join(['"a b"'] * 60) + "]", "more than 50 names"),
    "lists": ("x = " + "[" * 20_000, "nested too deeply"),
    "tables": ("x = " + "{a=" * 20_000, "nested too deeply"),
    "digits": ("seed = " + "9" * 5000, "4300 digits"),
    "hexadecimal digits": ("seed = 0x" + "f" * 5000, "thousands of digits"),
}


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("read", [Recipe.read, LossMatrix.read])
def test_what_has_no_measure_is_refused_with_the_file(tmp_path, name, read):
    text, message = TEXTS[name]
    path = tmp_path / "t.toml"
    path.write_text(text)
    with pytest.raises(LyceumError, match=f"t.toml.*{message}"):
        read(path)


def test_a_usual_text_is_read():
    text = "a.b.c = [0.25, 0.5]\n[d]\nx = 'a.b.c.d'\ny = 0xff"
    expected = {"a": {"b": {"c": [0.25, 0.5]}}, "d": {"x": "a.b.c.d", "y": 255}}
    assert parse_toml(text) == expected
    key = ".".join("a" * 50)
    assert "a" in parse_toml(f"{key} = 1")
    with pytest.raises(DataError, match="more than 50 names"):
        parse_toml(f"a.{key} = 1")


def test_a_loss_file_with_a_long_cell_is_refused(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(",a,b\na,0,1\nb," + "1" * 200_000 + ",0\n")
    with pytest.raises(LyceumError, match=r"t\.csv.*field larger"):
        LossMatrix.read(path)

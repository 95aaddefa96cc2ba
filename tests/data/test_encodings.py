"""Encodings are found from byte order marks, as UTF-8, or by charset-normalizer."""

import random

import numpy as np
import pytest

from lyceum._core.data import read_data
from lyceum._core.data.files import csv as csv_module
from lyceum._core.data.files.encodings import guess_encoding, text_encoding
from lyceum.data import scan
from lyceum.errors import DataWarning

WORDS = {
    "cp1250": "Łódź Kraków Gdańsk Wrocław żółty Święta książka Poznań Częstochowa źródło córka",
    "cp1251": "Москва Петербург Казань Новосибирск Иванов дом река город",
    "cp932": "東京 大阪 京都 名古屋 札幌 ひらがな カタカナ 日本語 山田太郎",
    "gb18030": "北京 上海 广州 深圳 成都 杭州 武汉 西安 重庆 天津",
    "cp949": "서울 부산 대구 인천 광주 대전 울산 제주",
    "utf-16": "Łódź Москва 東京 北京",
    "utf-16-le": "Köln Ulm Bonn Łódź",
}
WESTERN = {
    "German": "Müller Köln Straße Düsseldorf größer Häuser Schröder München Übung Jäger",
    "French": "café élève garçon naïve hôtel forêt où déjà Noël œuvre français Besançon",
    "Spanish": "niño señor mañana corazón España jamón año inglés túnel Málaga",
    "Swedish": "Malmö Göteborg Åsa Ängelholm smörgås fågel öl Örebro",
    "Danish": "København Ærø Århus smørrebrød Øresund fløde",
    "Italian": "città perché più così università è già lunedì",
    "signs": "5€ 10€ 12° 3µm ½ “so”",
}


def rows_of(words, n, seed=0):
    draw = random.Random(seed)
    return [
        (str(i), draw.choice(words.split()), f"{draw.random():.3f}") for i in range(n)
    ]


def written(path, rows, encoding):
    lines = ["id;name;value", *(";".join(row) for row in rows)]
    path.write_bytes("\n".join(lines).encode(encoding))
    return path


@pytest.mark.parametrize("n", [20, 500])
@pytest.mark.parametrize("encoding", WORDS)
def test_an_encoding_is_found_and_noted(tmp_path, encoding, n):
    rows = rows_of(WORDS[encoding], n)
    found = read_data(written(tmp_path / "t.csv", rows, encoding))
    assert found.table["name"].to_pylist() == [row[1] for row in rows]
    assert found.notes == (f"not UTF-8 text: read as {encoding}",)


@pytest.mark.parametrize("n", [3, 20, 500])
@pytest.mark.parametrize("language", WESTERN)
def test_western_text_is_windows_1252(tmp_path, language, n):
    rows = rows_of(WESTERN[language], n)
    path = written(tmp_path / "t.csv", rows, "cp1252")
    assert text_encoding(path.read_bytes(), "t") == ("cp1252", True)
    assert read_data(path).table.num_rows == n


@pytest.mark.parametrize("encoding", ["cp1251", "cp932"])
def test_the_first_megabyte_need_not_show_the_encoding(tmp_path, encoding):
    rows = rows_of(WORDS[encoding], 40)
    plain = [("1", "plain", "0.5")] * 100_000
    found = read_data(written(tmp_path / "t.csv", [*plain, *rows], encoding))
    assert found.table["name"].to_pylist()[100_000:] == [row[1] for row in rows]
    assert found.notes == (f"not UTF-8 text: read as {encoding}",)


def test_bytes_that_fit_no_other_encoding_are_latin_1():
    assert guess_encoding(bytes(range(128, 256))) == "latin-1"


def test_a_guess_is_the_same_every_time():
    content = "\n".join(";".join(row) for row in rows_of(WORDS["cp1250"], 50)).encode(
        "cp1250"
    )
    assert len({guess_encoding(content) for _ in range(5)}) == 1


def test_a_character_that_is_cut_off_does_not_matter():
    content = ";".join(WORDS["cp932"].split() * 3).encode("cp932")
    assert {guess_encoding(content[:end]) for end in range(100, 130)} == {"cp932"}


def test_json_is_read_in_its_encoding(tmp_path):
    names = WORDS["cp1251"].split()
    text = "\n".join(f'{{"name": "{name}"}}' for name in names)
    (tmp_path / "t.jsonl").write_bytes(text.encode("cp1251"))
    assert read_data(tmp_path / "t.jsonl").table["name"].to_pylist() == names


def test_the_note_is_a_warning_of_scan(tmp_path):
    from lyceum import scan

    path = written(tmp_path / "t.csv", rows_of(WORDS["cp1251"], 50), "cp1251")
    with pytest.warns(DataWarning, match="not UTF-8 text: read as cp1251"):
        scan(path)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32"])
def test_files_of_wide_characters_are_read_in_parts(tmp_path, monkeypatch, encoding):
    monkeypatch.setattr(csv_module, "_STREAM_BYTES", 1 << 10)
    path = tmp_path / "t.csv"
    lines = "".join(f"{number},{number + 0.5},red\n" for number in range(2000))
    path.write_bytes(f"a,b,c\n{lines}".encode(encoding))
    rows = scan(path, memory=0, encoding=encoding)
    cells = np.concatenate([block.X for block in rows.blocks()])
    np.testing.assert_array_equal(cells[:, 0], np.arange(2000))

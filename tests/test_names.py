"""No class name stands twice, folders hold at most 20 files, and files stay short."""

import re
from collections import Counter
from pathlib import Path

import lyceum

SOURCE = Path(lyceum.__file__).parent
REPOSITORY = SOURCE.parents[1]
CLASS = re.compile(r"^ *class (\w+)[(:]", re.M)


def test_no_class_name_stands_twice():
    names = (
        name
        for path in SOURCE.rglob("*.py")
        for name in re.findall(CLASS, path.read_text(encoding="utf-8"))
    )
    assert [name for name, count in Counter(names).items() if count > 1] == []


def test_no_file_is_longer_than_600_lines():
    if not (REPOSITORY / "native").is_dir():  # an installed package
        return
    folders = ("src", "tests", "benchmarks", "native", "fuzz", "docs", "examples", "packaging")
    files = (path for folder in folders for path in (REPOSITORY / folder).rglob("*"))
    code = [path for path in files if path.suffix in (".py", ".hpp", ".cpp")]
    long = {
        str(path): n for path in code if (n := path.read_text(encoding="utf-8").count("\n")) > 600
    }
    assert long == {}


def test_no_folder_has_more_than_20_files():
    counts = Counter(path.parent.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py"))
    assert {folder: count for folder, count in counts.items() if count > 20} == {}

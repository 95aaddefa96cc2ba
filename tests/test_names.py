"""One meaning per name: no class name stands twice, no file name in two rooms; and files stay short."""

import re
from collections import Counter
from pathlib import Path

import lyceum

SOURCE = Path(lyceum.__file__).parent
FILES = [path for path in SOURCE.rglob("*.py") if path.name != "__init__.py"]
NAMED_BY_OTHERS = {"catalog", "cli", "plot"}  # rooms whose files are called after what they list, run or draw
SAME_MEANING = {"_model_parts", "_steps"}  # what a model file may hold; steps between a source and a learner
REPOSITORY = SOURCE.parents[1]
CLASS = re.compile(r"^ *class (\w+)[(:]", re.M)


def test_no_class_name_stands_twice():
    names = (
        name for path in SOURCE.rglob("*.py") for name in re.findall(CLASS, path.read_text(encoding="utf-8"))
    )
    assert [name for name, count in Counter(names).items() if count > 1] == []


def test_no_file_name_has_two_meanings():
    names = (path.stem for path in FILES if path.parent.name not in NAMED_BY_OTHERS)
    assert {name for name, count in Counter(names).items() if count > 1} <= SAME_MEANING


def test_no_file_is_longer_than_400_lines():
    if not (REPOSITORY / "native").is_dir():  # an installed package
        return
    folders = ("src", "tests", "benchmarks", "native", "fuzz", "docs", "examples", "packaging")
    files = (path for folder in folders for path in (REPOSITORY / folder).rglob("*"))
    code = [path for path in files if path.suffix in (".py", ".hpp", ".cpp")]
    long = {str(path): n for path in code if (n := path.read_text(encoding="utf-8").count("\n")) > 400}
    assert long == {}

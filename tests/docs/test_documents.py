"""What the documents show runs as it stands there, and what they name exists."""

import configparser
import re
import shlex
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import typer

from lyceum.cli import app

ROOT = Path(__file__).parents[2]
# the code of chapters and how-to pages runs when the site is built
GUIDES = sorted(
    path.relative_to(ROOT / "docs").as_posix()
    for path in (ROOT / "docs").glob("*.md")
    if path.name != "design.md"
)


def blocks_of(path):
    return re.findall(
        r"```python\n(.*?)```", path.read_text(encoding="utf8"), re.DOTALL
    )


@pytest.fixture
def sales(tmp_path, monkeypatch):
    """A folder with the files that the README reads."""
    rng = np.random.default_rng(0)
    for month in (1, 2):
        price = np.where(rng.random(300) < 0.1, np.nan, rng.normal(20, 5, 300))
        shop = rng.choice(["north", "south"], 300)
        returned = rng.random(300) < np.where(shop == "north", 0.3, 0.6)
        table = pa.table(
            {
                "price": pa.array(price, from_pandas=True),
                "shop": shop,
                "returned": returned,
            }
        )
        pq.write_table(table, tmp_path / f"sales-{month}.parquet")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_readme_runs_from_top_to_bottom(sales, capsys):
    names: dict[str, object] = {}
    blocks = blocks_of(ROOT / "README.md")
    assert len(blocks) >= 2
    for block in blocks:
        exec(block, names)
    assert (sales / "penguins.lyceum").exists()
    assert "Adelie" in capsys.readouterr().out


@pytest.mark.parametrize("guide", GUIDES)
def test_a_guide_runs_from_top_to_bottom(guide, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in blocks_of(ROOT / "docs" / guide):
        exec(block, names)


# -- what the documents name -----------------------------------------------------------

PROSE = [*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md")]
ROOMS = sorted(path.name for path in (ROOT / "src/lyceum").iterdir() if path.is_dir())
COMMAND = re.compile(r"(?:^    |`)lyceum ([a-z][^`\n]*)", re.M)


def commands_in(path):
    """The command lines that a document shows, without their comments."""
    return [
        shlex.split(line, comments=True)
        for line in COMMAND.findall(path.read_text(encoding="utf8"))
    ]


def options_of(words):
    """The options of the command that the first words name."""
    command = typer.main.get_command(app)
    for word in words:
        if not hasattr(command, "commands"):
            break
        command = command.commands[word]
    return {
        option for one in command.params for option in (*one.opts, *one.secondary_opts)
    }


@pytest.mark.parametrize("path", PROSE, ids=lambda path: path.name)
def test_commands_and_their_options_exist(path):
    for words in commands_in(path):
        given = {word for word in words if re.match(r"--?[a-z]", word)}
        assert given <= options_of(words), words


def test_commands_are_found():
    assert len(commands_in(ROOT / "README.md")) >= 14


@pytest.mark.parametrize("path", PROSE, ids=lambda path: path.name)
def test_files_that_are_named_exist(path):
    """Such as `room/_file`, `file.py` or `folder/file.hpp`."""
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf8"), flags=re.DOTALL)
    named = re.findall(
        r"`((?:[\w.]+/)*\w+\.(?:py|pyi|hpp|cpp|md|txt|sh)|[a-z_]+/_\w+)`", text
    )
    assert [name for name in named if "FAMILY" not in name and not is_file(name)] == []
    inside = re.findall(rf"`((?:{'|'.join(ROOMS)})/[\w/]+)`", text)
    source = ROOT / "src" / "lyceum"
    assert [
        name for name in inside if not (source / name).is_dir() and not is_file(name)
    ] == []


def is_file(name):
    """Whether the path of a file of the repository ends so."""
    return any(
        path.endswith((f"/{name}", f"/{name}.py")) for path in repository_files()
    )


@cache
def repository_files():
    folders = (
        "src",
        "native",
        "tests",
        "benchmarks",
        "docs",
        "examples",
        "fuzz",
        "packaging",
        "changes",
        "tools",
        "portability",
    )
    found = [path for folder in folders for path in (ROOT / folder).rglob("*.*")]
    return [
        "/" + path.relative_to(ROOT).as_posix() for path in [*found, *ROOT.glob("*.*")]
    ]


def test_the_map_of_the_design_has_every_room():
    """The picture of design.md and the layers of `.importlinter` show the same rooms."""
    linter = configparser.ConfigParser()
    linter.read(ROOT / ".importlinter")
    layers = re.findall(r"\w+", linter["importlinter:contract:floors"]["layers"])
    layers += re.findall(r"\w+", linter["importlinter:contract:core"]["layers"])
    design = (ROOT / "docs" / "design.md").read_text(encoding="utf8")
    shown = design.partition("## The way data flows")[2].partition(
        "**Learning is reducing.**"
    )[0]
    assert [room for room in layers if not re.search(rf"\b{room}\b", shown)] == []

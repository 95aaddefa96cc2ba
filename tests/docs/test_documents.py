"""What the documents show runs as it stands there."""

import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

ROOT = Path(__file__).parents[2]
GUIDES = sorted(path.name for path in (ROOT / "docs").glob("*.md") if path.name != "design.md")


def blocks_of(path):
    return re.findall(r"```python\n(.*?)```", path.read_text(encoding="utf8"), re.DOTALL)


@pytest.fixture
def sales(tmp_path, monkeypatch):
    """A folder with the files that the README reads."""
    rng = np.random.default_rng(0)
    for month in (1, 2):
        price = np.where(rng.random(300) < 0.1, np.nan, rng.normal(20, 5, 300))
        shop = rng.choice(["north", "south"], 300)
        returned = rng.random(300) < np.where(shop == "north", 0.3, 0.6)
        table = pa.table({"price": pa.array(price, from_pandas=True), "shop": shop, "returned": returned})
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

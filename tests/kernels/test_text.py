"""Text categorisation: the worked application of linear machines on sparse TF-IDF columns."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "text_categories.py"


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location("text_categories", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_pages_say_neither_their_topic_nor_their_name(example):
    texts, topics = example.pages(("linalg", "optimize"))
    assert len(texts) == len(topics) > 100
    assert set(topics) == {"linalg", "optimize"}
    assert not any(
        word in text for text in texts for word in ("linalg", "optimize", "scipy")
    )


@pytest.mark.syllabus("9.3")
def test_machines_sort_pages_that_they_have_not_seen(example, monkeypatch):
    monkeypatch.setattr(example, "TOPICS", ("linalg", "optimize", "signal"))
    monkeypatch.setattr(
        example.pages, "__defaults__", (("linalg", "optimize", "signal"),)
    )
    accuracies, p_value, telling = example.compare()
    chance = np.max(np.unique(example.pages()[1], return_counts=True)[1]) / len(
        example.pages()[1]
    )
    assert min(accuracies.values()) > chance + 0.3
    assert accuracies["linear SVM"] > 0.93
    assert 0.0 <= p_value <= 1.0
    assert "filter" in telling["signal"]

"""Studies that take a second: few folds, few learners, and no pictures unless a test asks for them."""

import pytest

from lyceum.studies import _report


@pytest.fixture
def no_pictures(monkeypatch):
    monkeypatch.setattr(
        _report, "render", lambda study, problems=None: f"<!doctype html><title>{study.answer}</title>"
    )

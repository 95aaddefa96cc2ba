"""Studies that take a second: few folds, few learners, and no pictures unless a test asks for them."""

import pytest

from lyceum.studies import _report


@pytest.fixture
def no_pictures(monkeypatch):
    def short_page(study, problems=None, content=None):
        return f"<!doctype html><title>{study.answer}</title>"

    monkeypatch.setattr(_report, "render", short_page)

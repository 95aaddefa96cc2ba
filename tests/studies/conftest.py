"""Studies that take a second: few folds, few learners, and no pictures unless a test asks for them."""

import pytest

from lyceum.studies import _report


def short_page(study, problems=None, content=None):
    return f"<!doctype html><title>{study.answer}</title>"


@pytest.fixture
def no_pictures(monkeypatch):
    monkeypatch.setattr(_report, "render", short_page)


@pytest.fixture(scope="module")
def no_pictures_in_module():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_report, "render", short_page)
        yield

"""Free text in a study: thousands of words as sparse rows where the learner takes them, else a hundred."""

import numpy as np
import pytest

import lyceum
from lyceum.apply import fit_file
from lyceum.studies import LearnerChoice, Recipe
from lyceum.studies._plan import Plan
from lyceum.studies._study_data import StudyData

LINEAR = LearnerChoice("LogisticRegression", {"C": 10.0}, {})
BAYES = LearnerChoice("NaiveBayes", {}, {})


@pytest.fixture
def mails(tmp_path):
    """Classes that differ in the words that they use, none of which is frequent."""
    rng = np.random.default_rng(0)
    words = np.array([f"word{i}" for i in range(400)])
    y = rng.integers(0, 2, 240)
    texts = [" ".join(rng.choice(words[:220] if k else words[180:], 10)) for k in y]
    path = tmp_path / "mails.csv"
    lines = [f"{text},{i % 5},{'spam' if k else 'mail'}" for i, (text, k) in enumerate(zip(texts, y))]
    path.write_text("text,n,y\n" + "\n".join(lines))
    return path


def candidates(path, **options):
    recipe = Recipe(data=str(path), target="y", learners=(LINEAR, BAYES), **options)
    return {c.name: c for c in Plan.of(recipe, StudyData.of(recipe)).candidates}


def test_sparse_words_go_to_learners_that_take_them_and_only_where_nothing_else_is_prepared(mails):
    only = candidates(mails, ignore=("n",))
    assert only["LogisticRegression"].steps == ("TextCounts", "LogisticRegression")
    assert only["LogisticRegression"].sparse_text
    assert not only["NaiveBayes"].sparse_text
    mixed = candidates(mails)
    assert mixed["LogisticRegression"].steps == ("TextCounts", "Standardize", "LogisticRegression")
    assert not mixed["LogisticRegression"].sparse_text
    assert "as sparse rows" in only["LogisticRegression"].why
    assert mixed["LogisticRegression"].why.startswith("free text is counted word by word, 100 words")


@pytest.mark.usefixtures("no_pictures")
def test_a_study_of_texts_uses_all_words_explains_rows_and_has_its_constant_guess(mails, tmp_path):
    found = lyceum.study(
        mails, "y", ignore=["n"], learners=[LINEAR, BAYES], folds=2, committees=False, out=tmp_path / "study"
    )
    assert not found.failures
    assert not found.problems
    ranked = found.comparison
    assert ranked["LogisticRegression"].error < 0.5 * ranked["NaiveBayes"].error
    assert ranked.baseline is not None
    assert found.model.steps[0][1].sparse_output
    assert all(example.explanation is not None for example in found.examples)
    assert not any("no other column is left" in text for text in ranked.statements)


def test_a_fit_of_texts_has_the_same_words(mails):
    model = fit_file(mails, "y", "LogisticRegression", ignore=["n"], kinds={"text": "text"})
    assert model.steps[0][1].complexity() > 300

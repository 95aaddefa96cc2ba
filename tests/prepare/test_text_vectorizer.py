"""Words of free text: against scikit-learn, in streams, for texts that fit has not seen, and in
studies."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.pipeline import make_pipeline
from tests.studies.conftest import study_with_and_without

import lyceum
from lyceum import scan, workflows as apply
from lyceum.bayes import NaiveBayes
from lyceum.errors import DataError, ModelFileError, SchemaError, SettingError
from lyceum.kernels import LinearSVC
from lyceum.linear import LogisticRegression
from lyceum.prepare import SimpleImputer, TextVectorizer

pytestmark = pytest.mark.syllabus("1.2")

GOOD = [
    "the soup was warm and good",
    "good bread and a warm room",
    "we loved the good warm bread",
]
BAD = [
    "the soup was cold and bad",
    "cold bread, a bad smell",
    "a bad day in a cold room",
]
TEXTS = [
    f"{text} number {i % 7}{i % 5}"
    for i in range(20)
    for text in (GOOD[i % 3], BAD[i % 3])
]
Y = ["good", "bad"] * 20


@pytest.mark.syllabus("1.2.4")
@pytest.mark.parametrize(
    ("weights", "vectorizer"), [("tfidf", TfidfVectorizer), ("counts", CountVectorizer)]
)
def test_words_are_weighted_as_by_scikit_learn(weights, vectorizer):
    peer = vectorizer(min_df=2, max_df=0.5)
    expected = peer.fit_transform(TEXTS).toarray()
    found = TextVectorizer(weights=weights).fit(pa.table({"text": TEXTS}))
    assert found.words_[0] == peer.get_feature_names_out().tolist()
    cells = np.column_stack(
        [c.to_numpy() for c in found.transform(pa.table({"text": TEXTS})).columns]
    )
    np.testing.assert_allclose(cells, expected, atol=1e-12)


def test_texts_that_share_no_word_are_refused_where_nothing_else_is_left():
    """Learners met tables without columns, and each failed with words of its own."""
    names = pa.table({"name": [f"first{i} last{i}" for i in range(40)]})
    for settings, table in (
        ({}, names),
        ({"min_df": 3}, pa.table({"text": ["soup bread"] * 40})),
    ):
        least = settings.get("min_df", 2)
        with pytest.raises(
            DataError,
            match=f"in at least {least} rows and in at most 50% of them.*max_df",
        ):
            TextVectorizer(columns=table.column_names, **settings).fit(table)
    both = names.append_column("n", [np.arange(40.0)])
    assert TextVectorizer(columns=["name"]).fit_transform(both).column_names == ["n"]


def test_other_columns_stay_and_a_missing_text_has_no_words():
    table = pa.table(
        {
            "x": [1.0, 2.0, None],
            "text": ["a good warm day today", None, "good it is today, very"],
            "c": ["u", "v", "u"],
        }
    )
    found = TextVectorizer(min_df=2, max_df=1.0, weights="counts").fit(table)
    after = found.transform(table).to_pydict()
    assert after == {
        "x": [1.0, 2.0, None],
        "text: good": [1, 0, 1],
        "text: today": [1, 0, 1],
        "c": ["u", "v", "u"],
    }
    assert found.column_sources().tolist() == [0, 1, 1, 2]


def test_texts_that_fit_has_not_seen_are_read():
    model = make_pipeline(TextVectorizer(), LogisticRegression()).fit(
        pd.DataFrame({"text": TEXTS}), Y
    )
    assert model.predict(
        pd.DataFrame({"text": ["warm, good and new", "a bad, cold and new thing"]})
    ).tolist() == ["good", "bad"]


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "t.csv"
    rows = [f'{i % 3},"{text}",{y}' for i, (text, y) in enumerate(zip(TEXTS, Y))]
    path.write_text("x,text,y\n" + "\n".join(rows) + "\n")
    return path


def test_streams_and_model_files_give_what_memory_gives(file, tmp_path):
    options = {"target": "y", "kinds": {"text": "text"}}
    whole, stream = scan(file, **options), scan(file, memory=0, **options)
    model = make_pipeline(TextVectorizer(), SimpleImputer(), NaiveBayes())
    expected = model.fit(whole).predict_proba(whole)
    np.testing.assert_allclose(
        model.fit(stream).predict_proba(stream), expected, atol=1e-9
    )
    # no text of the training rows is kept
    assert model[0].schema_["text"].categories.size == 0
    lyceum.save(model, tmp_path / "m.lyceum")
    loaded = lyceum.load(tmp_path / "m.lyceum")
    np.testing.assert_allclose(loaded.predict_proba(whole), expected, atol=1e-9)


def test_free_text_is_refused_by_learners_that_cannot_take_it(file):
    with pytest.raises(
        SchemaError,
        match=(
            r"column 'text' is free text, which NaiveBayes cannot take: put"
            r" lyceum\.prepare\.TextVectorizer"
        ),
    ):
        NaiveBayes().fit(scan(file, target="y", kinds={"text": "text"}))
    with pytest.raises(
        SchemaError, match="column 'x' is declared text but holds numbers"
    ):
        scan(file, kinds={"x": "text"})


def test_a_file_is_fitted_predicted_and_explained_with_declared_text(file, tmp_path):
    model = apply.fit_file(file, "y", "LogisticRegression", kinds={"text": "text"})
    new = tmp_path / "new.csv"
    new.write_text('x,text\n1,"so warm, so good"\n2,"never so cold and bad"\n')
    assert apply.FittedModel(model).predict(
        lyceum._core.data.read_table(new)
    ).tolist() == [
        "good",
        "bad",
    ]
    assert len(apply.explain_rows(model, new, (0, 1))) == 2


def test_sparse_rows_are_for_learners_that_take_them(file):
    rows = scan(file, target="y", kinds={"text": "text"})
    model = make_pipeline(TextVectorizer(sparse_output=True), LinearSVC())
    assert model.fit(rows).score(rows) == 1.0
    table = pa.table({"text": TEXTS, "c": ["u", "v"] * 20})
    with pytest.raises(
        SettingError, match="column 'c' holds categories, which sparse rows cannot"
    ):
        TextVectorizer(sparse_output=True).fit(table).transform(table)


def test_a_study_counts_words_unless_told_not_to(file, tmp_path, monkeypatch):
    found, without = study_with_and_without(
        "text", file, tmp_path, monkeypatch, learners=["NaiveBayes"]
    )
    assert type(found.model[0]).__name__ == "TextVectorizer"
    assert found.best.error < 0.05
    assert without.best.error > 0.2


def test_words_of_a_changed_model_file_are_refused():
    model = TextVectorizer().fit(pa.table({"text": TEXTS}))
    model.words_[0].append("more")
    with pytest.raises(ModelFileError, match="TextVectorizer"):
        model._check_model()


def test_sparse_words_of_a_frame_are_a_sparse_array_that_a_pipeline_hands_on():
    texts = pd.DataFrame(
        {"text": [f"{'oven bread' if i % 2 else 'goal team'} {i}" for i in range(40)]}
    )
    model = make_pipeline(
        TextVectorizer(columns=["text"], sparse_output=True), LogisticRegression()
    ).fit(texts, np.arange(40) % 2)
    assert sparse.issparse(model[0].transform(texts))
    assert model.predict(texts.iloc[:2]).tolist() == [0, 1]

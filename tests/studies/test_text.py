"""Free text in a study: thousands of words as sparse rows where the learner takes them, else a
hundred."""

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

import lyceum
from lyceum import scan, workflows as apply
from lyceum._core.data.files import csv as _csv
from lyceum.bayes import NaiveBayes
from lyceum.ensemble import StackingClassifier, VotingClassifier
from lyceum.errors import SchemaError
from lyceum.linear import LogisticRegression
from lyceum.prepare import (
    KBinsDiscretizer,
    MinMaxScaler,
    MissingCategory,
    OneHotEncoder,
    SimpleImputer,
    StandardScaler,
    TextVectorizer,
)
from lyceum.studies import LearnerChoice, Recipe
from lyceum.studies.plan.plan import Plan
from lyceum.studies.plan.study_data import StudyData
from lyceum.workflows import fit_file

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
    lines = [
        f"{text},{i % 5},{'spam' if k else 'mail'}"
        for i, (text, k) in enumerate(zip(texts, y))
    ]
    path.write_text("text,n,y\n" + "\n".join(lines))
    return path


def candidates(path, **options):
    recipe = Recipe(data=str(path), target="y", learners=(LINEAR, BAYES), **options)
    return {c.name: c for c in Plan.of(recipe, StudyData.of(recipe)).candidates}


def test_sparse_words_go_to_learners_that_take_them_beside_other_columns_too(mails):
    only = candidates(mails, ignore=("n",))
    assert only["LogisticRegression"].steps == ("TextVectorizer", "LogisticRegression")
    assert only["LogisticRegression"].sparse_text
    assert not only["NaiveBayes"].sparse_text
    mixed = candidates(mails)
    assert mixed["LogisticRegression"].steps == (
        "StandardScaler",
        "TextVectorizer",
        "LogisticRegression",
    )
    assert mixed["LogisticRegression"].sparse_text
    assert mixed["NaiveBayes"].steps == ("TextVectorizer", "NaiveBayes")
    assert "as sparse rows" in only["LogisticRegression"].why
    assert mixed["NaiveBayes"].why.startswith(
        "free text is counted word by word, 100 words"
    )


@pytest.mark.usefixtures("no_pictures")
def test_a_study_of_texts_uses_all_words_explains_rows_and_has_its_constant_guess(
    mails, tmp_path
):
    found = lyceum.study(
        mails,
        "y",
        ignore=["n"],
        learners=[LINEAR, BAYES],
        folds=2,
        committees=False,
        out=tmp_path / "study",
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
    model = fit_file(
        mails, "y", "LogisticRegression", ignore=["n"], kinds={"text": "text"}
    )
    assert model.steps[0][1].complexity() > 300


@pytest.fixture
def letters(tmp_path):
    """Free text between a number, a category and a date, each with missing cells."""
    rng = np.random.default_rng(1)
    n = 60
    frame = pd.DataFrame(
        {
            "x": np.where(rng.random(n) < 0.1, np.nan, 1e6 + rng.normal(size=n)),
            "text": [
                " ".join(rng.choice([f"word{i}" for i in range(60)], 8))
                for _ in range(n)
            ],
            "c": rng.choice(["u", "v", "w", None], n),
            "day": pd.Timestamp("2020-01-01")
            + pd.to_timedelta(rng.integers(0, 900, n), "D"),
            "y": rng.choice(["a", "b"], n),
        }
    )
    frame.loc[::9, "text"] = None
    path = tmp_path / "letters.csv"
    frame.to_csv(path, index=False)
    return path


def test_words_stand_beside_the_other_columns_as_if_each_were_prepared_alone(
    letters, tmp_path
):
    model = fit_file(letters, "y", "LogisticRegression", kinds={"text": "text"})
    assert list(model.named_steps) == [
        "datetimeencoder",
        "simpleimputer",
        "standardscaler",
        "onehotencoder",
        "textvectorizer",
        "logisticregression",
    ]
    rows = scan(letters, "y", kinds={"text": "text"})
    found = np.vstack(
        [block.X.toarray() for block in model[:-1].transform(rows).blocks()]
    )
    frame = pd.read_csv(letters, parse_dates=["day"])
    words = (
        TfidfVectorizer(min_df=2, max_df=0.5)
        .fit_transform(frame["text"].fillna(""))
        .toarray()
    )
    x = frame["x"].fillna(frame["x"].mean())
    names = model[:-1].get_feature_names_out().tolist()
    np.testing.assert_allclose(
        found[:, names.index("x")], (x - x.mean()) / x.std(ddof=0), atol=1e-8
    )
    np.testing.assert_allclose(
        found[:, [name.startswith("text: ") for name in names]], words, atol=1e-12
    )
    np.testing.assert_array_equal(
        found[:, names.index("c=v")], frame["c"].fillna(frame["c"].mode()[0]) == "v"
    )
    np.testing.assert_array_equal(
        found[:, names.index("day weekday=Friday")], frame["day"].dt.day_of_week == 4
    )

    expected = model.predict_proba(rows)
    streamed = model.__class__(model.steps).fit(
        scan(letters, "y", kinds={"text": "text"}, memory=0)
    )
    np.testing.assert_allclose(streamed.predict_proba(rows), expected, atol=1e-6)
    lyceum.save(model, tmp_path / "m.lyceum")
    loaded = lyceum.load(tmp_path / "m.lyceum")
    assert all(
        step.schema_["text"].categories.size == 0 for _, step in loaded.steps[:-1]
    )  # no text is kept
    fresh = frame.drop(columns="y").assign(
        text="word3 word4 and words that fit has never seen"
    )
    np.testing.assert_array_equal(
        loaded.predict_proba(fresh), model.predict_proba(fresh)
    )
    (first,) = apply.explain_rows(loaded, letters)
    assert {column for column, *_ in first.contributions} == {"x", "text", "c", "day"}


def test_preparations_leave_free_text_in_a_frame_as_it_is():
    frame = pd.DataFrame({"x": [1.0, None, 3.0, 5.0], "c": ["u", None, "v", "u"]})
    frame["text"] = ["a b", None, "c d", "e f"]
    kinds = {"text": "text"}
    for step in (
        SimpleImputer(),
        SimpleImputer(add_indicator=True),
        MissingCategory(),
        StandardScaler(),
        MinMaxScaler(),
        OneHotEncoder(),
    ):
        rows = scan(frame, kinds=kinds)
        after = step.fit(rows).transform(frame)
        assert after["text"].fillna("").tolist() == ["a b", "", "c d", "e f"], step
        assert type(step.partial_fit(rows).summary().as_dict()) is dict
    with pytest.raises(SchemaError, match="'text' is free text"):
        KBinsDiscretizer().fit(scan(frame, kinds=kinds))


@pytest.mark.parametrize("memory", [512 << 20, 0])
def test_committees_and_stacks_of_texts_can_be_explained_and_saved(
    letters, tmp_path, monkeypatch, memory
):
    monkeypatch.setattr(_csv, "_STREAM_BYTES", 3 << 10)  # several batches
    rows = scan(letters, "y", kinds={"text": "text"}, memory=memory)
    members = [
        make_pipeline(
            SimpleImputer(),
            OneHotEncoder(),
            TextVectorizer(sparse_output=True),
            LogisticRegression(),
        )
    ]
    members.append(make_pipeline(TextVectorizer(), NaiveBayes()))
    alone = members[1].fit(rows).predict_proba(rows)
    for model in (
        VotingClassifier(members[1:], voting="soft"),
        VotingClassifier(members, voting="soft"),
        StackingClassifier(members, cv=2, random_state=0),
    ):
        found = model.fit(rows).predict_proba(rows)
        if len(model.estimators_) == 1:
            np.testing.assert_allclose(found, alone, atol=1e-9)
        lyceum.save(model, tmp_path / "m.lyceum", force=True)
        loaded = lyceum.load(tmp_path / "m.lyceum")
        np.testing.assert_array_equal(loaded.predict_proba(rows), found)
        (first,) = apply.explain_rows(loaded, letters, [1])
        assert model.explain(rows).values[3, 1] == pd.read_csv(letters)["text"][3]
        adds = {column: value for column, _, value in first.contributions}
        assert adds["text"] != 0
        assert first.base + sum(adds.values()) == pytest.approx(first.score)
    with pytest.raises(SchemaError, match="'text' is free text"):
        VotingClassifier([NaiveBayes()]).fit(rows)

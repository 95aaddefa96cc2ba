"""The plan: which learners, built from what they need, on which rows, in which order."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tests.studies.conftest import plan_for

from lyceum import catalog, scan
from lyceum._core.data import profile_large_file
from lyceum._core.data.files.csv import CsvReader
from lyceum.errors import SchemaError, StudyError
from lyceum.studies import LearnerChoice, Recipe
from lyceum.studies.plan import plan as _plan
from lyceum.studies.plan.plan import Plan, readable
from lyceum.studies.plan.study_data import StudyData


def test_a_learner_is_prepared_with_only_what_it_needs():
    plan, _ = plan_for("penguins", "species")
    steps = {c.name: c.steps for c in plan.candidates}
    assert steps["NaiveBayes"] == ("NaiveBayes",)
    assert steps["LinearDiscriminantAnalysis"] == (
        "SimpleImputer",
        "LinearDiscriminantAnalysis",
    )
    assert steps["LogisticRegression"] == (
        "SimpleImputer",
        "StandardScaler",
        "LogisticRegression",
    )
    plan, _ = plan_for("cpu", "class")
    assert plan["LinearRegression"].steps == ("LinearRegression",)


def test_the_baseline_is_always_first():
    for asked in ((), ("NaiveBayes",)):
        plan, _ = plan_for("heart_disease", "diameter narrowing", learners=asked)
        assert plan.candidates[0].is_baseline
        assert sum(c.is_baseline for c in plan.candidates) == 1


def test_every_learner_has_its_first_fold_before_any_has_its_second():
    plan, _ = plan_for("penguins", "species", folds=3, repeats=2)
    tasks = list(plan.tasks())
    n = len(plan.candidates)
    assert len(tasks) == len(set(tasks)) == 6 * n
    assert {(t.repeat, t.fold) for t in tasks[:n]} == {(0, 0)}


def test_folds_are_stratified_and_test_every_row_once_a_repeat():
    plan, data = plan_for("german_credit", "class", folds=5, repeats=2, holdout=0.2)
    splits = plan.splits(data.y)
    assert len(splits) == 10
    for repeat in range(2):
        tested = np.concatenate([splits[repeat, fold].test for fold in range(5)])
        assert sorted(tested) == sorted(plan.compared)
    for split in splits.values():
        assert not set(split.train) & set(split.test)
        assert abs(data.y[split.test].mean() - 0.7) < 0.01
    assert not set(plan.compared) & set(plan.held_out)
    assert len(plan.held_out) == 200
    assert not np.array_equal(splits[0, 0].test, splits[1, 0].test)


def test_a_task_seed_does_not_depend_on_the_other_learners():
    alone, _ = plan_for("penguins", "species", learners=("LogisticRegression",))
    among, _ = plan_for("penguins", "species")
    task = next(t for t in alone.tasks() if t.name == "LogisticRegression")
    assert alone.seed_of(task) == among.seed_of(task)
    other, _ = plan_for("penguins", "species", seed=1)
    assert other.seed_of(task) != alone.seed_of(task)


def test_a_search_space_is_searched_from_the_defaults_on_and_a_fixed_setting_is_not_searched():
    plan, _ = plan_for(
        "cpu",
        "class",
        learners=(
            "Ridge",
            LearnerChoice("Ridge", {"alpha": 3.0}),
            LearnerChoice("Ridge", {}, {"alpha": (0.01, 1.0, "log")}),
            LearnerChoice("Ridge", {}, {"fit_intercept": [True, False]}),
        ),
    )
    _, first, second, third, fourth = plan.candidates
    assert first.search[0] == {}
    assert first.search[1]["alpha"] == 1e-4
    assert first.search[-1]["alpha"] == 1e4
    assert (second.name, second.search) == ("Ridge 2", ())
    assert [s["alpha"] for s in third.search][::11] == [0.01, 1.0]
    assert [s["fit_intercept"] for s in fourth.search] == [True, False]


@pytest.mark.parametrize(
    ("learners", "message"),
    [
        (
            ("Ridge",),
            "Ridge is for regression, but the target 'species' asks for classification",
        ),
        (("NaiveBays",), "did you mean NaiveBayes"),
        (
            (LearnerChoice("NaiveBayes", {"estimate": "magic"}),),
            "NaiveBayes cannot be set so",
        ),
        ((LearnerChoice("NaiveBayes", {"color": 1}),), "NaiveBayes cannot be set so"),
        (
            (LearnerChoice("LogisticRegression", {}, {"C": [-1.0]}),),
            "LogisticRegression cannot be set so",
        ),
    ],
)
def test_a_wrong_learner_is_refused_before_anything_runs(learners, message):
    with pytest.raises(StudyError) as error:
        plan_for("penguins", "species", learners=learners)
    assert message in str(error.value)


def test_a_class_smaller_than_the_folds_leaves_them_and_is_said(tmp_path):
    path = tmp_path / "rare.csv"
    rng = np.random.default_rng(0)
    rows = [
        f"{rng.normal():.3f},{label}" for label in ["a"] * 40 + ["b"] * 30 + ["c"] * 3
    ]
    path.write_text("x,y\n" + "\n".join(rows))
    recipe = Recipe(data=str(path), target="y")
    plan = Plan.of(recipe, StudyData.of(recipe).check_rows())
    assert plan.folds == 10
    assert "smallest class has 3 rows" in plan.notes[0]


def test_rows_without_a_target_are_left_out_and_numbered_as_in_the_file(tmp_path):
    path = tmp_path / "gaps.csv"
    path.write_text(
        "x,y\n"
        + "\n".join(f"{i / 7},{'' if i % 5 == 0 else 'ab'[i % 2]}" for i in range(60))
    )
    data = StudyData.of(Recipe(data=str(path), target="y")).check_rows()
    assert data.n_without_target == 12
    assert data.numbers.tolist() == [i for i in range(60) if i % 5]
    assert "12 rows without a target were left out" in data.notes[0]


def test_a_file_larger_than_memory_is_sampled_by_row_number(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    X = rng.normal(size=(60_000, 4))
    columns = {f"x{j}": X[:, j] for j in range(4)}
    y = np.where(X[:, 0] + rng.normal(size=len(X)) > 0, "yes", "no")
    path = tmp_path / "large.parquet"
    pq.write_table(pa.table({**columns, "y": y}), path, row_group_size=10_000)
    small = StudyData.of(Recipe(data=str(path), target="y", memory_mb=1))
    whole = StudyData.of(Recipe(data=str(path), target="y"))
    assert (small.is_sample, whole.is_sample) == (True, False)
    assert small.n_rows == whole.n_rows == 60_000
    assert 1_000 <= len(small.numbers) < 20_000
    assert np.array_equal(small.rows.source.X, whole.rows.take(small.numbers).source.X)
    assert np.array_equal(small.y, whole.y[small.numbers])
    assert "random sample" in small.notes[-1]


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A CSV file with free text, weights and few rows with a target, larger than the memory
    allowed."""
    rng = np.random.default_rng(0)
    n = 40_000
    texts = [f"a text of some length about word{i % 50} and row{i}" for i in range(n)]
    frame = pd.DataFrame(
        {"text": texts, "x": rng.normal(size=n), "w": rng.integers(0, 3, n)}
    )
    frame["y"] = np.where(
        np.arange(n) % 10 == 0, np.where(np.arange(n) % 3, "yes", "no"), None
    )
    path = tmp_path_factory.mktemp("large") / "large.csv"
    frame.to_csv(path, index=False)
    return path, frame


def test_a_large_file_is_read_once_before_the_final_fit(large, monkeypatch):
    path, frame = large
    passes = []
    stream = CsvReader.stream
    monkeypatch.setattr(
        CsvReader,
        "stream",
        lambda form, path: passes.append(path) or stream(form, path),
    )
    recipe = Recipe(data=str(path), target="y", weight="w", memory_mb=1)
    data = StudyData.of(recipe).check_rows()
    assert len(passes) == 1
    assert data.is_sample
    assert (data.n_rows, data.n_without_target) == (4_000, 36_000)
    # rows without a target are drawn last, those of weight zero are left out, and texts are theirs
    kept = frame[(frame["w"] > 0) & frame["y"].notna()]
    assert data.numbers.tolist() == kept.index.tolist()
    text = data.schema["text"]
    assert text.is_free_text
    codes = np.concatenate([block.X[:, 0] for block in data.rows.blocks()]).astype(int)
    assert text.categories[codes].tolist() == kept["text"].tolist()
    assert data.w.tolist() == kept["w"].tolist()
    final = next(data.all_rows.blocks())
    assert len(passes) == 2
    assert final.schema["text"].categories[int(final.X[0, 0])] == frame["text"][0]


def test_a_tree_for_a_file_larger_than_memory_is_grown_from_histograms(large):
    recipe = Recipe(data=str(large[0]), target="y", memory_mb=1)
    plan = Plan.of(recipe, StudyData.of(recipe).check_rows())
    assert plan["DecisionTreeClassifier"].settings == {"max_bins": 255}
    assert "KNeighborsClassifier" not in [
        candidate.name for candidate in plan.candidates
    ]
    assert plan_for("penguins", "species")[0]["DecisionTreeClassifier"].settings == {}


def test_other_rows_of_a_large_file_are_drawn_by_another_seed(large):
    path, _ = large
    few = {"target": "y", "size": 500}
    one, two, again = (
        profile_large_file(path, seed=seed, **few).seen.numbers for seed in (1, 2, 1)
    )
    assert one.tolist() == again.tolist() != two.tolist()
    assert (one % 10 == 0).all()
    assert len(one) == 500
    with pytest.raises(SchemaError, match="'x' were not all listed"):
        scan(profile_large_file(path), "y", kinds={"x": "categorical"})


def test_learners_whose_rows_are_limited_are_left_out_of_larger_tables_and_named(
    tmp_path,
):
    entries = [
        catalog.find(name)
        for name in ("NaiveBayes", "LinearDiscriminantAnalysis", "KNeighborsClassifier")
    ]
    naive, linear, near = (replace(entries[0], study_rows=100), *entries[1:])
    path = tmp_path / "t.csv"
    path.write_text(
        "x,y\n" + "\n".join(f"{i},{'yes' if i % 3 else 'no'}" for i in range(101))
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(catalog, "learners", lambda task=None: (naive, linear))
        recipe = Recipe(data=str(path), target="y", keep=("x",))
        plan = Plan.of(recipe, StudyData.of(recipe))
        patch.setattr("lyceum.studies.plan.plan._IN_MEMORY", 50)
        patch.setattr(catalog, "learners", lambda task=None: (near,))
        other = Plan.of(recipe, StudyData.of(recipe))
    assert [c.name for c in plan.candidates[1:]] == ["LinearDiscriminantAnalysis"]
    assert plan.left_out == (
        "Left out, because there are more than 100 rows: naive Bayes.",
    )
    assert other.left_out == (
        "Left out, because there are more than 50 rows: k nearest neighbors.",
    )


def test_names_read_as_words():
    assert readable("SVC") == "SVC"
    assert readable("RandomForestClassifier") == "random forest"
    assert [readable(name) for name in ("C45", "ID3", "CART", "PCA")] == [
        "C45",
        "ID3",
        "CART",
        "PCA",
    ]
    assert readable("BayesianGaussianClassifier") == "Bayesian Gaussian classifier"


def test_what_takes_long_is_searched_too_and_what_another_does_is_not_tried_unasked():
    plan, _ = plan_for("penguins", "species")
    names = {candidate.name for candidate in plan.candidates}
    assert {"NaiveBayes", "LogisticRegression", "MLPClassifier"} <= names
    assert not names & {"Perceptron", "BernoulliNB"}
    assert len(plan["LogisticRegression"].search) == 12
    # a slow learner has a few settings that are good on many tables
    portfolio = catalog.find("MLPClassifier").portfolio
    assert plan["MLPClassifier"].search == portfolio
    few, _ = plan_for("penguins", "species", n_settings=2)
    assert few["MLPClassifier"].search == portfolio[:2]
    choice = LearnerChoice("MLPClassifier", {"alpha": 0.5})
    fixed, _ = plan_for("penguins", "species", learners=(choice,))
    assert all("alpha" not in settings for settings in fixed["MLPClassifier"].search)
    asked, _ = plan_for("penguins", "species", learners=("MLPClassifier", "Perceptron"))
    assert len(asked["MLPClassifier"].search) > 1
    assert asked["Perceptron"].steps[-1] == "Perceptron"


def test_variants_are_learners_of_their_own_where_a_fit_takes_little_time(monkeypatch):
    plan, _ = plan_for("penguins", "species")
    variants = catalog.find("HistGradientBoostingClassifier").variants
    first = plan["HistGradientBoostingClassifier"]
    assert first.label == "gradient boosting"
    for number, (words, settings) in enumerate(variants.items(), start=2):
        candidate = plan[f"HistGradientBoostingClassifier {number}"]
        assert candidate.label == f"gradient boosting {words}"
        assert candidate.settings.items() >= settings.items()
        assert len(candidate.search) < 2
        assert candidate.steps == first.steps
        assert candidate.promise < first.promise
        assert candidate.name in plan.committees[0].members
    assert f"HistGradientBoostingClassifier {len(variants) + 2}" not in {
        c.name for c in plan.candidates
    }
    # every round grows a tree per class: 344 rows of 3 classes are as 1,032
    monkeypatch.setattr(_plan, "_VARIED_ROWS", 1_031)
    names = {c.name for c in plan_for("penguins", "species")[0].candidates}
    assert "HistGradientBoostingClassifier" in names
    assert "HistGradientBoostingClassifier 2" not in names
    # a learner that is named is tried as it was named
    asked, _ = plan_for(
        "penguins", "species", learners=("HistGradientBoostingClassifier",)
    )
    assert len(asked.candidates) == 2


def test_many_classes_are_tried_with_what_takes_little_time_and_that_is_said(tmp_path):
    path = tmp_path / "t.csv"
    n_rows, n_classes = 640, 160
    lines = [f"{i % 7}.5,{(i * i) % 13}.5,k{i % n_classes}" for i in range(n_rows)]
    path.write_text("a,b,y\n" + "\n".join(lines))
    recipe = Recipe(data=str(path), target="y", kinds={"y": "categorical"})
    data = StudyData.of(recipe)
    plan = Plan.of(recipe, data)
    assert all(len(c.search) < 2 for c in plan.candidates)
    boosting = plan["HistGradientBoostingClassifier"].settings
    frugal = catalog.find("HistGradientBoostingClassifier").frugal
    assert boosting.items() >= frugal.items()
    assert plan.folds == 5
    assert [c.name for c in plan.committees] == ["Committee"]
    assert "SVC" not in {c.name for c in plan.candidates}
    assert plan.left_out[0] == "Left out, because there are more than 50 classes: SVC."
    assert "160 classes" in plan.left_out[1]
    assert "no settings were searched" in plan.left_out[1]
    assert plan.left_out[2].startswith("Left out: stacking, which would learn from")
    # a budget decides by the time that fits take, and learners that are named are tried as asked
    for more in ({"budget_minutes": 5.0}, {"learners": ("RandomForestClassifier",)}):
        other = Plan.of(replace(recipe, **more), data)
        assert len(other["RandomForestClassifier"].search) == 4
        assert not any("no settings were searched" in text for text in other.left_out)

"""`lyceum evaluate`: every number against scikit-learn, statsmodels or a definition."""

import itertools
import json

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics
from statsmodels.stats.proportion import proportion_confint

import lyceum
from lyceum.linear import LinearRegression
from lyceum.trees import DecisionTreeClassifier
from lyceum.workflows import evaluate_model


@pytest.fixture
def truth(credit):
    return pd.read_csv(credit)["class"].to_numpy()


@pytest.fixture
def posterior(models, credit):
    return lyceum.load(models["logistic"]).predict_proba(
        lyceum.scan(credit, target="class")
    )


def test_numbers_are_those_of_scikit_learn_and_statsmodels(
    command, models, credit, truth, posterior
):
    code, out, err = command(
        "evaluate", models["logistic"], credit, "--target", "class", "--json"
    )
    assert (code, err) == (0, "")
    found = json.loads(out)["metrics"]
    said = np.array(["bad", "good"])[posterior.argmax(axis=1)]
    assert found["error"]["value"] == pytest.approx(
        1 - metrics.accuracy_score(truth, said)
    )
    low, high = proportion_confint((said != truth).sum(), 1000, method="wilson")
    assert (found["error"]["low"], found["error"]["high"]) == pytest.approx((low, high))
    assert found["kappa"]["value"] == pytest.approx(
        metrics.cohen_kappa_score(truth, said)
    )
    assert found["AUC"]["value"] == pytest.approx(
        metrics.roc_auc_score(truth == "good", posterior[:, 1])
    )
    assert found["log loss"]["value"] == pytest.approx(
        metrics.log_loss(truth, posterior)
    )
    brier = metrics.brier_score_loss(truth == "good", posterior[:, 1])
    assert found["Brier score"]["value"] == pytest.approx(brier)
    counts = json.loads(out)["confusion"]["counts"]
    assert counts == metrics.confusion_matrix(truth, said).tolist()


def test_the_interval_of_the_auc_is_de_longs_by_its_definition(
    models, credit, truth, posterior
):
    rows = np.r_[0:40, 500:540]
    frame = pd.read_csv(credit).iloc[rows]
    found = evaluate_model(lyceum.load(models["logistic"]), frame)["AUC"]
    score, good = posterior[rows, 1], truth[rows] == "good"
    above, below = score[good], score[~good]
    wins = np.array([[(a > b) + 0.5 * (a == b) for b in below] for a in above])
    variance = wins.mean(axis=1).var(ddof=1) / len(above) + wins.mean(axis=0).var(
        ddof=1
    ) / len(below)
    assert found.value == pytest.approx(wins.mean())
    assert found.high - found.value == pytest.approx(
        min(1.959964 * variance**0.5, 1 - found.value), rel=1e-6
    )


def test_costs_are_those_of_the_best_decisions(
    command, models, credit, truth, posterior
):
    cost = np.array([[0.0, 5.0], [1.0, 0.0]])
    codes = (truth == "good").astype(int)
    brute = [min(row @ cost[:, a] for a in range(2)) for row in posterior]
    chosen = [
        next(a for a in range(2) if row @ cost[:, a] == best)
        for row, best in zip(posterior, brute)
    ]
    _, out, _ = command(
        "evaluate",
        models["logistic"],
        credit,
        "--loss",
        "bad:good=5,good:bad=1",
        "--json",
    )
    found = json.loads(out)["metrics"]
    assert found["cost per row"]["value"] == pytest.approx(cost[codes, chosen].mean())
    likeliest = cost[codes, posterior.argmax(axis=1)].mean()
    assert found["cost of the likeliest class"]["value"] == pytest.approx(likeliest)
    assert found["cost of always bad"]["value"] == pytest.approx(0.7)


def test_doubt_rejects_and_costs(models, credit, truth, posterior):
    found = evaluate_model(lyceum.load(models["logistic"]), credit, doubt=0.2)
    sure = posterior.max(axis=1) > 0.8
    wrong = np.array(["bad", "good"])[posterior.argmax(axis=1)] != truth
    assert found["reject rate"].value == pytest.approx(1 - sure.mean())
    assert found["error"].value == pytest.approx(wrong[sure].mean())
    assert found["cost per row"].value == pytest.approx(
        np.where(sure, wrong, 0.2).mean()
    )


def test_regression_errors_have_intervals(command, models, cpu):
    rows = lyceum.scan(cpu, target="class")
    said, y = lyceum.load(models["ridge"]).predict(rows), pd.read_csv(cpu)["class"]
    found = json.loads(command("evaluate", models["ridge"], cpu, "--json")[1])[
        "metrics"
    ]
    assert found["RMSE"]["value"] == pytest.approx(
        metrics.root_mean_squared_error(y, said)
    )
    assert found["MAE"]["value"] == pytest.approx(metrics.mean_absolute_error(y, said))
    assert found["R²"]["value"] == pytest.approx(metrics.r2_score(y, said))
    assert found["RMSE"]["low"] < found["RMSE"]["value"] < found["RMSE"]["high"]


def test_the_terminal_shows_measures_confusion_and_classes(command, models, credit):
    code, out, _ = command("evaluate", models["logistic"], credit, width=90)
    assert code == 0
    assert max(map(len, out.splitlines())) <= 90
    assert all(
        word in out
        for word in ("error", "95 % interval", "rows: truth", "precision", "log loss")
    )


def test_rows_without_truth_and_unknown_classes_are_said(
    command, models, credit, tmp_path
):
    frame = pd.read_csv(credit)
    frame.loc[:9, "class"] = None
    frame.loc[10:14, "class"] = "ugly"
    frame.to_csv(tmp_path / "t.csv", index=False)
    code, out, _ = command(
        "evaluate", models["logistic"], tmp_path / "t.csv", width=200
    )
    assert code == 0
    assert "Left out: 10 rows without a truth." in out
    assert "The model does not know the class of 5 rows, such as 'ugly'" in out
    found = evaluate_model(lyceum.load(models["logistic"]), tmp_path / "t.csv")
    clean = evaluate_model(lyceum.load(models["logistic"]), frame.iloc[15:])
    assert found.n_rows == 990
    assert found["error"].value == pytest.approx((clean["error"].value * 985 + 5) / 990)
    assert found["log loss"].value == pytest.approx(clean["log loss"].value)


def test_three_classes_have_hand_and_tills_area(tmp_path):
    from lyceum import datasets
    from lyceum.bayes import NaiveBayes

    path = datasets.path("penguins")
    rows = lyceum.scan(path, target="species")
    model = NaiveBayes().fit(rows.take(np.arange(0, 344, 2)))
    found = evaluate_model(model, path)
    y = pd.read_csv(path)["species"]
    expected = metrics.roc_auc_score(
        y, model.predict_proba(rows), multi_class="ovo", average="macro"
    )
    assert found["AUC (Hand and Till)"].value == pytest.approx(expected)


@pytest.mark.parametrize("n", [1, 2])
def test_one_or_two_rows_are_measured_without_nan(models, credit, n):
    found = evaluate_model(
        lyceum.load(models["logistic"]),
        pd.read_csv(credit).head(n),
        loss=[[0, 5], [1, 0]],
    )
    numbers = itertools.chain.from_iterable(
        (m.value, m.low, m.high) for m in found.metrics
    )
    assert np.isfinite([number for number in numbers if number is not None]).all()


@pytest.mark.parametrize(
    ("model", "arguments", "message"),
    [
        ("logistic", ["--target", "clas"], "did you mean 'class'"),
        ("logistic", ["--loss", "bad:goood=5"], "did you mean 'good'"),
        ("ridge", ["--doubt", "0.1"], "predicts numbers"),
    ],
)
def test_a_fault_is_one_sentence(
    command, models, credit, cpu, model, arguments, message
):
    code, out, err = command(
        "evaluate", models[model], cpu if model == "ridge" else credit, *arguments
    )
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_losses_that_are_never_negative_have_intervals_that_are_not_either():
    rows = pd.DataFrame(
        {"size": [1.0, 2.0, 3.0, 6.0, 7.0, 8.0], "kind": list("aaabbb")}
    )
    model = DecisionTreeClassifier().fit(lyceum.scan(rows, target="kind"))
    found = evaluate_model(model, rows.assign(kind=list("aabbbb")))
    assert [found[name].low for name in ("log loss", "Brier score")] == [0.0, 0.0]
    line = LinearRegression().fit(
        lyceum.scan(rows[["size"]].assign(kind=rows["size"]), target="kind")
    )
    found = evaluate_model(
        line, rows[["size"]].assign(kind=[1.0, 2.0, 3.0, 6.0, 7.0, 80.0])
    )
    assert [found[name].low for name in ("RMSE", "MAE")] == [0.0, 0.0]


def test_rows_of_one_class_have_no_auc_and_notes_are_in_the_notebook(models, credit):
    """An AUC of 0.5 would be made up: there is no pair of rows to rank."""
    model, frame = lyceum.load(models["logistic"]), pd.read_csv(credit)
    good = frame[frame["class"] == "good"]
    names = [metric.name for metric in evaluate_model(model, good).metrics]
    assert "AUC" not in names
    assert {"error", "log loss", "Brier score"} <= set(names)
    strange = evaluate_model(model, good.assign(**{"class": "<new>"}))
    assert "&lt;new&gt;" in strange._repr_html_()
    found = strange.as_dict()
    assert sum(found["confusion"]["foreign"]) == found["rows"] == len(good)
    three = pd.DataFrame(
        {"size": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "kind": list("aabbcc")}
    )
    tree = DecisionTreeClassifier().fit(lyceum.scan(three, target="kind"))
    assert "AUC (Hand and Till)" in [
        m.name for m in evaluate_model(tree, three[:4]).metrics
    ]
    assert "AUC (Hand and Till)" not in [
        m.name for m in evaluate_model(tree, three[:2]).metrics
    ]


def test_the_mean_over_one_row_has_no_interval(models, credit, cpu):
    loss = {("bad", "good"): 5.0, ("good", "bad"): 1.0}
    one = evaluate_model(
        lyceum.load(models["logistic"]), pd.read_csv(credit)[:1], loss=loss
    )
    # Wilson's
    assert [m.name for m in one.metrics if m.low is not None] == ["error", "accuracy"]
    one = evaluate_model(lyceum.load(models["ridge"]), pd.read_csv(cpu)[:1])
    assert [m.low for m in one.metrics] == [None] * len(one.metrics)
    two = evaluate_model(lyceum.load(models["ridge"]), pd.read_csv(cpu)[:2])
    assert two["RMSE"].low is not None
    assert (list(one["RMSE"].as_dict()), list(two["RMSE"].as_dict())) == (
        ["value"],
        ["value", "low", "high"],
    )

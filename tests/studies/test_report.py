"""The report: one page that says what the study found, drawn to scale, and needs nothing else."""

import json
import math
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import precision_recall_fscore_support

import lyceum
from lyceum import datasets
from lyceum.report import Table
from lyceum.studies import Candidate, ColumnWarning, Failure, Study
from lyceum.studies.report import page as _report
from lyceum.studies.report.class_figures import most_mistaken, positive_class
from lyceum.studies.report.format import percent_text
from lyceum.studies.report.page import _breakable, render, write_report
from lyceum.studies.report.parts import IntervalScale, TableCells
from lyceum.studies.run import conclusions as _conclusions

COSTS = {("bad", "good"): 5, ("good", "bad"): 1}
VOID = {"meta", "br", "link", "img", "hr", "input", "wbr"}


@pytest.fixture(scope="module")
def studies(tmp_path_factory):
    """Two classes with costs and doubt, three classes with missing cells, numbers; curves of two
    folds."""
    folder = tmp_path_factory.mktemp("studies")
    asked = {
        "credit": (
            "german_credit",
            "class",
            ["NaiveBayes", "LogisticRegression"],
            {"loss": COSTS, "doubt": 0.9},
        ),
        "penguins": (
            "penguins",
            "species",
            ["NaiveBayes", "LinearDiscriminantAnalysis"],
            {},
        ),
        "cpu": ("cpu", "class", ["LinearRegression", "Ridge"], {"holdout": 0.2}),
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_conclusions, "_CURVE_FOLDS", 2)
        return {
            name: lyceum.study(
                datasets.path(table),
                target,
                learners=learners,
                n_settings=2,
                folds=3,
                out=folder / name,
                **more,
            )
            for name, (table, target, learners, more) in asked.items()
        }


@pytest.fixture(params=["credit", "penguins", "cpu"])
def study(request, studies):
    return studies[request.param]


class Page(HTMLParser):
    """Tags, attributes and text of a page; raises where tags do not match."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.words, self.ids, self.links = [], [], [], [], []
        self.captioned = []
        self.scripts = []  # attributes and code
        # explanations of words stand inside sentences
        self.feed(re.sub("</?abbr[^>]*>", "", text))
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        found = dict(attributes)
        self.ids += [found["id"]] if "id" in found else []
        self.links += [
            found[key] for key in ("href", "src", "xlink:href") if key in found
        ]
        if tag == "script":
            self.scripts.append([found, ""])
        if tag == "table":
            self.captioned.append(False)
        if tag == "caption":
            self.captioned[-1] = True
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "script" in self.open:
            self.scripts[-1][1] += data
        elif "style" not in self.open:
            self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).replace("\u00a0", " ").split())


def page_of(study):
    """The page that the study wrote."""
    return study.report_path.read_text(encoding="utf-8")


def pictures_of(study):
    """The pictures of its page by their names, in their order."""
    names = [
        figure["name"]
        for figure in json.loads(study.content_path.read_text(encoding="utf-8"))[
            "figures"
        ]
    ]
    return dict(
        zip(
            names,
            re.findall(r'<svg role="img".*?</svg>', page_of(study), re.DOTALL),
            strict=True,
        )
    )


def test_the_page_is_well_formed_and_needs_nothing_else(study):
    page = Page(page_of(study))
    ((attributes, code),) = page.scripts  # the model, whole
    assert attributes == {"type": "module"}
    assert "export function decide(record) {" in code
    assert not re.search(
        r"\bimport\b|\bfetch\b|XMLHttpRequest|WebSocket|EventSource|sendBeacon|Worker"
        r"|\beval\b|\bFunction\(|innerHTML|\.src\b|https?:",
        code,
    )
    assert "img" not in page.tags
    links = [
        link for link in page.links if not link.startswith("data:image/png;base64,")
    ]
    assert set(links) <= {f"#{name}" for name in page.ids}
    assert len(set(page.ids)) == len(page.ids)
    assert "url(" not in re.sub(r"url\(#", "", page_of(study))
    assert "@import" not in page_of(study)
    assert all(page.captioned)
    assert page.captioned


def test_without_failures_there_are_no_problems(study):
    assert study.problems == ()
    assert json.loads(study.results_path.read_text(encoding="utf-8"))["problems"] == []
    assert "could not be made" not in page_of(study)


def test_it_says_what_the_study_says(study):
    text = Page(page_of(study)).text
    assert study.answer in text
    for statement in study.comparison.statements:
        assert " ".join(statement.split()) in text
    for learner in study.comparison.learners:
        assert learner.label in text
    for column in study.schema:
        assert column.name in text
    for name, version in study.versions.items():
        assert f"{name} {version}" in text
    assert study.model_summary().title in text
    for example in study.examples:
        assert f"Row {example.row:,}" in text


def test_the_top_says_whether_the_target_is_a_class_or_a_number(study):
    found = Page(page_of(study)).text
    assert " ".join(study.question.split()) in found
    assert found.index("is predicted as a") < found.index("Rows tested")


def test_intervals_are_drawn_to_scale(study):
    scale = IntervalScale.of(study.comparison.learners)
    rows = re.findall(r'<svg class="interval".*?</svg>', page_of(study), re.DOTALL)
    drawn = [s for s in study.comparison.learners if scale.holds(s.loss)]
    assert len(rows) == len(drawn)
    for row, learner in zip(rows, drawn):
        point = float(re.search(r'class="point" x1="([\d.]+)"', row)[1])
        value = scale.low + point / 100 * (scale.high - scale.low)
        assert value == pytest.approx(learner.loss, abs=(scale.high - scale.low) / 5000)
        low, high = map(
            float, re.search(r'<line x1="([\d.]+)" x2="([\d.]+)" y1="8"', row).groups()
        )
        assert low <= point <= high
        assert scale.low + high / 100 * (scale.high - scale.low) == pytest.approx(
            min(learner.interval[1], scale.high), abs=(scale.high - scale.low) / 5000
        )


def test_a_constant_guess_far_off_does_not_squeeze_the_learners(studies):
    learners = studies["penguins"].comparison.learners
    scale = IntervalScale.of(learners)
    assert not scale.holds(next(s.loss for s in learners if s.is_baseline))
    assert all(
        scale.holds(end) for s in learners if not s.is_baseline for end in s.interval
    )
    assert "off the scale" in Page(page_of(studies["penguins"])).text


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "credit",
            [
                "confusion",
                "roc",
                "precision",
                "cost",
                "reject",
                "calibration",
                "folds",
                "learning",
            ],
        ),
        (
            "penguins",
            [
                "confusion",
                "cobweb",
                "roc",
                "precision",
                "reject",
                "calibration",
                "folds",
                "learning",
            ],
        ),
        ("cpu", ["truth", "residuals", "errors", "folds", "learning"]),
    ],
)
def test_every_task_has_its_pictures(studies, name, expected):
    pictures = pictures_of(studies[name])
    # the effects of a linear model add up: no pair of columns is drawn
    pair = [] if name == "cpu" else ["pair"]
    assert list(pictures) == [
        *expected,
        "importance",
        *(f"effect-{i}" for i in range(4)),
        *pair,
    ]
    assert max(map(len, pictures.values())) < 150_000


def test_the_confusion_drawn_is_that_of_the_choice(studies):
    study = studies["credit"]
    svg = pictures_of(study)["confusion"]
    for count in np.asarray(study.choice.confusion).ravel():
        assert f">{count:,.0f}" in svg
    assert "reject" in svg


def test_curves_are_about_the_class_that_is_dearest_to_miss(studies):
    study = studies["credit"]
    assert study.classes[positive_class(study)] == "bad"
    assert "finding “bad”" in Page(page_of(study)).text
    plain = replace(study, loss=None)
    assert plain.classes[positive_class(plain)] == "bad"  # 300 of 1,000: the rarer


def test_explanations_add_up(study):
    tables = re.findall(r'<table class="bars">.*?</table>', page_of(study), re.DOTALL)
    assert len(tables) == len(study.examples)
    for example, bars in zip(study.examples, tables):
        adds = [
            float(x.replace(",", ""))
            for x in re.findall(r'<td class="n">(.*?)</td>', bars)
        ]
        begin, end = (
            float(example.explanation.base[0]),
            float(example.explanation.scores[0]),
        )
        assert begin + sum(adds) == pytest.approx(
            end, abs=0.01 * sum(map(abs, adds)) + 1e-9
        )


def test_the_loss_matrix_is_shown_with_its_labels(studies):
    text = Page(page_of(studies["credit"])).text
    assert "truth \\ action bad good bad 0 5 good 1 0" in text
    assert "rejecting a row costs 0.9" in text


def test_failures_suspects_and_an_early_end_are_said(studies, monkeypatch):
    monkeypatch.setattr(_report, "figures_of", lambda study, problems: [])
    monkeypatch.setattr(_report, "effect_figures", lambda study, problems: [])
    compared = studies["cpu"].comparison
    some, none = [
        each for each in compared.learners if not each.is_baseline and not each.members
    ][:2]
    searched = {some.name: (1, 12), none.name: (0, 12)}
    learners = [
        replace(
            each, **dict(zip(("folds_searched", "settings_tried"), searched[each.name]))
        )
        if each.name in searched
        else each
        for each in compared.learners
    ]
    study = replace(
        studies["cpu"],
        comparison=replace(compared, learners=tuple(learners)),
        failures=(Failure("Lasso", "lasso", 0, 1, "did not converge"),),
        suspects=(
            ColumnWarning("MYCT", "leak", "gives the target away", False),
            ColumnWarning("id", "identifier", "is different in every row", True),
        ),
        skipped=("SVR",),
        candidates=(
            *studies["cpu"].candidates,
            Candidate("SVR", "SVR", "svr", "", ("StandardScaler", "SVR")),
        ),
        finished=False,
    )
    page = render(study)
    text = Page(page).text
    assert (
        page.count('title="its defaults: there was no time for a search">untuned<') == 1
    )
    assert f"tuned in 1 of {some.folds_done} folds" in text
    assert "lasso failed in fold 2: did not converge" in text
    assert "svr : the time allowed ended" in text
    assert "gives the target away." in text
    assert "is different in every row. It was left out." in text
    assert "The time allowed ended this study early" in text


@pytest.mark.usefixtures("short_conclusions")
def test_names_from_the_data_cannot_become_markup(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=80)
    hostile = ["</SCRIPT ><i>", '<!--<script>"q"']  # ends the script, hides its end
    frame = pd.DataFrame(
        {"<script>alert(1)</script>": x, "a&b": rng.choice(hostile, 80)}
    )
    frame["y"] = np.where(x + rng.normal(size=80) > 0, "<b>yes</b>", "no & no")
    study = lyceum.study(
        frame, "y", learners=["NaiveBayes"], folds=2, n_settings=1, out=tmp_path / "s"
    )
    text = study.report_path.read_text(encoding="utf-8")
    # our own script and its end, however HTML reads letters
    assert re.findall("<!--|</?script.", text, re.IGNORECASE) == [
        "<script ",
        "</script>",
    ]
    before, rest = text.split('<script type="module">')
    code, after = rest.split("</script>")
    for markup in ("<b>yes", "<i>"):
        assert markup in code  # a text of JavaScript, that no browser reads as HTML
        assert markup not in before + after
    page = Page(text)
    assert "<script>alert(1)</script>" in page.text
    assert "<b>yes</b>" in page.text
    # the texts are whole: JSON inside a text of JavaScript, whose \\x3c is <
    (constants,) = re.findall(r"JSON\.parse\((\".*\"), \(key", code)
    names = json.loads(json.loads(constants.replace(r"\x3c", r"\u003c")))
    shown = json.dumps(names)
    for name in (*frame.columns[:2], *hostile, "<b>yes</b>", "no & no"):
        assert json.dumps(name) in shown


def test_long_tables_show_the_most_significant_first_and_no_blank_columns():
    rows = [(f"x{i}", float(i), math.nan, (-1.0) ** i * i, 0.5**i) for i in range(20)]
    cells = TableCells.of(
        Table("log-odds", ("column", "coefficient", "std. error", "z", "p"), rows)
    )
    assert cells.title == "log-odds, most significant first"
    assert cells.heads == ["column", "coefficient", "z", "p"]
    assert [row[0] for row in cells.rows + cells.rest] == [
        f"x{i}" for i in reversed(range(20))
    ]
    assert cells.rows[0][3] == "< 0.001"
    assert len(cells.rows) == 12


def test_numbers_are_rounded_as_people_read_them(study):
    text = Page(re.sub(r"<pre>.*?</pre>", "", page_of(study), flags=re.DOTALL)).text
    assert not re.findall(
        r"[1-9]\d*\.\d{7,}|\b0\.0*[1-9]\d{6,}", text
    )  # seven significant digits or more


def test_the_same_study_gives_the_same_page(studies):
    assert render(studies["penguins"]) == page_of(studies["penguins"])


def test_a_report_that_fails_leaves_the_old_one(studies, tmp_path, monkeypatch):
    monkeypatch.setattr(
        "lyceum.studies.report.page.render", lambda found, *more: found.answer
    )
    study = studies["cpu"]
    path = tmp_path / "report.html"
    write_report(study, path)
    before = path.read_text(encoding="utf-8")
    monkeypatch.setattr(lyceum._core.files.os, "replace", _refuse)
    with pytest.raises(OSError, match="disk full"):
        write_report(study, path)
    assert path.read_text(encoding="utf-8") == before
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]


def _refuse(*_):
    raise OSError("disk full")


def test_narrow_screens_print_and_dark_have_rules(study):
    style = re.search(r"<style>(.*?)</style>", page_of(study), re.DOTALL)[1]
    for rule in (
        "@media screen and (max-width",
        "@media print",
        "prefers-color-scheme: dark",
    ):
        assert rule in style
    assert style.count("{") == style.count("}")
    assert '<meta name="viewport"' in page_of(study)


def test_long_names_may_break_after_an_underscore():
    assert str(_breakable("a<b_c")) == "a&lt;b_<wbr>c"


def test_every_picture_has_its_numbers_as_a_table(study):
    text = page_of(study)
    assert text.count("<figure>") == text.count('<details class="numbers">') >= 6
    shown = json.loads(study.content_path.read_text(encoding="utf-8"))
    assert len(shown["figures"]) == text.count("<figure>")
    for figure in shown["figures"]:
        assert figure["table"]["rows"]
        assert len(figure["table"]["columns"]) == len(figure["table"]["rows"][0])
    assert shown["answer"] == study.answer
    assert shown["learned"]["title"] == study.model_summary().title
    assert [one["label"] for one in shown["class_rates"]] == list(study.classes or ())


def test_the_headline_has_the_rows_held_out_and_the_decisions_made(studies):
    text = Page(page_of(studies["cpu"])).text
    assert "On rows held out" in text.split("Ranking")[0]
    text = Page(page_of(studies["credit"])).text.split("Ranking")[0]
    assert f"Decided wrong {percent_text(studies['credit'].choice.error)}" in text


def test_rates_of_classes_are_those_of_scikit_learn(studies):
    study = studies["penguins"]
    y, proba = study.out_of_sample(study.choice.name)
    precision, recall, f1, rows = precision_recall_fscore_support(
        y, proba.argmax(axis=1)
    )
    for k, one in enumerate(study.class_rates):
        assert (one.precision, one.recall, one.f1) == pytest.approx(
            (precision[k], recall[k], f1[k])
        )
        assert one.n_rows == rows[k]
        assert one.recall_interval[0] < one.recall < one.recall_interval[
            1
        ] or one.recall in (0, 1)


def test_shuffling_a_column_that_matters_costs_more_than_one_that_does_not(studies):
    effects = studies["cpu"].effects
    increase = {one.column: one.increase for one in effects.importance}
    assert increase["MMAX"] > increase["CHMIN"]
    assert len(effects.effects) >= 2
    assert Study.open(studies["cpu"].folder).effects == effects


@pytest.mark.usefixtures("no_pictures")
def test_the_effect_in_a_linear_model_is_its_coefficient(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "a": rng.normal(size=90),
            "b": rng.normal(size=90),
            "c": rng.choice(["u", "v"], 90),
        }
    )
    frame["y"] = (
        3.0 * frame["a"]
        - frame["b"]
        + 2.0 * (frame["c"] == "v")
        + 1e-6 * rng.normal(size=90)
    )
    study = lyceum.study(
        frame, "y", learners=["LinearRegression"], folds=3, out=tmp_path / "s"
    )
    effects = {one.column: one for one in study.effects.effects}
    slope = np.polyfit(effects["a"].values, effects["a"].means[0], 1)[0]
    assert slope == pytest.approx(3.0, abs=1e-4)
    assert effects["c"].values == ("u", "v")
    assert np.diff(effects["c"].means[0]) == pytest.approx(2.0, abs=1e-4)
    assert study.effects.pair is None  # all effects of a linear model add up


def test_of_many_classes_the_table_of_decisions_has_those_with_most_mistakes():
    counts = 10.0 * np.eye(40)
    counts[7, 3] = 5.0
    counts[[2, 30], [39, 31]] = 4.0
    counts[20, 21] = 3.0
    places, shown = most_mistaken(counts)
    assert len(places) == 30
    assert {7, 2, 30, 20} <= set(places.tolist())
    # every row keeps its total: what is decided for other classes is in the last column
    assert shown.shape == (30, 31)
    assert (shown.sum(axis=1) == counts[places].sum(axis=1)).all()
    first = places.tolist().index(7)
    assert shown[first, places.tolist().index(3)] == 5.0
    assert shown[places.tolist().index(2), -1] == 4.0

"""How good a classifier is: confusion, kappa, the ROC curve."""

from __future__ import annotations

from fractions import Fraction

from lyceum.evaluate import binary_report, roc_curve
from lyceum.exercises.draw import Draw, no_ties
from lyceum.exercises.exercise import kind
from lyceum.exercises.sheet import Sheet, equals, tex


def _draw_counts(draw: Draw) -> tuple[int, int, int, int]:
    """tp, fp, fn, tn."""
    largest = (20, 60, 200)[draw.level - 1]
    tp, tn = (draw.integer(largest // 4, largest) for _ in range(2))
    fp, fn = (draw.integer(2, largest // 3) for _ in range(2))
    draw.require(fp != fn, "as many false alarms as misses")
    return tp, fp, fn, tn


def _confusion_sheet(draw: Draw, counts: tuple[int, int, int, int]) -> Sheet:
    tp, fp, fn, tn = counts
    sheet = Sheet()
    negative, positive = draw.theme.classes
    sheet.given.text(
        f"A classifier says whether `{draw.theme.target}` is {positive} (positive) or "
        f"{negative}."
    )
    sheet.given.table(
        ["true class", f"says {positive}", f"says {negative}"],
        [[positive, tp, fn], [negative, fp, tn]],
    )
    return sheet


@kind("confusion", "Read a confusion matrix", "14.2")
def confusion(draw: Draw) -> Sheet:
    """Error, precision, recall, false-positive rate and F1."""
    tp, fp, fn, tn = counts = _draw_counts(draw)
    total = sum(counts)
    report = binary_report(tp=tp, fp=fp, fn=fn, tn=tn)
    precision = Fraction(tp, tp + fp)
    recall = Fraction(tp, tp + fn)
    rate = Fraction(fp, fp + tn)
    f1 = 2 * precision * recall / (precision + recall)
    sheet = _confusion_sheet(draw, counts)
    sheet.ask(
        "What is the error rate?",
        Fraction(fp + fn, total),
        report.error,
        {"the accuracy": Fraction(tp + tn, total)},
    )
    sheet.ask(
        "What is the precision?", precision, report.precision, {"the recall": recall}
    )
    sheet.ask(
        "What is the recall?", recall, report.recall, {"the precision": precision}
    )
    sheet.ask(
        "What is the false-positive rate?",
        rate,
        report.false_positive_rate,
        {
            "the share of false alarms among all rows": Fraction(fp, total),
            "the share of false alarms among positive answers": 1 - precision,
        },
    )
    sheet.ask(
        "What is $F_1$?",
        f1,
        report.f1,
        {"the arithmetic mean of precision and recall": (precision + recall) / 2},
    )
    sheet.solution.formula(
        rf"\mathrm{{error}} = \frac{{{fp} + {fn}}}{{{total}}} {equals(Fraction(fp + fn, total))}"
    )
    for name, top, rest in (
        ("precision", tp, fp),
        ("recall", tp, fn),
        ("false\\ positive\\ rate", fp, tn),
    ):
        value = Fraction(top, top + rest)
        sheet.solution.formula(
            rf"\mathrm{{{name}}} = \frac{{{top}}}{{{top} + {rest}}} {equals(value)}"
        )
    sheet.solution.formula(
        rf"F_1 = \frac{{2 \cdot {tp}}}{{2 \cdot {tp} + {fp} + {fn}}} {equals(f1)}"
    )
    return sheet


@kind("kappa", "Correct the agreement for chance", "14.2")
def kappa(draw: Draw) -> Sheet:
    """Observed agreement, agreement by chance, and kappa."""
    tp, fp, fn, tn = counts = _draw_counts(draw)
    total = sum(counts)
    observed = Fraction(tp + tn, total)
    yes = Fraction(tp + fn, total) * Fraction(tp + fp, total)
    no = Fraction(fp + tn, total) * Fraction(fn + tn, total)
    chance = yes + no
    value = (observed - chance) / (1 - chance)
    draw.require(value > 0.05, "no agreement beyond chance")
    report = binary_report(tp=tp, fp=fp, fn=fn, tn=tn)
    sheet = _confusion_sheet(draw, counts)
    sheet.ask("What is the observed agreement?", observed, report.accuracy)
    sheet.ask(
        "How much agreement would there be by chance?",
        chance,
        (report.accuracy - report.kappa) / (1 - report.kappa),
        {"only one of the classes was counted": yes},
    )
    sheet.ask(
        "What is Cohen's kappa?",
        value,
        report.kappa,
        {
            "not divided by $1 - p_e$": observed - chance,
            "the observed agreement": observed,
        },
    )
    sheet.solution.formula(rf"p_o = \frac{{{tp} + {tn}}}{{{total}}} {equals(observed)}")
    sheet.solution.formula(
        rf"p_e = \frac{{{tp + fn} \cdot {tp + fp} + {fp + tn} \cdot {fn + tn}}}"
        rf"{{{total}^2}} {equals(chance)}"
    )
    sheet.solution.formula(rf"\kappa = \frac{{p_o - p_e}}{{1 - p_e}} {equals(value)}")
    return sheet


def _share(rate: float) -> Fraction:
    """A share of a few rows as the fraction that it is."""
    return Fraction(rate).limit_denominator(100)


@kind("roc", "Draw the ROC curve and find the area below it", "14.3")
def roc(draw: Draw) -> Sheet:
    """The area by counting pairs, a point of the curve at a threshold."""
    n_rows = 5 + draw.level
    scores = sorted(draw.sample(range(5, 96), n_rows), reverse=True)
    labels = draw.choices([0, 1], n_rows)
    positives = [s for s, label in zip(scores, labels) if label]
    negatives = [s for s, label in zip(scores, labels) if not label]
    draw.require(min(len(positives), len(negatives)) >= 2, "too few of a class")
    draw.require(no_ties(scores), "equal scores")
    pairs = len(positives) * len(negatives)
    ordered = sum(p > n for p in positives for n in negatives)
    draw.require(pairs / 2 < ordered < pairs, "no ordinary curve")
    threshold = scores[n_rows // 2]
    tpr = Fraction(sum(s >= threshold for s in positives), len(positives))
    fpr = Fraction(sum(s >= threshold for s in negatives), len(negatives))
    shares = [score / 100 for score in scores]
    curve = roc_curve(labels, shares, drop_intermediate=False)
    at = list(curve.thresholds).index(threshold / 100)
    sheet = Sheet()
    sheet.given.text(
        f"A classifier gives these scores to {n_rows} rows; class 1 is positive."
    )
    sheet.given.table(["score", "true class"], zip(shares, labels))
    sheet.ask(
        f"What is the true-positive rate if scores from {threshold / 100} on are called "
        "positive?",
        tpr,
        float(curve.tpr[at]),
        {"divided by all rows": tpr * len(positives) / n_rows},
    )
    sheet.ask(
        "And the false-positive rate?",
        fpr,
        float(curve.fpr[at]),
        {"divided by all rows": fpr * len(negatives) / n_rows},
    )
    sheet.ask(
        "What is the area under the ROC curve?",
        Fraction(ordered, pairs),
        float(curve.auc),
        {"the pairs in the wrong order were counted": Fraction(pairs - ordered, pairs)},
    )
    sheet.solution.text(
        f"Of {len(positives)} positive rows {tex(tpr * len(positives))} reach the threshold, "
        f"of {len(negatives)} negative ones {tex(fpr * len(negatives))}. The curve goes from "
        "(0, 0) to the right and up by these points:"
    )
    points = zip(shares, curve.fpr[1:], curve.tpr[1:])
    sheet.solution.table(
        ["scores from", "false-positive rate", "true-positive rate"],
        [(score, *map(_share, rates)) for score, *rates in points],
    )
    sheet.solution.text(
        f"The area is the share of pairs of a positive and a negative row in which the "
        f"positive one has the higher score: {ordered} of "
        f"{len(positives)} · {len(negatives)} = {pairs} pairs."
    )
    sheet.solution.formula(
        rf"\mathrm{{AUC}} = \frac{{{ordered}}}{{{pairs}}} "
        f"{equals(Fraction(ordered, pairs))}"
    )
    return sheet

"""`lyceum label`: rows are asked about, and every answer is saved."""

import builtins

import numpy as np
import pandas as pd
import pytest

from lyceum.workflows import label_file


@pytest.fixture
def mails(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"length": rng.normal(size=60), "links": rng.integers(0, 9, 60)}
    )
    path = tmp_path / "mails.csv"
    frame.to_csv(path, index=False)
    return path


def truth(cells):
    return "spam" if cells["links"] > 4 else "ham"


@pytest.mark.syllabus("15.2")
def test_a_person_at_the_terminal_labels_rows(command, mails, tmp_path, monkeypatch):
    given = pd.read_csv(mails)
    # a slip is not taken for a class unless it is repeated
    answers = iter(
        ["spam" if i % 2 else "ham" for i in range(5)] + ["spma", "spam", ""]
    )
    monkeypatch.setattr(builtins, "input", lambda prompt: next(answers))
    code, out, _ = command(
        "label",
        mails,
        "--target",
        "kind",
        "--out",
        tmp_path / "out.csv",
        "--queries",
        20,
    )
    assert code == 0
    assert "6 answers; 6 of 60 rows have a label (ham, spam)" in " ".join(out.split())
    assert "guess:" in out
    assert "spma is no class so far" in " ".join(out.split())
    found = pd.read_csv(tmp_path / "out.csv")
    assert found["kind"].notna().sum() == 6
    pd.testing.assert_frame_equal(found[["length", "links"]], given)
    code, _, err = command(
        "label", mails, "--target", "kind", "--out", tmp_path / "out.csv"
    )
    assert code == 2
    assert "out.csv" in err


def test_labels_that_are_there_are_kept_and_asking_goes_on(mails, tmp_path):
    frame = pd.read_csv(mails)
    kind = np.where(frame["links"] > 4, "spam", "ham").astype(object)
    kind[10:] = None
    frame.assign(kind=kind).to_csv(mails, index=False)
    asked = []

    def ask(row, cells, posteriors):
        asked.append(row)
        assert set(posteriors) == {"ham", "spam"}
        return truth(cells)

    found = label_file(str(mails), "kind", tmp_path / "out.csv", ask, n_queries=5)
    assert (found.asked, found.labeled, found.rows, found.classes) == (
        5,
        15,
        60,
        ("ham", "spam"),
    )
    assert min(asked) >= 10
    again = pd.read_csv(tmp_path / "out.csv")
    assert (again["kind"][:10] == kind[:10]).all()


@pytest.mark.syllabus("15.2")
def test_ctrl_c_stops_with_what_was_answered_and_says_how_to_go_on(
    command, mails, tmp_path, monkeypatch
):
    answers = iter(["spam", "ham"])

    def person(prompt):
        for answer in answers:
            return answer
        raise KeyboardInterrupt

    monkeypatch.setattr(builtins, "input", person)
    out = tmp_path / "out.csv"
    code, shown, _ = command("label", mails, "--target", "kind", "--out", out)
    assert code == 0
    assert "2 answers; 2 of 60 rows" in " ".join(shown.split())
    assert "To go on: lyceum label" in shown
    answers = iter(["ham"])
    again = (
        "label",
        out,
        "--target",
        "kind",
        "--out",
        out,
        "--force",
        "--strategy",
        "density",
    )
    code, shown, _ = command(*again)
    assert code == 0
    assert pd.read_csv(out)["kind"].notna().sum() == 3

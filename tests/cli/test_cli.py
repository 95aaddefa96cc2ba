"""The command line: what it prints, where, and with which exit code."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

import lyceum
from lyceum import catalog, cli, datasets
from lyceum.cli import screen as _screen
from lyceum.cli.commands import doctor as _doctor, inspect as _inspect, lists as _lists
from lyceum.errors import DataError
from lyceum.syllabus import rows


@pytest.fixture
def run(monkeypatch, capsys):
    """Runs a command in this process: (exit code, stdout, stderr)."""

    def call(*arguments, width=100):
        from rich.console import Console

        for module in (_doctor, _inspect, _lists, _screen):
            monkeypatch.setattr(
                module, "console", Console(highlight=False, width=width)
            )
        monkeypatch.setattr(sys, "argv", ["lyceum", *map(str, arguments)])
        with pytest.raises(SystemExit) as done:
            cli.main()
        said = capsys.readouterr()
        return done.value.code, said.out, said.err

    return call


@pytest.fixture
def credit():
    return datasets.path("german_credit")


def test_version(run):
    assert run("--version") == (0, f"lyceum {lyceum.__version__}\n", "")


def test_the_package_can_be_run_as_the_command():
    ran = subprocess.run(
        [sys.executable, "-m", "lyceum", "--version"], capture_output=True, text=True
    )
    assert ran.returncode == 0
    assert "lyceum" in ran.stdout.lower()


def test_the_shell_completes_commands_and_learners():
    def completed(words):
        environment = {"_LYCEUM_COMPLETE": "complete_bash", "COMP_WORDS": words}
        environment["COMP_CWORD"] = str(len(words.split()) - 1)
        done = subprocess.run(
            [sys.executable, "-c", "from lyceum.cli import main; main()"],
            capture_output=True, text=True, env={**os.environ, **environment},
        )  # fmt: skip
        return done.stdout.split()

    assert completed("lyceum pre") == ["predict"]
    assert completed("lyceum fit --learner LogisticR") == ["LogisticRegression"]


COMMANDS = [
    "study",
    "inspect",
    "fit",
    "predict",
    "evaluate",
    "explain",
    "compare",
    "doctor",
    "syllabus",
    "learners",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(run, command):
    code, out, _ = run(command, "--help")
    assert code == 0
    assert f"Example: lyceum {command}" in out


def test_the_help_of_learners_names_every_task(run):
    _, out, _ = run("learners", "--help", width=200)
    assert all(task in out for task in catalog.TASKS)


# -- inspect ---------------------------------------------------------------------------


@pytest.mark.parametrize("width", [60, 80, 140])
def test_inspect_fits_the_terminal_and_names_every_column(run, credit, width):
    code, out, err = run("inspect", credit, "--target", "class", width=width)
    assert (code, err) == (0, "")
    assert max(map(len, out.splitlines())) <= width
    if width >= 80:
        assert all(name in out for name in lyceum.scan(credit).schema.names)


def test_inspect_shows_shares_ranges_balance_and_flags(run, credit):
    _, out, _ = run("inspect", credit, "-t", "class", width=140)
    assert "1,000 rows · 21 columns · complete" in out
    assert "250 … 18,424" in out
    assert "good 700 (70.0%), bad 300 (30.0%)" in out
    assert "is 'yes' in 96.3% of the rows" in out
    assert "text with 4 values" in out


def test_inspect_shows_the_missing_column_only_when_cells_are_missing(run, credit):
    assert "missing" not in run("inspect", credit)[1]
    _, out, _ = run("inspect", datasets.path("penguins"))
    assert "19 missing cells (0.7%)" in out
    assert "11   3%" in out


def test_inspect_json_is_the_inspection(run, credit):
    code, out, _ = run("inspect", credit, "--target", "class", "--json")
    found = json.loads(out)
    assert code == 0
    assert (found["n_rows"], found["target"]) == (1000, "class")
    assert found["columns"][-1]["top"] == [["good", 700], ["bad", 300]]


def test_inspect_is_not_led_astray_by_markup(run, tmp_path):
    pd.DataFrame(
        {"[bold]x[/]": ["[red]", "[/red]"] * 20, "n": np.arange(40) % 7}
    ).to_csv(tmp_path / "t.csv")
    _, out, _ = run("inspect", tmp_path / "t.csv")
    assert "[bold]x[/]" in out
    assert "[/red] 50%" in out


def test_inspect_finds_separator_and_encoding_and_says_so(run, tmp_path):
    (tmp_path / "t.csv").write_bytes("stadt;n\nKöln;1,5\nUlm;2,5\n".encode("latin-1"))
    code, out, _ = run("inspect", tmp_path / "t.csv")
    assert code == 0
    assert "not UTF-8 text: read as cp1252" in out
    assert "decimal commas" in out
    code, _, err = run("inspect", tmp_path / "t.csv", "--encoding", "utf8")
    assert code == 2
    assert "--encoding latin-1" in err
    options = ("--encoding", "latin-1", "--separator", ";", "--decimal", ",")
    assert run("inspect", tmp_path / "t.csv", *options)[0] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing.csv"], "there is no file nothing.csv"),
        (["{cpu}", "--target", "clas"], "did you mean 'class'"),
        (["{folder}/t.xyz"], "cannot tell what kind of file"),
    ],
)
def test_a_fault_is_one_sentence_on_stderr_and_code_2(
    run, tmp_path, arguments, message
):
    (tmp_path / "t.xyz").write_text("?")
    code, out, err = run(
        "inspect",
        *(a.format(cpu=datasets.path("cpu"), folder=tmp_path) for a in arguments),
    )
    assert (code, out) == (2, "")
    assert err.startswith("lyceum: ")
    assert message in err
    assert err.count("\n") == 1


def test_a_file_that_may_not_be_read_is_named(run, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied", "secret.csv")

    monkeypatch.setattr(_inspect, "inspect", refuse)
    assert run("inspect", "secret.csv") == (
        2,
        "",
        "lyceum: secret.csv: Permission denied\n",
    )


def test_an_unknown_command_or_option_is_code_2(run):
    assert run("frobnicate")[0] == 2
    assert run("inspect", "--frobnicate")[0] == 2


# A command that says when it reads its file, and reads it for a long time.
_SLOW_INSPECT = """
import pathlib, time
from lyceum.cli.commands import inspect as _inspect
from lyceum.cli import main

def read(data, *more, **settings):
    pathlib.Path(data).with_suffix(".begun").touch()
    time.sleep(100)

_inspect.inspect = read
main()
"""


def test_ctrl_c_exits_130_without_a_traceback(tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("a\n1\n")
    command = [sys.executable, "-c", _SLOW_INSPECT, "inspect", str(table)]
    process = subprocess.Popen(
        command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    while not table.with_suffix(".begun").exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in err


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_refused_before_it_is_read(run, tmp_path):
    pipe = tmp_path / "t.csv"
    os.mkfifo(pipe)
    wanted = f"lyceum: {pipe} is a pipe, which can be read only once: write it into a file first"
    for command in (("inspect",), ("study", "-t", "y", "-o", str(tmp_path / "out"))):
        code, out, err = run(command[0], str(pipe), *command[1:])
        assert (code, out, " ".join(err.split())) == (2, "", wanted)
    read_end, write_end = os.pipe()
    try:
        with pytest.raises(DataError, match="is a pipe"):
            lyceum.scan(f"/dev/fd/{read_end}")
    finally:
        os.close(read_end)
        os.close(write_end)


# -- doctor ----------------------------------------------------------------------------


def test_doctor_says_what_runs_here(run):
    code, out, _ = run("doctor", "--json")
    found = json.loads(out)
    from lyceum._core.native import level

    assert code == 0
    assert found["healthy"]
    assert found["kernels"]["picked"] == level
    assert level in found["kernels"]["runs"]
    assert set(found["kernels"]["self-check"].values()) == {"passed"}
    assert found["packages"]["numpy"] == np.__version__
    assert found["threads"]["in use"] >= 1


@pytest.mark.parametrize("width", [80, 140])
def test_doctor_fits_the_terminal(run, width):
    code, out, _ = run("doctor", width=width)
    assert code == 0
    assert max(map(len, out.splitlines())) <= width
    assert all(
        word in out
        for word in (
            "kernels",
            "threads",
            "BLAS",
            "memory",
            "scikit-learn",
            "LYCEUM_ISA",
        )
    )


def test_doctor_tells_a_wrong_kernel(run, monkeypatch):
    monkeypatch.setattr(
        _doctor, "_self_check", lambda level: "failed: mean 1, NumPy has 2"
    )
    code, out, _ = run("doctor")
    assert code == 1
    assert "failed: mean 1" in out


def test_doctor_works_where_no_kernel_does():
    done = subprocess.run(
        [sys.executable, "-c", "from lyceum.cli import main; main()", "doctor"],
        capture_output=True, text=True, env={**os.environ, "LYCEUM_ISA": "v9"},
    )  # fmt: skip
    assert done.returncode == 1
    assert "choose plain, v2, v3 or v4" in " ".join(done.stdout.split())


def test_doctor_names_the_remedy_for_an_extra_that_is_not_there(run, monkeypatch):
    monkeypatch.setattr(
        _doctor, "_version_of", lambda name: None if name == "dask" else "1.0"
    )
    assert 'pip install "lyceum-ml[dask]"' in run("doctor", width=140)[1]


# -- syllabus and learners -------------------------------------------------------------


@pytest.mark.parametrize("width", [80, 140])
def test_syllabus_shows_every_row_once(run, width):
    code, out, _ = run("syllabus", width=width)
    assert code == 0
    assert max(map(len, out.splitlines())) <= width
    starts = [
        line.split()[0]
        for line in out.splitlines()
        if line.strip() and line[:6].strip().count(".") == 1
    ]
    assert [number for number in starts if number[0].isdigit()] == [
        row.number for row in rows()
    ]


def test_syllabus_missing_leaves_out_what_works(run):
    found = json.loads(run("syllabus", "--missing", "--json")[1])
    assert [row["number"] for row in found] == [
        row.number for row in rows() if row.status != "works"
    ]
    assert {row["status"] for row in found} <= {"partly", "not yet"}


def test_syllabus_says_where_and_what_is_lacking(run):
    _, out, _ = run("syllabus", width=400)
    lacking = [row.lacks for row in rows() if row.status == "partly"]
    assert "bayes.NaiveBayes" in out
    for clause in (clause for row in rows() for clause in row.clauses):
        assert f"{clause.number} {clause.text}" in out
        assert ", ".join(clause.where) in out
    assert all(f"still without {lacks}" in out for lacks in lacking)


def test_syllabus_of_a_section_and_of_a_row(run):
    found = json.loads(run("syllabus", "6", "14.6", "--json")[1])
    assert {row["number"] for row in found} == {
        "14.6",
        *(row.number for row in rows() if row.section == 6),
    }
    assert found[0]["clauses"][0]["where"][0] == "trees.ID3"
    code, _, err = run("syllabus", "16")
    assert code != 0
    assert "no 16: give a section from 1 to 15" in err


@pytest.mark.parametrize("width", [80, 140])
def test_learners_shows_every_entry(run, width):
    code, out, _ = run("learners", width=width)
    assert code == 0
    assert max(map(len, out.splitlines())) <= width
    assert all(entry.name in out for entry in catalog.learners())


def test_learners_of_one_task_as_json(run):
    found = json.loads(run("learners", "--task", "regression", "--json")[1])
    assert [entry["name"] for entry in found] == [
        entry.name for entry in catalog.learners("regression")
    ]
    code, _, err = run("learners", "--task", "cooking")
    assert code == 2
    assert "choose one of classification" in err


def test_an_unexpected_error_is_one_sentence_and_debug_shows_where(monkeypatch, capsys):
    def broken(*_, **__):
        raise RuntimeError("a fault\nof ours")

    monkeypatch.setattr(cli, "app", broken)
    monkeypatch.setattr(sys, "argv", ["lyceum", "inspect", "x.csv"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 70
    said = capsys.readouterr().err
    assert said.startswith(
        "lyceum: this should not happen: RuntimeError: a fault of ours; "
    )
    assert said.endswith("lyceum --debug inspect ... shows where\n")
    monkeypatch.setattr(sys, "argv", ["lyceum", "--debug", "inspect", "x.csv"])
    with pytest.raises(RuntimeError, match="a fault"):
        cli.main()


def test_names_in_data_cannot_steer_the_terminal(tmp_path, monkeypatch, capsys):
    path = tmp_path / "t.csv"
    path.write_text("a\x1b[31m,b\n1,\x1b]0;title\x07\n2,x\n")
    # with its own screen
    monkeypatch.setattr(sys, "argv", ["lyceum", "inspect", str(path)])
    with pytest.raises(SystemExit) as done:
        cli.main()
    said = capsys.readouterr()
    assert done.value.code == 0
    assert "a\ufffd[31m" in said.out
    assert "\x1b" not in said.out + said.err


@pytest.mark.parametrize("as_json", [False, True])
@pytest.mark.parametrize("code", [0x202E, 0x2066, 0x200F, 0x61C, 0x9B, 0x2028, 0xE0041])
def test_marks_of_direction_do_not_reach_the_terminal(
    tmp_path, monkeypatch, capsys, code, as_json
):
    mark = chr(code)
    path = tmp_path / "t.csv"
    path.write_text(f"a{mark}cod,b\n1,x{mark}y\n2,x\n3,x{mark}y\n", encoding="utf8")
    options = ["--json"] * as_json
    monkeypatch.setattr(sys, "argv", ["lyceum", "inspect", str(path), *options])
    with pytest.raises(SystemExit) as done:
        cli.main()
    said = capsys.readouterr()
    assert done.value.code == 0
    assert mark not in said.out + said.err
    if as_json:
        assert json.loads(said.out)["columns"][0]["name"] == f"a{mark}cod"
    else:
        assert "a\ufffdcod" in said.out


def test_names_that_look_like_markup_are_printed_as_they_are(
    tmp_path, monkeypatch, capsys
):
    path = tmp_path / "t.csv"
    path.write_text("[/b],[bold]x\n1,2\n2,4\n3,6\n4,9\n", encoding="utf8")
    pair = ["--pair", "[/b]", "[bold]x"]
    monkeypatch.setattr(sys, "argv", ["lyceum", "inspect", str(path), *pair])
    with pytest.raises(SystemExit) as done:
        cli.main()
    assert done.value.code == 0
    assert "[/b] and [bold]x: " in capsys.readouterr().out


def test_the_sentence_of_an_error_does_not_steer_the_terminal(
    tmp_path, monkeypatch, capsys
):
    path = tmp_path / "t.csv"
    path.write_text("a\u202ecod,b\n1,2\n", encoding="utf8")
    monkeypatch.setattr(sys, "argv", ["lyceum", "inspect", str(path), "-t", "\u202ex"])
    with pytest.raises(SystemExit):
        cli.main()
    assert "\u202e" not in capsys.readouterr().err


def test_columns_that_do_not_fit_the_screen_are_counted_and_the_others_whole(
    monkeypatch, capsys
):
    from rich.console import Console

    from lyceum.report import Table

    monkeypatch.setattr(_screen, "console", Console(highlight=False, width=40))
    heads = ("column", *(f"pc{j}" for j in range(9)))
    _screen.show_table(
        Table("Loadings", heads, [("bill_length_mm", *np.linspace(0.111, 0.999, 9))])
    )
    out = capsys.readouterr().out
    hidden = 9 - out.count("pc")
    assert 0 < hidden < 9
    assert f"and {hidden} more columns" in out
    assert "bill_length_mm   0.111" in out
    assert "…" not in out

"""Files that may not grow, folders that may not be written to: a sentence, and old files as they
were."""

import os
import shlex
import subprocess
import sys

import pytest

from lyceum import cli

resource = pytest.importorskip("resource")
STUDY = "study t.csv --target c --learners NaiveBayes --folds 2 --no-committees"
COMMANDS = [
    f"{STUDY} --out s",
    "fit t.csv --target c --learner NaiveBayes --out old --force",
    "predict bayes.lyceum t.csv --out p.csv",
    "cluster t.csv --clusters 2 --learner KMeans --out c.csv --report c.html",
    "reduce t.csv --out r.csv",
    "bayesnet sample asia 3000 --out b.csv",
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "t.csv").write_text(
        "n,c,m\n" + "".join(f"{i % 7},{'ab'[i % 2]},{i * 0.5}\n" for i in range(300))
    )
    (tmp_path / "old").write_text("old")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def ends(line, monkeypatch, capfd):
    """The exit code of a command, and its sentence."""
    monkeypatch.setattr(sys, "argv", ["lyceum", *shlex.split(line)])
    with pytest.raises(SystemExit) as done:
        cli.main()
    return done.value.code, capfd.readouterr().err


@pytest.mark.filterwarnings("ignore")
def test_a_limit_of_the_size_of_files_is_a_sentence(folder, monkeypatch, capfd):
    assert (
        ends(
            "fit t.csv --target c --learner NaiveBayes --out bayes.lyceum",
            monkeypatch,
            capfd,
        )[0]
        == 0
    )
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    for line in COMMANDS:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
        try:
            code, said = ends(line, monkeypatch, capfd)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert code == 2, (line, said)
        assert "(ulimit -f)" in said
        assert "Traceback" not in said
    assert (folder / "old").read_text(encoding="utf-8") == "old"


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere"
)
@pytest.mark.filterwarnings("ignore")
def test_a_folder_that_may_not_be_written_to_is_a_sentence(folder, monkeypatch, capfd):
    """As it is with another user's finished study."""
    assert (
        ends(
            "fit t.csv --target c --learner NaiveBayes --out bayes.lyceum",
            monkeypatch,
            capfd,
        )[0]
        == 0
    )
    assert ends(f"{STUDY} --out done", monkeypatch, capfd)[0] == 0
    for path in (folder / "done", folder):
        path.chmod(0o555)
    try:
        for line in (*COMMANDS, f"{STUDY} --out done --force"):
            code, said = ends(line, monkeypatch, capfd)
            assert code == 2, (line, said)
            assert "may not be written to" in said or "Permission denied" in said
    finally:
        for path in (folder, folder / "done"):
            path.chmod(0o755)


def run_with_output_to(stdout, *arguments):
    """The exit code and the complaint of a command whose output is buffered, as it is for users."""
    run = [sys.executable, "-c", "from lyceum.cli import main; main()", *arguments]
    buffered = {
        name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"
    }
    done = subprocess.run(
        run, stdout=stdout, stderr=subprocess.PIPE, env=buffered, text=True
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    "arguments", [["--version"], ["syllabus"]], ids=["little output", "much output"]
)
def test_a_pipe_that_is_closed_before_the_output_comes_is_no_complaint(arguments):
    read_end, write_end = os.pipe()
    os.close(read_end)
    try:
        assert run_with_output_to(write_end, *arguments) == (1, "")
    finally:
        os.close(write_end)


@pytest.mark.skipif(
    not os.path.exists("/dev/full"), reason="needs a device that is full"
)
@pytest.mark.parametrize(
    "arguments", [["--version"], ["syllabus"]], ids=["little output", "much output"]
)
def test_output_that_cannot_be_written_is_a_sentence(arguments):
    with open("/dev/full", "w") as full:
        code, said = run_with_output_to(full, *arguments)
    assert code == 2
    assert (
        said
        == "lyceum: No space left on device: free some space, and run the same command again\n"
    )


@pytest.mark.skipif(os.name == "nt", reason="needs a shell")
def test_closed_output_is_no_traceback():
    run = f"exec {shlex.quote(sys.executable)} -c 'from lyceum.cli import main; main()'"
    for ending, code in (("--version >&-", 0), ("nothing 2>&-", 2)):
        done = subprocess.run(
            f"{run} {ending}", shell=True, capture_output=True, text=True
        )
        assert (done.returncode, done.stdout, done.stderr) == (code, "", "")

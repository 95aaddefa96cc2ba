"""Commands run in this process, and two models to run them with."""

import importlib
import pkgutil
import sys
from functools import cache

import pytest
import typer.main
from rich.console import Console

import lyceum
from lyceum import cli, datasets
from lyceum.workflows import fit_file


@pytest.fixture(autouse=True, scope="session")
def one_command_line():
    """The command line is built once: a process has one command, this one has hundreds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typer.main, "get_command", cache(typer.main.get_command))
        yield


@pytest.fixture
def command(monkeypatch, capfdbinary):
    """Runs a command: (exit code, stdout, stderr)."""

    def call(*arguments, width=100):
        # all are imported first: one imported later would keep the replaced console of `_screen`
        # for good
        names = [
            module.name for module in pkgutil.walk_packages(cli.__path__, "lyceum.cli.")
        ]
        for found in [importlib.import_module(name) for name in names]:
            if hasattr(found, "console"):
                monkeypatch.setattr(
                    found,
                    "console",
                    Console(highlight=False, width=width, file=sys.stdout),
                )
        monkeypatch.setattr(sys, "argv", ["lyceum", *map(str, arguments)])
        with pytest.raises(SystemExit) as done:
            cli.main()
        sys.stdout.flush()
        said = capfdbinary.readouterr()
        return done.value.code, said.out.decode(), said.err.decode()

    return call


@pytest.fixture(scope="session")
def credit():
    return str(datasets.path("german_credit"))


@pytest.fixture(scope="session")
def cpu():
    return str(datasets.path("cpu"))


@pytest.fixture(scope="session")
def models(tmp_path_factory, credit, cpu):
    """Paths of model files: "logistic" and "bayes" for german_credit, "ridge" for cpu."""
    folder = tmp_path_factory.mktemp("models")
    made = {
        "logistic": fit_file(credit, "class", "LogisticRegression", {"C": 0.1}),
        "bayes": fit_file(credit, "class", "NaiveBayes"),
        "ridge": fit_file(cpu, "class", "Ridge"),
    }
    return {
        name: str(lyceum.save(model, folder / f"{name}.lyceum"))
        for name, model in made.items()
    }

"""A real server in a process of its own, on a free port of this machine."""

import http.client
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("msgspec")

import lyceum
from lyceum import datasets
from lyceum.decision import LossMatrix, MinimumRiskClassifier
from lyceum.workflows import fit_file, keep_profile

COSTS = LossMatrix([[0, 5], [1, 0]], classes=["bad", "good"])


class Server:
    """A started server, and requests to it."""

    def __init__(self, *arguments):
        command = [sys.executable, "-m", "lyceum", "serve", "--port", "0"]
        self.process = subprocess.Popen(
            [*command, *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
        self.address = self.process.stdout.readline().strip()
        if not self.address:
            raise RuntimeError(self.process.stderr.read())
        self.host, _, port = self.address.partition("://")[2].rpartition(":")
        self.port = int(port)

    def connect(self, timeout=60):
        return http.client.HTTPConnection(self.host, self.port, timeout=timeout)

    def ask(self, method, path, body=None, kind="application/json", **headers):
        """The status, the headers and the body, from JSON where it is that."""
        connection = self.connect()
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        if body is not None:
            headers["Content-Type"] = kind
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        data = response.read()
        connection.close()
        if response.headers["Content-Type"] == "application/json":
            data = json.loads(data)
        return response.status, response.headers, data

    def post(self, path, body, **headers):
        status, _, answer = self.ask("POST", path, body, **headers)
        assert status == 200, answer
        return answer

    def get(self, path):
        status, _, answer = self.ask("GET", path)
        assert status == 200, answer
        return answer

    def stop(self):
        """The exit code and what was written to stderr."""
        self.process.send_signal(signal.SIGTERM)
        return self.ended()

    def ended(self):
        """The same of a server that was told to stop."""
        _, errors = self.process.communicate(timeout=60)
        return self.process.returncode, errors


@pytest.fixture(scope="session")
def credit():
    return pd.read_csv(datasets.path("german_credit"))


@pytest.fixture(scope="session")
def models(tmp_path_factory):
    """Model files: a pipeline, one with costs, a regressor and a committee of trees."""
    folder = Path(tmp_path_factory.mktemp("models"))
    path = datasets.path("german_credit")
    rows = lyceum.scan(path, target="class")
    costly = MinimumRiskClassifier(
        fit_file(path, "class", "NaiveBayes"), COSTS, doubt=0.4
    )
    costly.fit(rows)
    keep_profile(costly, rows)
    lyceum.save(fit_file(path, "class", "LogisticRegression"), folder / "credit.lyceum")
    lyceum.save(costly, folder / "costly.lyceum")
    penguins = pd.read_csv(datasets.path("penguins")).dropna(subset="body_mass_g")
    regressor = fit_file(penguins, "body_mass_g", "RandomForestRegressor")
    lyceum.save(regressor, folder / "mass.lyceum")
    return folder


@pytest.fixture(scope="session")
def server(models, tmp_path_factory):
    log = tmp_path_factory.mktemp("log") / "access.jsonl"
    started = Server(*sorted(models.glob("*.lyceum")), "--access-log", log)
    started.log = log
    yield started
    code, errors = started.stop()
    assert (code, errors) == (0, "")

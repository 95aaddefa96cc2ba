"""Servers of models side by side: Lyceum, MLServer, MLflow and a FastAPI program.

    python benchmarks/serving_peers.py FOLDER [--seconds 8] [--only NAME] [--usual] [--json FILE]

FOLDER has an environment per peer, made once and outside of the tree: `mlserver` (mlserver,
mlserver-sklearn), `mlflow` (mlflow) and `fastapi` (fastapi, uvicorn), each with scikit-learn,
pandas and what Lyceum requires. All serve one model file, a logistic regression on German credit:
MLflow by the folder that `lyceum export` writes, MLServer by a runtime of a few lines, FastAPI by
a program of as many. With `--usual` the peers serve scikit-learn's pipeline instead, each by its
usual way. One record of twenty mixed columns per request, one worker, keep-alive connections on
loopback, one server after the other; every server's answers to 200 records are compared with
`lyceum.decide` first. Beside requests per second and latencies, the processor time of the server
per request is measured, which other work on the machine disturbs less.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from serving import Client, processor_seconds

import lyceum
from lyceum import datasets
from lyceum.export import write_mlflow
from lyceum.workflows import fit_file

FIT = """
import joblib, pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

frame = pd.read_csv({data!r})
X = frame.drop(columns="class")
numbers = list(X.select_dtypes("number"))
texts = [name for name in X if name not in numbers]
coded = OneHotEncoder(handle_unknown="ignore")
columns = make_column_transformer((StandardScaler(), numbers), (coded, texts))
model = make_pipeline(columns, LogisticRegression(max_iter=1000)).fit(X, frame["class"])
joblib.dump(model, "model.joblib")
"""
FASTAPI = """
import joblib, pandas as pd
from fastapi import FastAPI

app = FastAPI()
model = joblib.load("model.joblib")


@app.post("/predict")
def predict(record: dict):
    proba = model.predict_proba(pd.DataFrame([record]))[0]
    return dict(zip(model.classes_.tolist(), proba.tolist()))
"""
SAME_FASTAPI = """
import lyceum, pandas as pd
from fastapi import FastAPI

app = FastAPI()
model = lyceum.load("model.lyceum")


@app.post("/predict")
def predict(record: dict):
    proba = model.predict_proba(pd.DataFrame([record]))[0]
    return dict(zip(model.classes_.tolist(), proba.tolist()))
"""
SAME_MLSERVER = """
import lyceum, pandas as pd
from mlserver import MLModel
from mlserver.codecs import NumpyCodec, PandasCodec
from mlserver.types import InferenceResponse


class LyceumModel(MLModel):
    async def load(self):
        self.model = lyceum.load("model.lyceum")
        return True

    async def predict(self, payload):
        frame = PandasCodec.decode_request(payload)
        proba = self.model.predict_proba(frame)
        output = NumpyCodec.encode_output("predict_proba", proba)
        return InferenceResponse(model_name=self.name, outputs=[output])
"""
MLFLOW = """
import joblib, mlflow.sklearn

mlflow.sklearn.save_model(joblib.load("model.joblib"), "saved", pyfunc_predict_fn="predict_proba")
"""


def free_port() -> int:
    with socket.socket() as line:
        line.bind(("127.0.0.1", 0))
        return line.getsockname()[1]


def run_python(environment: Path, code: str, folder: Path) -> None:
    (folder / "step.py").write_text(code)
    command = [str(environment / "bin" / "python"), "step.py"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=300)


class Peer:
    """How one server is started, and what is asked of it."""

    path = "/predict"

    def __init__(self, environment: Path, folder: Path, usual: bool):
        self.environment = environment
        self.folder = folder
        self.usual = usual
        self.port = free_port()

    def prepare(self) -> None:
        shutil.copy(self.folder.parent / "model.lyceum", self.folder)
        if self.usual:
            data = str(datasets.path("german_credit"))
            run_python(self.environment, FIT.format(data=data), self.folder)

    def share(self, answer: Any) -> float:
        """The probability of "good" in an answer."""
        return float(answer["good"])

    def command(self) -> list[str]:
        raise NotImplementedError

    def body(self, record: dict[str, Any]) -> Any:
        return record

    def start(self) -> subprocess.Popen[bytes]:
        log = (self.folder / "log").open("wb")
        paths = f"{self.environment / 'bin'}{os.pathsep}{os.environ['PATH']}"
        return subprocess.Popen(
            self.command(),
            cwd=self.folder,
            stdout=log,
            stderr=log,
            env={
                **os.environ,
                "PATH": paths,
                "OMP_NUM_THREADS": "1",
                # the model file is read by the Lyceum of this tree
                "PYTHONPATH": str(Path(lyceum.__file__).parents[1]),
            },
            start_new_session=True,
        )


class Lyceum(Peer):
    path = "/models/model/predict"

    def command(self) -> list[str]:
        serve = [sys.executable, "-m", "lyceum", "serve", "model.lyceum"]
        return [*serve, "--port", str(self.port)]

    def share(self, answer: Any) -> float:
        return float(answer["probabilities"]["good"])


class FastApi(Peer):
    def command(self) -> list[str]:
        program = FASTAPI if self.usual else SAME_FASTAPI
        (self.folder / "program.py").write_text(program)
        server = str(self.environment / "bin" / "uvicorn")
        return [server, "program:app", "--port", str(self.port), "--no-access-log"]


class MlFlow(Peer):
    path = "/invocations"

    def prepare(self) -> None:
        super().prepare()
        if self.usual:
            run_python(self.environment, MLFLOW, self.folder)
        else:
            model = lyceum.load(self.folder / "model.lyceum")
            write_mlflow(model, self.folder / "saved")

    def command(self) -> list[str]:
        program = str(self.environment / "bin" / "mlflow")
        serve = [program, "models", "serve", "-m", "saved", "--env-manager", "local"]
        return [*serve, "--port", str(self.port), "--workers", "1"]

    def body(self, record: dict[str, Any]) -> Any:
        return {"dataframe_records": [record]}

    def share(self, answer: Any) -> float:
        (row,) = answer["predictions"]
        return float(row[1] if self.usual else row["probability of good"])


class MlServer(Peer):
    path = "/v2/models/model/infer"

    def command(self) -> list[str]:
        settings = {
            "http_port": self.port,
            "grpc_port": free_port(),
            "metrics_port": free_port(),
            "parallel_workers": 0,
        }
        (self.folder / "settings.json").write_text(json.dumps(settings))
        (self.folder / "lyceum_runtime.py").write_text(SAME_MLSERVER)
        model: dict[str, Any] = {"name": "model"}
        model["implementation"] = "lyceum_runtime.LyceumModel"
        if self.usual:
            model["implementation"] = "mlserver_sklearn.SKLearnModel"
            model["parameters"] = {"uri": "./model.joblib"}
        (self.folder / "model-settings.json").write_text(json.dumps(model))
        return [str(self.environment / "bin" / "mlserver"), "start", "."]

    def body(self, record: dict[str, Any]) -> Any:
        inputs = []
        for name, cell in record.items():
            is_text = isinstance(cell, str)
            tensor = {
                "name": name,
                "shape": [1, 1],
                "datatype": "BYTES" if is_text else "FP64",
                "data": [cell],
                "parameters": {"content_type": "str" if is_text else "np"},
            }
            inputs.append(tensor)
        return {
            "parameters": {"content_type": "pd"},
            "inputs": inputs,
            "outputs": [{"name": "predict_proba"}],
        }

    def share(self, answer: Any) -> float:
        return float(answer["outputs"][0]["data"][1])


PEERS = {"lyceum": Lyceum, "fastapi": FastApi, "mlflow": MlFlow, "mlserver": MlServer}


def family(pid: int) -> list[int]:
    """A process and all below it."""
    pids = [pid]
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            pids += family(int(child))
    return pids


async def first_answer(peer: Peer, client: Client, seconds: float) -> float:
    start = time.perf_counter()
    while True:
        try:
            await client.open()
            await client.ask(0)
            return time.perf_counter() - start
        except (OSError, asyncio.IncompleteReadError, AssertionError) as error:
            if time.perf_counter() - start > seconds:
                log = (peer.folder / "log").read_text()[-1500:]
                raise RuntimeError(f"no answer: {error}\n{log}") from error
            await asyncio.sleep(0.1)


async def measure(
    peer: Peer, process: Any, seconds: float, rate: float
) -> list[dict[str, Any]]:
    frame = pd.read_csv(datasets.path("german_credit")).drop(columns="class").head(200)
    records = json.loads(frame.to_json(orient="records"))
    bodies = [json.dumps(peer.body(record)).encode() for record in records]
    address = ("127.0.0.1", peer.port)
    clients = [Client(address, bodies, peer.path) for _ in range(8)]
    waited = await first_answer(peer, clients[0], 90.0)
    for client in clients[1:]:
        await client.open()
    farthest = await compare(peer, clients[0], records)
    lines = []
    for planned in (None, rate):
        taken: list[float] = []
        pids = family(process.pid)
        before = sum(map(processor_seconds, pids))
        begin = time.perf_counter()
        await asyncio.gather(
            *(_ask(c, i, taken, begin, seconds, planned) for i, c in enumerate(clients))
        )
        elapsed = time.perf_counter() - begin
        used = sum(map(processor_seconds, pids)) - before
        p50, p99 = 1000 * np.quantile(taken, [0.5, 0.99])
        line = {
            "server": type(peer).__name__,
            "load": "flood" if planned is None else f"{planned:g} a second",
            "a second": round(len(taken) / elapsed),
            "p50 ms": round(p50, 2),
            "p99 ms": round(p99, 2),
            "µs of processor": round(1e6 * used / len(taken)),
            "start s": round(waited, 1),
            "off by": f"{farthest:.0e}",
        }
        print("|", " | ".join(map(str, line.values())), "|", flush=True)
        lines.append(line)
    return lines


async def compare(peer: Peer, client: Client, records: list[dict[str, Any]]) -> float:
    """The farthest that an answer is from `lyceum.decide` of the model file."""
    model = lyceum.load(peer.folder / "model.lyceum")
    farthest = 0.0
    for index, record in enumerate(records):
        share = peer.share(await client.ask(index))
        right = lyceum.decide(model, record).probabilities["good"]
        farthest = max(farthest, abs(share - right))
    if not peer.usual and farthest > 1e-9:
        raise RuntimeError(f"an answer is off by {farthest}")
    return farthest


async def _ask(
    client: Client,
    i: int,
    taken: list[float],
    begin: float,
    seconds: float,
    rate: float | None,
) -> None:
    index = i
    planned = begin + (0.0 if rate is None else i / rate)
    while planned < begin + seconds:
        if rate is not None:
            await asyncio.sleep(max(0.0, planned - time.perf_counter()))
        await client.ask(index % len(client.requests))
        taken.append(time.perf_counter() - planned)
        index += 1
        planned = time.perf_counter() if rate is None else planned + 8 / rate


def serve_and_measure(name: str, arguments: argparse.Namespace) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as above:
        folder = Path(above) / name
        folder.mkdir()
        model = fit_file(datasets.path("german_credit"), "class", "LogisticRegression")
        lyceum.save(model, folder.parent / "model.lyceum")
        environment = arguments.folder.resolve() / name
        peer = PEERS[name](environment, folder, arguments.usual)
        peer.prepare()
        process = peer.start()
        try:
            return asyncio.run(
                measure(peer, process, arguments.seconds, arguments.rate)
            )
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="has an environment per peer")
    parser.add_argument("--seconds", type=float, default=8.0, help="of every load")
    parser.add_argument("--rate", type=float, default=100.0, help="of the paced load")
    parser.add_argument("--only", choices=PEERS, action="append")
    parser.add_argument("--usual", action="store_true", help="scikit-learn's pipeline")
    parser.add_argument("--json", type=Path, help="a file for the figures")
    arguments = parser.parse_args()
    print(
        "| server | load | a second | p50 ms | p99 ms | µs of processor | start s | off by |"
    )
    print("|---|---|--:|--:|--:|--:|--:|--:|")
    lines = []
    for name in arguments.only or PEERS:
        lines += serve_and_measure(name, arguments)
    print(f"load of this machine: {os.getloadavg()[0]:.1f}")
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(lines, indent=1) + "\n")


if __name__ == "__main__":
    main()

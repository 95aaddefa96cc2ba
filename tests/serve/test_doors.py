"""Client certificates, and the log of predictions."""

import http.client
import json
import shutil
import ssl
import subprocess

import pyarrow.parquet as pq
import pytest
from tests.checks.record_laws import records_of
from tests.serve.conftest import Server

import lyceum

needs_openssl = pytest.mark.skipif(
    shutil.which("openssl") is None, reason="openssl makes the certificates"
)


def openssl(folder, *arguments):
    command = ["openssl", *arguments]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    """An authority, and certificates of it for a server and a client; a stranger's too."""
    folder = tmp_path_factory.mktemp("certificates")
    elliptic = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    for name in ("ca", "stranger"):
        openssl(
            folder, "req", "-x509", *elliptic, "-days", "2", "-subj", f"/CN={name}",
            "-keyout", f"{name}.key", "-out", f"{name}.pem",
        )  # fmt: skip
    (folder / "server.ext").write_text("subjectAltName=IP:127.0.0.1\n")
    for name in ("server", "client"):
        openssl(
            folder, "req", *elliptic, "-subj", f"/CN={name}",
            "-keyout", f"{name}.key", "-out", f"{name}.csr",
        )  # fmt: skip
        extra = ("-extfile", "server.ext") if name == "server" else ()
        openssl(
            folder, "x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey",
            "ca.key", "-CAcreateserial", "-days", "2", "-out", f"{name}.pem", *extra,
        )  # fmt: skip
    return folder


def get(server, context, path="/models"):
    connection = http.client.HTTPSConnection(
        server.host, server.port, timeout=30, context=context
    )
    connection.request("GET", path)
    response = connection.getresponse()
    answer = json.loads(response.read())
    connection.close()
    return response.status, answer


@needs_openssl
def test_only_clients_with_a_certificate_come_in(models, certificates):
    server = Server(
        models / "credit.lyceum",
        "--certificate", certificates / "server.pem",
        "--private-key", certificates / "server.key",
        "--client-ca", certificates / "ca.pem",
    )  # fmt: skip
    try:
        assert server.address.startswith("https://")
        trusted = ssl.create_default_context(cafile=certificates / "ca.pem")
        trusted.load_cert_chain(
            certificates / "client.pem", certificates / "client.key"
        )
        status, answer = get(server, trusted)
        assert status == 200
        assert answer["models"][0]["name"] == "credit"
        nobody = ssl.create_default_context(cafile=certificates / "ca.pem")
        stranger = ssl.create_default_context(cafile=certificates / "ca.pem")
        stranger.load_cert_chain(
            certificates / "stranger.pem", certificates / "stranger.key"
        )
        for context in (nobody, stranger):
            with pytest.raises((ssl.SSLError, ConnectionError)):
                get(server, context)
        with pytest.raises((OSError, http.client.HTTPException)):  # no TLS at all
            server.ask("GET", "/models")
        assert get(server, trusted)[0] == 200  # whoever has one still comes in
    finally:
        code, _ = server.stop()
    assert code == 0


def test_records_and_answers_are_logged_as_parquet(models, credit, tmp_path):
    folder = tmp_path / "log"
    server = Server(models / "costly.lyceum", "--prediction-log", folder)
    rows = records_of(credit.drop(columns="class").iloc[:5])
    rows[1] = {**rows[1], "purpose": None}
    try:
        answers = [server.post("/models/costly/predict", row) for row in rows[:2]]
        many = server.post("/models/costly/predict", rows[2:])
        answers += many["predictions"]
        bad = server.ask("POST", "/models/costly/predict", {"age": 3})
        assert bad[0] == 422  # what has no answer is not logged
    finally:
        assert server.stop() == (0, "")  # what waits is written at the end
    (path,) = folder.iterdir()
    table = pq.read_table(path)
    assert path.name.startswith(f"costly-{answers[0]['version']}-")
    logged = table.to_pylist()
    assert len(logged) == len(rows)
    for line, row, answer in zip(logged, rows, answers):
        cells = {name: line[name] for name in row}
        numbers = {name for name, cell in row.items() if isinstance(cell, float | int)}
        assert cells == {
            name: float(cell) if name in numbers else cell for name, cell in row.items()
        }
        assert line["answer.predicted"] == answer["predicted"]
        assert line["answer.probability of good"] == answer["probabilities"]["good"]
        assert line["answer.action"] == answer["action"]
    model = lyceum.load(models / "costly.lyceum")
    assert lyceum.decide(model, rows[0]).action == logged[0]["answer.action"]

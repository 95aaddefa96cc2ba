"""A server under way: strangers, misbehaving clients, swaps, drains and workers."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from urllib.request import Request, urlopen

import pytest
from tests.checks.record_laws import records_of
from tests.serve.conftest import Server

import lyceum
from lyceum import datasets
from lyceum.errors import SettingError
from lyceum.workflows import fit_file

KEY = "a-key-of-some-length"
SERVE = [sys.executable, "-m", "lyceum", "serve"]


def raw(server, data, seconds=20.0):
    """What the server says to some bytes, until it closes or falls silent."""
    with socket.create_connection((server.host, server.port), timeout=seconds) as line:
        line.sendall(data)
        parts = []
        try:
            while part := line.recv(65536):
                parts.append(part)
                if b"\r\n\r\n" in b"".join(parts):
                    break
        except (TimeoutError, ConnectionError):
            pass
        return b"".join(parts)


@pytest.fixture(scope="module", autouse=True)
def half_open(server):
    """Clients that send a part of a request and fall silent, while other tests ask."""
    start = time.monotonic()
    lines = []
    for data in (
        b"",
        b"GET / HT",
        b"POST /models/credit/predict HTTP/1.1\r\nHost: a",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + b"a" * 200_000,
    ):
        line = socket.create_connection((server.host, server.port), timeout=60)
        line.sendall(data)
        lines.append(line)
    assert still_answers(server)
    assert time.monotonic() - start < 5  # nobody has waited until they were closed
    yield lines
    for line in lines:
        line.close()


def still_answers(server):
    example = server.get("/models/credit")["example"]
    return "predicted" in server.post("/models/credit/predict", example)


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b"{", "application/json", 400),
        (b"\xff\xfe", "application/json", 400),
        (b"[" * 200_000, "application/json", 400),
        (b'{"a":' * 100_000, "application/json", 400),
        (b"null", "application/json", 422),
        (b"[]", "application/json", 422),
        (b"[1]", "application/json", 422),
        (b"{}", "application/json", 422),
        (b'{"records": 3}', "application/json", 422),
        (b"", "text/csv", 422),
        (b"a,b\n1,2\n", "text/csv", 422),
        (b"PAR1", "application/vnd.apache.parquet", 400),
        (b"ARROW1garbage", "application/vnd.apache.arrow.file", 400),
        (b"\x00" * 64, "application/vnd.apache.arrow.stream", 400),
        (b"x=1", "application/x-www-form-urlencoded", 415),
        (b"{}", "multipart/form-data; boundary=x", 415),
    ],
)
def test_bad_bodies_get_a_sentence(body, kind, status, server):
    got, _, answer = server.ask("POST", "/models/credit/predict", body, kind=kind)
    assert got == status, answer
    assert len(answer["error"]) > 10
    assert still_answers(server)


def test_wrong_types_of_cells_are_named(server):
    example = server.get("/models/credit")["example"]
    name = next(name for name, cell in example.items() if isinstance(cell, float))
    for cell in ("many", [1], {"a": 1}):
        bad = {**example, name: cell}
        status, _, answer = server.ask("POST", "/models/credit/predict", bad)
        assert status == 422, answer
        assert name in answer["error"]
        status, _, answer = server.ask("POST", "/models/credit/predict", [bad])
        assert status == 422, answer
    huge = {**example, name: 10**400}
    assert server.ask("POST", "/models/credit/predict", huge)[0] in (400, 422)


@pytest.mark.parametrize(
    "path",
    [
        "/models/..%2f..%2fetc%2fpasswd/predict",
        "/models/../../etc/passwd",
        "/models/%00",
        "/models/credit.lyceum",
        "/models//predict",
        "/page/../shelf.py",
        "/../../page.js",
        "/" + "a" * 5000,
    ],
)
def test_paths_lead_to_models_only(path, server):
    status, _, answer = server.ask("GET", path)
    assert status in (404, 405)
    assert b"root:" not in json.dumps(answer).encode()


def test_methods_are_those_that_there_are(server):
    assert server.ask("DELETE", "/models/credit")[0] == 405
    assert server.ask("PUT", "/models/credit", b"x")[0] == 405  # not allowed here
    assert server.ask("GET", "/models/credit/predict")[0] == 405


def test_other_hosts_and_sites_are_refused(server):
    assert server.ask("GET", "/models", Host="evil.example")[0] == 421
    assert server.ask("GET", "/models", Origin="http://evil.example")[0] == 403
    assert server.ask("GET", "/models", Origin=server.address)[0] == 200


def test_a_body_that_is_too_large_is_refused_at_once(server):
    head = (
        b"POST /models/credit/predict HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        b"Content-Type: application/json\r\nContent-Length: 99999999999\r\n\r\n"
    )
    start = time.monotonic()
    assert b" 413 " in raw(server, head).splitlines()[0]
    assert time.monotonic() - start < 30
    assert still_answers(server)


@pytest.mark.parametrize(
    "data",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",  # TLS to a plain port
        b"NONSENSE\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"POST /models/credit/predict HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        b"POST /models/credit/predict HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        b"Transfer-Encoding: chunked\r\n\r\nZZZ\r\n",
    ],
)
def test_what_is_no_http_hurts_nobody(data, server):
    answer = raw(server, data)
    assert not answer or answer.split()[1][:1] == b"4"
    assert still_answers(server)


def test_more_requests_than_allowed_are_told_to_come_back(server):
    head = b"POST /models/credit/predict HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2\r\n\r\n"
    lines = []
    try:
        for _ in range(256):
            line = socket.create_connection((server.host, server.port), timeout=20)
            lines.append(line)
            line.sendall(head)
        status, headers, answer = until(lambda: server.ask("GET", "/models"), 503)
        assert (status, headers["Retry-After"]) == (503, "1")
        assert "try again" in answer["error"]
    finally:
        for line in lines:
            line.close()
    assert until(lambda: server.ask("GET", "/models"), 200)[0] == 200


def until(ask, status, seconds=15.0):
    """The first answer with a status, or the last one in time."""
    end = time.monotonic() + seconds
    while (answer := ask())[0] != status and time.monotonic() < end:
        time.sleep(0.05)
    return answer


def test_another_address_needs_a_key():
    from lyceum.serve import ServeSettings

    with pytest.raises(SettingError, match="other machines"):
        ServeSettings(host="0.0.0.0").check()
    with pytest.raises(SettingError, match="16 at least"):
        ServeSettings(host="0.0.0.0", key="short").check()
    ServeSettings(host="0.0.0.0", key=KEY).check()
    ServeSettings(host="::1").check()


def test_the_command_says_what_is_wrong(models, tmp_path):
    def run(*arguments):
        command = [sys.executable, "-m", "lyceum", "serve", *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=100)
        assert done.returncode == 2
        return done.stderr

    assert "other machines" in run(models / "mass.lyceum", "--host", "0.0.0.0")
    (tmp_path / "bad.lyceum").write_bytes(b"no model")
    assert "damaged" in run(tmp_path / "bad.lyceum")


def test_a_key_opens_the_door_and_put_swaps_the_model(models, tmp_path):
    key_file = tmp_path / "key"
    key_file.write_text(KEY)
    path = tmp_path / "credit.lyceum"
    shutil.copy(models / "credit.lyceum", path)
    server = Server(path, "--key-file", key_file, "--allow-put")
    try:
        assert server.ask("GET", "/models")[0] == 401
        assert server.ask("GET", "/models", Authorization="Bearer wrong")[0] == 401
        assert server.ask("GET", "/health/live")[0] == 200
        assert server.ask("GET", "/")[0] == 200
        key = {"Authorization": f"Bearer {KEY}"}
        _, _, before = server.ask("GET", "/models/credit", **key)
        new = (models / "costly.lyceum").read_bytes()
        kind = "application/octet-stream"
        status, _, answer = server.ask("PUT", "/models/credit", b"x", kind=kind, **key)
        assert status == 422
        assert "damaged" in answer["error"]
        _, _, same = server.ask("GET", "/models/credit", **key)
        assert same["version"] == before["version"]
        assert server.ask("PUT", "/models/credit", new, kind=kind)[0] == 401
        assert server.ask("PUT", "/models/new", new, kind=kind, **key)[0] == 404
        status, _, answer = server.ask("PUT", "/models/credit", new, kind=kind, **key)
        assert status == 200, answer
        assert answer["version"] != before["version"]
        assert path.read_bytes() == new
        assert sorted(p.name for p in tmp_path.iterdir()) == ["credit.lyceum", "key"]
    finally:
        assert server.stop() == (0, "")


def answers_counted(server, expected):
    """The sum over all workers, whichever of them is asked, once they have put theirs together."""
    end = time.monotonic() + 20
    while True:
        text = server.get("/metrics").decode()
        heads = [line for line in text.splitlines() if line.startswith("#")]
        assert len(heads) == len(set(heads))
        count = sum(
            int(line.rpartition(" ")[2])
            for line in text.splitlines()
            if 'verb="predict",status="200"' in line
        )
        if count == expected or time.monotonic() > end:
            return count
        time.sleep(0.2)


@pytest.mark.parametrize("workers", [1, 2])
def test_swaps_drop_and_mix_no_answer(workers, models, tmp_path, credit):
    """Two models take turns as the file; every answer is that of the version it names."""
    data = datasets.path("german_credit")
    other = tmp_path / "other.lyceum"
    lyceum.save(fit_file(data, "class", "NaiveBayes"), other)
    files = [models / "credit.lyceum", other]
    record = records_of(credit.drop(columns="class").iloc[[11]])[0]
    right = {
        lyceum.decide(lyceum.load(file), record).probabilities["good"] for file in files
    }
    assert len(right) == 2
    path = tmp_path / "served.lyceum"
    shutil.copy(files[0], path)
    server = Server(path, "--workers", workers)
    answers = []
    faults = []
    stop = threading.Event()

    def ask():
        connection = server.connect()
        body = json.dumps(record).encode()
        kind = {"Content-Type": "application/json"}
        while not stop.is_set():
            try:
                connection.request("POST", "/models/served/predict", body, kind)
                response = connection.getresponse()
                answer = json.loads(response.read())
                answers.append((answer["version"], answer["probabilities"]["good"]))
            except Exception as error:
                faults.append(error)
                break
        connection.close()

    clients = [threading.Thread(target=ask) for _ in range(3)]
    for client in clients:
        client.start()
    end = time.monotonic() + 90
    turn = 0
    # at least four swaps, and until both models were seen
    while turn < 4 or (len(set(answers)) < 2 and time.monotonic() < end):
        turn += 1
        shutil.copy(files[turn % 2], tmp_path / "next")
        (tmp_path / "next").replace(path)
        time.sleep(0.7)
    stop.set()
    for client in clients:
        client.join()
    counted = answers_counted(server, len(answers))
    assert server.stop() == (0, "")
    assert faults == []
    assert counted == len(answers)
    assert len(answers) > 50
    seen = set(answers)
    assert len(seen) == 2, seen
    assert {share for _, share in seen} == right


def test_a_drain_finishes_what_is_under_way(models, credit):
    server = Server(models / "credit.lyceum")
    assert still_answers(server)
    rows = records_of(credit.drop(columns="class")) * 5
    connection = server.connect()
    kind = {"Content-Type": "application/json"}
    connection.request("POST", "/models/credit/predict", json.dumps(rows), kind)
    time.sleep(0.3)  # it has begun
    server.process.send_signal(signal.SIGTERM)
    answer = json.loads(connection.getresponse().read())
    connection.close()
    assert len(answer["predictions"]) == len(rows)
    # a second signal could come while Python ends, when it has no handler any more
    assert server.ended() == (0, "")


def test_workers_watch_as_one(models, credit):
    """Rows and outcomes that came to any worker are in the answer of every one."""
    server = Server(models / "credit.lyceum", "--workers", 2)
    rows = credit.iloc[:40]
    for record, truth in zip(records_of(rows.drop(columns="class")), rows["class"]):
        server.post("/models/credit/predict", record)
        server.post("/models/credit/outcome", {"record": record, "outcome": truth})
    model = lyceum.load(models / "credit.lyceum")
    wrong = (model.predict(rows.drop(columns="class")) != rows["class"]).mean()
    expected = (40, 40, pytest.approx(wrong))
    end = time.monotonic() + 60
    agreed = 0
    while agreed < 8 and time.monotonic() < end:  # whichever worker answers
        facts = server.get("/models/credit/drift")
        outcomes = facts["outcomes"]
        agreed += (facts["rows"], outcomes["n"], outcomes.get("error")) == expected
    text = server.get("/metrics").decode()
    assert server.stop() == (0, "")
    assert agreed == 8, facts
    assert 'lyceum_rows_total{model="credit"} 40' in text


def test_the_first_answer_needs_no_package_that_takes_long(models, tmp_path):
    """Imports are most of the time from the command to the first answer (docs/serving.md)."""
    log = tmp_path / "imported.txt"
    with open(log, "w") as file:
        process = subprocess.Popen(
            [*SERVE, models / "credit.lyceum", "--port", "0"],
            env={**os.environ, "PYTHONPROFILEIMPORTTIME": "1"},
            stdout=subprocess.PIPE,
            stderr=file,
            text=True,
        )
    address = process.stdout.readline().strip()
    with urlopen(f"{address}/models/credit") as response:
        example = json.load(response)["example"]
    headers = {"Content-Type": "application/json"}
    body = json.dumps(example).encode()
    request = Request(f"{address}/models/credit/predict", body, headers)
    with urlopen(request) as response:
        assert "predicted" in json.load(response)
    process.terminate()
    process.communicate(timeout=60)
    lines = log.read_text().splitlines()
    imported = {line.rpartition("|")[2].strip() for line in lines}
    slow = {"pandas.core.api", "scipy.optimize._optimize", "scipy.stats._stats_py"}
    slow |= {"sklearn.metrics", "sklearn.model_selection", "pyarrow.dataset"}
    assert "lyceum.serve.app" in imported
    assert not imported & slow


# the last one here: the others have passed the time until then
def test_slow_and_half_open_clients_are_answered_and_closed(half_open, server):
    for line in half_open:  # after ten seconds
        answer = line.recv(100)
        assert answer.startswith(b"HTTP/1.1 408"), answer
    assert still_answers(server)

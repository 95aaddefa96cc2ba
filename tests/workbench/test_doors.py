"""The workbench lets in who has its token, from its own page, and reads below its folder only."""

import signal
import socket
import subprocess
import sys
import time

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("msgspec")

from tests.workbench.started import in_a_loop, opened

from lyceum.web import Limits
from lyceum.workbench import app
from lyceum.workbench.desk import Desk

CHUNKED = "Transfer-Encoding: chunked\r\n\r\n"


@pytest.fixture(scope="module")
def workbench(tmp_path_factory):
    above = tmp_path_factory.mktemp("above")
    (above / "secret.csv").write_text("a,b\n1,2\n")
    folder = above / "bench"
    folder.mkdir()
    (folder / "t.csv").write_text("x,y\n1,a\n2,b\n3,a\n")
    (folder / "link.csv").symlink_to(above / "secret.csv")
    with opened(folder) as started:
        yield started


def test_without_the_token_nobody_comes_in(workbench):
    for path in ("/", "/data", "/api/files", "/api/data?file=t.csv", "/page/base.css"):
        status, _, answer = workbench.ask("GET", path, Cookie="")
        assert status == 401, path
        assert "lyceum workbench" in answer["error"]
    wrong = f"lyceum-{workbench.port}=" + "x" * 32
    assert workbench.ask("GET", "/api/files", Cookie=wrong)[0] == 401
    assert workbench.ask("GET", "/?token=wrong", Cookie="")[0] == 401


def test_the_token_becomes_a_cookie_and_leaves_the_address(workbench):
    path = f"/data?file=t.csv&token={workbench.token}"
    status, headers, _ = workbench.ask("GET", path, Cookie="")
    assert status == 303
    assert headers["Location"] == "/data?file=t.csv"
    assert "HttpOnly; SameSite=Strict" in headers["Set-Cookie"]


def test_other_hosts_sites_and_ports_are_refused(workbench):
    own = f"http://127.0.0.1:{workbench.port}"
    assert workbench.ask("GET", "/api/files", Origin=own)[0] == 200
    assert workbench.ask("GET", "/api/files", Host="evil.example")[0] == 421
    token = f"/?token={workbench.token}"
    assert workbench.ask("GET", token, Cookie="", Host="evil.example")[0] == 421
    for origin in ("http://evil.example", "http://127.0.0.1:1", "null"):
        assert workbench.ask("POST", "/api/upload", b"x", Origin=origin)[0] == 403
    headers = {"Sec_Fetch_Site": "same-site", "Sec_Fetch_Mode": "no-cors"}
    assert workbench.ask("GET", "/api/files", **headers)[0] == 403


def test_scripts_come_from_here_alone(workbench):
    _, headers, _ = workbench.ask("GET", "/data")
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy


@pytest.mark.parametrize(
    "name",
    ["../secret.csv", "/etc/passwd", "link.csv", "..%2Fsecret.csv", "", "%00t.csv"],
)
def test_files_are_below_the_folder(name, workbench):
    status, _, answer = workbench.ask("GET", f"/api/data?file={name}")
    assert status in (403, 422), answer
    assert workbench.get("/api/data?file=t.csv")["inspection"]["n_rows"] == 3


@pytest.mark.parametrize(
    "path", ["/page/../app.py", "/page/%2e%2e/app.py", "/page/base", "/page/"]
)
def test_files_of_the_page_are_those_that_there_are(path, workbench):
    assert workbench.ask("GET", path)[0] == 404


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("POST", "/api/data/save", 422),  # no file
        ("GET", f"/api/data?file={'x' * 300}", 422),  # no system has such a name
        ("GET", "/api/ask?model=.", 422),  # a folder
        ("GET", "/api/clusters/points?file=t.csv&y=y", 422),  # no numbers
        ("GET", "/api/errors/row?model=t.csv&row=%C2%B2", 422),  # a digit, no number
        ("GET", f"/api/data/rows?file=t.csv&rows={'9' * 5000}", 200),
    ],
)
def test_what_no_page_sends_is_refused_by_a_sentence(method, path, status, workbench):
    found, _, answer = workbench.ask(method, path, Origin=workbench.origin)
    assert found == status, answer
    assert found == 200 or answer["error"]


def test_an_upload_keeps_its_name_and_replaces_nothing(workbench):
    def upload(name, body):
        return workbench.ask("POST", f"/api/upload?name={name}", body)

    assert upload("new.csv", b"a\n1\n")[2] == {"name": "new.csv"}
    assert upload("new.csv", b"a\n1\n")[2] == {"name": "new.csv"}  # the same again
    assert upload("new.csv", b"a\n2\n")[2] == {"name": "new-2.csv"}
    assert upload("..%2F..%2Fup.csv", b"a\n1\n")[2] == {"name": "up.csv"}
    assert (workbench.folder / "new.csv").read_bytes() == b"a\n1\n"
    status, _, answer = upload("run.py", b"print(1)")
    assert status == 415
    assert "run.py is no table" in answer["error"]


def test_an_upload_of_a_gigabyte_is_refused_before_it_is_sent(workbench):
    head = (
        f"POST /api/upload?name=big.csv HTTP/1.1\r\nHost: 127.0.0.1:{workbench.port}\r\n"
        f"Cookie: {workbench.cookie}\r\nContent-Length: {1 << 30}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", workbench.port), 30) as client:
        client.sendall(head.encode())
        assert b" 413 " in client.recv(100)
    assert workbench.ask("GET", "/api/start")[0] == 200


def test_an_upload_that_is_cut_off_leaves_nothing(workbench):
    head = (
        f"POST /api/upload?name=half.csv HTTP/1.1\r\nHost: 127.0.0.1:{workbench.port}\r\n"
        f"Cookie: {workbench.cookie}\r\n"
    )
    bodies = ("Content-Length: 1000\r\n\r\na,b\n1,2\n", CHUNKED + "8\r\na,b\n1,2\n\r\n")
    for body in bodies:
        with socket.create_connection(("127.0.0.1", workbench.port), 30) as client:
            client.sendall((head + body).encode())
    names = [file["name"] for file in workbench.get("/api/files")["files"]]
    assert "half.csv" not in names
    # the same in whole is taken
    with socket.create_connection(("127.0.0.1", workbench.port), 30) as client:
        client.sendall((head + bodies[1] + "0\r\n\r\n").encode())
        assert b" 200 " in client.recv(100)
    assert (workbench.folder / "half.csv").read_bytes() == b"a,b\n1,2\n"


def test_a_stream_without_a_length_ends_at_the_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(app, "LIMITS", Limits(body=1 << 16))
    settings = app.StartSettings("127.0.0.1", 80, "token")
    made = app.make_app(Desk(tmp_path), settings)
    sent = []
    n_read = 0

    async def receive():
        nonlocal n_read
        n_read += 1
        return {"type": "http.request", "body": b"x" * 4096, "more_body": True}

    async def send(message):
        sent.append(message)

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/api/upload",
        "query_string": b"name=endless.csv",
        "headers": [],
    }
    in_a_loop(made(scope, receive, send))
    assert sent[0]["status"] == 413
    assert n_read == 17
    assert list(tmp_path.iterdir()) == []


def test_a_page_that_comes_back_gets_the_events_that_it_missed(workbench):
    def upload(number):
        body = f"a\n{number}\n".encode()
        name = workbench.ask("POST", f"/api/upload?name=e{number}.csv", body)[2]
        return name["name"]

    names = [upload(number) for number in range(3)]
    with socket.create_connection(("127.0.0.1", workbench.port), 30) as client:
        request = (
            f"GET /api/events HTTP/1.1\r\nHost: 127.0.0.1:{workbench.port}\r\n"
            f"Cookie: {workbench.cookie}\r\nLast-Event-ID: 0\r\n\r\n"
        )
        client.sendall(request.encode())
        text = b""
        while names[-1].encode() not in text:
            text += client.recv(4096)
    assert b"text/event-stream" in text
    assert [name for name in names if name.encode() in text] == names
    numbers = [line for line in text.split(b"\n") if line.startswith(b"id: ")]
    assert numbers[0] == b"id: 1"


def test_it_ends_at_once_although_a_page_is_open(tmp_path):
    with (
        opened(tmp_path) as workbench,
        socket.create_connection(("127.0.0.1", workbench.port), 30) as client,
    ):
        head = f"Host: 127.0.0.1\r\nCookie: {workbench.cookie}"
        client.sendall(f"GET /api/events HTTP/1.1\r\n{head}\r\n\r\n".encode())
        client.recv(100)
        start = time.monotonic()
        workbench.process.send_signal(signal.SIGTERM)
        code, errors = workbench.stop()
    assert code == 0
    assert errors == ""
    assert time.monotonic() - start < 20


def test_a_page_that_was_open_and_closed_leaves_no_process(tmp_path):
    program = (
        "from lyceum.workbench import WorkbenchSettings, open_workbench\n"
        "open_workbench(None, WorkbenchSettings(browser=False, idle_seconds=0.5))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program], cwd=tmp_path, stdout=subprocess.PIPE, text=True
    )
    port, _, token = (
        process.stdout.readline().strip().rpartition(":")[2].partition("/?token=")
    )
    with socket.create_connection(("127.0.0.1", int(port)), 30) as client:
        head = f"Host: 127.0.0.1:{port}\r\nCookie: lyceum-{port}={token}"
        client.sendall(f"GET /api/events HTTP/1.1\r\n{head}\r\n\r\n".encode())
        assert b" 200 " in client.recv(100)
        time.sleep(1.5)
        assert process.poll() is None  # an open page keeps it
    # noticed by the next beat, within ten seconds
    assert process.wait(timeout=60) == 0
    process.stdout.close()


def test_a_closed_browser_leaves_no_process(tmp_path):
    program = (
        "from lyceum.workbench import WorkbenchSettings, open_workbench\n"
        "open_workbench(None, WorkbenchSettings(browser=False, idle_seconds=0.5))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "/?token=" in done.stdout

"""An answer that takes longer than a moment: a page that can come back is told how far it is."""

import json
import threading

import pytest

pytest.importorskip("starlette")

from starlette.applications import Starlette
from tests.workbench.started import in_a_loop

from lyceum.progress import report
from lyceum.web import HANDLERS
from lyceum.workbench.desk import Desk
from lyceum.workbench.page_parts import answers


async def ask(app, path="/slow", prefers=True):
    """The status and the value of an answer."""
    headers = [(b"host", b"here"), *([(b"prefer", b"respond-async")] * prefers)]
    scope = {
        "type": "http",
        "method": "GET",
        "path": path,
        "query_string": b"",
        "headers": headers,
        "server": ("here", 80),
        "scheme": "http",
        "http_version": "1.1",
    }
    sent = []

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message):
        sent.append(message)

    await app(scope, receive, send)
    return sent[0]["status"], json.loads(sent[1]["body"])


def make_app(tmp_path, handler):
    app = Starlette(routes=[answers("/slow", handler)], exception_handlers=HANDLERS)
    app.state.desk = Desk(tmp_path)
    return app


def test_work_goes_on_while_the_page_is_told_how_far_it_is(tmp_path):
    may_end = threading.Event()
    calls = []

    def slow(desk, address):
        calls.append(1)
        report("clusters", 2, 9)
        assert may_end.wait(30)
        return {"found": 3}

    async def visit():
        app = make_app(tmp_path, slow)
        status, told = await ask(app)
        assert status == 202
        assert told["stage"] == "clusters: 2 of 9"
        assert told["seconds"] >= 0.1
        may_end.set()
        for _ in range(50):
            status, value = await ask(app)
            if status == 200:
                break
        assert (status, value) == (200, {"found": 3})
        assert not app.state.desk.under_way

    in_a_loop(visit())
    assert len(calls) == 1  # the work was done once


def test_who_cannot_come_back_waits(tmp_path):
    def slow(desk, address):
        threading.Event().wait(0.4)
        return {"found": 3}

    app = make_app(tmp_path, slow)
    assert in_a_loop(ask(app, prefers=False)) == (200, {"found": 3})


def test_a_fault_of_work_is_said_to_whoever_comes_back(tmp_path):
    from lyceum.errors import DataError

    def slow(desk, address):
        threading.Event().wait(0.4)
        raise DataError("no such column")

    async def visit():
        app = make_app(tmp_path, slow)
        assert (await ask(app))[0] == 202
        for _ in range(50):
            status, value = await ask(app)
            if status != 202:
                break
        assert (status, value) == (422, {"error": "no such column"})

    in_a_loop(visit())

"""A workbench in a process of its own, requests to it, and a look through axe."""

import asyncio
import http.client
import json
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from urllib.parse import urlsplit


class Workbench:
    """A started workbench in a folder."""

    def __init__(self, folder, *arguments):
        command = [sys.executable, "-m", "lyceum", "workbench", "--no-browser"]
        self.folder = folder
        self.process = subprocess.Popen(
            [*command, *map(str, arguments)],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
        self.address = self.process.stdout.readline().strip()
        if not self.address:
            raise RuntimeError(self.process.stderr.read())
        self.origin = self.address.partition("/?")[0]

        parts = urlsplit(self.address)
        self.port = parts.port
        self.token = parts.query.removeprefix("token=")
        self.cookie = f"lyceum-{self.port}={self.token}"

    def ask(self, method, path, body=None, **headers):
        """The status, the headers and the body, from JSON where it is that; as the browser that
        was let in, unless the headers say otherwise."""
        headers = {"Cookie": self.cookie, **headers}
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        data = response.read()
        connection.close()
        if response.headers["Content-Type"] == "application/json":
            data = json.loads(data)
        return response.status, response.headers, data

    def get(self, path):
        status, _, answer = self.ask("GET", path)
        assert status == 200, answer
        return answer

    def stop(self):
        """The exit code and what was written to stderr."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        _, errors = self.process.communicate(timeout=60)
        return self.process.returncode, errors


def in_a_loop(coroutine):
    """What a coroutine gives; its loop has a thread of its own, as this one may have that of the
    browser's driver."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()


@contextmanager
def opened(folder, *arguments):
    workbench = Workbench(folder, *arguments)
    try:
        yield workbench
    finally:
        workbench.stop()


def check_accessible(page):
    """Raise where axe sees that somebody is shut out."""
    from axe_playwright_python.sync_playwright import Axe

    # axe would fetch style sheets once more, and may still be at it when the page is left
    options = {"preload": False}
    violations = Axe().run(page, options=options).response["violations"]
    problems = [
        (problem["id"], [node["html"][:200] for node in problem["nodes"][:3]])
        for problem in violations
    ]
    if problems:
        raise AssertionError(str(problems))

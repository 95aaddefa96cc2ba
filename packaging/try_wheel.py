"""Install a wheel of dist/ into an empty environment of this Python; run the demo and the laws
there.

`make wheel-test` runs it with every Python of WHEEL_PYTHONS. The environment is in a temporary
folder; its PATH has no compiler, and its tests are copies, so that nothing of this checkout can be
imported. With `--sdist`, the source distribution is made instead, looked through, and built without
a network.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LARGEST = 12_000_000  # bytes of a wheel
# what tests read beside the package
FOLDERS = ("tests", "examples", "docs", "fuzz")
FILES = (
    "conftest.py",
    "pyproject.toml",
    "README.md",
    "requirements.py",
    "packaging/installed_package.py",
)
# what depends on how the modules were built; the rest is the same Python code as in the checkout
LAWS = (
    "tests/checks",
    "tests/native",
    "tests/test_threads.py",
    "tests/test_persist.py",
    "tests/cli/test_cli.py",
)
NEEDS_CHECKOUT = ("tests/native/test_stub.py",)  # compares with the sources
IN_SDIST = (
    "CMakeLists.txt",
    "LICENSE",
    "README.md",
    "native/levels.cmake",
    "src/lyceum/__init__.py",
    "tests/conftest.py",
)
NOT_IN_SDIST = (".ci", ".github", ".venv", "build", "dist", "CMakeFiles")
COMPILED = (".so", ".a", ".o", ".pyc", ".pyd", ".dylib")


class Environment:
    """A new environment, and commands that see nothing but it."""

    def __init__(self, folder: Path, path: str = "") -> None:
        venv.create(folder, with_pip=True)
        self.folder = folder
        self.python = folder / "bin" / "python"
        hidden = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "LYCEUM_ISA")
        self.variables = {
            name: value for name, value in os.environ.items() if name not in hidden
        }
        self.variables["PATH"] = os.pathsep.join(
            filter(None, [str(folder / "bin"), path])
        )

    def run(self, *arguments: object, **variables: str) -> None:
        command = [str(self.python), *map(str, arguments)]
        print("$ python", *command[1:], flush=True)
        subprocess.run(
            command,
            check=True,
            cwd=self.folder.parent,
            env={**self.variables, **variables},
        )

    def install(self, *arguments: object) -> None:
        self.run(
            "-m",
            "pip",
            "install",
            "--quiet",
            "--no-compile",
            "--disable-pip-version-check",
            *arguments,
        )


def try_wheel(folder: Path) -> None:
    """Run the demo with the package and what it requires, then the laws with what tests require."""
    environment = Environment(folder / "environment")
    for name in FOLDERS:
        shutil.copytree(ROOT / name, folder / name)
    for name in FILES:
        shutil.copy(ROOT / name, folder)
    environment.install(
        "--no-index",
        "--no-deps",
        "--only-binary",
        ":all:",
        "--find-links",
        ROOT / "dist",
        "lyceum-ml",
    )
    environment.install(
        "--requirement", requirements(environment, folder, "report")
    )  # the demo has one
    environment.run("-m", "pip", "check")
    environment.run("examples/demo.py")
    environment.run("-m", "lyceum", "doctor")
    environment.install("--requirement", requirements(environment, folder, "test"))
    ignored = [f"--ignore={name}" for name in NEEDS_CHECKOUT]
    environment.run(
        "-m", "pytest", "-q", "-p", "installed_package", "--numprocesses", "auto", *ignored, *LAWS,
        PYTHONPATH=str(folder),
    )  # fmt: skip


def requirements(environment: Environment, folder: Path, *extras: str) -> Path:
    """Write what the package and its extras require into a file."""
    command = [str(environment.python), str(folder / "requirements.py"), *extras]
    listed = folder / "requirements.txt"
    listed.write_text(
        subprocess.run(command, check=True, capture_output=True, text=True).stdout
    )
    return listed


def try_sdist(folder: Path) -> None:
    """Make the source distribution; build it with nothing but its build requirements, without a
    network."""
    environment = Environment(folder / "environment", os.environ["PATH"])
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    environment.install("build", *settings["build-system"]["requires"])
    environment.run(
        "-m", "build", "--sdist", "--no-isolation", "--outdir", folder, ROOT
    )
    (archive,) = folder.glob("*.tar.gz")
    check_contents(archive)
    nowhere = dict.fromkeys(
        ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9"
    )
    built = folder / "built"
    offline = ("--no-build-isolation", "--no-index", "--no-deps")
    environment.run(
        "-m",
        "pip",
        "wheel",
        "--quiet",
        *offline,
        "--wheel-dir",
        built,
        archive,
        **nowhere,
    )
    environment.install("--no-index", "--no-deps", *built.glob("*.whl"))
    environment.run("-c", "from lyceum import _native; print(_native.native.__file__)")


def check_contents(archive: Path) -> None:
    with tarfile.open(archive) as members:
        names = [name.partition("/")[2] for name in members.getnames()]
    print(f"{archive.name}: {len(names)} files, {archive.stat().st_size / 1e6:.1f} MB")
    missing = [name for name in IN_SDIST if name not in names]
    left_over = [
        name
        for name in names
        if name.partition("/")[0] in NOT_IN_SDIST or name.endswith(COMPILED)
    ]
    if missing or left_over:
        raise SystemExit(
            f"the source distribution lacks {missing} and should not have {left_over}"
        )


def check_sizes() -> None:
    wheels = sorted((ROOT / "dist").glob("*.whl"))
    if not wheels:
        raise SystemExit("no wheel in dist/: run `make wheel` first")
    for wheel in wheels:
        size = wheel.stat().st_size
        print(f"{wheel.name}: {size / 1e6:.1f} MB")
        if size >= LARGEST:
            raise SystemExit(f"{wheel.name} has {size} bytes, {LARGEST} are allowed")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="lyceum-wheel-") as temporary:
        if "--sdist" in sys.argv:
            try_sdist(Path(temporary).resolve())
        else:
            check_sizes()
            try_wheel(Path(temporary).resolve())

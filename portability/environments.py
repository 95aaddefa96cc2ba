"""Virtual environments, copies of the checkout and environment variables of a configuration."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from portability.configurations import Configuration

ROOT = Path(__file__).parents[1]
NOT_COPIED = (
    ".git",
    ".venv",
    ".*_cache",
    ".hypothesis",
    "__pycache__",
    "build",
    "dist",
    "demo",
    "*.so",
)

# What the C library does without on processors of a level: its exp and log fuse where they can.
LACKS_V4 = "-AVX512F,-AVX512VL,-AVX512BW,-AVX512DQ,-AVX512CD"
LACKS_V3 = f"-AVX,-AVX2,-FMA,-FMA4,-BMI1,-BMI2,-LZCNT,-MOVBE,{LACKS_V4}"
C_LIBRARY = {"v2": LACKS_V3, "v3": LACKS_V4, "v4": ""}
ARROW = {"v2": "SSE4_2", "v3": "AVX2", "v4": "AVX512"}


class NotTried(Exception):
    """This configuration cannot be tried here; the message says why."""


def run(*command: str | Path, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(part) for part in command], check=True, text=True, **options
    )


def interpreter(version: str, for_others: bool = False) -> Path:
    """A Python of this minor version; one that other users may run, if asked."""
    name = f"python{version}"
    folders = [
        f"{sys.base_prefix}/bin",
        *os.environ["PATH"].split(":"),
        "/usr/local/bin",
        "/usr/bin",
    ]
    candidates = [Path(folder) / name for folder in folders if "shims" not in folder]
    candidates += sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/{name}"))
    for path in candidates:
        if path.is_file() and not (for_others and is_private(path)):
            return path.resolve()
    raise NotTried(
        f"there is no {name} here{' that other users may run' if for_others else ''}"
    )


def is_private(path: Path) -> bool:
    """Whether a folder on the way to this file is closed to other users."""
    return not all(folder.stat().st_mode & 0o001 for folder in path.resolve().parents)


def environment(
    python: Path, folder: Path, requirements: list[str], *options: str
) -> Path:
    """The Python of a virtual environment with these requirements; what is there already is
    kept."""
    inside = folder / "bin" / "python"
    if not inside.exists():
        run(python, "-m", "venv", folder)
        run(inside, "-m", "pip", "install", "--quiet", "pip>=25")
    run(inside, "-m", "pip", "install", "--quiet", *options, *requirements)
    return inside


def wheel(python: Path, version: str, folder: Path) -> Path:
    """The wheel with every instruction level; what has been compiled before is kept."""
    tools = environment(python, folder / f"build-{version}", ["pip>=25"])
    wheels = folder / f"wheels-{version}"
    shutil.rmtree(wheels, ignore_errors=True)
    settings = [
        "cmake.define.LYCEUM_LEVELS=all",
        f"build-dir={folder / f'native-{version}'}",
    ]
    options = [f"--config-settings={setting}" for setting in settings]
    run(
        tools,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--wheel-dir",
        wheels,
        *options,
        ROOT,
    )
    return next(wheels.glob("*.whl"))


def oldest(requirement: str) -> str:
    """The requirement at its lower bound, exactly: "numpy>=2.0" becomes "numpy==2.0"."""
    name, bounds = requirement.split(">=")
    return f"{name}=={bounds.split(',')[0]}"


def copy_of_checkout(folder: Path) -> Path:
    if folder.exists():
        run("chmod", "-R", "u+w", folder)  # an earlier copy may be read-only
        shutil.rmtree(folder)
    shutil.copytree(
        ROOT, folder, ignore=shutil.ignore_patterns(*NOT_COPIED), symlinks=True
    )
    return folder


def variables(
    configuration: Configuration, python: Path, folder: Path
) -> dict[str, str]:
    """The environment of a run: that of this process, with what the configuration says."""
    settings = {
        "OMP_NUM_THREADS": str(configuration.threads),
        "OPENBLAS_NUM_THREADS": str(configuration.threads),
        "PYTHONHASHSEED": str(configuration.hash_seed),
        "TZ": configuration.zone,
    }
    settings |= language(configuration.language, folder)
    if configuration.kernels:
        settings["OPENBLAS_CORETYPE"] = configuration.kernels
    if configuration.level:
        settings |= processor(configuration.level, python)
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("LC_", "PYTHON"))
    }
    return kept | settings


def language(name: str, folder: Path) -> dict[str, str]:
    """Variables for a locale, which is compiled where the system does not have it."""
    if name in ("C.UTF-8", "POSIX"):
        return {"LANG": name, "LC_ALL": name}
    if not shutil.which("localedef") or not Path("/usr/share/i18n/locales").is_dir():
        raise NotTried(f"{name} cannot be compiled without Debian's package locales")
    territory, encoding = name.split(".")
    locales = folder / "locales"
    locales.mkdir(parents=True, exist_ok=True)
    run("localedef", "-i", territory, "-f", encoding, locales / name)
    return {"LANG": name, "LC_ALL": name, "LOCPATH": str(locales)}


def processor(level: str, python: Path) -> dict[str, str]:
    """Variables with which the libraries compute as they do on a processor of this level."""
    settings = {"LYCEUM_ISA": level, "ARROW_USER_SIMD_LEVEL": ARROW[level]}
    if C_LIBRARY[level]:
        settings["GLIBC_TUNABLES"] = f"glibc.cpu.hwcaps={C_LIBRARY[level]}"
    answer = run(
        python, "-m", "portability.probe", level, stdout=subprocess.PIPE, cwd=ROOT
    )
    if features := answer.stdout.strip():
        settings["NPY_DISABLE_CPU_FEATURES"] = features
    return settings

"""Virtual environments, copies of the checkout and environment variables of a configuration."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

from portability.configurations import KERNELS, LEVELS, Configuration

ROOT = Path(__file__).parents[1]
NOT_COPIED = (".git", ".venv", ".*_cache", ".hypothesis", "__pycache__", "build", "dist", "demo", "*.so")

# What the C library of the processors below a level does without: its exp and log fuse where they can.
LACKS_V4 = "-AVX512F,-AVX512VL,-AVX512BW,-AVX512DQ,-AVX512CD"
C_LIBRARY = {"v2": f"-AVX,-AVX2,-FMA,-FMA4,-BMI1,-BMI2,-LZCNT,-MOVBE,{LACKS_V4}", "v3": LACKS_V4, "v4": ""}
ARROW = {"v2": "SSE4_2", "v3": "AVX2", "v4": "AVX512"}


class NotTried(Exception):
    """This configuration cannot be tried here; the message says why."""


def run(*command: str | Path, **options) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(part) for part in command], check=True, text=True, **options)


def interpreter(version: str, for_others: bool = False) -> Path:
    """A Python of this minor version; one that other users may run, if asked."""
    folders = os.environ["PATH"] + ":/usr/local/bin:/usr/bin"
    candidates = [Path(sys.base_prefix) / "bin" / f"python{version}"]
    candidates += [Path(folder) / f"python{version}" for folder in folders.split(":")]
    candidates += sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python{version}"))
    for path in candidates:
        if path.is_file() and ".pyenv/shims" not in str(path) and not (for_others and is_private(path)):
            return path.resolve()
    raise NotTried(f"no python{version} here{' that other users may run' if for_others else ''}")


def is_private(path: Path) -> bool:
    """Whether a folder on the way to this file is closed to other users."""
    path = path.resolve()
    return not all(folder.stat().st_mode & 0o001 for folder in path.parents)


def wheel(python: Path, version: str, folder: Path) -> Path:
    """The wheel with every instruction level, built once for each version of Python and state of the sources."""
    tools = environment(python, folder / f"build-{version}", ["pip>=25"])
    wheels = folder / f"wheels-{version}"
    shutil.rmtree(wheels, ignore_errors=True)
    run(
        *(tools, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", wheels, ROOT),
        *("--config-settings", "cmake.define.LYCEUM_LEVELS=all"),
        *("--config-settings", f"build-dir={folder / f'native-{version}'}"),
    )
    return next(wheels.glob("*.whl"))


def environment(python: Path, folder: Path, requirements: list[str], *options: str) -> Path:
    """The Python of a virtual environment with these requirements; what is there already is kept."""
    if not (folder / "bin" / "python").exists():
        run(python, "-m", "venv", folder)
    inside = folder / "bin" / "python"
    run(inside, "-m", "pip", "install", "--quiet", *options, *requirements)
    return inside


def oldest(requirement: str) -> str:
    """The requirement at its lower bound, exactly: "numpy>=2.0" becomes "numpy==2.0"."""
    name, bound = requirement.split(">=")
    return f"{name}=={bound.split(',')[0]}"


def copy_of_checkout(folder: Path) -> Path:
    if folder.exists():
        make_writable(folder)
        shutil.rmtree(folder)
    shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*NOT_COPIED), symlinks=True)
    return folder


def make_writable(folder: Path) -> None:
    run("chmod", "-R", "u+w", folder)


def variables(configuration: Configuration, python: Path, folder: Path) -> dict[str, str]:
    """The environment of a run: that of this process, with what the configuration says."""
    settings = {
        "OMP_NUM_THREADS": str(configuration.threads),
        "OPENBLAS_NUM_THREADS": str(configuration.threads),
        "PYTHONHASHSEED": str(configuration.hash_seed),
        "TZ": configuration.zone,
    }
    if configuration.language:
        settings |= language(configuration.language, folder)
    if configuration.kernels:
        settings["OPENBLAS_CORETYPE"] = configuration.kernels
    if configuration.level:
        settings |= processor(configuration.level, python)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "PYTHON"))}
    return kept | settings


def language(name: str, folder: Path) -> dict[str, str]:
    """Variables for a locale, which is compiled where the system does not have it."""
    if name in ("C.UTF-8", "POSIX"):
        return {"LANG": name, "LC_ALL": name}
    if not shutil.which("localedef") or not Path("/usr/share/i18n/locales").is_dir():
        raise NotTried(
            f"the locale {name} cannot be compiled here: Debian's package locales is not installed"
        )
    territory, encoding = name.split(".")
    (folder / "locales").mkdir(parents=True, exist_ok=True)
    run("localedef", "-i", territory, "-f", encoding, folder / "locales" / name)
    return {"LANG": name, "LC_ALL": name, "LOCPATH": str(folder / "locales")}


def processor(level: str, python: Path) -> dict[str, str]:
    """Variables with which the libraries compute as they do on a processor of this level."""
    settings = {"LYCEUM_ISA": level, "ARROW_USER_SIMD_LEVEL": ARROW[level]}
    if C_LIBRARY[level]:
        settings["GLIBC_TUNABLES"] = f"glibc.cpu.hwcaps={C_LIBRARY[level]}"
    question = "import sys; from portability.probe import numpy_features; print(*numpy_features(sys.argv[1]))"
    answer = run(python, "-c", question, level, stdout=subprocess.PIPE, cwd=ROOT)
    if features := answer.stdout.strip():
        settings["NPY_DISABLE_CPU_FEATURES"] = features
    return settings


def check_processor(configuration: Configuration, best: int) -> None:
    """Refuse what this processor cannot run."""
    if platform.machine() not in ("x86_64", "AMD64") and (configuration.level or configuration.kernels):
        raise NotTried(f"the levels are those of x86-64, and this processor is {platform.machine()}")
    for level in (configuration.level, KERNELS.get(configuration.kernels, "")):
        if level in LEVELS and int(level[1]) > best:
            raise NotTried(f"this processor is x86-64-v{best}")

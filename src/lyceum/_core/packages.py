"""Other packages: which extra installs what only some parts need, and one that has our name.

Every sentence that tells people to install something is made here.
"""

from __future__ import annotations

import importlib.util

from lyceum.errors import MissingPackageError

NAMESAKE = (
    "the unrelated distribution 'lyceum' is installed beside lyceum-ml, and each overwrites files"
    " of the other: pip uninstall lyceum, then pip install --force-reinstall --no-deps lyceum-ml"
)
EXTRAS = {
    "report": ("matplotlib", "jinja2"),
    "excel": ("python_calamine",),
    "dask": ("dask", "distributed"),
    "reinforcement": ("gymnasium",),
    "onnx": ("onnx", "onnxruntime"),
    "web": ("starlette", "uvicorn", "msgspec"),
}


def how_to_install(package: str) -> str:
    """The command that installs a package, by its extra if it is in one.

    >>> how_to_install("jinja2"), how_to_install("duckdb")
    ('pip install "lyceum-ml[report]"', 'pip install duckdb')
    """
    for extra, packages in EXTRAS.items():
        if package in packages:
            return f'pip install "lyceum-ml[{extra}]"'
    return f"pip install {package}"


def lacking_sentence(purpose: str, *packages: str) -> str | None:
    """What a purpose needs that is not installed, and how to install it; None if all is there.

    Parameters
    ----------
    purpose : str
        The subject of the sentence, e.g. "the report".
    *packages : str
        Names as they are imported; none of them is imported here.
    """
    lacking = [package for package in packages if not _is_installed(package)]
    if not lacking:
        return None
    names = " and ".join(lacking)
    verb = "is" if len(lacking) == 1 else "are"
    return f"{purpose} needs {names}, which {verb} not installed: {how_to_install(lacking[0])}"


def check_installed(purpose: str, *packages: str) -> None:
    """Raise MissingPackageError unless all packages are installed.

    >>> check_installed("this picture", "no_such_package")
    Traceback (most recent call last):
        ...
    lyceum.errors.MissingPackageError: this picture needs no_such_package, which is not installed: \
pip install no_such_package
    """
    sentence = lacking_sentence(purpose, *packages)
    if sentence is not None:
        raise MissingPackageError(sentence)


def _is_installed(package: str) -> bool:
    try:
        return importlib.util.find_spec(package) is not None
    except ImportError:
        return False

"""`lyceum serve` and `lyceum workbench`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lyceum._core.packages import check_installed
from lyceum.errors import SettingError


def run(
    models: list[str], key_file: str | None, tls: dict[str, Any], **options: Any
) -> None:
    check_installed("lyceum serve", "starlette", "uvicorn", "msgspec")
    from lyceum.serve import ServeSettings, serve_models
    from lyceum.web import Certificates

    key = None
    if key_file is not None:
        key = Path(key_file).read_text(encoding="utf8").strip()
        if not key:
            raise SettingError(f"{key_file} is empty: write the key into it")
    settings = ServeSettings(key=key, certificates=Certificates(**tls), **options)
    serve_models(models, settings, say=_say)


def run_workbench(path: str | None, port: int, browser: bool) -> None:
    check_installed("lyceum workbench", "starlette", "uvicorn", "msgspec")
    from lyceum.workbench import WorkbenchSettings, open_workbench

    open_workbench(path, WorkbenchSettings(port=port, browser=browser), say=_say)


def _say(address: str) -> None:
    print(address, flush=True)

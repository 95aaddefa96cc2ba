#!/usr/bin/env bash
# packaging/wheel.sh PYTHON...: builds a wheel with every instruction level by each of these Pythons and repairs it for
# manylinux, into dist/. One Python of 3.12 or later makes the wheel of all of them; 3.11 has a wheel of its own.
set -euo pipefail
cd "$(dirname "$0")/.."
for python in "$@"; do
  version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  environment=build/wheel-$version
  [ -x "$environment/bin/python" ] || "$python" -m venv "$environment"
  "$environment/bin/python" - > "$environment/requirements.txt" <<'END'
import tomllib

with open("pyproject.toml", "rb") as file:
    settings = tomllib.load(file)
print(*settings["build-system"]["requires"], *settings["project"]["optional-dependencies"]["wheel"], sep="\n")
END
  "$environment/bin/python" -m pip install --quiet --requirement "$environment/requirements.txt"
  rm -rf "$environment/built"
  "$environment/bin/python" -m build --wheel --no-isolation --outdir "$environment/built" \
    --config-setting cmake.define.LYCEUM_LEVELS=all .
  PATH="$PWD/$environment/bin:$PATH" auditwheel repair --wheel-dir dist "$environment"/built/*.whl
  for wheel in "$environment"/built/*-abi3-*.whl; do
    [ ! -e "$wheel" ] || "$environment/bin/abi3audit" --strict --summary "$wheel"
  done
done
ls -l dist

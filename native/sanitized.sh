#!/usr/bin/env bash
# native/sanitized.sh COMMAND...: runs a command of Python's with the native module built under sanitizers:
# address and undefined behavior, or threads with SANITIZE=thread. Used by `make sanitize` and `make fuzz`.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
kind=${SANITIZE:-ON}
build=$top/build/sanitized-$kind
python=${PYTHON:-$top/.venv/bin/python}
cmake -S "$top" -B "$build" -G Ninja -DLYCEUM_SANITIZE="$kind" -DCMAKE_BUILD_TYPE=Debug \
  -DPython_EXECUTABLE="$python" -DCMAKE_LIBRARY_OUTPUT_DIRECTORY="$build/overlay/lyceum" >/dev/null
cmake --build "$build" --parallel "${JOBS:-2}"
# the sources by links, and the sanitized modules beside them
find "$build/overlay" -type l -delete
(cd "$top/src" && find lyceum -name __pycache__ -prune -o -type f ! -name '*.so' -print) | while read -r file; do
  mkdir -p "$build/overlay/$(dirname "$file")"
  ln -s "$top/src/$file" "$build/overlay/$file"
done
# an editable install finds its own modules before any path: not here
cat > "$build/overlay/sitecustomize.py" <<'END'
import sys

sys.meta_path = [finder for finder in sys.meta_path if not type(finder).__module__.startswith("_editable")]
END
runtime=$([ "$kind" = thread ] && echo libtsan.so || echo libasan.so)
export PYTHONPATH="$build/overlay:$top" PYTHONDONTWRITEBYTECODE=1 PYTHONMALLOC=${PYTHONMALLOC:-malloc}
export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:${ASAN_OPTIONS:-}
export TSAN_OPTIONS=suppressions=$top/native/tsan_suppressions.txt:die_after_fork=0:${TSAN_OPTIONS:-} OPENBLAS_NUM_THREADS=1
export LD_PRELOAD="$(gcc -print-file-name=$runtime) $(gcc -print-file-name=libstdc++.so)"
# the thread sanitizer needs its shadow memory where a random layout may put something else
fixed=$([ "$kind" = thread ] && echo setarch -R || true)
found=$($fixed "$python" -c 'from lyceum._core.native import native; print(native.__file__)')
[[ $found = "$build/overlay/"* ]] || { echo "native/sanitized.sh: Python imports $found, not $build" >&2; exit 1; }
exec $fixed "$@"

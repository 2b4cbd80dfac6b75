# Every target sets up what it needs: a virtual environment with the locked, hashed dependencies.
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: run test lint types unit contract soak bench lock clean

run: $(READY)  ## a simulated GitHub with an open pull request, on a local page
	$(BIN)/python -m bot serve

test: lint types unit

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy

unit: $(READY) contract
	$(BIN)/python -m pytest -n auto -m "not soak"

contract: $(READY)  ## GitHub's own description of its API, for the tests; left out where npm is missing
	@$(BIN)/python -m tests.contract.fetch

soak: $(READY)  ## the long runs: generated input, the whole corpus
	$(BIN)/python -m pytest -n auto -m soak

bench: $(READY)
	for script in benchmarks/[a-z]*.py; do $(BIN)/python $$script || exit 1; done

$(READY): requirements.lock pyproject.toml
	@test -n "$(PYTHON)" || { echo "Seamguard needs Python 3.11 or newer: install it, or set PYTHON=/path/to/python3" >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	$(BIN)/python -m compileall -q bot
	touch $(READY)

COMPILE := $(BIN)/pip-compile --quiet --generate-hashes --allow-unsafe --strip-extras --no-header --no-annotate \
	--no-emit-index-url --no-emit-trusted-host --no-emit-find-links

lock: $(READY)  ## names, versions and hashes only: of everything, of what runs, and of what the Action runs
	$(BIN)/python -m pip install --quiet pip-tools
	$(COMPILE) --extra dev --output-file requirements.lock pyproject.toml
	$(COMPILE) --constraint requirements.lock --output-file runtime.lock pyproject.toml
	$(BIN)/python -m tests.packaging.action_lock > action.lock

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .hypothesis

# Works in a fresh clone with make and Python 3.11 or newer, and nothing else: every target makes
# what it needs inside .venv. `make` alone lists the targets.

PYTHON ?= python3
PYTEST_ARGS ?=
RUN_ARGS ?=

VENV := .venv
VENV_PYTHON := $(VENV)/bin/python
PIP_INSTALL := $(VENV_PYTHON) -m pip install --disable-pip-version-check

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
# Two targets asked for at once would install into the same environment at the same time.
.NOTPARALLEL:
.PHONY: help run demo datasets test fuzz differ lint format types imports bench picture figures lock clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-9s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

run: $(VENV)/.installed-run ## start the service, with a demo feed, and say which page to open
	@$(VENV_PYTHON) -m api $(RUN_ARGS)

demo: $(VENV)/.installed-run ## watch queues fall behind, and not, in the terminal (15 seconds)
	@$(VENV_PYTHON) -m simulator demo

datasets: $(VENV)/.installed-datasets ## install what `python -m datasets` needs: Spark (a minute)
	@echo "Ready: $(VENV_PYTHON) -m datasets --help"

# Compiled tests are kept for the next run whatever the environment says: compiling them takes each
# process seven seconds.
test: export PYTHONDONTWRITEBYTECODE =
test: $(VENV)/.installed-dev ## run the whole test suite, the doctests of the library included
	$(VENV_PYTHON) -m pytest -n auto --dist worksteal $(PYTEST_ARGS)

fuzz: $(VENV)/.installed-dev ## make 20,000 requests up from the API's description (minutes)
	FUZZ_CASES=20000 $(VENV_PYTHON) -m pytest tests/api/test_schema.py -s --timeout=0 $(PYTEST_ARGS)

differ: $(VENV)/.installed-dev ## answer 3,000 random queries by increments and anew, and interrupt some (minutes)
	QUERY_CASES=3000 EPOCH_CASES=3000 RULE_EXAMPLES=40 INTERRUPTED_LINES=400 \
		$(VENV_PYTHON) -m pytest -n auto --dist worksteal --timeout=0 \
		tests/queries/differential tests/queries/rewriting tests/queries/test_epoch_reference.py \
		tests/queries/test_interruptions.py tests/queries/test_interrupted_views.py \
		tests/queries/test_interrupted_epochs.py $(PYTEST_ARGS)

lint: $(VENV)/.installed-dev ## check style and formatting (ruff)
	$(VENV_PYTHON) -m ruff check .
	$(VENV_PYTHON) -m ruff format --check .

format: $(VENV)/.installed-dev ## format the code and sort the imports (ruff)
	$(VENV_PYTHON) -m ruff check --select I --fix .
	$(VENV_PYTHON) -m ruff format .

types: $(VENV)/.installed-dev ## check the types (mypy, strict)
	$(VENV_PYTHON) -m mypy

imports: $(VENV)/.installed-dev ## check that the layers import downwards only (import-linter)
	$(VENV_PYTHON) -c 'import importlinter.cli as cli; cli.lint_imports_command()' --no-logo

bench: $(VENV)/.installed-dev ## measure speed and print the ratios as a table
	$(VENV_PYTHON) -m pytest tests/benchmarks tests/test_peer_behaviours.py -m benchmark \
		-s --timeout=0 $(PYTEST_ARGS)

picture: $(VENV)/.installed-dev ## take the screenshot of the page that the README shows (a minute)
	$(VENV_PYTHON) -m tests.api.browser.picture

figures: $(VENV)/.installed-run ## measure all figures and experiments into figures/ (minutes; resumable)
	$(VENV_PYTHON) -m simulator all --out figures

# The pins that stand are kept where they still fit; UPGRADE=--upgrade takes the newest of all.
LOCK = $(VENV_PYTHON) -m uv pip compile --quiet --universal --python-version 3.11 \
	--generate-hashes --no-emit-index-url --no-emit-find-links \
	--custom-compile-command 'make lock' $(UPGRADE)

lock: $(VENV)/.installed-dev ## pin the dependencies of pyproject.toml again, with hashes
	$(LOCK) --all-extras --group dev --output-file requirements/dev.txt pyproject.toml
	$(LOCK) --group build --constraints requirements/dev.txt \
		--output-file requirements/build.txt pyproject.toml
	$(LOCK) --extra datasets --extra spark --extra simulator --extra java --group build \
		--constraints requirements/dev.txt --output-file requirements/datasets.txt pyproject.toml
	$(LOCK) --extra api --extra client --extra queries --extra simulator --group build --constraints requirements/dev.txt \
		--output-file requirements/run.txt pyproject.toml

clean: ## remove the environment and everything else that was made
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The files made here are stamps: pip runs again only when what it reads is newer. The project
# itself is installed editable by the build tools that were just pinned, and so is what comes as source
# only, so that nothing is fetched but what the lock files name.
$(VENV)/.installed-%: requirements/%.txt requirements/build.txt pyproject.toml $(VENV)/.made
	@echo "Installing what $< names into $(VENV) (the first time takes a minute)"
	@$(PIP_INSTALL) --quiet --require-hashes -r requirements/build.txt
	@$(PIP_INSTALL) --quiet --require-hashes --no-build-isolation --use-pep517 -r $<
	@$(PIP_INSTALL) --quiet --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "UpStream needs Python 3.11 or newer, and $(PYTHON) is not. Name another one:" \
			"make PYTHON=/path/to/python3.12" >&2; exit 1; }
	@echo "Making a virtual environment in $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@touch $@

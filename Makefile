# Needs GNU make and Python 3.11 or newer, nothing else: all tools are installed into .venv, from a lock with hashes.

PYTHON ?= python3

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
# Quiet twice: errors are shown, warnings about the user's own pip configuration aren't.
PIP_INSTALL := $(PIP) install --quiet --quiet
# The stamps: the lock is installed; the project is installed on top of it.
LOCKED := $(VENV)/.locked
INSTALLED := $(VENV)/.installed

# `make lock` only. Pinned, so that the lock's layout changes when we say so.
UV_VERSION := 0.13.9
LOCK_VENV := .venvs/lock

# A PYTHON that the user names is taken or refused; only the default gives way to another one.
ifeq ($(origin PYTHON),file)
PYTHON_CANDIDATES := $(PYTHON) python3.14 python3.13 python3.12 python3.11
else
PYTHON_CANDIDATES := "$(PYTHON)"
endif

# Sets the shell variable `python`, or ends the recipe with what to do.
FIND_PYTHON = python=; \
	for candidate in $(PYTHON_CANDIDATES); do \
	  if "$$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then \
	    python=$$candidate; break; \
	  fi; \
	done; \
	if [ -z "$$python" ]; then \
	  echo "toolroster needs Python 3.11 or newer, and none of these is one:" $(PYTHON_CANDIDATES) >&2; \
	  echo "Install Python 3.11 or newer, or name one: make PYTHON=path/to/python3" >&2; \
	  exit 1; \
	fi

STEP := @printf '==> %s\n'

# Without this, pyright asks the network whether there is a newer pyright.
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1

.DEFAULT_GOAL := all
# Steps stand in the order in which their output helps most, under `make -j` too.
.NOTPARALLEL:
.DELETE_ON_ERROR:
.SUFFIXES:

.PHONY: all
all: build check ## Build and check this repository's own catalog, policy and goldens (the default)

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: setup
setup: $(INSTALLED) ## Create or update .venv

$(LOCKED): requirements/dev.txt
	@$(FIND_PYTHON); \
	printf '==> set up %s with %s (about a minute)\n' '$(VENV)' "$$("$$python" --version)"; \
	"$$python" -m venv --clear $(VENV)
	@$(PIP_INSTALL) --require-hashes -r requirements/dev.txt
	@touch $@

$(INSTALLED): $(LOCKED) pyproject.toml
	$(STEP) 'install toolroster'
	@$(PIP_INSTALL) --no-build-isolation --no-deps -e .
	@$(PIP) check >$(VENV)/pip-check.txt || { \
	  cat $(VENV)/pip-check.txt >&2; \
	  echo 'The lock does not fit pyproject.toml. Run: make lock' >&2; \
	  exit 1; \
	}
	@touch $@

.PHONY: build
build: $(INSTALLED) ## Compile every profile and target of this repository
	$(STEP) 'toolroster build'
	@$(BIN)/toolroster build

.PHONY: check
check: $(INSTALLED) ## Check this repository with its own rules
	$(STEP) 'toolroster check'
	@$(BIN)/toolroster check

.PHONY: test
test: format-check lint mypy pyright imports pytest check ## Format, lint, types, architecture, tests, check
	@echo 'make test: every step passed'

.PHONY: test-all
test-all: test slow matrix ## The same, then the slow tests and every supported Python
	@echo 'make test-all: every step passed'

.PHONY: format-check
format-check: $(INSTALLED)
	$(STEP) 'ruff format --check'
	@$(BIN)/ruff format --check

.PHONY: lint
lint: $(INSTALLED)
	$(STEP) 'ruff check'
	@$(BIN)/ruff check

.PHONY: mypy
mypy: $(INSTALLED)
	$(STEP) 'mypy'
	@$(BIN)/mypy

.PHONY: pyright
pyright: $(INSTALLED)
	$(STEP) 'pyright'
	@$(BIN)/pyright

.PHONY: imports
imports: $(INSTALLED)
	$(STEP) 'lint-imports'
	@$(BIN)/lint-imports --no-logo

.PHONY: pytest
pytest: $(INSTALLED) ## Only the tests, without the slow ones
	$(STEP) 'pytest'
	@$(BIN)/pytest --no-header -n auto -m 'not slow'

.PHONY: slow
slow: $(INSTALLED) ## Only the slow tests
	$(STEP) 'pytest, slow tests'
	@# pytest exits with 5 where it finds no test: having no slow test is fine.
	@$(BIN)/pytest --no-header -n auto -m slow || [ $$? -eq 5 ]

.PHONY: matrix
matrix: $(INSTALLED) ## The tests on each supported Python found, and with the oldest dependencies allowed
	$(STEP) 'matrix'
	@requirements/matrix.sh

.PHONY: coverage
coverage: $(INSTALLED) ## The tests' branch coverage
	$(STEP) 'coverage'
	@$(BIN)/coverage erase
	@$(BIN)/coverage run -m pytest --no-header -q -m 'not slow'
	@$(BIN)/coverage combine --quiet
	@$(BIN)/coverage report

.PHONY: format
format: $(INSTALLED) ## Format, and fix what ruff can fix
	@$(BIN)/ruff check --fix-only
	@$(BIN)/ruff format

.PHONY: docs
docs: $(INSTALLED) ## Write docs/rules/ from the rules' docstrings
	$(STEP) 'docs/rules'
	@$(BIN)/python docs/generate.py

.PHONY: lock
lock: ## Renew requirements/dev.txt: the newest versions, with hashes, for every supported Python and system
	$(STEP) 'lock requirements/dev.txt'
	@$(FIND_PYTHON); "$$python" -m venv --clear $(LOCK_VENV)
	@$(LOCK_VENV)/bin/python -m pip --disable-pip-version-check install --quiet --quiet uv==$(UV_VERSION)
	@UV_CUSTOM_COMPILE_COMMAND='make lock' $(LOCK_VENV)/bin/uv pip compile --quiet --upgrade \
	  --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links \
	  --extra fast --output-file requirements/dev.txt requirements/dev.in pyproject.toml
	@! grep -n '://' requirements/dev.txt || { \
	  echo 'requirements/dev.txt names a host: remove the option or the requirement that wrote it.' >&2; \
	  exit 1; \
	}

.PHONY: clean
clean: ## Remove everything that make made, environments included
	@rm -rf $(VENV) .venvs build dist htmlcov .coverage .coverage.* .hypothesis .import_linter_cache .mypy_cache \
	  .pytest_cache .ruff_cache
	@find . -name .git -prune -o -name __pycache__ -prune -exec rm -rf {} +

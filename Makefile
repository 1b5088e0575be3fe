# Every target does its own set-up: Python 3.11 or newer, make and a package index are all that it needs.
PYTHONS := python3.13 python3.12 python3.11 python3.14 python3 python
PYTHON ?= $(shell for p in $(PYTHONS); do \
	$$p -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
BIN := .venv/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check --no-input
READY := .venv/ready
COMPILED := .venv/compiled
INSTALLED := .venv/installed
# Tests commit thousands of transactions: in memory, where the machine has room for that, no disk is waited for.
SHM := $(shell [ -w /dev/shm ] && [ "$$(df -Pk /dev/shm | awk 'NR == 2 {print $$4}')" -gt 4000000 ] && echo /dev/shm)

# One more than cores: tests wait for processes, servers and disks.
WORKERS := $(shell echo $$(( $$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2) + 1 )))

# The tests start many processes: what they load is compiled once, whatever the shell says.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test lint types tests conformance bench clean
.DEFAULT_GOAL := test

demo: $(if $(wildcard $(READY)),$(READY),$(INSTALLED)) ## Watch it work on the sample logs that ship with it
	@$(BIN)/ireneo demo

test: lint ## Everything that must hold; types and tests run beside each other
	@$(MAKE) --no-print-directory -j2 types tests

lint: $(READY)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check --quiet .

types: $(READY)
	@$(BIN)/mypy

tests: $(COMPILED)
	@$(if $(SHM),TMPDIR=$(SHM)) $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

conformance: $(READY) ## Every check that a store has to meet, on each of them: a row for each
	@$(BIN)/python -m tests.conformance.table

bench: $(READY) ## Tables of speeds and of what a context keeps; some take minutes, and one wants a model, which it says
	@for table in benchmarks/*.py; do echo "== $$table"; $(BIN)/python $$table || [ $$? -eq 2 ] || exit 1; done

clean: ## Forget the environment and all caches
	@rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis dist

define new-venv
	@test -n "$(PYTHON)" || { echo "Ireneo needs Python 3.11 or newer with venv: install it, or name it with make PYTHON=…" >&2; exit 2; }
	@echo "Setting up .venv …"
	@$(PYTHON) -m venv --clear .venv
endef

$(READY): pyproject.toml
	$(new-venv)
	@$(PIP) install --upgrade 'pip>=25.1' 2>/dev/null || $(PIP) install --upgrade 'pip>=25.1'
	@echo "Installing all that the tests need, some 700 MB …"
	@$(PIP) install --no-compile --editable . --group dev 2>/dev/null || \
		$(PIP) install --no-compile --editable . --group dev
	@touch $@

$(COMPILED): $(READY) ## What each worker loads, once by one process; what is wrong there the tests themselves say
	@$(BIN)/python -m pytest --collect-only -qq >/dev/null 2>&1 || true
	@touch $@

$(INSTALLED): pyproject.toml ## The package alone: a thirteenth of what the tests need
	$(new-venv)
	@echo "Installing the package and what it needs, some 50 MB …"
	@$(PIP) install --no-compile --editable . 2>/dev/null || $(PIP) install --no-compile --editable .
	@touch $@

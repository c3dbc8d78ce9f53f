# Every command of the project has a name here. All of them set themselves up: they need
# Python 3.11 or newer, make, and a package index that pip can reach.

.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:

# The first interpreter that is new enough and can make a virtual environment; `make PYTHON=… setup` chooses another.
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3 python3.14 python; do \
	"$$p" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && { echo "$$p"; break; }; done)

PY := .venv/bin/python
PYTEST := $(PY) -m pytest
# Many tests wait for a process, a disk or a lease: one worker more than there are cores.
WORKERS := $(shell expr $$(nproc 2>/dev/null || echo 2) + 1)
# Wheels only: a source package would run its own build code, with build dependencies that nobody pinned.
PIP_FLAGS := --quiet --disable-pip-version-check --no-input
PIP_HASHED := install $(PIP_FLAGS) --require-hashes --only-binary :all:
PIP_PROJECT := install $(PIP_FLAGS) --no-build-isolation --no-deps -e .

# Tests start many processes: each module is compiled once, whatever the environment says.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help
help:  ## list these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: setup
setup: .venv/.stamp  ## make .venv with everything pinned, and the project in it (redone when a pin changes)

# The interpreter, or a reason why there is none.
define python
	@if [ -z "$(PYTHON)" ]; then \
		echo "error: no Python 3.11 or newer with the venv module on PATH (Debian and Ubuntu: apt install python3-venv)" >&2; exit 1; fi
endef

# $(call venv,FOLDER): a virtual environment with pip, kept if it works.
define venv
	$(python)
	@if ! $(1)/bin/python -m pip --version >/dev/null 2>&1 && ! $(1)/bin/python -m ensurepip >/dev/null 2>&1; then \
		echo "making $(1) with $(PYTHON)"; "$(PYTHON)" -m venv --clear $(1); fi
endef

# What runs, and what installs it: no test tools. An environment that has everything is left as it is. The
# interpreter's own pip installs into another environment, if it is new enough (22.3): copying pip takes two seconds.
.venv/.run: pyproject.toml requirements/run.txt
	$(python)
	@if [ ! -e .venv/.stamp ]; then \
		if ! .venv/bin/python -c "" >/dev/null 2>&1; then \
			echo "making .venv with $(PYTHON)"; "$(PYTHON)" -m venv --clear --without-pip .venv; fi; \
		pip=("$(PYTHON)" -m pip --python .venv/bin/python); \
		if ! "$${pip[@]}" --version >/dev/null 2>&1; then \
			.venv/bin/python -m ensurepip >/dev/null; pip=(.venv/bin/python -m pip); fi; \
		printf '%s' "installing requirements/run.txt and the project into .venv (50 MB)"; \
		if [ -t 1 ]; then while sleep 1; do printf .; done & trap "kill $$!; echo" EXIT; else echo; fi; \
		"$${pip[@]}" $(PIP_HASHED) -r requirements/run.txt && "$${pip[@]}" $(PIP_PROJECT); fi
	@touch $@

.venv/.stamp: pyproject.toml requirements/dev.txt
	$(call venv,.venv)
	@echo "installing requirements/dev.txt and the project into .venv"
	@$(PY) -m pip $(PIP_HASHED) -r requirements/dev.txt
	@$(PY) -m pip $(PIP_PROJECT)
	@touch $@

.PHONY: demo
demo: .venv/.run  ## see it work: a team of agents behind Guard, on real files, git and SQLite (`remit demo`)
	@$(PY) -m remit demo

.PHONY: test
test: setup  ## run the tests of every area; ARGS='-k path' narrows
	@$(PYTEST) -n $(WORKERS) --dist worksteal -m "not more and not long and not hosts" tests $(ARGS)

.PHONY: test-more
test-more: setup  ## run what `make test` leaves out: more cases of the same kinds
	@$(PYTEST) -n $(WORKERS) --dist worksteal -m "more and not long and not hosts" tests $(ARGS)

.PHONY: test-long
test-long: setup  ## run the tests that take minutes: more examples, fuzzing
	@$(PY) -m pip $(PIP_HASHED) -r requirements/long.txt \
		|| echo "test-long: requirements/long.txt can't be installed here; what needs it is listed as skipped" >&2
	@$(PYTEST) -n auto --dist worksteal -m long --hypothesis-profile=long tests $(ARGS)

.PHONY: test-hosts
test-hosts: setup  ## run the tests that need a real host program (environments of their own, some 1.5 GB) or MariaDB
	@$(MAKE) --silent --no-print-directory .venv-hosts/.stamp \
		|| echo "test-hosts: requirements/hosts.txt can't be installed here; what needs it is listed as skipped" >&2
	@$(MAKE) --silent --no-print-directory .node-hosts/.stamp \
		|| echo "test-hosts: requirements/hosts-npm can't be installed here; what needs it is listed as skipped" >&2
	@command -v bwrap >/dev/null || { [ "$$(id -u)" = 0 ] && apt-get install -y -qq --no-install-recommends bubblewrap >/dev/null; } \
		|| echo "test-hosts: bubblewrap can't be installed here; what needs it is listed as skipped" >&2
	@$(PYTEST) -n auto -m hosts tests $(ARGS)

.venv-hosts/.stamp: requirements/hosts.txt
	$(call venv,.venv-hosts)
	@echo "installing requirements/hosts.txt into .venv-hosts"
	@.venv-hosts/bin/python -m pip $(PIP_HASHED) -r requirements/hosts.txt
	@touch $@

# The pins have hashes and no addresses; scripts of packages are not run.
.node-hosts/.stamp: requirements/hosts-npm/package.json requirements/hosts-npm/package-lock.json
	@echo "installing requirements/hosts-npm into .node-hosts"
	@mkdir -p .node-hosts && cp requirements/hosts-npm/package.json requirements/hosts-npm/package-lock.json .node-hosts/
	@cd .node-hosts && npm install --no-save --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

.PHONY: lint
lint: setup  ## check style, formatting, types, and that the pins fit pyproject.toml
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	$(PY) -m pip check

.PHONY: docs
docs: .venv-docs/.stamp  ## build the documentation as a site to read offline: build/docs/index.html; a broken link fails
	@.venv-docs/bin/python -m sphinx --fresh-env --fail-on-warning --keep-going --nitpicky --quiet --jobs auto -b html docs build/docs $(ARGS)
	@echo "build/docs/index.html"

.venv-docs/.stamp: requirements/docs.txt
	$(call venv,.venv-docs)
	@echo "installing requirements/docs.txt into .venv-docs"
	@.venv-docs/bin/python -m pip $(PIP_HASHED) -r requirements/docs.txt
	@touch $@

PATHS ?= .
.PHONY: format
format: setup  ## format the code, and fix what ruff can fix safely; PATHS='tests/x.py' touches only those
	$(PY) -m ruff check --fix-only $(PATHS)
	$(PY) -m ruff format $(PATHS)

.PHONY: bench
bench: .venv-bench/.stamp  ## measure, beside the peers (an environment of its own); ARGS are for bench/run.py
	@.venv-bench/bin/python bench/run.py $(ARGS)

# The project's own pins come last, so that no peer changes what is measured.
.venv-bench/.stamp: pyproject.toml requirements/bench.txt requirements/dev.txt
	$(call venv,.venv-bench)
	@echo "installing requirements/bench.txt and the project into .venv-bench"
	@.venv-bench/bin/python -m pip $(PIP_HASHED) -r requirements/bench.txt
	@.venv-bench/bin/python -m pip $(PIP_HASHED) -r requirements/dev.txt
	@.venv-bench/bin/python -m pip $(PIP_PROJECT)
	@touch $@

.PHONY: mutants
mutants: .venv-mutants/.stamp  ## change what decides in small ways, and see whether a test notices; SAMPLE=600 takes so many
	@.venv-mutants/bin/python tests/mutants/run.py $(if $(SAMPLE),--sample $(SAMPLE)) $(ARGS)

.venv-mutants/.stamp: pyproject.toml requirements/mutants.txt requirements/dev.txt
	$(call venv,.venv-mutants)
	@echo "installing requirements/mutants.txt and the project into .venv-mutants"
	@.venv-mutants/bin/python -m pip $(PIP_HASHED) --no-deps --no-warn-conflicts -r requirements/mutants.txt
	@.venv-mutants/bin/python -m pip $(PIP_HASHED) --no-warn-conflicts -r requirements/dev.txt
	@.venv-mutants/bin/python -m pip $(PIP_PROJECT)
	@touch $@

# $(call pin,NAME,SOURCE AND OPTIONS): requirements/NAME.txt for Python 3.11 and newer on every platform, with
# hashes, and without the address of an index. A pin moves only with `make requirements UPGRADE=1`.
UV := .venv-uv/bin/uv
define pin
	@echo "requirements/$(1).txt"
	@$(UV) pip compile $(2) --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-config \
		--no-emit-index-url --no-emit-find-links $(if $(UPGRADE),--upgrade) --output-file requirements/$(1).txt
	@{ echo '# Made by `make requirements`; not edited by hand.'; cat requirements/$(1).txt; } > requirements/$(1).new && mv requirements/$(1).new requirements/$(1).txt
endef

.PHONY: requirements-npm
requirements-npm:  ## hash the pins of requirements/hosts-npm again, after a version in its package.json was changed
	@cd requirements/hosts-npm && npm install --package-lock-only --omit-lockfile-registry-resolved --ignore-scripts --no-audit --no-fund

.PHONY: requirements
requirements: .venv-uv/.stamp  ## resolve and hash the pins again; UPGRADE=1 moves them to newer versions
	$(call pin,uv,requirements/uv.in)
	$(call pin,dev,pyproject.toml --group dev)
	$(call pin,run,pyproject.toml --group run -c requirements/dev.txt)
	$(call pin,long,requirements/long.in)
	$(call pin,hosts,requirements/hosts.in)
	$(call pin,docs,requirements/docs.in)
	$(call pin,mutants,requirements/mutants.in --no-deps)
	$(if $(wildcard requirements/bench.in),$(call pin,bench,requirements/bench.in --emit-build-options))

.venv-uv/.stamp: requirements/uv.txt
	$(call venv,.venv-uv)
	@.venv-uv/bin/python -m pip $(PIP_HASHED) -r requirements/uv.txt
	@touch $@

.PHONY: clean
clean:  ## remove what these commands made: environments, caches, builds
	rm -rf .node-hosts .venv .venv-bench .venv-docs .venv-hosts .venv-mutants .venv-uv .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

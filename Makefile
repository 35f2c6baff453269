# The verbs of the project; CI uses the same ones. `make help` lists them.

SHELL := /bin/sh
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

venv   := .venv
bin    := $(venv)/bin
ready  := $(venv)/.ready
flink  := build/peers/flink/bin/python
pip    := $(bin)/python -m pip -qq --disable-pip-version-check --no-input
pytest := TMPDIR=$$(scripts/scratch) $(bin)/python -m pytest --quiet
# Two workers: the suite is sized for two cores. Tests of one group, such as those that share a
# Spark session, stay in one worker.
spread := --numprocesses=2 --dist=loadgroup

# What is quick and needs no JVM: examples and small properties, no kernels, no random plans, and
# nothing that loads Spark, Arrow or Numba.
quick  := $(wildcard tests/unit tests/architecture tests/operators tests/papers tests/regressions) \
  $(addprefix src/ebbtide/,core algebra plan_text reference sql analysis drawing builder.py) \
  --ignore=tests/unit/state --ignore=tests/unit/engine --ignore=tests/unit/cli

.PHONY: help test unit check properties bench bench-nexmark bench-peers demo docs drawings wheel format lock clean java

help: ## list the verbs
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile

test: java $(ready) ## check, then the whole test suite
	@$(MAKE) --no-print-directory check
	$(pytest) $(spread)

unit: $(ready) ## the quick tests that need no JVM, with few examples per property
	EBBTIDE_PROFILE=quick $(pytest) $(spread) -m "not jvm" $(quick)

check: $(ready) ## lint, format, types, layers
	$(bin)/ruff check --quiet
	$(bin)/ruff format --check --quiet
	$(bin)/mypy --strict
	$(bin)/lint-imports --no-logo

properties: java $(ready) ## the law, with many examples per property
	EBBTIDE_PROFILE=long $(pytest) $(spread) tests/properties tests/kernels tests/differential tests/faults \
	  $(addprefix tests/spark/test_,balance.py disk.py memory.py random_plans.py random_programs.py \
	  readers_agree.py)

bench: java $(ready) ## measure, with expected answers, and write benchmarks/results.json and README's table
	$(bin)/ebbtide bench --json benchmarks/results.json $(if $(wildcard $(flink)),--flink $(flink))
	$(bin)/python scripts/figures.py

bench-nexmark: java $(ready) ## the queries of Nexmark, beside Flink if it is there, and write benchmarks/nexmark.json and the table of its page
	$(bin)/ebbtide bench nexmark --repeats 2 --json benchmarks/nexmark.json $(if $(wildcard $(flink)),--flink $(flink))
	$(bin)/python scripts/figures.py

bench-peers: ## install Flink in an environment of its own, for make bench
	@python=$$(scripts/find-python) || exit 1; "$$python" -m venv --clear $(dir $(flink))..
	$(flink) -m pip -qq --disable-pip-version-check --no-input install 'apache-flink==2.3.*'

demo: java $(ready) ## the main job, on this machine
	@$(bin)/python -m ebbtide.demo

docs: $(ready) ## the site of the documentation, into build/site
	NO_MKDOCS_2_WARNING=1 $(bin)/mkdocs build --strict --quiet

drawings: $(ready) ## draw the operators of the reference again
	$(bin)/python scripts/drawings.py

wheel: $(ready) ## the package, into dist
	$(bin)/python -m hatchling build -t wheel

format: $(ready) ## put the sources into shape
	$(bin)/ruff check --quiet --fix
	$(bin)/ruff format --quiet

lock: $(ready) ## resolve pyproject.toml again into requirements.lock
	$(bin)/python scripts/lock.py

clean: ## remove the environment and everything made
	rm -rf $(venv) build dist .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find src tests scripts -name __pycache__ -type d -prune -exec rm -rf {} +

java:
	@scripts/require-java

# The stamp is written last, so an interrupted set-up is taken up again; it is older than the lock
# or pyproject.toml only when there is something to install.
$(ready): requirements.lock pyproject.toml
	@python=$$(scripts/find-python) || exit 1; \
	echo "setting up $(venv) (the first time takes a few minutes)"; \
	[ -x $(bin)/python ] || "$$python" -m venv --clear $(venv)
	@$(pip) install --requirement requirements.lock
	@$(pip) install --no-deps --no-build-isolation --editable .
	@touch $@

# Shortcuts for developers. None of them is needed to use the project: ./quickstart and ./run-tests work without make.
.DEFAULT_GOAL := help
.PHONY: help setup test lint type lock bench-small bench-gap bench-ctap bench-gqap bench-vbp bench-roadef bench-openb bench-linearization bench-nonconcave bench-scale bench-methods bench-kernels bench-twin commwall clean

BIN := .venv/bin

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-11s %s\n", $$1, $$2 }' Makefile

setup: ## make or update .venv from requirements/dev.txt
	@sh scripts/setup-venv.sh dev

test: ## every check that CI runs
	./run-tests

lint: setup ## style, format and import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-logo

type: setup ## strict type check
	$(BIN)/mypy

# The locks hold for Python 3.11 and newer on every platform (environment markers) and name no index. Versions already in
# them are kept where pyproject.toml allows: `make lock UPGRADE=1` moves all of them to the newest ones. runtime.txt is
# compiled under the versions of dev.txt, so that one environment can hold both.
# uv comes from the environment of the previous lock; `make lock UV=uv` takes the one on PATH.
UV ?= $(BIN)/uv
COMPILE = $(UV) pip compile --quiet --universal --generate-hashes --no-emit-index-url \
	--custom-compile-command "make lock" $(if $(UPGRADE),--upgrade)

lock: ## compile requirements/*.txt from pyproject.toml (UPGRADE=1: newest versions)
	$(COMPILE) --group dev --output-file requirements/dev.txt pyproject.toml
	$(COMPILE) --group build --constraints requirements/dev.txt --output-file requirements/runtime.txt pyproject.toml
	@! grep -nE '://|^ *--(extra-)?index-url|^ *--find-links' requirements/*.txt

# Goes on after an interruption: what is done waits in out/bench-small until the suite is whole.
bench-small: setup ## every method on the small instances that come along: reports/small and reports/small.html
	@mkdir -p out reports
	@code=0; $(BIN)/allocator bench small -o out/bench-small --jobs 2 || code=$$?; \
	test $$code -le 1 || exit $$code; \
	rm -rf reports/small && mv out/bench-small reports/small || exit 1; \
	$(BIN)/allocator report reports/small -o reports/small.html || code=$$?; \
	exit $$code

# Slow suites against published instances: make bench-gap DATA=path/to/instances [ARGS="--only 'c*' -o table.md"]
DATA ?=
ARGS ?=

bench-gap: setup ## generalized assignment against best known values (DATA=folder)
	$(BIN)/python -m tests.bench.gap --data "$(DATA)" $(ARGS)

bench-ctap: setup ## task assignment with traffic against best known values (DATA=folder)
	$(BIN)/python -m tests.bench.ctap --data "$(DATA)" $(ARGS)

bench-gqap: setup ## quadratic assignment against best known values (DATA=folder)
	$(BIN)/python -m tests.bench.gqap --data "$(DATA)" $(ARGS)

bench-vbp: setup ## vector bin packing against best known values (DATA=folder)
	$(BIN)/python -m tests.bench.vbp --data "$(DATA)" $(ARGS)

# make bench-roadef DATA=folder [ARGS="--time-limit 60 --seeds 0 1 2 --only 'b_*'"]; 300 s and one seed unless stated
bench-roadef: setup ## machine reassignment against best known values and the challenge's score (DATA=folder)
	$(BIN)/python -m tests.bench.roadef --data "$(DATA)" $(ARGS)

bench-openb: setup ## GPU cluster at 130 % load against published online policies (DATA=folder)
	$(BIN)/python -m tests.bench.openb --data "$(DATA)" $(ARGS)

commwall: setup ## the communication wall, tree against mesh: reports/commwall.md and reports/commwall.html
	$(BIN)/python -m tests.bench.commwall $(ARGS)

bench-linearization: setup ## certified errors of curves and P99 against brute force; what bending costs over linear
	$(BIN)/python -m tests.bench.linearization $(ARGS)

bench-nonconcave: setup ## curves of eight points that are not concave, on 20 uplinks, to 1 % in a minute
	$(BIN)/python -m tests.bench.nonconcave $(ARGS)

# make bench-scale [ARGS="--agents 40000 --seeds 2 --models p99 -o table.md"]; 5 seeds of everything take an hour
bench-scale: setup ## whole processes at 40,000 and 200,000 agents: seconds, first plan, certified gaps, memory
	$(BIN)/python -m tests.bench.scale $(ARGS)

# make bench-twin [ARGS="--agents 40000 --seeds 11 12 13 -o table.md"]; three minutes a seed
bench-twin: setup ## traffic of a production network against graph partitioners (mtkahypar)
	$(BIN)/python -m tests.bench.twin $(ARGS)

bench-methods: setup ## methods side by side at equal limits on large instances
	$(BIN)/python -m tests.bench.methods $(ARGS)

bench-kernels: setup ## moves a second and core; shifts beside the same loop in C (ARGS="--data FOLDER": machine reassignment too)
	$(BIN)/python -m tests.bench.kernels $(ARGS)

clean: ## remove the environment, caches and builds
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage .coverage.* htmlcov build dist
	find allocator tests -name __pycache__ -type d -prune -exec rm -rf {} +

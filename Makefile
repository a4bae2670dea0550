# Every target sets up what it needs: a virtual environment in .venv and Java.
PYTHON ?= python3
BIN := .venv/bin
export PATH := $(CURDIR)/$(BIN):$(PATH)

.DEFAULT_GOAL := help
.PHONY: help setup java chromium demo test check bench bench-peers attack sim soak autobahn cluster nightly format docs clean

help: ## print this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{printf "  make %-11s %s\n", $$1, $$2}'

setup: .venv/ready java ## install all that is needed (every other target does this first)

.venv/ready: pyproject.toml constraints.txt tools/venv.sh
	@sh tools/venv.sh $(PYTHON)
	@touch $@

java:
	@sh tools/java.sh

chromium:
	@sh tools/chromium.sh

demo: setup ## generate traffic, run the pipeline, show what happened to every message
	@python tools/demo.py

test: check chromium ## check, then run all tests
	pytest -n 2 -m "not spark" --cov --cov-report=
	pytest -m spark --cov --cov-append --cov-report=term --cov-fail-under=97

check: setup ## format, lint, types, import contracts, spelling, generated docs
	ruff format --check .
	ruff check .
	mypy
	lint-imports
	codespell src tests docs tools benchmarks README.md CONTRIBUTING.md CHANGELOG.md
	python tools/docs.py --check

bench: setup bench-peers ## measure (about 30 minutes), and write benchmarks/RESULTS.md
	python benchmarks/run.py

bench-peers: ## install what the measurements compare with
	@sh tools/bench_peers.sh

attack: setup ## replay attacks on the servers, and say what each costs (about 5 minutes)
	python benchmarks/attacks.py

sim: setup ## play 500 seeded worlds of all scenarios, and check what must hold (minutes)
	python tools/worlds.py

soak: setup ## an hour of load, 50 kills of the servers, 200 of the pipeline (about three hours)
	TEST_SOAK_SECONDS=3600 pytest tests/live/test_soak.py
	TEST_SERVER_KILLS=50 pytest tests/live/test_crash.py
	TEST_KILLS=200 pytest tests/pipeline/test_crash.py

autobahn: setup ## the Autobahn fuzzing client against the WebSocket link (about 10 minutes)
	@sh tools/autobahn.sh .autobahn
	python tools/autobahn.py .autobahn

cluster: setup ## pack an environment, and run with it on a Spark cluster (about 5 minutes)
	sh deploy/pack.sh $(BIN)/python dist
	TEST_PACKED=dist/env.tar.gz pytest tests/cluster

nightly: setup ## the long damage tests: 200,000 cases a protocol
	TEST_CASES=200000 HYPOTHESIS_PROFILE=nightly pytest -n 2 tests/conformance

format: setup ## format the code and fix what can be fixed
	ruff format .
	ruff check --fix .

docs: setup ## write the generated parts of docs/
	python tools/docs.py

clean: ## remove the virtual environment and all caches
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage

# Everything a newcomer needs: `make run` and `make test`. Both make .venv themselves.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
RUNNABLE := $(VENV)/.runnable
STAMP := $(VENV)/.installed
# several processes, each with whole files: a file's broker and client drivers start once
TEST_ARGS ?= -n auto --maxprocesses 4 --dist loadfile

.PHONY: help scorecards both-ways install run test clients check lint types contracts bench generate pipeline-demo pipeline-check docs-check image-check clean oracle suite suites

help:
	@echo "make run        a broker on 127.0.0.1:9092 with demo users and ACLs"
	@echo "make test       all tests, but the heavy ones of the next and of pipeline-check"
	@echo "make clients    every client over every log-in; KAFKA=4.3.1: against a real broker (java 17, maven)"
	@echo "make check      lint, types, import contracts, generated files, then all tests"
	@echo "make pipeline-demo   three clients are recorded; what Spark says of their ACLs (Java 17)"
	@echo "make pipeline-check  tests of the pipeline that take minutes: kills, a cluster, Spark's Kafka connector (Java 17)"
	@echo "make docs-check  what the pages show and takes minutes: a new environment, benchmarks, Spark, suites"
	@echo "make image-check  the Dockerfile is built and a client connects to it (buildah)"
	@echo "make bench      the benchmarks, side by side with other libraries"
	@echo "make oracle RELEASE=4.3.1   the shim against a real broker (java 17 and maven)"
	@echo "make suites     other projects' tests that can be run against the broker"
	@echo "make suite NAME=kgo   one of them; AGAINST=real: against a real Kafka (java 17 and maven)"
	@echo "make scorecards clients of six languages are run; docs/clients.md says what they do"
	@echo "make both-ways  their runs on a real broker replayed to the shim, and the other way round"
	@echo "make generate   message classes and documents from their sources"

# what tests need is fifty times as large as what a broker needs: a newcomer runs one first
$(RUNNABLE): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "python 3.11 or newer is needed; try: make PYTHON=python3.12 install"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(PIP) --editable '.[demo]'
	@touch $(RUNNABLE)

$(STAMP): $(RUNNABLE)
	$(PIP) --editable '.[test,check]'
	@touch $(STAMP)

install: $(STAMP)

run: $(RUNNABLE)
	@cat examples/demo.txt
	@$(BIN)/kafka-shim serve --listener PLAINTEXT://127.0.0.1:9092 \
	  --listener SASL_PLAINTEXT://127.0.0.1:9093 --super-user User:ANONYMOUS --super-user User:admin \
	  --state examples/demo.yaml

test: install
	$(BIN)/python -m pytest $(TEST_ARGS)

KAFKA ?=

clients: install
	KAFKA_SHIM_TEST_KAFKA=$(KAFKA) $(BIN)/python -m pytest -m client tests/clients

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: install
	$(BIN)/mypy

contracts: install
	$(BIN)/lint-imports

generated: install
	$(BIN)/python -m schemas.vendor --check
	$(BIN)/python -m protocol.generate --check

check: lint types contracts generated test

bench: install
	$(BIN)/python -m benchmarks.codec
	$(BIN)/python -m benchmarks.decide

pipeline-check: install
	$(BIN)/python -m pytest -m heavy tests/pipeline tests/clients/test_spark_connector.py

docs-check: install
	$(BIN)/python -m pytest -m heavy tests/docs

image-check: install
	$(BIN)/python -m pytest -m heavy tests/test_image.py

pipeline-demo: install
	@$(BIN)/python examples/pipeline_demo.py

RELEASE ?= 4.3.1
ORACLE_ARGS ?=

oracle: install
	$(BIN)/python -m tests.oracle $(RELEASE) $(ORACLE_ARGS)

AGAINST ?= shim
SUITE_ARGS ?=

suite: install
	@$(BIN)/python -m tests.suites $(NAME) --against $(AGAINST) --release $(RELEASE) $(SUITE_ARGS)

suites: install
	@$(BIN)/python -m tests.suites

# Java 17, Go and Node besides; a client whose tools are missing is left out with a word on it
scorecards: install
	$(BIN)/python -m tests.clients.scorecards > docs/clients.md.new
	mv docs/clients.md.new docs/clients.md

# Java 17 and Maven besides
both-ways: install
	$(BIN)/python -m tests.clients.both_ways

generate: install
	$(BIN)/python -m schemas.vendor
	$(BIN)/python -m protocol.generate

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis

# Everything a newcomer needs: `make run` and `make test`. Both make .venv themselves.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
RUNNABLE := $(VENV)/.runnable
STAMP := $(VENV)/.installed
TOOLS := .venv-tools
BINARY := .venv-binary
SITE := .venv-site
LOCK := requirements/ci.txt
PART_LOCK = $(TOOLS)/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
  --no-emit-index-url --no-annotate --custom-compile-command "make lock" --constraint $(LOCK)
IMAGE_EXTRAS := capture compression control oauth regex tls
BINARY_EXTRAS := $(IMAGE_EXTRAS) completion mcp
# without it, each of the thousand processes that tests start compiles the sources again
unexport PYTHONDONTWRITEBYTECODE
EXTRAS := capture,completion,compression,connect,control,demo,local,mcp,oauth,pipeline,pytest,regex,testcontainers,tls
# several processes, each with whole files: a file's broker and client drivers start once
# four more than there are cores, since tests often wait for what they started
WORKERS := $(shell expr $$(nproc 2>/dev/null || echo 2) + 4)
TEST_ARGS ?= -n $(WORKERS) --maxprocesses 6 --dist loadfile

.PHONY: help pictures site release scorecards both-ways conformance mutants drivers install run test quick coverage clients check lint types contracts architecture bench generate facts pipeline-demo pipeline-check docs-check packages packages-test image-check binary binary-test package package-check release-check test-all lock part-locks audit clean oracle policy-decisions suite suites atlas fuzz turns soak kills

help:
	@echo "make run                     start a broker on 127.0.0.1:9092 with demo users and ACLs"
	@echo "make test                    run all tests except the slow ones"
	@echo "make quick                   run the tests of authorizer, protocol, handlers and state, in half a minute"
	@echo "make check                   run linters, type checks, import contracts and all tests, and check generated files"
	@echo "make architecture            print packages, the imports between them and layers; fail if there is a cycle"
	@echo "make coverage                measure line and branch coverage of all tests; fail if a package is below its minimum"
	@echo "make clients                 test every client with every kind of authentication; KAFKA=4.3.1: against a real broker (Java 17, Maven)"
	@echo "make drivers                 test the drivers of the conformance suite, a few cases each (Java 17, Go, Node, Rust)"
	@echo "make pipeline-demo           record three clients and analyse their ACLs on Spark (Java 17)"
	@echo "make pipeline-check          run the slow tests of the pipeline: kills, a cluster, Spark's Kafka connector (Java 17)"
	@echo "make docs-check              run the slow examples of the documentation: benchmarks, Spark, suites, a new environment"
	@echo "make site                    build the documentation as a site with offline search, in build/site"
	@echo "make packages-test           test the packages for Node, JUnit 5 and Go, and the examples (Java 17, Maven, Go, Node)"
	@echo "make image-check             build the container image and connect a client to it (buildah)"
	@echo "make test-all                run make test on each installed Python of PYTHONS (3.11 to 3.14)"
	@echo "make package                 build the sdist and the wheel in dist/"
	@echo "make binary                  build the single file dist/kafka-shim, which needs no Python"
	@echo "make binary-test             test it: the tests of the command line, with it"
	@echo "make packages                build the npm packages and the jars with that file in dist/ (Java 17, Maven, Node)"
	@echo "make release-check           build all that a release publishes and can be built here, install it and test it"
	@echo "make package-check           install the package in new environments and try it"
	@echo "make lock                    update requirements/ci.txt, which LOCKED=1 make install installs"
	@echo "make part-locks              make the locks of the image and the single file from it, without updates"
	@echo "make audit                   check the locked packages for known vulnerabilities (network)"
	@echo "make bench                   run the main benchmarks, compared with other libraries"
	@echo "make kills                   kill two hundred recordings and two hundred brokers with data on disk, and read them"
	@echo "make soak                    run mixed load for half an hour and print the broker's memory every minute"
	@echo "make turns                   send the longest arrays and extreme numbers of every API in six releases: they must not delay other clients"
	@echo "make fuzz                    send random frames to the broker; FRAMES=1000000 FUZZ_ARGS='--seed 1234'"
	@echo "make oracle RELEASE=4.3.1    compare the shim with a real broker in random scenarios (Java 17, Maven)"
	@echo "make policy-decisions        compare proofs about random ACLs with Kafka's class; add the figures to tests/oracle/policy_decisions.md"
	@echo "make release RELEASE=4.5.0   follow a new Kafka release: changes, recordings, a checklist (Java 17, Maven)"
	@echo "make atlas                   find the ACLs of known programs again, on the shim and a real Kafka, and the API versions they use"
	@echo "make suites                  list other projects' tests that can run against the broker"
	@echo "make suite NAME=kgo          run one of them; AGAINST=real: against a real Kafka (Java 17, Maven)"
	@echo "make scorecards              make the scorecards in docs/reference/conformance/: six clients in five languages"
	@echo "make conformance             make docs/reference/conformance/: reports of eleven clients in the conformance suite"
	@echo "make mutants                 plant bugs into copies of clients and of the shim; each must be found; MUTANTS=aiokafka"
	@echo "make both-ways               replay traffic of a real broker to the shim, and the other way round"
	@echo "make pictures                make the pictures of README and docs from real runs (Chromium)"
	@echo "make generate                generate message classes, error codes and tables of settings and features"
	@echo "make facts                   check settings and features against the jars of all releases (Java 17, Maven)"

ifdef LOCKED   # the packages of the lock and no others
RUN_PACKAGES = $(PIP) --require-hashes --requirement $(LOCK) \
  && $(PIP) --no-deps --no-build-isolation --editable .
TEST_PACKAGES = true
else           # the newest that fit; pip knows dependency groups since 25.1
RUN_PACKAGES = $(PIP) --editable '.[demo]'
TEST_PACKAGES = $(PIP) --upgrade 'pip>=25.1' && $(PIP) --editable '.[$(EXTRAS)]' --group dev
endif

# what tests need is fifty times as large as what a broker needs: a newcomer runs one first
$(RUNNABLE): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "python 3.11 or newer is needed; try: make PYTHON=python3.12 install"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(RUN_PACKAGES)
	@touch $(RUNNABLE)

$(STAMP): $(RUNNABLE)
	$(TEST_PACKAGES)
	@touch $(STAMP)

install: $(STAMP)

run: $(RUNNABLE)
	@cat examples/demo.txt
	@$(BIN)/kafka-shim serve --listener PLAINTEXT://127.0.0.1:9092 \
	  --listener SASL_PLAINTEXT://127.0.0.1:9093 --super-user User:ANONYMOUS --super-user User:admin \
	  --state examples/demo.yaml

test: install
	$(BIN)/python -m pytest $(TEST_ARGS)

QUICK := tests/authorizer tests/protocol tests/shim/handlers tests/shim/state

# what needs no socket, no Java and no Spark; of random cases a few
quick: install
	$(BIN)/python -m pytest $(TEST_ARGS) --dist load -m 'not heavy and not deep' --hypothesis-profile quick \
	  $(QUICK) tests/project/test_tidy.py

# the tests of `make test`, of random cases a few; what fails under a tracer only because it is slow
# does not change what is measured, so the minimum decides
# timeouts by thread: one by signal can interrupt the tracer with its lock held, and the run hangs
coverage: install
	$(BIN)/coverage erase
	-$(BIN)/coverage run -m pytest $(TEST_ARGS) --timeout-method=thread -m 'not heavy and not deep' \
	  --hypothesis-profile quick
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

# a few cases with each driver of the conformance suite, and the examples of the test vectors
# (Java 17, Go, Node, Rust)
drivers: install
	$(BIN)/python -m pytest -m 'heavy or not heavy' tests/clients/test_suite_drivers.py \
	  tests/recordings/test_vector_example.py

KAFKA ?=

clients: install
	SHIM_TEST_KAFKA=$(KAFKA) $(BIN)/python -m pytest -m client tests/clients

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell
	$(BIN)/python -m tests.project.portability

types: install
	$(BIN)/mypy

contracts: install
	$(BIN)/lint-imports

# packages, the imports between them, layers and cycles
architecture: install
	$(BIN)/python -m tests.project.architecture

generated: install
	$(BIN)/python -m kafka_shim.schemas.vendor --check
	$(BIN)/python -m kafka_shim.schemas.releases.extract --check
	$(BIN)/python -m kafka_shim.protocol.generate --check
	$(BIN)/python -m kafka_shim.shim.state.settings.generate_definitions --check

# Java 17 and Maven; RELEASES='4.3.1 4.4.0' asks the jars of those only
facts: install
	$(BIN)/python -m kafka_shim.schemas.releases.extract --check --jars $(RELEASES)

check: lint types contracts generated test

bench: install
	$(BIN)/python -m benchmarks.codec
	$(BIN)/python -m benchmarks.decide

pipeline-check: install
	$(BIN)/python -m pytest -m heavy tests/pipeline tests/clients/test_spark_connector.py

docs-check: install
	$(BIN)/python -m pytest -m heavy tests/docs

# the packages for Node, JUnit 5 and Go: their own tests, their READMEs, and the example projects
packages-test: install
	$(BIN)/python -m pytest -m 'heavy or not heavy' tests/language_packages tests/clients/test_examples.py

# npm packages and jars with the binary of this platform; MAVEN_GOAL=install: the jars in ~/.m2, too
packages: dist/kafka-shim
	.ci/build-packages $$(node -p 'process.platform + "-" + process.arch')=dist/kafka-shim

image-check: install
	$(BIN)/python -m pytest -m heavy -rs tests/packaging/test_image.py

PYTHONS ?= 3.11 3.12 3.13 3.14

test-all:
	@TEST_ARGS='$(TEST_ARGS)' .ci/test-all $(PYTHONS)

$(TOOLS)/.installed: pyproject.toml
	$(PYTHON) -m venv $(TOOLS)
	$(TOOLS)/bin/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(TOOLS)/bin/python -m pip install --quiet --group release
	@touch $@

package: $(TOOLS)/.installed
	rm -f dist/*.whl dist/*.tar.gz
	$(TOOLS)/bin/python -m build
	$(TOOLS)/bin/twine check --strict dist/*.whl dist/*.tar.gz

package-check: install package
	$(BIN)/python -m pytest -m heavy tests/packaging/test_package.py

$(BINARY)/.installed: pyproject.toml requirements/parts/binary.txt
	$(PYTHON) -m venv $(BINARY)
	$(BINARY)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements/parts/binary.txt
	@touch $@

# PYTHON is the Python in it: its start is the file's; one with a shared library, made with optimisations
BINARY_SOURCES := pyproject.toml hatch_build.py requirements/parts/binary.txt \
  $(shell find src packages/binary -type f ! -path '*/__pycache__/*')

# the file of other sources must not be packed or tested
dist/kafka-shim: $(BINARY_SOURCES)
	$(MAKE) binary

binary: $(BINARY)/.installed
	$(BINARY)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --force-reinstall .
	$(BINARY)/bin/pyinstaller --noconfirm --log-level WARN --distpath dist --workpath build/binary packages/binary/kafka_shim.spec
	.ci/try-binary dist/kafka-shim

BINARY_TESTS := tests/cli tests/shim/control/test_control_port.py tests/shim/storage/test_serving.py

binary-test: install dist/kafka-shim
	$(BIN)/python -m pytest -m 'heavy or not heavy' tests/packaging/test_binary.py
	SHIM_TEST_COMMAND=$(abspath dist/kafka-shim) $(BIN)/python -m pytest -n 2 $(BINARY_TESTS)

# what the release of a tag publishes, as far as it can be built here: in dist/, each installed in new folders
release-check: package-check binary
	$(MAKE) binary-test packages
	.ci/try-packages dist
	$(MAKE) packages-test SHIM_TEST_COMMAND=$(abspath dist/kafka-shim)
	cd dist && sha256sum kafka* >SHA256SUMS && cat SHA256SUMS
	$(MAKE) image-check
	@echo "release-check: ok, but for tests that were skipped above; the single files of other platforms, signatures and attestations"
	@echo "are made by .github/workflows/release.yml only"

$(SITE)/.installed: pyproject.toml
	$(PYTHON) -m venv $(SITE)
	$(SITE)/bin/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(SITE)/bin/python -m pip install --quiet --group site
	@touch $@

SITE_DIR ?= build/site

# the notice is of the theme's end of life, in 2027
site: $(SITE)/.installed
	NO_MKDOCS_2_WARNING=1 $(SITE)/bin/mkdocs build --strict --quiet -f docs/site/mkdocs.yml -d '$(abspath $(SITE_DIR))'

lock: $(TOOLS)/.installed
	$(TOOLS)/bin/uv pip compile --quiet --universal --python-version 3.11 --upgrade --generate-hashes \
	  --no-emit-index-url --no-annotate --custom-compile-command "make lock" \
	  --all-extras --group dev pyproject.toml --output-file $(LOCK)
	$(MAKE) part-locks

# the parts of the lock that the image and the single file are made of
part-locks: $(TOOLS)/.installed
	$(PART_LOCK) --group build --output-file requirements/parts/build.txt
	$(PART_LOCK) $(IMAGE_EXTRAS:%=--extra %) pyproject.toml --output-file requirements/parts/image.txt
	$(PART_LOCK) --extra pipeline pyproject.toml --output-file requirements/parts/spark.txt
	$(PART_LOCK) $(BINARY_EXTRAS:%=--extra %) --group binary --group build pyproject.toml --output-file requirements/parts/binary.txt

audit: $(TOOLS)/.installed
	@PATH="$(CURDIR)/$(TOOLS)/bin:$$PATH" .ci/audit $(LOCK)

pipeline-demo: install
	@$(BIN)/python examples/pipeline_demo.py

RELEASE ?= 4.3.1
ORACLE_ARGS ?=

oracle: install
	$(BIN)/python -m tests.oracle $(RELEASE) $(ORACLE_ARGS)

policy-decisions: install
	$(BIN)/python -m tests.oracle.policy_decisions 4.4.0 --publish

RELEASE_ARGS ?=

release: install
	$(BIN)/python -m tests.releases day $(RELEASE) $(RELEASE_ARGS)

FRAMES ?= 1000000
FUZZ_ARGS ?=

fuzz: install
	$(BIN)/python -m tests.fuzz --frames $(FRAMES) $(FUZZ_ARGS)

turns: install
	$(BIN)/python -m pytest -m heavy tests/shim/request

soak: install
	$(BIN)/python -m benchmarks.soak --check

kills: install
	$(BIN)/python -m pytest -m heavy tests/shim/observing tests/shim/storage

AGAINST ?= shim
SUITE_ARGS ?=

suite: install
	@$(BIN)/python -m tests.suites $(NAME) --against $(AGAINST) --release $(RELEASE) $(SUITE_ARGS)

suites: install
	@$(BIN)/python -m tests.suites

atlas: install
	$(BIN)/python -m tests.atlas

# Java 17, Go and Node besides; a client whose tools are missing is left out with a word on it
scorecards: install
	$(BIN)/python -m tests.clients.scorecards

# Java 17 and Maven, Go, Node, Rust besides, as above
conformance: install
	$(BIN)/python -m tests.clients.suite_reports

mutants: install
	$(BIN)/python -m tests.mutants $(MUTANTS)

# Java 17 and Maven besides
both-ways: install
	$(BIN)/python -m tests.clients.both_ways

# Debian's chromium and chromium-driver besides
pictures: install
	$(BIN)/python -m tests.docs.pictures

generate: install
	$(BIN)/python -m kafka_shim.schemas.vendor
	$(BIN)/python -m kafka_shim.protocol.generate
	$(BIN)/python -m kafka_shim.shim.state.settings.generate_definitions

clean:
	rm -rf $(VENV) .venv-* dist .mypy_cache .ruff_cache .pytest_cache .hypothesis

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
# of the broker of `make run`; users authenticate on the next one
PORT ?= 9092
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

# what fails its trial is not there
.DELETE_ON_ERROR:

.PHONY: help install run test quick check lint types architecture docs package packages release lock pipeline-check

help:
	@echo "make run             start a broker on 127.0.0.1:9092 with demo users and ACLs; PORT=19092: on another port"
	@echo "make test            run all tests except the slow ones"
	@echo "make quick           run the tests of authorizer, protocol, handlers and state, in half a minute"
	@echo "make check           run lint, types and all tests, and check generated files"
	@echo "make lint            check style, spelling, the imports between the rooms, and files generated from jars"
	@echo "make types           check types"
	@echo "make architecture    print packages, the imports between them and layers; fail if there is a cycle"
	@echo "make docs            build the documentation as a site with offline search, in build/site"
	@echo "make package         build the sdist and the wheel in dist/"
	@echo "make packages        build the npm packages and the jars in dist/ (Java 17, Maven, Node); PACKAGE=go, npm, junit5 or authorizer-tck: one"
	@echo "make release         build all that a release publishes and can be built here, install it and test it"
	@echo "make lock            update requirements/, which LOCKED=1 make install installs"
	@echo "make pipeline-check  run the slow tests of the pipeline: kills, a cluster, Spark's Kafka connector (Java 17)"
	@echo "make install         create .venv"
	@echo "CONTRIBUTING.md lists the commands for coverage, benchmarks, real clients and real brokers"

ifdef LOCKED   # the packages of the lock and no others; each module is compiled when it is imported
RUN_PACKAGES = $(PIP) --no-compile --require-hashes --requirement $(LOCK) \
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
	@$(BIN)/python examples/demo.py --port $(PORT) --state examples/demo.yaml

test: install
	$(BIN)/python -m pytest $(TEST_ARGS)

QUICK := tests/authorizer tests/protocol tests/shim/handlers tests/shim/state

# what needs no socket, no Java and no Spark; of random cases a few
quick: install
	$(BIN)/python -m pytest $(TEST_ARGS) --dist load -m 'not heavy and not deep' --hypothesis-profile quick \
	  $(QUICK) tests/project/test_tidy.py

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell
	$(BIN)/python -m tests.project.portability
	$(BIN)/lint-imports
	$(BIN)/python -m kafka_shim.schemas.vendor --check
	$(BIN)/python -m kafka_shim.schemas.releases.extract --check
	$(BIN)/python -m kafka_shim.protocol.generate --check
	$(BIN)/python -m kafka_shim.shim.state.settings.generate_definitions --check

types: install
	$(BIN)/mypy

# packages, the imports between them, layers and cycles
architecture: install
	$(BIN)/python -m tests.project.architecture

# all tests, and those of folders that have not changed
check: lint types
	$(MAKE) test TEST_ARGS="$(TEST_ARGS) --all-folders"

pipeline-check: install
	$(BIN)/python -m pytest -m heavy tests/pipeline tests/clients/test_spark_connector.py

$(TOOLS)/.installed: pyproject.toml
	$(PYTHON) -m venv $(TOOLS)
	$(TOOLS)/bin/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(TOOLS)/bin/python -m pip install --quiet --group release
	@touch $@

package: $(TOOLS)/.installed
	rm -f dist/*.whl dist/*.tar.gz
	$(TOOLS)/bin/python -m build
	$(TOOLS)/bin/twine check --strict dist/*.whl dist/*.tar.gz

$(BINARY)/.installed: pyproject.toml requirements/parts/binary.txt
	$(PYTHON) -m venv $(BINARY)
	$(BINARY)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements/parts/binary.txt
	@touch $@

# PYTHON is the Python in it: its start is the file's; one with a shared library, made with optimisations
BINARY_SOURCES := pyproject.toml hatch_build.py requirements/parts/binary.txt \
  $(shell find src packages/binary -type f ! -path '*/__pycache__/*')

# the single file, which needs no Python
dist/kafka-shim: $(BINARY_SOURCES)
	@$(MAKE) --no-print-directory $(BINARY)/.installed
	$(BINARY)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --force-reinstall .
	$(BINARY)/bin/pyinstaller --noconfirm --log-level WARN --distpath dist --workpath build/binary packages/binary/kafka_shim.spec
	.ci/try-binary dist/kafka-shim

BINARY_TESTS := tests/cli tests/shim/control/test_control_port.py tests/shim/storage/test_serving.py

PACKAGE ?= npm junit5 go authorizer-tck
# as npm names it, without Node
PLATFORM = $$($(PYTHON) -c 'import platform, sys; \
  print(sys.platform, "x64" if platform.machine() in ("x86_64", "AMD64") else "arm64", sep="-")')
# the packages with the binary of this platform, or one of them; MAVEN_GOAL=install: the jars in ~/.m2, too
packages: $(if $(filter-out authorizer-tck,$(PACKAGE)),dist/kafka-shim)
	PACKAGE='$(PACKAGE)' .ci/build-packages $(if $<,$(PLATFORM)=$<)

# what the release of a tag publishes, as far as it can be built here: in dist/, each installed in new folders;
# npm packages and jars with the single file of this platform (Java 17, Maven, Go, Node, buildah)
release: install package dist/kafka-shim
	$(BIN)/python -m pytest -m heavy tests/packaging/test_package.py
	$(BIN)/python -m pytest -m 'heavy or not heavy' tests/packaging/test_binary.py
	SHIM_TEST_COMMAND=$(abspath dist/kafka-shim) $(BIN)/python -m pytest -n 2 $(BINARY_TESTS)
	$(MAKE) packages
	.ci/try-packages dist
	SHIM_TEST_COMMAND=$(abspath dist/kafka-shim) $(BIN)/python -m pytest -m 'heavy or not heavy' \
	  tests/language_packages tests/clients/test_examples.py
	cd dist && sha256sum kafka* >SHA256SUMS && cat SHA256SUMS
	$(BIN)/python -m pytest -m heavy -rs tests/packaging/test_image.py
	@echo "release: ok, but for tests that were skipped above; the single files of other platforms, signatures and attestations"
	@echo "are made by .github/workflows/release.yml only"

$(SITE)/.installed: pyproject.toml
	$(PYTHON) -m venv $(SITE)
	$(SITE)/bin/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(SITE)/bin/python -m pip install --quiet --group site
	@touch $@

SITE_DIR ?= build/site

# the notice is of the theme's end of life, in 2027
docs: $(SITE)/.installed
	NO_MKDOCS_2_WARNING=1 $(SITE)/bin/mkdocs build --strict --quiet -f docs/site/mkdocs.yml -d '$(abspath $(SITE_DIR))'

lock: $(TOOLS)/.installed
	$(TOOLS)/bin/uv pip compile --quiet --universal --python-version 3.11 --upgrade --generate-hashes \
	  --no-emit-index-url --no-annotate --custom-compile-command "make lock" \
	  --all-extras --group dev pyproject.toml --output-file $(LOCK)
# the parts of the lock that the image and the single file are made of
	$(PART_LOCK) --group build --output-file requirements/parts/build.txt
	$(PART_LOCK) $(IMAGE_EXTRAS:%=--extra %) pyproject.toml --output-file requirements/parts/image.txt
	$(PART_LOCK) --extra pipeline pyproject.toml --output-file requirements/parts/spark.txt
	$(PART_LOCK) $(BINARY_EXTRAS:%=--extra %) --group binary --group build pyproject.toml --output-file requirements/parts/binary.txt

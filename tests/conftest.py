"""How tests run: randomness, which process runs which files, and what the tests of a file share."""

import gc
import logging
from collections.abc import Generator, Iterator
from typing import Any

import pytest
import structlog  # noqa: F401 - a process that has it writes its log lines as they are logged
from hypothesis import HealthCheck, settings

from kafka_shim.testing import KafkaBroker, start
from tests.support.browser import chromium
from tests.support.checked_folders import OPTION, CheckedFolders
from tests.support.commands import TESTED

# no deadlines: a slow machine must not fail a property test
settings.register_profile("any pace", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("quick", settings.get_profile("any pace"), max_examples=10)
settings.load_profile("any pace")

SPARK = "Spark"
ON_SPARK = (
    "test_acl_jobs.py",
    "test_agreement.py",
    "test_commands.py",
    "test_findings.py",
    "test_guide.py",
    "test_spark_engine.py",
    "test_spark_session.py",
    "test_spark_stages.py",
    "test_streaming.py",
    "test_table_jobs.py",
    "test_tables_page.py",
    "test_upgrade.py",
)
"""Files of tests/pipeline that need a Spark session. One process runs them all with one JVM."""

SLOWEST_FIRST = (
    "tests/mutants/",
    "tests/shim/control/inspector/",
    "tests/project/test_scaffold.py",
    "tests/packaging/",
    "tests/clients/",
    "tests/testing/",
    "tests/pipeline/",
    "tests/docs/",
    "tests/conformance/",
    "tests/fuzz/",
    "tests/project/",
    "tests/cli/",
    "tests/recordings/conformance/",
    "tests/recordings/",
    "tests/shim/observing/",
    "tests/shim/storage/",
    "tests/shim/faults/",
    "tests/shim/",
)
"""What begins first, in this order, so that no process ends with a long file."""


def unit_of(node_id: str) -> str:
    """Return the unit of tests that one process runs: a file, or all tests on Spark."""
    file = node_id.partition("::")[0]
    folder, _, name = file.rpartition("/")
    return SPARK if folder == "tests/pipeline" and name in ON_SPARK else file


def order_of(node_id: str) -> tuple[int, str]:
    unit = unit_of(node_id)
    if unit == SPARK:
        return -1, unit
    places = [place for place, start in enumerate(SLOWEST_FIRST) if unit.startswith(start)]
    return (places[0] if places else len(SLOWEST_FIRST)), unit


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        OPTION,
        action="store_true",
        help="also run the slow tests of folders that have not changed, as `make check` does",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(CheckedFolders(config))
    gc.disable()


def pytest_collection_finish() -> None:
    """Keep the half million objects of 17,000 tests out of each garbage collection from now on."""
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if TESTED:
        skip = pytest.mark.skip(reason="replaces code, or needs what the single file lacks")
        for item in filter(lambda item: item.get_closest_marker("package_only"), items):
            item.add_marker(skip)
    if config.getoption("dist", "no") == "loadfile" or hasattr(config, "workerinput"):
        items.sort(key=lambda item: order_of(item.nodeid))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Return the scheduler of `--dist loadfile`, for units in the order of collection."""
    if config.getoption("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    scheduler = LoadFileScheduling(config, log)
    scheduler._split_scope = unit_of
    config.option.loadscopereorder = False
    return scheduler


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Generator[None, object, object]:
    """Restore the log level after each test, since it applies to the whole process."""
    root = logging.getLogger()
    level = root.level
    try:
        return (yield)
    finally:
        root.setLevel(level)


@pytest.fixture(scope="module")
def shared() -> Iterator[KafkaBroker]:
    """Start a broker; files that need other settings override this."""
    with start() as broker:
        yield broker


@pytest.fixture
def broker(shared: KafkaBroker) -> KafkaBroker:
    """Return the shared broker as it was started; files that need topics override this."""
    shared.reset()
    return shared


@pytest.fixture(scope="session")
def chrome() -> Iterator[Any]:
    """Start a headless browser."""
    with chromium() as driver:
        yield driver

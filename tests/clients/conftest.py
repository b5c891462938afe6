"""Fixtures of the client tests: a broker for the session, and names of its own for each test."""

from collections.abc import Generator, Iterator

import pytest

from tests.clients.broker import Bootstrap, bootstrap_of_test
from tests.clients.driver import Driver, started
from tests.clients.stage import Stage
from tests.clients.toolchains import java_driver, java_tools_driver
from tests.clients.workshop import Workshop

pytest.register_assert_rewrite(
    "tests.clients.acl_behaviours",
    "tests.clients.operations_behaviours",
    "tests.clients.record_behaviours",
)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Report a client that cannot be tested here in one line instead of one per test."""
    report = yield
    if report.skipped and isinstance(report.longrepr, tuple):
        module = item.path.relative_to(item.config.rootpath)
        report.longrepr = (str(module), 1, report.longrepr[2])
    return report


@pytest.fixture(scope="session")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    return Workshop(tmp_path_factory.mktemp("workshop"))


@pytest.fixture(scope="session")
def bootstrap(tmp_path_factory: pytest.TempPathFactory, workshop: Workshop) -> Iterator[Bootstrap]:
    with bootstrap_of_test(tmp_path_factory.mktemp("shim"), workshop) as addresses:
        yield addresses


@pytest.fixture(scope="session")
def java(bootstrap: Bootstrap, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driver]:
    """Start the driver of Kafka's newest Java clients."""
    folder = tmp_path_factory.mktemp("java")
    with started(java_driver(folder), bootstrap, folder) as found:
        yield found


@pytest.fixture(scope="session")
def java_with_tools(
    bootstrap: Bootstrap, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Driver]:
    """Start the driver of the Java clients, tools and Streams of release `WITH_TOOLS`."""
    folder = tmp_path_factory.mktemp("java-with-tools")
    with started(java_tools_driver(folder), bootstrap, folder) as found:
        yield found


@pytest.fixture
def stage(driver: Driver) -> Iterator[Stage]:
    found = Stage(driver)
    yield found
    found.clear()

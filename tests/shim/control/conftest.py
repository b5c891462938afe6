"""A process whose control API creates brokers, and a browser."""

from collections.abc import Iterator

import pytest

from kafka_shim.shim.control import bodies, broker_bodies
from kafka_shim.testing import KafkaBroker, start
from tests.shim.control.creating import Create
from tests.shim.control.plain_http import Http, works


@pytest.fixture(scope="module")
def process() -> Iterator[KafkaBroker]:
    with start() as broker:
        yield broker


@pytest.fixture
def api(process: KafkaBroker) -> Iterator[Http]:
    """Return a client of the process; brokers that a test creates are removed after it."""
    found = Http(str(process.control_url))
    yield found
    for row in found.ask("GET", "/brokers")[1]["brokers"]:
        if row["id"] != "first":
            works(found.ask("DELETE", row["path"]), bodies.SetupReport)


@pytest.fixture
def create(api: Http) -> Create:
    return lambda **body: works(api.ask("POST", "/brokers", body), broker_bodies.CreatedBroker)

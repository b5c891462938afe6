"""A broker and a browser that the tests of a file share."""

from collections.abc import Iterator
from typing import Any

import pytest

from kafka_shim.testing import KafkaBroker, start
from tests.support.browser import chromium


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

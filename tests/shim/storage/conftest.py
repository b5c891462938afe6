"""No test leaves a file open: Python 3.13 warns of one in whatever test runs then."""

from collections.abc import Iterator

import pytest

from tests.shim.storage.kept import RUNNING


@pytest.fixture(autouse=True)
def killed_at_the_end() -> Iterator[None]:
    yield
    for stage in list(RUNNING):
        stage.kill()

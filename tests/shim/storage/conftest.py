"""Close the files of each test: Python 3.13 warns about open ones during later tests."""

from collections.abc import Iterator

import pytest

from tests.shim.storage.kept import RUNNING


@pytest.fixture(autouse=True)
def killed_at_the_end() -> Iterator[None]:
    yield
    for stage in list(RUNNING):
        stage.kill()

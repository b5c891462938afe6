"""Simulates a full disk by a limit on the size of files."""

import contextlib
import sys
from collections.abc import Iterator

import pytest

needs_a_limit = pytest.mark.skipif(
    sys.platform == "win32", reason="Windows has no limit on the size of files"
)


@contextlib.contextmanager
def files_up_to(size: int) -> Iterator[None]:
    """Limit files to this size: the write that reaches it is cut short, later ones fail."""
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)

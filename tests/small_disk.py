"""A small disk that this process soon fills."""

import contextlib
import sys
from collections.abc import Iterator

import pytest

needs_a_limit = pytest.mark.skipif(
    sys.platform == "win32", reason="Windows has no limit on the size of files"
)


@contextlib.contextmanager
def files_up_to(size: int) -> Iterator[None]:
    """Make writes beyond this number of bytes fail; the write before is truncated."""
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)

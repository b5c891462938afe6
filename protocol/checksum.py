"""CRC32C of record batches, by the `crc32c` package.

It is imported for the first batch: it looks its own version up among the installed packages, which
takes a tenth of what a broker takes to start.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_found: "list[Callable[[bytes | memoryview], int]]" = []


def crc32c(content: bytes | memoryview) -> int:
    """The checksum of these bytes."""
    if not _found:
        from crc32c import crc32c as of_package  # noqa: PLC0415 - see the module's docstring

        _found.append(of_package)
    return _found[0](content)

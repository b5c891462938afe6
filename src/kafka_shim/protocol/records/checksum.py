"""Computes the CRC32C of record batches with the `crc32c` package.

The package is imported at the first batch: it reads the metadata of installed packages, which
takes a tenth of the time that a broker needs to start.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_package_function: "list[Callable[[bytes | memoryview], int]]" = []


def crc32c(content: bytes | memoryview) -> int:
    """Return the checksum of these bytes."""
    if not _package_function:
        from crc32c import crc32c as of_package  # noqa: PLC0415 - see the module's docstring

        _package_function.append(of_package)
    return _package_function[0](content)

"""Error codes anywhere in a response."""

from collections.abc import Container, Iterator
from typing import Any

import msgspec


def codes_of(value: Any) -> Iterator[int]:
    """Yield every error code in a message."""
    if isinstance(value, list):
        for row in value:
            yield from codes_of(row)
    elif isinstance(value, msgspec.Struct):
        for name in value.__struct_fields__:
            content = getattr(value, name)
            if name.endswith("error_code"):
                yield content
            else:
                yield from codes_of(content)


def has_code(response: Any, codes: Container[int]) -> bool:
    return any(code in codes for code in codes_of(response))

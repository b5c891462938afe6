"""Error codes anywhere in a response."""

from collections.abc import Container, Iterator
from typing import Any

import msgspec
from msgspec import structs


def codes_of(value: Any) -> Iterator[int]:
    """Yield every error code in a message, or in the JSON of one."""
    if isinstance(value, list):
        for row in value:
            yield from codes_of(row)
    elif isinstance(value, msgspec.Struct):
        yield from codes_of(structs.asdict(value))
    elif isinstance(value, dict):
        for name, content in value.items():
            if name.endswith("error_code"):
                yield content
            else:
                yield from codes_of(content)


def has_code(response: Any, codes: Container[int]) -> bool:
    return any(code in codes for code in codes_of(response))

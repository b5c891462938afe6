"""A row of the access tables, whether it was recorded, logged or derived."""

import msgspec


class AccessRow(msgspec.Struct, frozen=True, gc=False):
    """An access, its role in the request, and its decision; `allowed` is None if unknown."""

    sequence: int
    time_us: int
    api_key: int
    api_version: int
    operation: int
    resource_type: int
    resource_name: str
    role: str
    instead: tuple[str, ...]
    source: str
    allowed: bool | None
    rule: str
    count: int = 1

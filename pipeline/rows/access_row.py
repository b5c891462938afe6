"""One question of the authorizer as the tables have it, whatever it is known from."""

import msgspec


class AccessRow(msgspec.Struct, frozen=True, gc=False):
    """An access, the part it played, and how it was decided; `allowed` is None if not known."""

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

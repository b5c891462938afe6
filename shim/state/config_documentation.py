"""A sentence for each setting that users of test clusters look up, in our own words (KIP-569)."""

from functools import cache
from pathlib import Path

import msgspec

from protocol.enums import ConfigResourceType


def documentation(resource_type: int, name: str) -> str | None:
    """What the setting is for; None where we have nothing to say."""
    return _texts().get(ConfigResourceType(resource_type).name.lower(), {}).get(name)


@cache
def _texts() -> dict[str, dict[str, str]]:
    raw = Path(__file__).with_name("config_documentation.json").read_bytes()
    return msgspec.json.decode(raw, type=dict[str, dict[str, str]])

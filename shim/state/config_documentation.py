"""A sentence for each setting that users of test clusters look up, in our own words (KIP-569)."""

from functools import cache
from pathlib import Path

import msgspec

from kafka_shim.protocol.enums import ConfigResourceType
from kafka_shim.shim.state.config_definitions import Definition


def documentation(resource_type: int, name: str, definition: Definition | None) -> str | None:
    """What the setting is for, or at least what it takes; None where there is no such setting."""
    kind = ConfigResourceType(resource_type).name.lower()
    text = _texts().get(kind, {}).get(name)
    if text is not None or definition is None:
        return text
    default = "without a default"
    if definition.default is not None:
        default = f"by default {definition.default or 'empty'}"
    return f"A setting of type {definition.type}, {default}; see Kafka's documentation."


@cache
def _texts() -> dict[str, dict[str, str]]:
    raw = Path(__file__).with_name("config_documentation.json").read_bytes()
    return msgspec.json.decode(raw, type=dict[str, dict[str, str]])

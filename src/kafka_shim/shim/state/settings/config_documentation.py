"""The documentation of a setting in DescribeConfigs (KIP-569): its name and facts.

Settings that users of test clusters look up also have a sentence in our own words.
"""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import msgspec

from kafka_shim.protocol.enums import ConfigResourceType
from kafka_shim.shim.state.settings.config_definitions import ConfigDefinition, ValueCheck


def config_documentation(
    resource_type: int, name: str, definition: ConfigDefinition | None
) -> str | None:
    """Return the setting's documentation; None for an unknown setting."""
    kind = ConfigResourceType(resource_type).name.lower()
    text = _documentation_texts().get(kind, {}).get(name)
    if definition is None:
        return text
    facts = f"{name}: {', '.join(_value_notes(definition))}."
    return facts if text is None else f"{facts} {text}"


def _value_notes(definition: ConfigDefinition) -> Iterator[str]:
    """Return type, default and valid values, as in Kafka's reference."""
    yield definition.type
    if definition.default is None:
        yield "no default"
    elif not definition.is_sensitive:
        yield f"default {definition.default or 'empty'}"
    yield from _valid_value_texts(definition.check)
    if definition.default_from_broker_config is not None:
        yield f"for brokers {definition.default_from_broker_config}"


def _valid_value_texts(check: ValueCheck) -> Iterator[str]:
    if check.one_of:
        yield f"one of {'|'.join(check.one_of)}"
    if check.each_of:
        yield f"each one of {'|'.join(check.each_of)}"
    if check.min is not None:
        yield f"at least {check.min:.15g}"
    if check.max is not None:
        yield f"at most {check.max:.15g}"
    if check.also_allowed is not None:
        yield f"or {check.also_allowed:.15g}"
    if check.must_not_be_empty:
        yield "not empty"


@cache
def _documentation_texts() -> dict[str, dict[str, str]]:
    raw = Path(__file__).with_name("config_documentation.json").read_bytes()
    return msgspec.json.decode(raw, type=dict[str, dict[str, str]])

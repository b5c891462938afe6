"""Which clients a subscription to metrics is for: `match`, patterns by what is known of a client
(KIP-714).
"""

import re
from collections.abc import Mapping
from typing import Final

from protocol.telemetry_releases import TelemetryBehaviour

FIELDS: Final = frozenset(
    {
        "client_instance_id",
        "client_id",
        "client_software_name",
        "client_software_version",
        "client_source_address",
        "client_source_port",
    }
)
"""What patterns can be of."""


def patterns_of(match: str, behaviour: TelemetryBehaviour) -> Mapping[str, re.Pattern[str]]:
    """Patterns by field; of a field that is there twice the last counts.

    ValueError says which one is wrong.
    """
    found = {}
    for text in _split(match, behaviour):
        field, *values = text.rstrip("=").split("=")
        if field.strip() not in FIELDS or len(values) != 1:
            raise ValueError(f"`{text}` is no pattern for clients: field=expression is expected")
        value = values[0].strip() if behaviour.match_values_are_trimmed else values[0]
        try:
            found[field.strip()] = re.compile(value)
        except re.error as error:
            raise ValueError(f"`{text}`: `{value}` is no expression: {error}") from error
    return found


def _split(match: str, behaviour: TelemetryBehaviour) -> list[str]:
    if behaviour.empty_match_is_none:
        return match.split(",") if match.strip() else []
    parts = match.split(",")  # as Java splits: empty parts at the end are none, unless it is all
    while parts and not parts[-1] and match:
        parts.pop()
    return parts

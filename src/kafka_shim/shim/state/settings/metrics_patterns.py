"""The clients of a metrics subscription: `match` has patterns by property of a client (KIP-714).

DEVIATION: RE2 runs the patterns, as in other APIs. Real brokers use Java's expressions here, which
also support look-ahead and back-references, and whose time can grow exponentially.
"""

from collections.abc import Mapping
from typing import Final

from kafka_shim.protocol.releases.telemetry import TelemetryFacts
from kafka_shim.shim.re2_patterns import InvalidPatternError, Pattern, compile_client_pattern

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


def parse_match_patterns(match: str, facts: TelemetryFacts) -> Mapping[str, Pattern]:
    """Return patterns by field; the last one of a field counts.

    ValueError names the invalid one.
    """
    found = {}
    for text in _split_match(match, facts):
        field, *values = text.rstrip("=").split("=")
        if field.strip() not in FIELDS or len(values) != 1:
            raise ValueError(f"`{text}` is not a client pattern: expected field=expression")
        value = values[0].strip() if facts.metrics_match_ignores_spaces else values[0]
        try:
            found[field.strip()] = compile_client_pattern(value)
        except InvalidPatternError as error:
            raise ValueError(f"`{text}`: invalid expression `{value}`: {error}") from error
    return found


def _split_match(match: str, facts: TelemetryFacts) -> list[str]:
    if facts.empty_metrics_match_selects_all_clients:
        return match.split(",") if match.strip() else []
    parts = match.split(",")  # as Java splits: empty parts at the end are none, unless it is all
    while parts and not parts[-1] and match:
        parts.pop()
    return parts

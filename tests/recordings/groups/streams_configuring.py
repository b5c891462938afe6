"""Settings of streams groups."""

from kafka_shim.protocol.enums import ApiKey, ConfigResourceType
from tests.recordings.groups.modern_play import ModernPlay

KNOWN_MS = 1_000


def configure(
    play: ModernPlay,
    label: str,
    group: str,
    value: str | None,
    *,
    name: str = "streams.rack.aware.assignment.tags",
) -> None:
    """Set one of a group's settings; None removes it."""
    config = {"name": name, "config_operation": int(value is None), "value": value}
    resource = {
        "resource_type": int(ConfigResourceType.GROUP),
        "resource_name": group,
        "configs": [config],
    }
    request = {"resources": [resource]}
    play.call(f"{label}: set", ApiKey.INCREMENTAL_ALTER_CONFIGS, 1, request)
    play.peer.pause(KNOWN_MS)

"""Renames fields in recordings that Kafka has renamed since then."""

from typing import Any


def as_called_today(value: Any) -> Any:
    """Return recorded requests or responses with the field names of 4.4."""
    if isinstance(value, list):
        return [as_called_today(item) for item in value]
    if not isinstance(value, dict):
        return value
    found = {name: as_called_today(item) for name, item in value.items()}
    if "generation_id" in found and "producer_id" in found:
        found["generation_id_or_member_epoch"] = found.pop("generation_id")
    # StreamsGroupHeartbeat version 1 uses the old name for another field; it has a new field, too.
    if "acceptable_recovery_lag" in found and "topology_description_required" not in found:
        names = {"acceptable_recovery_lag": "acceptable_recovery_lag_legacy"}
        found = {names.get(name, name): item for name, item in found.items()}
    return found

"""Fields that Kafka has renamed since a recording was made."""

from typing import Any


def as_called_today(value: Any) -> Any:
    """Return recorded requests or answers with the names that 4.4 gave to some of their fields."""
    if isinstance(value, list):
        return [as_called_today(item) for item in value]
    if not isinstance(value, dict):
        return value
    found = {name: as_called_today(item) for name, item in value.items()}
    if "generation_id" in found and "producer_id" in found:
        found["generation_id_or_member_epoch"] = found.pop("generation_id")
    # Version 1 of StreamsGroupHeartbeat has the same name for another field, beside a new one.
    if "acceptable_recovery_lag" in found and "topology_description_required" not in found:
        names = {"acceptable_recovery_lag": "acceptable_recovery_lag_legacy"}
        found = {names.get(name, name): item for name, item in found.items()}
    return found

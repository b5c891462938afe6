"""Kafka's message definitions, as facts: one JSON file a message, all its versions merged."""

from pathlib import Path

KAFKA = Path(__file__).parent / "kafka"


def path_of(message: str) -> Path:
    """Return the definition of a message by its full name, such as `CreateAclsRequest`."""
    return KAFKA / f"{message}.json"


def names() -> list[str]:
    """Return the full names of all vendored messages, sorted."""
    return sorted(path.stem for path in KAFKA.glob("*.json"))

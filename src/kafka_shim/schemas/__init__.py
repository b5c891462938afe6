"""Kafka's message definitions, as facts: one JSON file a message, all its versions merged.

`codes.json` has the wire's codes besides: of errors, and of what ACLs are made of.
"""

from pathlib import Path
from typing import TYPE_CHECKING, cast

import msgspec

if TYPE_CHECKING:
    from importlib.abc import SourceLoader

KAFKA = Path(__file__).parent / "kafka"
CODES = KAFKA.parent / "codes.json"


def definition_path(message: str) -> Path:
    """Return the definition of a message by its full name, such as `CreateAclsRequest`."""
    return KAFKA / f"{message}.json"


def definition_text(message: str) -> bytes:
    """Return the text of a message's definition, also where this package is in an archive."""
    loader = cast("SourceLoader", __spec__.loader)
    return loader.get_data(str(definition_path(message)))


def message_names() -> list[str]:
    """Return the full names of all vendored messages, sorted."""
    return sorted(path.stem for path in KAFKA.glob("*.json"))


def enum_codes() -> dict[str, dict[str, int]]:
    """Return the codes of the wire by Java's name of their enum: `Errors`, `AclOperation`."""
    return msgspec.json.decode(CODES.read_bytes(), type=dict[str, dict[str, int]])

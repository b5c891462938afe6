"""Kafka's message definitions, as facts: one JSON file a message, all its versions merged.

`codes.json` has the wire's codes besides: of errors, and of what ACLs are made of.
"""

from typing import TYPE_CHECKING, cast

import msgspec

if TYPE_CHECKING:
    from importlib.abc import SourceLoader
    from pathlib import Path


def schemas_folder() -> "Path":
    """Return the folder of this package."""
    from pathlib import Path  # noqa: PLC0415 - a broker reads no file by its path while it starts

    return Path(__file__).parent


def definition_text(message: str) -> bytes:
    """Return the definition of a message by its full name, such as `CreateAclsRequest`, also where
    this package is in an archive.
    """
    loader = cast("SourceLoader", __spec__.loader)
    return loader.get_data(f"{__path__[0]}/kafka/{message}.json")


def message_names() -> list[str]:
    """Return the full names of all vendored messages, sorted."""
    return sorted(path.stem for path in (schemas_folder() / "kafka").glob("*.json"))


def enum_codes() -> dict[str, dict[str, int]]:
    """Return the codes of the wire by Java's name of their enum: `Errors`, `AclOperation`."""
    return msgspec.json.decode(
        (schemas_folder() / "codes.json").read_bytes(), type=dict[str, dict[str, int]]
    )

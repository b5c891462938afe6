"""Recordings of real brokers in a folder: one file per release, with the responses by scenario.

Files are compressed (30 MB of text in 1.5 MB). README.md explains how `git diff` shows them as
text, one response per line.
"""

import gzip
import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import msgspec


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


Steps = list[tuple[str, Any]]
"""The steps of a scenario: a label and the response."""

PACKED = ".gz"
RELEASE = re.compile(r"\d+(\.\d+)+")


def read_file(path: Path) -> bytes:
    """Return the content of a recording, decompressed."""
    raw = path.read_bytes()
    return gzip.decompress(raw) if path.suffix == PACKED else raw


def write_file(path: Path, content: bytes) -> None:
    """Write a recording, compressed if its name ends so; equal contents give equal bytes."""
    path.parent.mkdir(exist_ok=True)
    is_packed = path.suffix == PACKED
    path.write_bytes(gzip.compress(content, 9, mtime=0) if is_packed else content)


class Recordings:
    """The recordings in a folder, named by their releases and a suffix.

    Subclasses may store scenarios in another format by `pack` and `unpack`.
    """

    def __init__(self, folder: Path, suffix: str = ".json.gz") -> None:
        self._folder = folder
        self._suffix = suffix

    def releases(self) -> list[str]:
        """Return the recorded releases, e.g. `4.3.1`."""
        names = (path.name.removesuffix(self._suffix) for path in self._folder.iterdir())
        return sorted(name for name in names if RELEASE.fullmatch(name))

    def names(self, release: str) -> list[str]:
        """Return the scenarios in a recording."""
        return list(self.written(release))

    def steps(self, release: str, name: str) -> Steps:
        """Return the responses of a scenario."""
        recorded = as_called_today(msgspec.json.decode(self.written(release)[name]))
        return msgspec.convert(recorded, Steps)

    def load(self, release: str) -> dict[str, Steps]:
        """Return all responses by scenario; empty without a recording of the release."""
        return {name: self.steps(release, name) for name in self.names(release)}

    def written(self, release: str) -> dict[str, msgspec.Raw]:
        """Return the undecoded responses by scenario; empty without a recording."""
        path = self._path(release)
        return _scenarios(path, self.unpack) if path.exists() else {}

    def save(self, release: str, responses: Mapping[str, Any]) -> None:
        """Write a release's recording; new recordings in `written` are stored as they are."""
        write_file(self._path(release), self.pack(responses))
        _scenarios.cache_clear()

    @staticmethod
    def pack(responses: Mapping[str, Any]) -> bytes:
        return msgspec.json.format(msgspec.json.encode(responses), indent=0)

    @staticmethod
    def unpack(content: bytes) -> dict[str, msgspec.Raw]:
        return msgspec.json.decode(content, type=dict[str, msgspec.Raw])

    def _path(self, release: str) -> Path:
        return self._folder / f"{release}{self._suffix}"


@cache
def _scenarios(
    path: Path, unpack: Callable[[bytes], dict[str, msgspec.Raw]]
) -> dict[str, msgspec.Raw]:
    """Return the scenarios of a file, undecoded because there may be a hundred."""
    return unpack(read_file(path))

"""Recordings of real brokers: one compressed file a release, answers by scenario."""

import gzip
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec

Steps = list[tuple[str, Any]]
"""What was asked, in words, and the answer."""


def by_name(areas: Iterable[ModuleType]) -> dict[str, Callable[[Any], None]]:
    """The SCENARIOS of modules `<area>_scenarios`, each as `<area>-<function>`."""
    return {
        f"{area.__name__.rpartition('.')[2].removesuffix('_scenarios')}-{one.__name__}": one
        for area in areas
        for one in area.SCENARIOS
    }


class Recordings:
    """The recordings in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def releases(self) -> list[str]:
        """The releases that were recorded: `4.3.1`."""
        return sorted(one.name.removesuffix(".json.gz") for one in self._folder.glob("*.json.gz"))

    def load(self, release: str) -> dict[str, Steps]:
        packed = self._file(release).read_bytes()
        return msgspec.json.decode(gzip.decompress(packed), type=dict[str, Steps])

    def save(self, release: str, answers: dict[str, Steps]) -> None:
        """The same answers give the same bytes."""
        self._folder.mkdir(exist_ok=True)
        text = msgspec.json.format(msgspec.json.encode(answers), indent=0)
        self._file(release).write_bytes(gzip.compress(text, 9, mtime=0))

    def _file(self, release: str) -> Path:
        return self._folder / f"{release}.json.gz"

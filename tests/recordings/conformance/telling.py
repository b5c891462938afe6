"""The moves of which stories consist; they build on each other's responses."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from kafka_shim.protocol.enums import ApiKey
from tests.recordings.conformance.draw import Draw

ANY_VERSION = -1


class Move(NamedTuple):
    """One request of a story; see `Step`. Without a version, any that the release serves."""

    api: ApiKey
    request: Any
    takes: Mapping[str, str] = {}
    label: str = ""
    version: int = ANY_VERSION
    user: str = ""
    later: bool = False


Story = Iterator[Move]


class Teller:
    """One story's own user and names; the same draw decides for all stories of a scenario."""

    def __init__(self, draw: Draw, user: str, number: int) -> None:
        self.draw = draw
        self.user = user
        self.number = number
        self._labels = 0

    def label(self) -> str:
        self._labels += 1
        return f"{self.number}.{self._labels}"

    def version(self, api: ApiKey, low: int = 0, high: int = 99) -> int:
        """One version that the release serves, within bounds where they leave any."""
        first, last = self.draw.versions[api]
        low, high = max(first, low), min(last, high)
        return last if low > high else self.draw.number(low, high)

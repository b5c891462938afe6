"""The moves of stories; later moves may take values from earlier responses."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from kafka_shim.protocol.enums import ApiKey
from tests.recordings.conformance.draw import Draw

ANY_VERSION = -1


class Move(NamedTuple):
    """A request of a story; see `Step`. Without a version, any that the release supports.

    `directly`: no step of another story comes before it, since time counts.
    """

    api: ApiKey
    request: Any
    takes: Mapping[str, str] = {}
    label: str = ""
    version: int = ANY_VERSION
    user: str = ""
    later: bool = False
    after_ms: int = 0
    token: str = ""
    directly: bool = False


Story = Iterator[Move]


class Teller:
    """The user and names of one story; all stories of a scenario share a random draw."""

    def __init__(self, draw: Draw, user: str, number: int) -> None:
        self.draw = draw
        self.user = user
        self.number = number
        self._labels = 0

    def label(self) -> str:
        self._labels += 1
        return f"{self.number}.{self._labels}"

    def version(self, api: ApiKey, low: int = 0, high: int = 99) -> int:
        """Return a version that the release supports, within the bounds if possible."""
        first, last = self.draw.versions[api]
        low, high = max(first, low), min(last, high)
        return last if low > high else self.draw.number(low, high)

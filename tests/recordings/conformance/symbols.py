"""Replaces generated values by names, so that responses of two brokers compare."""

from collections.abc import Iterable, Mapping
from typing import Any

from tests.recordings.conformance.scenario import GHOST_ID

NO_ID = bytes(16)
SOME = "<some>"
"""Stands for any value whose content does not matter."""

MINUTE_MS = 60_000
NEAR_NOW_MS = 400 * 24 * 60 * MINUTE_MS
LEARNT = ("member_id", "producer_id", "session_id", "token_id")
"""Top-level response fields whose generated values get a name, which lists then use too."""

FAKE_PRODUCER_IDS = 400_000
"""Producer ids from here on are invented by scenarios; those of brokers are smaller."""


class Symbols:
    """The names of topic ids and of generated values in one play of a scenario."""

    def __init__(self, topic_ids: Mapping[str, bytes], sent: Iterable[str] = ()) -> None:
        self._topics = {topic_id: name for name, topic_id in topic_ids.items()}
        self._topics |= {NO_ID: "", GHOST_ID: "<ghost>"}
        self._sent = set(sent)
        self._known: dict[str, dict[Any, str]] = {field: {} for field in LEARNT}

    def learn(self, label: str, response: Any) -> None:
        """Name the generated values in the response to a labelled step."""
        for field in LEARNT:
            value = getattr(response, field, None)
            if value and value not in self._known[field] and not self._is_literal(field, value):
                self._known[field][value] = f"<{field} of {label}>"

    def learn_topic(self, name: str, topic_id: bytes) -> None:
        self._topics[topic_id] = name

    def topic_id(self, value: bytes) -> str:
        if value in self._topics:
            return self._topics[value]
        return value.hex() if len(set(value)) == 1 else SOME  # 0x2222... is of a request

    def was_sent(self, text: str) -> bool:
        """Return whether a request of the scenario contains this text."""
        return text in self._sent

    def of(self, field: str, value: Any) -> Any:
        """Return the name of a generated value; values from requests and null values are kept."""
        if self._is_literal(field, value):
            return value
        return self._known[field].get(value, SOME)

    def _is_literal(self, field: str, value: Any) -> bool:
        if isinstance(value, str):
            return value == "" or value in self._sent
        return bool(value <= 0 or (field == "producer_id" and value >= FAKE_PRODUCER_IDS))


def moment(value: int, now_ms: int) -> int | str:
    """Return a time in milliseconds; near now, return its distance in minutes as text."""
    if abs(value - now_ms) > NEAR_NOW_MS:
        return value
    minutes = round((value - now_ms) / MINUTE_MS)
    return f"<now{minutes:+d}min>" if minutes else "<now>"

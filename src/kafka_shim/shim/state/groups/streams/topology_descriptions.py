"""Requests to clients for the description of their streams group's topology (KIP-1331).

Descriptions are kept with their group, as by Kafka's in-memory plug-in. As in Kafka 4.4.0, a
restarted broker still knows which descriptions were sent, and does not request them again.
"""

from random import Random

import msgspec

from kafka_shim.protocol.messages.streams_group_topology_description_update import (
    TopologyDescription,
)
from kafka_shim.shim.clock import Clock
from kafka_shim.shim.state.groups.streams.streams_group import StreamsGroup
from kafka_shim.shim.state.settings.group_settings import GroupSettings

FIRST_DELAY_MS = 30_000
DELAY_MS_MAX = 3_600_000
JITTER = 0.2


class _DescriptionRequest(msgspec.Struct, frozen=True):
    """The last request for a description; no member gets another one before `retry_after_ms`."""

    epoch: int
    attempts: int
    retry_after_ms: float


class TopologyDescriptions:
    """The topology descriptions of all streams groups."""

    def __init__(self, settings: GroupSettings, clock: Clock, random: Random) -> None:
        self._settings = settings
        self._clock = clock
        self._random = random
        self._asked: dict[str, _DescriptionRequest] = {}

    @property
    def are_stored_by_plugin(self) -> bool:
        """Return whether a plug-in that stores descriptions is configured."""
        return self._settings.stores_topology_descriptions

    def store_description(self, group: StreamsGroup, description: TopologyDescription) -> None:
        """Store the description of the group's current topology."""
        group.description = group.topology_epoch, description
        asked = self._asked.get(group.group_id)
        if asked is not None and asked.epoch == group.topology_epoch:
            del self._asked[group.group_id]

    def current_description(self, group: StreamsGroup) -> TopologyDescription | None:
        """Return the description of the group's current topology; None if there is none."""
        return (
            group.description[1]
            if self._was_description_sent(group) and group.description
            else None
        )

    def _was_description_sent(self, group: StreamsGroup) -> bool:
        """Return whether a description of this epoch was sent; it may be deleted since."""
        return group.description is not None and group.description[0] == group.topology_epoch

    def try_request_description(self, group: StreamsGroup) -> bool:
        """Return whether to request a description in this heartbeat's response; if so, start the
        delay until the next request.
        """
        if not self.are_stored_by_plugin or self._was_description_sent(group):
            return False
        epoch, now_ms = group.topology_epoch, self._clock.now_ms()
        asked = self._asked.get(group.group_id)
        if asked is not None and asked.epoch != epoch:
            asked = None
        if asked is not None and now_ms < asked.retry_after_ms:
            return False
        attempts = 0 if asked is None else asked.attempts + 1
        delay_ms = min(FIRST_DELAY_MS * 2**attempts, DELAY_MS_MAX)
        delay_ms = min(delay_ms * self._random.uniform(1 - JITTER, 1 + JITTER), DELAY_MS_MAX)
        self._asked[group.group_id] = _DescriptionRequest(epoch, attempts, now_ms + delay_ms)
        return True

"""When clients are asked to describe the topology of their streams group (KIP-1331).

The descriptions are kept as Kafka's in-memory plug-in keeps them, with their group. A broker that
was started again knows which ones it was told, and asks nobody for them, as Kafka 4.4.0.
"""

from random import Random

import msgspec

from kafka_shim.protocol.messages.streams_group_topology_description_update_request import (
    TopologyDescription,
)
from kafka_shim.shim.clock import Clock
from kafka_shim.shim.state.group_settings import GroupSettings
from kafka_shim.shim.state.groups.streams_group import StreamsGroup

FIRST_DELAY_MS = 30_000
DELAY_MS_MAX = 3_600_000
JITTER = 0.2


class _Asked(msgspec.Struct, frozen=True):
    """Somebody was asked about a topology, and nobody is before `until_ms`."""

    epoch: int
    attempts: int
    until_ms: float


class TopologyDescriptions:
    """The descriptions of all groups of a cluster."""

    def __init__(self, settings: GroupSettings, clock: Clock, random: Random) -> None:
        self._settings = settings
        self._clock = clock
        self._random = random
        self._asked: dict[str, _Asked] = {}

    @property
    def are_kept(self) -> bool:
        """Whether there is a plug-in that keeps them."""
        return self._settings.keeps_topologies

    def keep(self, group: StreamsGroup, description: TopologyDescription) -> None:
        """Keep the description of the topology that the group runs."""
        group.description = group.topology_epoch, description
        asked = self._asked.get(group.group_id)
        if asked is not None and asked.epoch == group.topology_epoch:
            del self._asked[group.group_id]

    def of(self, group: StreamsGroup) -> TopologyDescription | None:
        """The description of the topology that the group runs, if there is one."""
        return group.description[1] if self._is_told(group) and group.description else None

    def _is_told(self, group: StreamsGroup) -> bool:
        """Whether the description was ever told; it may be forgotten (see `StreamsGroup`)."""
        return group.description is not None and group.description[0] == group.topology_epoch

    def asks(self, group: StreamsGroup) -> bool:
        """Whether the member that was just heard is to send one; others are not for a while."""
        if not self.are_kept or self._is_told(group):
            return False
        epoch, now_ms = group.topology_epoch, self._clock.now_ms()
        asked = self._asked.get(group.group_id)
        if asked is not None and asked.epoch != epoch:
            asked = None
        if asked is not None and now_ms < asked.until_ms:
            return False
        attempts = 0 if asked is None else asked.attempts + 1
        delay_ms = min(FIRST_DELAY_MS * 2**attempts, DELAY_MS_MAX)
        delay_ms = min(delay_ms * self._random.uniform(1 - JITTER, 1 + JITTER), DELAY_MS_MAX)
        self._asked[group.group_id] = _Asked(epoch, attempts, now_ms + delay_ms)
        return True

"""Requests of consumer groups (KIP-848), in addition to those of classic groups."""

from collections.abc import Mapping, Sequence
from typing import Any

from kafka_shim.protocol.enums import ApiKey
from tests.recordings.groups.classic_play import ClassicPlay

NEWEST = 99
CURRENT = None
"""Stands for the epoch in the last response to the member."""

ASSIGNMENT_INTERVAL_MS = 1500
"""A little more than a broker's interval between two assignments (KIP-1263)."""

Owned = Mapping[str, Sequence[int]]


class ModernPlay(ClassicPlay):
    """Sends heartbeats and describes groups of the newer protocols."""

    def beat(
        self,
        label: str,
        group: str,
        member: str,
        epoch: int | None = CURRENT,
        *,
        ahead: int = 0,
        owned: Owned | None = None,
        version: int = NEWEST,
        **more: Any,
    ) -> Any:
        epochs = self._epochs
        request = {
            "group_id": group,
            "member_id": member,
            "member_epoch": (epochs.get((group, member), 1) if epoch is None else epoch) + ahead,
            "topic_partitions": self._rows(owned),
        } | more
        response = self.call(label, ApiKey.CONSUMER_GROUP_HEARTBEAT, version, request)
        if response is not None and not isinstance(response, str) and response.error_code == 0:
            epochs[group, response.member_id or member] = response.member_epoch
        return response

    def epoch_of(self, group: str, member: str) -> int:
        """Return the epoch in the last response to a member."""
        return self._epochs.get((group, member), 1)

    @property
    def _epochs(self) -> dict[tuple[str, str], int]:
        return self.__dict__.setdefault("epochs", {})

    def settle(self) -> None:
        """Wait until the group can have a new assignment."""
        self.peer.pause(ASSIGNMENT_INTERVAL_MS)

    def enter(
        self, label: str, group: str, member: str, *topics: str, version: int = NEWEST, **more: Any
    ) -> Any:
        """Send the first heartbeat of a member."""
        request: dict[str, Any] = {
            "rebalance_timeout_ms": 10_000,
            "subscribed_topic_names": list(topics),
            "owned": {},
        } | more
        return self.beat(label, group, member, 0, version=version, **request)

    def consumer_groups(self, label: str, *groups: str, version: int = NEWEST) -> None:
        request = {"group_ids": list(groups), "include_authorized_operations": True}
        self.call(label, ApiKey.CONSUMER_GROUP_DESCRIBE, version, request)

    def share(
        self,
        label: str,
        group: str,
        member: str,
        epoch: int | None = CURRENT,
        topics: Sequence[str] | None = None,
        *,
        ahead: int = 0,
        **more: Any,
    ) -> Any:
        """Send a heartbeat of a share group's member."""
        fields = {"subscribed_topic_names": None if topics is None else list(topics)} | more
        who = (group, member)
        return self._beat_as(label, ApiKey.SHARE_GROUP_HEARTBEAT, who, epoch, ahead, fields)

    def start(
        self, label: str, group: str, member: str, topology: dict[str, Any] | None, **more: Any
    ) -> Any:
        """Send the first heartbeat of a streams group's member."""
        request: dict[str, Any] = {
            "rebalance_timeout_ms": 10_000,
            "process_id": "p",
            "topology": topology,
            "active_tasks": [],
            "standby_tasks": [],
            "warmup_tasks": [],
        } | more
        return self.run(label, group, member, 0, **request)

    def run(
        self,
        label: str,
        group: str,
        member: str,
        epoch: int | None = CURRENT,
        *,
        ahead: int = 0,
        **more: Any,
    ) -> Any:
        """Send a later heartbeat of a streams group's member."""
        who = (group, member)
        return self._beat_as(label, ApiKey.STREAMS_GROUP_HEARTBEAT, who, epoch, ahead, more)

    def _beat_as(
        self,
        label: str,
        api: ApiKey,
        who: tuple[str, str],
        epoch: int | None,
        ahead: int,
        fields: dict[str, Any],
    ) -> Any:
        """Send a heartbeat, with the epoch in the last response unless one is given."""
        known = self._epochs.get(who, 1) if epoch is None else epoch
        named = {"group_id": who[0], "member_id": who[1], "member_epoch": known + ahead}
        version = fields.pop("version", NEWEST)
        response = self.call(label, api, version, named | fields)
        if response is not None and not isinstance(response, str) and response.error_code == 0:
            self._epochs[who] = response.member_epoch
        return response

    def streams_groups(self, label: str, *groups: str) -> None:
        request = {"group_ids": list(groups), "include_authorized_operations": True}
        self.call(label, ApiKey.STREAMS_GROUP_DESCRIBE, NEWEST, request)

    def share_groups(self, label: str, *groups: str) -> None:
        request = {"group_ids": list(groups), "include_authorized_operations": True}
        self.call(label, ApiKey.SHARE_GROUP_DESCRIBE, NEWEST, request)

    def _rows(self, owned: Owned | None) -> list[dict[str, Any]] | None:
        if owned is None:
            return None
        return [
            {"topic_id": self.topic_ids[name], "partitions": list(partitions)}
            for name, partitions in owned.items()
        ]

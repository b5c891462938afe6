"""The verbs of consumer groups (KIP-848) beside those of classic ones."""

from collections.abc import Mapping, Sequence
from typing import Any

from protocol.enums import ApiKey
from tests.shim.group_answers.classic_play import ClassicPlay

NEWEST = 99
Owned = Mapping[str, Sequence[int]]


class ModernPlay(ClassicPlay):
    """Heartbeats and descriptions of the newer protocols."""

    def beat(
        self,
        label: str,
        group: str,
        member: str,
        epoch: int,
        *,
        owned: Owned | None = None,
        version: int = NEWEST,
        **more: Any,
    ) -> Any:
        request = {
            "group_id": group,
            "member_id": member,
            "member_epoch": epoch,
            "topic_partitions": self._rows(owned),
        } | more
        return self.call(label, ApiKey.CONSUMER_GROUP_HEARTBEAT, version, request)

    def enter(
        self, label: str, group: str, member: str, *topics: str, version: int = NEWEST, **more: Any
    ) -> Any:
        """The first heartbeat of a member."""
        request = {
            "rebalance_timeout_ms": 10_000,
            "subscribed_topic_names": list(topics),
            "owned": {},
        } | more
        return self.beat(label, group, member, 0, version=version, **request)

    def consumer_groups(self, label: str, *groups: str, version: int = NEWEST) -> None:
        request = {"group_ids": list(groups), "include_authorized_operations": True}
        self.call(label, ApiKey.CONSUMER_GROUP_DESCRIBE, version, request)

    def _rows(self, owned: Owned | None) -> list[dict[str, Any]] | None:
        if owned is None:
            return None
        return [
            {"topic_id": self.topic_ids[name], "partitions": list(partitions)}
            for name, partitions in owned.items()
        ]

"""Requests of classic groups and about their offsets."""

from collections.abc import Sequence
from typing import Any

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.error_codes import ErrorCode
from tests.recordings.groups.play import Play

NEWEST = 99
Protocols = Sequence[tuple[str, bytes]]
RANGE: Protocols = (("range", b"\0"),)


def subscription(topics: Sequence[str]) -> bytes:
    """Return a consumer's subscription, version 0."""
    names = b"".join(len(name).to_bytes(2, "big") + name.encode() for name in topics)
    return b"\0\0" + len(topics).to_bytes(4, "big") + names + bytes(4)


class ClassicPlay(Play):
    """Sends JoinGroup and related requests, with defaults for most of their fields."""

    def join_request(
        self, group: str, member: str = "", protocols: Protocols = RANGE, **more: Any
    ) -> dict[str, Any]:
        return {
            "group_id": group,
            "session_timeout_ms": 10_000,
            "rebalance_timeout_ms": 10_000,
            "member_id": member,
            "protocol_type": "consumer",
            "protocols": [{"name": name, "metadata": data} for name, data in protocols],
        } | more

    def join(
        self, label: str, group: str, connection: str = "a", version: int = NEWEST, **more: Any
    ) -> Any:
        """Join; if the broker returns MEMBER_ID_REQUIRED, join again with the given member id."""
        request = self.join_request(group, **more)
        response = self.ask(ApiKey.JOIN_GROUP, version, request, connection)
        if response.error_code == ErrorCode.MEMBER_ID_REQUIRED:
            request["member_id"] = response.member_id
            response = self.ask(ApiKey.JOIN_GROUP, version, request, connection)
        self.keep(label, ApiKey.JOIN_GROUP, self.version(ApiKey.JOIN_GROUP, version), response)
        return response

    def begin_join(
        self, group: str, connection: str, member: str = "", version: int = NEWEST, **more: Any
    ) -> None:
        """Send a JoinGroup that must wait; get a member id first if the broker requires one."""
        request = self.join_request(group, member, **more)
        wants_id = self.version(ApiKey.JOIN_GROUP, version) >= 4
        if wants_id and not member and not more.get("group_instance_id"):
            response = self.ask(ApiKey.JOIN_GROUP, version, request, connection)
            assert response.error_code == ErrorCode.MEMBER_ID_REQUIRED, response
            request["member_id"] = response.member_id
        self.begin(ApiKey.JOIN_GROUP, version, request, connection)

    def sync_request(
        self,
        group: str,
        generation: int,
        member: str,
        assignments: dict[str, bytes] | None = None,
        **more: Any,
    ) -> dict[str, Any]:
        rows = [
            {"member_id": member_id, "assignment": data}
            for member_id, data in (assignments or {}).items()
        ]
        return {
            "group_id": group,
            "generation_id": generation,
            "member_id": member,
            "protocol_type": "consumer",
            "protocol_name": "range",
            "assignments": rows,
        } | more

    def sync(self, label: str, *identity: Any, connection: str = "a", **more: Any) -> Any:
        version = more.pop("version", NEWEST)
        request = self.sync_request(*identity, **more)
        return self.call(label, ApiKey.SYNC_GROUP, version, request, connection)

    def begin_sync(self, connection: str, *identity: Any, **more: Any) -> None:
        request = self.sync_request(*identity, **more)
        self.begin(ApiKey.SYNC_GROUP, NEWEST, request, connection)

    def heartbeat(
        self,
        label: str,
        group: str,
        generation: int,
        member: str,
        connection: str = "a",
        *,
        instance: str | None = None,
        version: int = NEWEST,
    ) -> None:
        request = {
            "group_id": group,
            "generation_id": generation,
            "member_id": member,
            "group_instance_id": instance,
        }
        self.call(label, ApiKey.HEARTBEAT, version, request, connection)

    def leave(
        self,
        label: str,
        group: str,
        *members: tuple[str, str | None],
        connection: str = "a",
        version: int = NEWEST,
    ) -> None:
        request = {
            "group_id": group,
            "member_id": members[0][0] if members else "",
            "members": [
                {"member_id": member, "group_instance_id": instance} for member, instance in members
            ],
        }
        self.call(label, ApiKey.LEAVE_GROUP, version, request, connection)

    def commit(
        self,
        label: str,
        group: str,
        offsets: Sequence[tuple[str, int, int]],
        generation: int = -1,
        member: str = "",
        *,
        version: int = 9,
        metadata: str | None = "m",
        **more: Any,
    ) -> None:
        topics: dict[str, list[dict[str, Any]]] = {}
        for topic, partition, offset in offsets:
            row = {
                "partition_index": partition,
                "committed_offset": offset,
                "committed_metadata": metadata,
            }
            topics.setdefault(topic, []).append(row)
        request = {
            "group_id": group,
            "generation_id_or_member_epoch": generation,
            "member_id": member,
            "topics": [
                {"name": name, "topic_id": self.topic_ids.get(name, bytes(16)), "partitions": rows}
                for name, rows in topics.items()
            ],
        } | more
        self.call(label, ApiKey.OFFSET_COMMIT, version, request)

    def fetch_request(
        self,
        group: str,
        partitions: Sequence[tuple[str, Sequence[int]]] | None,
        **more: Any,
    ) -> dict[str, Any]:
        topics = None
        if partitions is not None:
            topics = [
                {
                    "name": name,
                    "topic_id": self.topic_ids.get(name, bytes(16)),
                    "partition_indexes": list(indexes),
                }
                for name, indexes in partitions
            ]
        return {
            "group_id": group,
            "topics": topics,
            "groups": [{"group_id": group, "topics": topics} | more],
        }

    def fetch(
        self,
        label: str,
        group: str,
        partitions: Sequence[tuple[str, Sequence[int]]] | None,
        version: int = 9,
        stable: bool = False,
        **more: Any,
    ) -> None:
        request = self.fetch_request(group, partitions, **more) | {"require_stable": stable}
        if partitions is None:
            version = max(version, 2)
        self.call(label, ApiKey.OFFSET_FETCH, version, request)

    def describe(self, label: str, *groups: str, version: int = 5, operations: bool = True) -> None:
        request = {"groups": list(groups), "include_authorized_operations": operations}
        self.call(label, ApiKey.DESCRIBE_GROUPS, version, request)

    def list(
        self,
        label: str,
        version: int = NEWEST,
        states: Sequence[str] = (),
        types: Sequence[str] = (),
    ) -> None:
        """List groups; record only those of this scenario."""
        request = {"states_filter": list(states), "types_filter": list(types)}
        response = self.ask(ApiKey.LIST_GROUPS, version, request)
        response.groups = [
            group for group in response.groups if group.group_id.startswith(self.name)
        ]
        self.keep(label, ApiKey.LIST_GROUPS, self.version(ApiKey.LIST_GROUPS, version), response)

    def delete(self, label: str, *groups: str, version: int = NEWEST) -> None:
        self.call(label, ApiKey.DELETE_GROUPS, version, {"groups_names": list(groups)})

    def delete_offsets(
        self, label: str, group: str, *topics: str, partitions: Sequence[int] = (0,)
    ) -> None:
        rows = [{"partition_index": partition} for partition in partitions]
        request = {
            "group_id": group,
            "topics": [{"name": name, "partitions": rows} for name in topics],
        }
        self.call(label, ApiKey.OFFSET_DELETE, 0, request)

"""The resources of a broker for tests: ACLs, topics, users, groups, nodes, the clock."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, TypedDict, Unpack
from urllib.parse import quote

from kafka_shim.testing.rows import (
    AclRow,
    CompactedPartitionRow,
    GroupDetailRow,
    GroupOffsetsRow,
    NodeRow,
    ProducedRecordRow,
    RecordRow,
    TopicRow,
)
from kafka_shim.testing.rule import Rule, json_rules
from kafka_shim.testing.settings import SECRET

_PAGE = 1000


class Acls:
    """The ACLs: rules as in the state file, `{"principal": ..., "allow": ..., "topic": ...}`."""

    def __init__(self, call_control_api: Any) -> None:
        self._call_control_api = call_control_api

    def add(self, *rules: Mapping[str, Any], **rule: Unpack[Rule]) -> None:
        """Add rules; one may be given by keywords: `add(principal="alice", allow="Write", ...)`.

        A rule without effect is a warning: Write on a group, a denial for a super user and, when
        the test has ended, a principal that is no user.
        """
        self._call_control_api("POST", "/acls", _acls_body(rules, rule))

    def remove(self, *rules: Mapping[str, Any], **rule: Unpack[Rule]) -> list[AclRow]:
        """Remove exactly these, and return them. One that does not exist is a warning."""
        removed = self._call_control_api("POST", "/acls/remove", _acls_body(rules, rule))
        return [AclRow(acl) for acl in removed["acls"]]

    def list(self, principal: str | None = None) -> list[AclRow]:
        query = {} if principal is None else {"principal": principal}
        return [AclRow(acl) for acl in self._call_control_api("GET", "/acls", query=query)["acls"]]

    def import_text(self, text: str, acl_format: str | None = None) -> None:
        """Add the ACLs of a text in any format of `kafka-shim acls`, which is detected."""
        self._call_control_api("POST", "/acls/import", {"text": text, "format": acl_format})

    def export_text(self, acl_format: str = "yaml") -> str:
        """Return all ACLs as text in a format of `kafka-shim acls`."""
        exported = self._call_control_api("GET", "/acls/export", query={"format": acl_format})
        return str(exported["text"])


class Topics:
    """The topics."""

    def __init__(self, call_control_api: Any) -> None:
        self._call_control_api = call_control_api

    def create(
        self,
        name: str,
        partitions: int = 1,
        replication_factor: int | None = None,
        configs: Mapping[str, str] | None = None,
    ) -> TopicRow:
        """Create a topic; settings by Kafka's names: `configs={"retention.ms": "60000"}`.

        The default replication factor is the broker's, 1.
        """
        body = {
            "name": name,
            "partitions": partitions,
            "replication_factor": replication_factor,
            "configs": dict(configs or {}),
        }
        return TopicRow(self._call_control_api("POST", "/topics", body))

    def delete(self, name: str) -> None:
        self._call_control_api("DELETE", f"/topics/{quote(name, safe='')}")

    def compact(self, name: str) -> list[CompactedPartitionRow]:
        """Compact a topic now; return a row for each partition with the sizes before and after.

        Its `cleanup.policy` must contain `compact`. Compaction stops at the first batch that is
        younger than `min.compaction.lag.ms`, or belongs to an open transaction.
        """
        path = f"/topics/{quote(name, safe='')}/compact"
        cleaned = self._call_control_api("POST", path)["partitions"]
        return [CompactedPartitionRow(partition) for partition in cleaned]

    def list(self) -> list[TopicRow]:
        return [TopicRow(topic) for topic in self._call_control_api("GET", "/topics")["topics"]]

    def produce(
        self,
        name: str,
        value: str | bytes | None,
        key: str | bytes | None = None,
        headers: Mapping[str, str] | None = None,
        partition: int | None = None,
    ) -> ProducedRecordRow:
        """Produce a record without a client, and return where it is. A value of None is a
        tombstone; the partition is that of the key by default, 0 without a key.
        """
        if partition is None and key is None:
            partition = 0
        body: dict[str, Any] = {"headers": dict(headers or {}), "partition": partition}
        for field, content in (("value", value), ("key", key)):
            if isinstance(content, bytes):
                body[f"{field}_hex"] = content.hex()
            else:
                body[field] = content
        path = f"/topics/{quote(name, safe='')}/records"
        return ProducedRecordRow(self._call_control_api("POST", path, body))

    def records(
        self, name: str, partition: int | None = None, from_offset: int = 0
    ) -> "Sequence[RecordRow]":
        """Return the records of a partition from an offset on; by default of all partitions, one
        after the other. Values that are not UTF-8 are None, and in `RecordRow.value_hex`.
        """
        if partition is None:
            [count] = [topic.partitions for topic in self.list() if topic.name == name] or [1]
            partitions: Sequence[int] = range(count)
        else:
            partitions = [partition]
        return [row for each in partitions for row in self._pages(name, each, from_offset)]

    def _pages(self, name: str, partition: int, offset: int) -> Iterator[RecordRow]:
        path = f"/topics/{quote(name, safe='')}/records"
        while True:
            query = {"partition": str(partition), "from": str(offset), "limit": str(_PAGE)}
            page = self._call_control_api("GET", path, query=query)
            yield from map(RecordRow, page["records"])
            offset = page["next_offset"]
            if offset >= page["end_offset"]:
                return


class Users:
    """The users who can authenticate."""

    def __init__(self, call_control_api: Any, passwords: dict[str, str]) -> None:
        self._call_control_api = call_control_api
        self._passwords = passwords

    def add(self, name: str, password: str | None = None) -> str:
        """Add a user or change its password; return the password, by default NAME-secret."""
        password = password or SECRET.format(name=name)
        self._call_control_api("POST", "/users", {"name": name, "password": password})
        self._passwords[name] = password
        return password

    def remove(self, name: str) -> None:
        self._call_control_api("DELETE", f"/users/{quote(name, safe='')}")
        self._passwords.pop(name, None)

    def list(self) -> list[str]:
        found: list[str] = self._call_control_api("GET", "/users")["users"]
        return found


class Clock:
    """The cluster's time."""

    def __init__(self, call_control_api: Any) -> None:
        self._call_control_api = call_control_api

    def now_ms(self) -> int:
        return int(self._call_control_api("GET", "/clock")["now_ms"])

    def advance(self, by_ms: int) -> int:
        """Move time on; the broker must have been started with `manual_clock=True`."""
        return int(self._call_control_api("POST", "/clock/advance", {"by_ms": by_ms})["now_ms"])


def _acls_body(rules: tuple[Mapping[str, Any], ...], rule: Rule) -> dict[str, Any]:
    return {"acls": json_rules(*rules, *([rule] if rule else []))}


class Nodes:
    """Stops and starts brokers, and moves leaders and coordinators (`brokers=3`)."""

    def __init__(self, call_control_api: Any) -> None:
        self._call_control_api = call_control_api

    def list(self) -> list[NodeRow]:
        """Return `node_id`, `is_alive` and `listeners` of each."""
        return [NodeRow(node) for node in self._call_control_api("GET", "/nodes")["nodes"]]

    def stop(self, node_id: int) -> None:
        """Stop a broker: clients are disconnected, connections refused, and other replicas lead."""
        self._call_control_api("POST", f"/nodes/{node_id}/stop")

    def start(self, node_id: int) -> None:
        """Start a stopped broker on its former ports; leaders do not move back."""
        self._call_control_api("POST", f"/nodes/{node_id}/start")

    def move_leader(self, topic: str, partition: int, node_id: int) -> int:
        """Make any other broker the leader, also one without a replica; return the leader epoch."""
        path = f"/topics/{quote(topic, safe='')}/partitions/{partition}/leader"
        return int(self._call_control_api("POST", path, {"node_id": node_id})["leader_epoch"])

    def move_coordinator(self, group_id: str, node_id: int) -> None:
        """Make another broker the coordinator of a group."""
        path = f"/groups/{quote(group_id, safe='')}/coordinator"
        self._call_control_api("POST", path, {"node_id": node_id})


class OffsetOptions(TypedDict, total=False):
    """Which offsets are set, and how."""

    topic: str
    partition: int
    time_ms: int
    shift: int
    dry_run: bool


class Groups:
    """The groups of all types."""

    def __init__(self, call_control_api: Any) -> None:
        self._call_control_api = call_control_api

    def list(self) -> list[GroupDetailRow]:
        """Return each group with its members, offsets and lag."""
        return [GroupDetailRow(row) for row in self._call_control_api("GET", "/groups")["groups"]]

    def get(self, group_id: str) -> GroupDetailRow:
        """Return a group. Raise BrokerError if there is none."""
        return GroupDetailRow(self._call_control_api("GET", _path(group_id)))

    def delete(self, group_id: str) -> None:
        """Delete a group without members."""
        self._call_control_api("DELETE", _path(group_id))

    def reset_offsets(
        self,
        group_id: str,
        to: int | Literal["earliest", "latest"] | None = None,
        **options: Unpack[OffsetOptions],
    ) -> GroupOffsetsRow:
        """Set the offsets of a group without members. `to` is an offset, `earliest` or `latest`;
        `time_ms` selects the first record at or after this time; `shift` is added to the offsets.
        The options `topic` and `partition` select partitions. With `dry_run`, only return what
        would change.
        """
        body = {"to": to, **options}
        return GroupOffsetsRow(self._call_control_api("POST", f"{_path(group_id)}/offsets", body))


def _path(group_id: str) -> str:
    return f"/groups/{quote(group_id, safe='')}"

"""Rows in results: dicts whose keys are also attributes.

The columns are declared for type checkers; `shim/control/bodies.py` has the same ones, as a test
checks. At run time a row is the broker's response, whatever its version.
"""

from typing import TYPE_CHECKING, Any, TypeAlias

from kafka_shim.shim.testing.unknown import unknown_name_message

MaybeNone: TypeAlias = Any
"""None in rare cases that tests need not handle: in a union, it lets them index at once."""


class Row(dict[str, Any]):
    """A row: `row.name` is `row["name"]`."""

    if not TYPE_CHECKING:  # otherwise every attribute would exist, of any type

        def __getattr__(self, name: str) -> Any:
            try:
                return self[name]
            except KeyError:
                raise AttributeError(unknown_name_message("column", name, self)) from None


class HealthRow(Row):
    """`status` is `ok` as long as the broker answers at all."""

    status: str
    release: str
    uptime_ms: int
    connections: int


class TopicRow(Row):
    """A topic; the lists have one value for each partition, a leader of -1 is none."""

    name: str
    topic_id: str
    partitions: int
    configs: dict[str, str]
    leaders: list[int]
    start_offsets: list[int]
    end_offsets: list[int]


class CleanedPartitionRow(Row):
    """A compacted partition: its sizes before and after."""

    partition: int
    records_before: int
    records_after: int
    bytes_before: int
    bytes_after: int


class AclRow(Row):
    """An ACL, by the names of its enums: `WRITE`, `TOPIC`, `LITERAL`, `ALLOW`."""

    principal: str
    host: str
    resource_type: str
    resource_name: str
    resource_pattern_type: str
    operation: str
    permission: str


class GroupRow(Row):
    """A consumer group."""

    group_id: str
    type: str
    state: str


class StateRow(Row):
    """Topics, users, ACLs and groups; `listeners` are `host:port` by name, of all brokers."""

    release: str
    cluster_id: str
    listeners: dict[str, list[str]]
    super_users: list[str]
    topics: list[TopicRow]
    users: list[str]
    acls: list[AclRow]
    groups: list[GroupRow]

    def __init__(self, columns: dict[str, Any]) -> None:
        super().__init__(columns)
        self["topics"] = [TopicRow(topic) for topic in columns["topics"]]
        self["acls"] = [AclRow(acl) for acl in columns["acls"]]
        self["groups"] = [GroupRow(group) for group in columns["groups"]]


class AuthenticationRow(Row):
    """An authentication by SASL; `user` is the name that the client sent, `error` is None if it
    succeeded.
    """

    number: int
    time_ms: int
    listener: str
    host: str
    mechanism: str
    user: str | None
    error: str | None


class NodeRow(Row):
    """A broker of the cluster; `listeners` are `host:port` by name."""

    node_id: int
    is_alive: bool
    listeners: dict[str, str]


class PushRow(Row):
    """Metrics that a client pushed; `bytes_decompressed` is None where it is unknown."""

    node_id: int
    principal: str
    client_instance_id: str
    client_id: str
    client_software_name: str
    client_software_version: str
    is_terminating: bool
    compression: str
    bytes_sent: int
    bytes_decompressed: int | MaybeNone


class RequestRow(Row):
    """A request; `request` is its content by Kafka's field names, None if it cannot be read.

    Records appear as their size. `errors` are the non-zero codes of the response, None without a
    response, as is `latency_us`. `decisions_left_out` is the number of its decisions beyond the
    first 1000.
    """

    number: int
    time_us: int
    api: str
    version: int
    client_id: str | None
    principal: str
    host: str
    correlation_id: int
    connection: int
    node_id: int
    request: dict[str, Any] | MaybeNone
    errors: list[int] | None
    error_names: list[str]
    faults: list[int]
    latency_us: int | None
    decisions_left_out: int


class DecisionRow(Row):
    """A decision; `number` is that of its request.

    `would_allow` is the smallest change of the ACLs after which the whole request would have
    succeeded, `{"remove": rules, "add": rules, "complete": bool}`; None if this was allowed, or if
    no change of ACLs helps. `logged`: Kafka's audit log has the decision.
    """

    number: int
    time_us: int
    api: str
    version: int
    client_id: str | None
    principal: str
    host: str
    operation: str
    resource_type: str
    resource_name: str
    allowed: bool
    because: str
    rule: str
    would_allow: dict[str, Any] | MaybeNone
    count: int
    logged: bool


class FaultRow(Row):
    """A fault; `calls` counts the requests that matched, `fired` those that it affected."""

    id: int
    calls: int
    fired: int
    action: dict[str, Any]
    match: dict[str, Any]
    trigger: dict[str, Any]

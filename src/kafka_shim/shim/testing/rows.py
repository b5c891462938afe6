"""Rows in results of a test's broker. Generated from `shim/control/bodies.py`: do not edit."""

from typing import Any

from kafka_shim.shim.testing.row import MaybeNone, Row


class HealthRow(Row):
    """The health of the broker; `status` is always `ok`. `counts` are numbers of topics, groups,
    users, ACLs and faults.
    """

    status: str
    release: str
    uptime_ms: int
    connections: int
    counts: dict[str, int]


class TopicRow(Row):
    """A topic; the lists have an entry for each partition; -1: no leader."""

    name: str
    topic_id: str
    partitions: int
    configs: dict[str, str]
    leaders: list[int]
    start_offsets: list[int]
    end_offsets: list[int]


class CompactedPartitionRow(Row):
    """A compacted partition: the sizes of what could be compacted before and after it."""

    partition: int
    records_before: int
    records_after: int
    bytes_before: int
    bytes_after: int


class AclRow(Row):
    """An ACL, with the names of its enums."""

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


class ClusterStateRow(Row):
    """The whole state; `listeners` are `host:port` by name, for all brokers."""

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
        self["topics"] = [TopicRow(each) for each in columns["topics"]]
        self["acls"] = [AclRow(each) for each in columns["acls"]]
        self["groups"] = [GroupRow(each) for each in columns["groups"]]


class AuthenticationRow(Row):
    """An authentication by SASL; `user` is the name that the client sent, None if unreadable;
    `error` is None if it succeeded.
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


class TelemetryPushRow(Row):
    """Metrics that a client pushed; `bytes_decompressed` is None if unknown."""

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
    """A received request. `request` has Kafka's field names, and sizes in place of records; None if
    it cannot be read. `errors` are the codes in the response except 0. `errors` and `latency_us`
    are None without a response. `decisions_left_out` counts the decisions after the first 1000,
    which are not kept.
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
    """A decision. `number` is that of its request. `would_allow` is the smallest change of the ACLs
    after which the whole request would have succeeded; None if this was allowed, or if no change of
    ACLs helps. `logged`: Kafka's audit log has the decision.
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
    """A fault; `calls` counts the matching requests, `fired` those to which it was applied."""

    id: int
    calls: int
    fired: int
    is_disabled: bool
    action: dict[str, Any]
    match: dict[str, Any]
    trigger: dict[str, Any]

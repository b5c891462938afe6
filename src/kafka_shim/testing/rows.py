"""Rows in results of a test's broker. Generated from `shim/control/bodies.py`: do not edit."""

from typing import Any

from kafka_shim.testing.row import MaybeNone, Row


class HealthRow(Row):
    """The health of the broker; `status` is always `ok`. `counts` are numbers of topics, groups,
    users, ACLs and faults; `changes_last` and `requests_last` the numbers of the newest ones, which
    tell that nothing is new. `changes_last` is None if changes of ACLs are not observed.
    """

    status: str
    release: str
    uptime_ms: int
    connections: int
    counts: dict[str, int]
    changes_last: int | None
    requests_last: int


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
    """A compacted partition: the sizes of the part that is compacted, before and afterwards."""

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


class HeaderRow(Row):
    """A header of a record; `value` is None if it is None or not
    UTF-8, `value_hex` only if None.
    """

    key: str
    value: str | None
    value_hex: str | None


class RecordRow(Row):
    """A record. `key` and `value` are None if there is none, or if its bytes are not UTF-8; the
    hexadecimal fields are None only if there is none. `control` is `commit` or `abort` for the end
    of a transaction. `value_bytes` is the size of the whole value; `value` and
    `value_hex` can have only its beginning.
    """

    partition: int
    offset: int
    timestamp_ms: int
    key: str | None
    key_hex: str | None
    value: str | None
    value_hex: str | None
    value_bytes: int | None
    headers: list[HeaderRow]
    compression: str
    producer_id: int
    is_transactional: bool
    control: str | None

    def __init__(self, columns: dict[str, Any]) -> None:
        super().__init__(columns)
        self["headers"] = [HeaderRow(each) for each in columns["headers"]]


class ProducedRecordRow(Row):
    """Where a record was stored."""

    partition: int
    offset: int


class AssignedTopicRow(Row):
    """Partitions of a topic; for members of streams groups, `topic` is a subtopology."""

    topic: str
    partitions: list[int]


class MemberRow(Row):
    """A member of a group; `epoch` is the generation in a classic group."""

    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    epoch: int
    assignment: list[AssignedTopicRow]

    def __init__(self, columns: dict[str, Any]) -> None:
        super().__init__(columns)
        self["assignment"] = [AssignedTopicRow(each) for each in columns["assignment"]]


class GroupOffsetRow(Row):
    """A group's committed offset in a partition, or the start offset of a share group."""

    topic: str
    partition: int
    offset: int
    end_offset: int
    lag: int
    metadata: str


class GroupDetailRow(Row):
    """A group with its members and offsets; `lag` is the sum over its partitions."""

    group_id: str
    type: str
    state: str
    members: list[MemberRow]
    offsets: list[GroupOffsetRow]
    lag: int

    def __init__(self, columns: dict[str, Any]) -> None:
        super().__init__(columns)
        self["members"] = [MemberRow(each) for each in columns["members"]]
        self["offsets"] = [GroupOffsetRow(each) for each in columns["offsets"]]


class OffsetChangeRow(Row):
    """The offset of a partition before and after a reset; `before` is None if there was none."""

    topic: str
    partition: int
    before: int | None
    after: int


class GroupOffsetsRow(Row):
    """Offsets of a group, and those that a reset has changed, or would change."""

    offsets: list[GroupOffsetRow]
    changes: list[OffsetChangeRow]

    def __init__(self, columns: dict[str, Any]) -> None:
        super().__init__(columns)
        self["offsets"] = [GroupOffsetRow(each) for each in columns["offsets"]]
        self["changes"] = [OffsetChangeRow(each) for each in columns["changes"]]


class TopicPartitionRow(Row):
    """A partition of a topic."""

    topic: str
    partition: int


class TransactionRow(Row):
    """A transactional id; times are ms since 1970, -1 for none, `timeout_ms` a duration."""

    transactional_id: str
    state: str
    producer_id: int
    producer_epoch: int
    timeout_ms: int
    started_ms: int
    updated_ms: int
    partitions: list[TopicPartitionRow]

    def __init__(self, columns: dict[str, Any]) -> None:
        super().__init__(columns)
        self["partitions"] = [TopicPartitionRow(each) for each in columns["partitions"]]


class ProducerRow(Row):
    """A producer id on a partition. `transaction_offset` is where its open transaction begins, or
    -1; `last_sequence` is -1 if unknown.
    """

    topic: str
    partition: int
    producer_id: int
    producer_epoch: int
    last_sequence: int
    last_timestamp_ms: int
    transaction_offset: int


class AllowedPrincipalRow(Row):
    """A principal that is allowed, its hosts (`*`: all except `except_hosts`), and the ACLs that
    allow it. `denials` are the ACLs behind the exceptions. `everyone` is true for the row of all
    principals that are not listed.
    """

    principal: str
    everyone: bool
    hosts: list[str]
    except_hosts: list[str]
    because: str
    acls: list[AclRow]
    denials: list[AclRow]

    def __init__(self, columns: dict[str, Any]) -> None:
        super().__init__(columns)
        self["acls"] = [AclRow(each) for each in columns["acls"]]
        self["denials"] = [AclRow(each) for each in columns["denials"]]


class DeniedPrincipalRow(Row):
    """A principal that is denied although an ACL allows it, with the ACLs that deny it."""

    principal: str
    acls: list[AclRow]

    def __init__(self, columns: dict[str, Any]) -> None:
        super().__init__(columns)
        self["acls"] = [AclRow(each) for each in columns["acls"]]


class WhoCanRow(Row):
    """The principals that are allowed to do something."""

    operation: str
    resource_type: str
    resource_name: str
    allowed: list[AllowedPrincipalRow]
    denied: list[DeniedPrincipalRow]

    def __init__(self, columns: dict[str, Any]) -> None:
        super().__init__(columns)
        self["allowed"] = [AllowedPrincipalRow(each) for each in columns["allowed"]]
        self["denied"] = [DeniedPrincipalRow(each) for each in columns["denied"]]


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
    are None without a response. `decisions_left_out` counts the decisions that were not kept:
    those after the first 1000.
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
    after which the whole request would have succeeded; None for an allowed one, or if no change of
    ACLs helps. If more than 20 requests were denied before a change of the ACLs, it starts from
    later ACLs for the oldest, and is None if these allow the request.
    `logged` is true if Kafka's audit log has the decision.
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
    must_fire: bool

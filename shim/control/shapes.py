"""What goes over the control API: bodies and answers, as types; the OpenAPI document is of them.

ACLs are objects (`principal`, `host`, `resource_type`, `resource_name`, `resource_pattern_type`,
`operation`, `permission`) in answers; in bodies also rules in the short form of the state file.
"""

from typing import Any

import msgspec

from kafka_shim.shim.faults.spec import Effect, Match, Trigger


class Health(msgspec.Struct):
    """`status` is `ok` as long as there is an answer at all."""

    status: str
    release: str
    uptime_ms: int
    connections: int


class TopicRow(msgspec.Struct):
    """A topic; the lists have an entry for each partition, a leader of -1 is none."""

    name: str
    topic_id: str
    partitions: int
    configs: dict[str, str]
    leaders: list[int]
    start_offsets: list[int]
    end_offsets: list[int]


class AclRow(msgspec.Struct):
    """One ACL, by the names of its enums."""

    principal: str
    host: str
    resource_type: str
    resource_name: str
    resource_pattern_type: str
    operation: str
    permission: str


class GroupRow(msgspec.Struct):
    """A consumer group."""

    group_id: str
    type: str
    state: str


class State(msgspec.Struct):
    """All that is there. `listeners` are `host:port` by name, of all nodes."""

    release: str
    cluster_id: str
    listeners: dict[str, list[str]]
    super_users: list[str]
    topics: list[TopicRow]
    users: list[str]
    acls: list[AclRow]
    groups: list[GroupRow]


class ListenerRow(msgspec.Struct):
    """How clients reach a listener; `sasl_mechanisms` are empty without SASL."""

    name: str
    security_protocol: str
    sasl_mechanisms: list[str]
    bootstrap_servers: str


class ListenerRows(msgspec.Struct):
    """Listeners, in the order in which they were given."""

    listeners: list[ListenerRow]


class NodeRow(msgspec.Struct):
    """A broker of the cluster; `listeners` are `host:port` by name."""

    node_id: int
    is_alive: bool
    listeners: dict[str, str]


class NodeRows(msgspec.Struct):
    """The brokers, and which of them is the controller."""

    controller_id: int
    nodes: list[NodeRow]


class PushRow(msgspec.Struct):
    """Metrics that a client pushed; `bytes_decompressed` is null where it is not known."""

    node_id: int
    principal: str
    client_instance_id: str
    client_id: str
    client_software_name: str
    client_software_version: str
    is_terminating: bool
    compression: str
    bytes_sent: int
    bytes_decompressed: int | None


class PushRows(msgspec.Struct):
    """The last pushes to each broker, the oldest first."""

    pushes: list[PushRow]


class NewLeader(msgspec.Struct, forbid_unknown_fields=True):
    """Which broker is to lead; if it holds no replica, it gets the old leader's."""

    node_id: int


class Leader(msgspec.Struct):
    """Who leads a partition."""

    leader_id: int
    leader_epoch: int


class NewTopic(msgspec.Struct, forbid_unknown_fields=True):
    """A topic to make."""

    name: str
    partitions: int = 1
    configs: dict[str, str] = {}
    replication_factor: int | None = None


class NewUser(msgspec.Struct, forbid_unknown_fields=True):
    """A user for every enabled mechanism; one that exists gets the new password."""

    name: str
    password: str


class AclRules(msgspec.Struct, forbid_unknown_fields=True):
    """ACLs as objects, or rules: `{principal: User:alice, allow: [Write], topic: orders}`."""

    acls: list[dict[str, Any]]


class AclRows(msgspec.Struct):
    """ACLs."""

    acls: list[AclRow]


class MatrixRow(msgspec.Struct):
    """A principal with the operations that it may do, one list for each resource."""

    principal: str
    allowed: list[list[str]]


class Matrix(msgspec.Struct):
    """All principals and all resources of a type, and decisions for a part of them: `rows` begin at
    `first_principal`, and the lists in them at `first_resource`.
    """

    host: str
    resource_type: str
    principals: list[str]
    resources: list[str]
    first_principal: int
    first_resource: int
    rows: list[MatrixRow]


class TopicRows(msgspec.Struct):
    """Topics."""

    topics: list[TopicRow]


class CleanedPartition(msgspec.Struct):
    """A partition that was compacted: what of it could be cleaned, and what is left of that."""

    partition: int
    records_before: int
    records_after: int
    bytes_before: int
    bytes_after: int


class CleanedPartitions(msgspec.Struct):
    """All partitions of a topic."""

    partitions: list[CleanedPartition]


class UserNames(msgspec.Struct):
    """Names of users."""

    users: list[str]


class SnapshotRow(msgspec.Struct):
    """A state that was put aside."""

    id: int


class RequestRow(msgspec.Struct):
    """A request that came in. `request` is in Kafka's field names, records as their size, None if
    it cannot be read; `errors` are the codes of the answer that are not 0, None without an answer;
    `latency_us` is None without an answer, too; `decisions_left_out` is how many of its decisions
    are not kept, beyond the first 1000.
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
    request: dict[str, Any] | None
    errors: list[int] | None
    error_names: list[str]
    faults: list[int]
    latency_us: int | None
    decisions_left_out: int


class RequestRows(msgspec.Struct):
    """Requests, oldest first. `last` is the number of the newest there is: ask `after` it next."""

    requests: list[RequestRow]
    last: int


class DecisionRow(msgspec.Struct):
    """A decision. `number` is that of its request; `would_allow` is the least that would allow what
    was denied: `{add: rule}` or `{remove: rule}`; `logged` as Kafka's audit log has it.
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
    would_allow: dict[str, Any] | None
    count: int
    logged: bool


class DecisionRows(msgspec.Struct):
    """Decisions, oldest first; `last` as with requests. `left_out` is how many decisions of these
    requests are not kept, whatever was asked for.
    """

    decisions: list[DecisionRow]
    last: int
    left_out: int


class NewFault(msgspec.Struct, forbid_unknown_fields=True):
    """A fault to set: what happens (`action`), to which requests (`match`), when (`trigger`)."""

    action: Effect
    match: Match = Match()
    trigger: Trigger = Trigger()


class FaultRow(msgspec.Struct):
    """A fault that is set: `calls` counts the requests that matched, `fired` those it struck."""

    id: int
    calls: int
    fired: int
    action: Effect
    match: Match
    trigger: Trigger


class FaultRows(msgspec.Struct):
    """Faults, in the order in which they were set."""

    faults: list[FaultRow]


class Released(msgspec.Struct):
    """How many answers a pause held back."""

    released: int


class Time(msgspec.Struct):
    """The cluster's time in ms since 1970; `is_manual`: it stands still but for `advance`."""

    now_ms: int
    is_manual: bool


class Advance(msgspec.Struct, forbid_unknown_fields=True):
    """By how many ms to move time on."""

    by_ms: int


class Done(msgspec.Struct):
    """It was done."""

    done: bool = True


class Problem(msgspec.Struct):
    """Why it was not done."""

    error: str

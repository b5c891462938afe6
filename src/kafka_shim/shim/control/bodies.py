"""Bodies and responses of the control API as types, from which the OpenAPI document is made.

In responses, ACLs are objects (`principal`, `host`, `resource_type`, `resource_name`,
`resource_pattern_type`, `operation`, `permission`). Bodies may also have rules in the short form of
the state file.
"""

from typing import Any

import msgspec

from kafka_shim.shim.faults.spec import Effect, Match, Trigger
from kafka_shim.shim.observing.request_remedy import RequestRemedy


class Health(msgspec.Struct):
    """The health of the broker; `status` is always `ok`. `counts` are numbers of topics, groups,
    users, ACLs and faults; `changes_last` and `requests_last` the numbers of the newest ones, which
    tell that nothing is new. `changes_last` is null if changes of ACLs are not observed.
    """

    status: str
    release: str
    uptime_ms: int
    connections: int
    counts: dict[str, int]
    changes_last: int | None
    requests_last: int


class TopicRow(msgspec.Struct):
    """A topic; the lists have an entry for each partition; -1: no leader."""

    name: str
    topic_id: str
    partitions: int
    configs: dict[str, str]
    leaders: list[int]
    start_offsets: list[int]
    end_offsets: list[int]


class AclRow(msgspec.Struct):
    """An ACL, with the names of its enums."""

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


class ClusterState(msgspec.Struct):
    """The whole state; `listeners` are `host:port` by name, for all brokers."""

    release: str
    cluster_id: str
    listeners: dict[str, list[str]]
    super_users: list[str]
    topics: list[TopicRow]
    users: list[str]
    acls: list[AclRow]
    groups: list[GroupRow]


class AuthenticationRow(msgspec.Struct):
    """An authentication by SASL; `user` is the name that the client sent, null if unreadable;
    `error` is null if it succeeded.
    """

    number: int
    time_ms: int
    listener: str
    host: str
    mechanism: str
    user: str | None
    error: str | None


class AuthenticationRows(msgspec.Struct):
    """Authentications, oldest first; `last` is the number of the newest one, for `after`."""

    authentications: list[AuthenticationRow]
    last: int


class ListenerRow(msgspec.Struct):
    """The addresses of a listener; `sasl_mechanisms` is empty without SASL."""

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
    """The brokers, and the id of the controller."""

    controller_id: int
    nodes: list[NodeRow]


class TelemetryPushRow(msgspec.Struct):
    """Metrics that a client pushed; `bytes_decompressed` is null if unknown."""

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


class TelemetryPushRows(msgspec.Struct):
    """The last pushes to each broker, the oldest first."""

    pushes: list[TelemetryPushRow]


class NewLeader(msgspec.Struct, forbid_unknown_fields=True):
    """The broker that becomes the leader or the coordinator. A new leader without a replica of the
    partition gets the old leader's replica.
    """

    node_id: int


class PartitionLeader(msgspec.Struct):
    """The leader of a partition."""

    leader_id: int
    leader_epoch: int


class NewTopic(msgspec.Struct, forbid_unknown_fields=True):
    """A topic to create."""

    name: str
    partitions: int = 1
    configs: dict[str, str] = {}
    replication_factor: int | None = None


class TopicSettings(msgspec.Struct, forbid_unknown_fields=True):
    """Settings to change on a topic; null removes one, so that the broker's applies."""

    configs: dict[str, str | None]


class NewUser(msgspec.Struct, forbid_unknown_fields=True):
    """A user for every enabled SASL mechanism; an existing user gets the new password."""

    name: str
    password: str


class AclRules(msgspec.Struct, forbid_unknown_fields=True):
    """ACLs as in responses, or rules: `{principal: User:alice, allow: [Write], topic: orders}`."""

    acls: list[dict[str, Any]]


class AclRows(msgspec.Struct):
    """ACLs that exist, that were added, or that were removed. `warnings` are about added ACLs
    without effect, ACLs that did not exist, and a principal that seems to be misspelt.
    """

    acls: list[AclRow]
    warnings: list[str]


class AccessMatrixRow(msgspec.Struct):
    """A principal with its allowed operations, and those that a DENY ACL denies, one list for each
    resource.
    """

    principal: str
    allowed: list[list[str]]
    denied: list[list[str]]


class AccessMatrix(msgspec.Struct):
    """All principals and resources of a type, and a part of the decisions: `rows` begins at
    `first_principal`, and the lists in them at `first_resource`.
    """

    host: str
    resource_type: str
    principals: list[str]
    resources: list[str]
    first_principal: int
    first_resource: int
    rows: list[AccessMatrixRow]


class TopicRows(msgspec.Struct):
    """Topics."""

    topics: list[TopicRow]


class CompactedPartition(msgspec.Struct):
    """A compacted partition: the sizes of the part that is compacted, before and afterwards."""

    partition: int
    records_before: int
    records_after: int
    bytes_before: int
    bytes_after: int


class CompactedPartitions(msgspec.Struct):
    """The compacted partitions of a topic."""

    partitions: list[CompactedPartition]


class UserNames(msgspec.Struct):
    """Names of users."""

    users: list[str]


class SnapshotRow(msgspec.Struct):
    """A saved state."""

    id: int


class RequestRow(msgspec.Struct):
    """A received request. `request` has Kafka's field names, and sizes in place of records; null if
    it cannot be read. `errors` are the codes in the response except 0. `errors` and `latency_us`
    are null without a response. `decisions_left_out` counts the decisions that were not kept:
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
    request: dict[str, Any] | None
    errors: list[int] | None
    error_names: list[str]
    faults: list[int]
    latency_us: int | None
    decisions_left_out: int


class RequestRows(msgspec.Struct):
    """Requests, oldest first; pass `last` as `after` to get later ones."""

    requests: list[RequestRow]
    last: int


class DecisionRow(msgspec.Struct):
    """A decision. `number` is that of its request. `would_allow` is the smallest change of the ACLs
    after which the whole request would have succeeded; null for an allowed one, or if no change of
    ACLs helps. If more than 20 requests were denied before a change of the ACLs, it starts from
    later ACLs for the oldest, and is null if these allow the request.
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
    would_allow: RequestRemedy | None
    count: int
    logged: bool


class DecisionRows(msgspec.Struct):
    """Decisions, oldest first; `last` as with requests. `left_out` counts the decisions that
    are not kept, regardless of filters.
    """

    decisions: list[DecisionRow]
    last: int
    left_out: int


class ReportSection(msgspec.Struct):
    """A part of the report of a failed test."""

    title: str
    text: str


class DenialReport(msgspec.Struct):
    """The denials that Kafka's audit log has, equal ones once with their `count`, oldest first.
    `report` is for a failed test: denials and refused authentications as text. `last` and
    `last_authentication` are for the next call.
    """

    denials: list[DecisionRow]
    report: list[ReportSection]
    last: int
    last_authentication: int


class DenialCheck(msgspec.Struct):
    """Whether it was denied; `text` is for a test that fails because it was not."""

    denied: bool
    text: str


class NewFault(msgspec.Struct, forbid_unknown_fields=True):
    """A fault to set: its effect (`action`), the requests (`match`), and when (`trigger`). With
    `must_fire`, it is a failure if it never fires.
    """

    action: Effect
    match: Match = Match()
    trigger: Trigger = Trigger()
    must_fire: bool = False


class FaultRow(msgspec.Struct):
    """A fault; `calls` counts the matching requests, `fired` those to which it was applied."""

    id: int
    calls: int
    fired: int
    is_disabled: bool
    action: Effect
    match: Match
    trigger: Trigger
    must_fire: bool


class FaultRows(msgspec.Struct):
    """Faults, in the order in which they were set."""

    faults: list[FaultRow]


class ReleasedResponses(msgspec.Struct):
    """The number of responses that a pause had held."""

    released: int


class ClusterTime(msgspec.Struct):
    """The cluster's time in ms since 1970; `is_manual`: only `advance` moves it."""

    now_ms: int
    is_manual: bool


class ClockAdvance(msgspec.Struct, forbid_unknown_fields=True):
    """The number of ms by which to advance the time."""

    by_ms: int


class Done(msgspec.Struct):
    """Success."""

    done: bool = True


class SetupReport(msgspec.Struct):
    """Success. `warnings` are about what a test has set up without effect; `failures` are about
    faults that had to fire, and did not.
    """

    done: bool
    warnings: list[str]
    failures: list[str]


class CurrentSetup(SetupReport):
    """What has had no effect so far. `unknown_users` are warnings about ACLs by principals that no
    client has had so far.
    """

    unknown_users: dict[str, str]


class ErrorBody(msgspec.Struct):
    """An error."""

    error: str

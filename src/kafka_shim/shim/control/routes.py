"""The routes of the control API: method, path, function, body and response."""

import itertools
import re
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import cache
from inspect import isawaitable
from typing import Any, Generic, Protocol, TypeVar

import msgspec

from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.policy.formats import FORMATS
from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType
from kafka_shim.shim.control import bodies, state_bodies
from kafka_shim.shim.control.broker_control import BrokerControl, convert_body
from kafka_shim.shim.control.control_error import ControlError
from kafka_shim.shim.observing.originators import CURRENT_ORIGINATOR, CallOfControlApi


class Call(msgspec.Struct):
    """A call: parameters of the path, the query, and the body as JSON values."""

    path: Mapping[str, str] = {}
    query: Mapping[str, str] = {}
    body: Any = None
    is_from_inspector: bool = False


class ControlTarget(Protocol):
    """What a route is called on: a broker, or all brokers."""

    def persisting_changes(self) -> AbstractContextManager[None]: ...


class QueryParameter(msgspec.Struct, frozen=True):
    """What a parameter means, and its values in JSON Schema. Handlers check them, and may accept
    other spellings of names.
    """

    description: str
    schema: Mapping[str, Any]
    is_required: bool = False


_CALL_NUMBERS = itertools.count(1)
Target = TypeVar("Target", bound=ControlTarget)


class Route(msgspec.Struct, Generic[Target], frozen=True):
    """A path with its handler. `query`: its parameters by name; no `response_type`: text."""

    method: str
    path: str
    name: str
    summary: str
    handler: Callable[[Target, Call], Any]
    response_type: type[msgspec.Struct] | None
    body_type: type[msgspec.Struct] | None = None
    query: Mapping[str, QueryParameter] = {}


_OPERATIONS = tuple(operation.name for operation in Operation if operation > Operation.ALL)
_RESOURCE_TYPES = tuple(kind.name for kind in ResourceType if kind > ResourceType.ANY)


def _int_query(description: str) -> QueryParameter:
    return QueryParameter(description, {"type": "integer", "minimum": 0, "maximum": 10**18 - 1})


def _enum_query(description: str, *values: str, is_required: bool = False) -> QueryParameter:
    return QueryParameter(description, {"type": "string", "enum": values}, is_required)


def _text_query(description: str, *, is_required: bool = False) -> QueryParameter:
    return QueryParameter(
        description, {"type": "string", "minLength": int(is_required)}, is_required
    )


def _principal_query(description: str, *, is_required: bool = False) -> QueryParameter:
    return QueryParameter(description, {"type": "string", "pattern": "^[^:]"}, is_required)


_AFTER = _int_query("only those with a greater number")
_FORMAT = _enum_query("the format of the text (default: commands)", *FORMATS)
_PRINCIPAL = _principal_query("such as alice or User:alice")
_API_NAMES = tuple(key.wire_name for key in ApiKey)
_TYPE = _enum_query("such as TOPIC (default: TOPIC)", *_RESOURCE_TYPES)
_REQUEST_FILTERS = {
    "api": _enum_query("name of the API, such as Produce", *_API_NAMES),
    "principal": _principal_query("principal of the client, such as alice or User:alice"),
    "client_id": _text_query("the client id of the request"),
    "after": _int_query("only requests with a greater number"),
    "limit": _int_query("approximate number of rows (default: 1000)"),
}
_DECISION_FILTERS = {
    **_REQUEST_FILTERS,
    "allowed": _enum_query("whether it was allowed", "true", "false"),
    "logged": _enum_query(
        "true: only decisions that Kafka's audit log has at its levels info and debug",
        "true",
        "false",
    ),
    "operation": _enum_query("such as WRITE", *_OPERATIONS),
    "resource_type": _enum_query("such as TOPIC", *_RESOURCE_TYPES),
    "resource_name": _text_query("the full name"),
}
_RECORD_PARAMETERS = {
    "partition": _int_query("number of the partition (default: 0)"),
    "from": _int_query("first offset (default: the newest records)"),
    "from_ms": _int_query(
        "instead of an offset: ms since 1970, from the first record at or after it"
    ),
    "contains": _text_query("only records with this text in key, value or headers"),
    "value_bytes_max": _int_query("return at most this many bytes of a value (default: all)"),
    "limit": _int_query("number of records, at most 1000 (default: 100)"),
}
_ACTION_PARAMETERS = {
    "operation": _enum_query("such as WRITE", *_OPERATIONS, is_required=True),
    "resource_type": _TYPE,
    "resource_name": _text_query("the full name; of the cluster it is not needed"),
}
_ACCESS_PARAMETERS = {
    "principal": _principal_query("such as User:alice", is_required=True),
    "host": _text_query("address of the client (default: 127.0.0.1)"),
    "resource_type": _TYPE,
    "resource_name": _text_query("the full name", is_required=True),
}
_LEAST_ACLS_PARAMETERS = {
    "principal": _PRINCIPAL,
    "client_id": _text_query("only requests with this client id"),
    "format": _FORMAT,
}
_MATRIX_PARAMETERS = {
    "resource_type": _TYPE,
    "host": _text_query("address of the clients (default: 127.0.0.1)"),
    "first_principal": _int_query("index of the first principal that is returned (default: 0)"),
    "principals": _int_query("number of principals that are returned, at most 100"),
    "first_resource": _int_query("index of the first resource that is returned (default: 0)"),
    "resources": _int_query("number of resources that are returned, at most 200"),
    "principal_contains": _text_query("only principals with this text in them"),
    "resource_contains": _text_query("only resources with this text in their names"),
}

ROUTES: tuple[Route[BrokerControl], ...] = (
    Route("GET", "/health", "health", "Whether the broker is up",
          lambda control, _: control.health(), bodies.Health),
    Route("GET", "/metrics", "metrics", "Metrics for Prometheus",
          lambda control, _: control.metrics_text(), None),
    Route("GET", "/state", "state", "The whole state",
          lambda control, _: control.full_state(), bodies.ClusterState),
    Route("POST", "/reset", "reset", "Reset the broker to its state at startup",
          lambda control, call: control.reset_broker(call.query), bodies.SetupReport,
          query={"new_ports": _enum_query(
              "true: clients of before reach nothing, since the broker listens on other free ports;"
              " GET /listeners has them (default: false)", "true", "false")}),
    Route("GET", "/warnings", "warnings", "What was set up and has had no effect so far",
          lambda control, _: control.setup.interim_report(), bodies.CurrentSetup),
    Route("POST", "/snapshots", "snapshot", "Take a snapshot of the state",
          lambda control, _: control.take_snapshot(), bodies.SnapshotRow),
    Route("POST", "/snapshots/{id}/restore", "restore", "Restore a snapshot",
          lambda control, call: control.restore_snapshot(call.path["id"]),
          bodies.SetupReport),
    Route("DELETE", "/snapshots/{id}", "forget_snapshot", "Delete a snapshot",
          lambda control, call: control.delete_snapshot(call.path["id"]), bodies.Done),
    Route("GET", "/topics", "list_topics", "All topics",
          lambda control, _: control.list_topics(), bodies.TopicRows),
    Route("POST", "/topics", "create_topic", "Create a topic",
          lambda control, call: control.create_topic(call.body), bodies.TopicRow, bodies.NewTopic),
    Route("DELETE", "/topics/{name}", "delete_topic", "Delete a topic",
          lambda control, call: control.delete_topic(call.path["name"]), bodies.Done),
    Route("POST", "/topics/{name}/settings", "alter_topic", "Change settings of a topic",
          lambda control, call: control.alter_topic_settings(call.path["name"], call.body),
          bodies.TopicRow, bodies.TopicSettings),
    Route("POST", "/topics/{name}/compact", "compact_topic",
          "Compact a topic now, as the log cleaner of a real broker does at some time",
          lambda control, call: control.compact_topic(call.path["name"]),
          bodies.CompactedPartitions),
    Route("GET", "/topics/{name}/records", "list_records",
          "Records of a partition, oldest first",
          lambda control, call: control.records.list_records(call.path["name"], call.query),
          state_bodies.RecordRows, query=_RECORD_PARAMETERS),
    Route("POST", "/topics/{name}/records", "produce_record", "Produce a record",
          lambda control, call: control.records.produce_record(call.path["name"], call.body),
          state_bodies.ProducedRecord, state_bodies.NewRecord),
    Route("GET", "/groups", "list_groups", "All groups, with members, offsets and lag",
          lambda control, _: control.groups.list_groups(), state_bodies.GroupRows),
    Route("GET", "/groups/{id}", "group", "One group",
          lambda control, call: control.groups.group_row(call.path["id"]),
          state_bodies.GroupDetail),
    Route("DELETE", "/groups/{id}", "delete_group", "Delete a group without members",
          lambda control, call: control.groups.delete_group(call.path["id"]), bodies.Done),
    Route("POST", "/groups/{id}/offsets", "reset_offsets", "Set offsets of a group without members",
          lambda control, call: control.groups.reset_offsets(
              call.path["id"], call.body),
          state_bodies.GroupOffsets, state_bodies.NewOffsets),
    Route("GET", "/transactions", "transactions", "Transactional ids, and producers by partition",
          lambda control, _: control.list_transactions(),
          state_bodies.TransactionRows),
    Route("GET", "/users", "list_users", "The users who can authenticate",
          lambda control, _: control.list_users(), bodies.UserNames),
    Route("POST", "/users", "add_user", "Add a user, or change its password",
          lambda control, call: control.set_user(call.body),
          bodies.SetupReport, bodies.NewUser),
    Route("DELETE", "/users/{name}", "remove_user", "Remove a user",
          lambda control, call: control.remove_user(call.path["name"]), bodies.Done),
    Route("GET", "/acls", "list_acls", "All ACLs",
          lambda control, call: control.list_acls(call.query), bodies.AclRows,
          query={"principal": _principal_query("only those of this principal")}),
    Route("POST", "/acls", "add_acls", "Add ACLs; those that exist already stay",
          lambda control, call: control.add_acls(call.body), bodies.AclRows, bodies.AclRules),
    Route("POST", "/acls/import", "import_acls", "Add ACLs from a text in any known format",
          lambda control, call: control.import_acls(call.body), bodies.AclRows,
          state_bodies.AclText),
    Route("GET", "/acls/export", "export_acls", "All ACLs as text, in any known format",
          lambda control, call: control.export_acls(call.query), state_bodies.ExportedAcls,
          query={"format": _FORMAT, "principal": _principal_query("only those of this principal")}),
    Route("GET", "/acls/use", "acl_use", "Which ACLs decided about the kept requests, and when",
          lambda control, _: control.acl_use(), state_bodies.AclUse),
    Route("POST", "/acls/remove", "remove_acls", "Remove exactly these ACLs, if they are there",
          lambda control, call: control.remove_acls(call.body), bodies.AclRows,
          bodies.AclRules),
    Route("POST", "/acls/preview", "preview_acls",
          "Who would gain and lose what by a change of ACLs, which is not made",
          lambda control, call: control.preview_acls(call.body), state_bodies.ChangePreview,
          state_bodies.AclChange),
    Route("GET", "/principals/difference", "difference_of_principals",
          "What one principal may and another may not, and why",
          lambda control, call: control.difference_of_principals(call.query),
          state_bodies.PrincipalDifferences,
          query={"first": _principal_query("such as User:alice", is_required=True),
                 "second": _principal_query("such as User:bob", is_required=True)}),
    Route("GET", "/matrix", "matrix", "Who can do what on which resource",
          lambda control, call: control.access_matrix(call.query), bodies.AccessMatrix,
          query=_MATRIX_PARAMETERS),
    Route("GET", "/access", "access", "The decision about each operation of one principal",
          lambda control, call: control.access_of_principal(call.query),
          state_bodies.AccessOfPrincipal, query=_ACCESS_PARAMETERS),
    Route("GET", "/who-can", "who_can", "Who can do something on a resource, and by which ACLs",
          lambda control, call: control.who_can(call.query), state_bodies.WhoCanRows,
          query=_ACTION_PARAMETERS),
    Route("GET", "/least-acls", "least_acls",
          "The fewest ACLs for the kept requests of a principal or a client",
          lambda control, call: control.least_acls(call.query), state_bodies.LeastAcls,
          query=_LEAST_ACLS_PARAMETERS),
    Route("GET", "/requests", "requests", "The last requests, decoded",
          lambda control, call: control.history_queries.list_requests(call.query),
          bodies.RequestRows, query=_REQUEST_FILTERS),
    Route("GET", "/requests/{number}", "request",
          "One request and its response, decoded and as bytes",
          lambda control, call: control.history_queries.request_detail(call.path["number"]),
          state_bodies.RequestDetail),
    Route("GET", "/decisions", "decisions", "The authorizer's decisions for the last requests",
          lambda control, call: control.history_queries.list_decisions(call.query),
          bodies.DecisionRows,
          query=_DECISION_FILTERS),
    Route("GET", "/denials", "denials",
          "The denials that Kafka's audit log has, and what a failed test shows",
          lambda control, call: control.denial_report(call.query), bodies.DenialReport,
          query={"after": _int_query("only denials of requests with a greater number"),
                 "after_authentication": _int_query("only authentications with a greater number")}),
    Route("GET", "/denials/check", "check_denial", "Whether a principal was denied an operation",
          lambda control, call: control.check_denial(call.query), bodies.DenialCheck,
          query={"principal": _principal_query("such as alice or User:alice", is_required=True),
                 "operation": _enum_query("such as WRITE", *_OPERATIONS, is_required=True),
                 "resource": _text_query("such as topic:orders, or cluster", is_required=True)}),
    Route("GET", "/changes", "changes", "The last changes of the state, and who made them",
          lambda control, call: control.list_changes(call.query), state_bodies.ChangeRows,
          query={"after": _AFTER}),
    Route("GET", "/telemetry", "telemetry", "Sizes of the metrics that clients pushed (KIP-714)",
          lambda control, _: control.nodes.list_telemetry_pushes(), bodies.TelemetryPushRows),
    Route("GET", "/faults", "list_faults", "All faults, with their counts",
          lambda control, _: control.faults.list_faults(), bodies.FaultRows),
    Route("POST", "/faults", "add_fault", "Add a fault",
          lambda control, call: control.faults.add_fault(call.body), bodies.FaultRow,
          bodies.NewFault),
    Route("DELETE", "/faults", "clear_faults", "Remove all faults",
          lambda control, _: control.faults.remove_all_faults(),
          bodies.SetupReport),
    Route("GET", "/faults/{id}", "fault", "One fault, with its counts",
          lambda control, call: control.faults.fault_row(call.path["id"]), bodies.FaultRow),
    Route("DELETE", "/faults/{id}", "remove_fault", "Remove a fault",
          lambda control, call: control.faults.remove_fault_by_id(call.path["id"]),
          bodies.SetupReport),
    Route("POST", "/faults/{id}/disable", "disable_fault",
          "Switch a fault off; it matches no requests until it is switched on",
          lambda control, call: control.faults.switch_fault(call.path["id"], is_disabled=True),
          bodies.FaultRow),
    Route("POST", "/faults/{id}/enable", "enable_fault", "Switch a fault on again",
          lambda control, call: control.faults.switch_fault(call.path["id"], is_disabled=False),
          bodies.FaultRow),
    Route("POST", "/faults/{id}/release", "release_fault", "Release the paused requests of a fault",
          lambda control, call: control.faults.release_held_responses(call.path["id"]),
          bodies.ReleasedResponses),
    Route("GET", "/nodes", "list_nodes", "The brokers of the cluster",
          lambda control, _: control.nodes.list_nodes(), bodies.NodeRows),
    Route("GET", "/authentications", "list_authentications",
          "The last authentications by SASL, also failed ones",
          lambda control, call: control.nodes.list_authentications(call.query),
          bodies.AuthenticationRows, query={"after": _AFTER}),
    Route("GET", "/listeners", "list_listeners", "How clients connect",
          lambda control, _: control.nodes.list_listeners(), bodies.ListenerRows),
    Route("POST", "/nodes/{id}/stop", "stop_node", "Stop a broker; others lead in its place",
          lambda control, call: control.nodes.stop_node(call.path["id"]), bodies.NodeRows),
    Route("POST", "/nodes/{id}/start", "start_node", "Start a broker that was stopped",
          lambda control, call: control.nodes.start_node(call.path["id"]), bodies.NodeRows),
    Route("POST", "/topics/{name}/partitions/{partition}/leader", "move_leader",
          "Make another broker the leader of a partition",
          lambda control, call: control.nodes.move_leader(
              call.path["name"], call.path["partition"], call.body.node_id
          ), bodies.PartitionLeader, bodies.NewLeader),
    Route("POST", "/groups/{id}/coordinator", "move_coordinator",
          "Make another broker the coordinator of a group",
          lambda control, call: control.nodes.move_coordinator(call.path["id"], call.body.node_id),
          bodies.PartitionLeader, bodies.NewLeader),
    Route("GET", "/clock", "clock", "The cluster's time",
          lambda control, _: control.clock_time(), bodies.ClusterTime),
    Route("POST", "/clock/advance", "advance", "Advance a frozen clock",
          lambda control, call: control.advance_clock(call.body), bodies.ClusterTime,
          bodies.ClockAdvance),
)  # fmt: skip


async def call_route(target: Target, route: Route[Target], call: Call) -> Any:
    """Call a route. Raise ControlError if the query or the body is invalid, or the call fails."""
    try:
        return await _run_route(target, route, call)
    except AclTextError as error:  # of a name or an ACL in the query or the body
        raise ControlError(400, str(error)) from error


async def _run_route(target: Target, route: Route[Target], call: Call) -> Any:
    unknown = sorted(call.query.keys() - route.query.keys())
    if unknown:
        known = (
            f"expected one of {', '.join(route.query)}" if route.query else "this call takes none"
        )
        raise ControlError(400, f"unknown query parameter `{unknown[0]}`; {known}")
    if route.body_type is not None:
        body = convert_body(call.body, route.body_type)
        # a fault is read again by those who own it
        call.body = call.body if route.body_type is bodies.NewFault else body
    if route.method == "GET":
        response = route.handler(target, call)
        return await response if isawaitable(response) else response
    originator = CallOfControlApi(next(_CALL_NUMBERS), call.is_from_inspector)
    before = CURRENT_ORIGINATOR.set(originator)
    try:
        with target.persisting_changes():
            response = route.handler(target, call)
            return await response if isawaitable(response) else response
    finally:
        CURRENT_ORIGINATOR.reset(before)


def find_route(method: str, path: str) -> tuple[Route[BrokerControl], dict[str, str]]:
    """Return the route of a path with its parameters; for calls without HTTP."""
    for route in ROUTES:
        matched = _compile_path_pattern(route.path).fullmatch(path)
        if matched is not None and route.method == method:
            return route, matched.groupdict()
    raise ControlError(404, f"there is no {method} {path}")


@cache
def _compile_path_pattern(path: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", path))

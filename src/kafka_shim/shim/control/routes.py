"""The routes of the control API: method, path, function, body and response."""

import re
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import cache
from inspect import isawaitable
from typing import Any, Generic, Protocol, TypeVar

import msgspec

from kafka_shim.authorizer.acl_formats import FORMATS
from kafka_shim.shim.control import shapes, state_shapes
from kafka_shim.shim.control.problem import ControlError
from kafka_shim.shim.control.verbs import Control, convert


class Call(msgspec.Struct):
    """A call: parameters of the path, the query, and the body as JSON values."""

    path: Mapping[str, str] = {}
    query: Mapping[str, str] = {}
    body: Any = None


class Changeable(Protocol):
    """The object of a verb."""

    def changing(self) -> AbstractContextManager[None]: ...


Target = TypeVar("Target", bound=Changeable)


class Route(msgspec.Struct, Generic[Target], frozen=True):
    """One row. `query` is name to description; a `gives` of None is text."""

    method: str
    path: str
    name: str
    summary: str
    verb: Callable[[Target, Call], Any]
    gives: type[msgspec.Struct] | None
    takes: type[msgspec.Struct] | None = None
    query: Mapping[str, str] = {}


_SEEN = {
    "api": "name of the API, such as Produce",
    "principal": "principal of the client, such as User:alice",
    "client_id": "the client id of the request",
    "after": "only requests with a greater number",
    "limit": "approximate number of rows (default: 1000)",
}
_DECIDED = {
    **_SEEN,
    "allowed": "true or false",
    "logged": "true: only those that Kafka's audit log contains at its default level or at debug",
    "operation": "such as WRITE",
    "resource_type": "such as TOPIC",
    "resource_name": "the full name",
}
_RECORDS = {
    "partition": "number of the partition (default: 0)",
    "from": "first offset (default: the newest records)",
    "limit": "number of records, at most 1000 (default: 100)",
}
_ACTION = {
    "operation": "such as Write",
    "resource_type": "such as TOPIC (default: TOPIC)",
    "resource_name": "the full name",
}
_MATRIX = {
    "resource_type": "such as TOPIC (default: TOPIC)",
    "host": "address of the clients (default: 127.0.0.1)",
    "first_principal": "index of the first principal with decisions (default: 0)",
    "principals": "number of principals with decisions, at most 100",
    "first_resource": "index of the first resource with decisions (default: 0)",
    "resources": "number of resources with decisions, at most 200",
    "principal_contains": "only principals with this text in them",
    "resource_contains": "only resources with this text in their names",
}

ROUTES: tuple[Route[Control], ...] = (
    Route("GET", "/health", "health", "Whether the broker is up",
          lambda control, _: control.health(), shapes.Health),
    Route("GET", "/metrics", "metrics", "Metrics for Prometheus",
          lambda control, _: control.metrics(), None),
    Route("GET", "/state", "state", "The whole state",
          lambda control, _: control.state(), shapes.State),
    Route("POST", "/reset", "reset", "Reset the broker to its state at startup",
          lambda control, _: control.reset(), shapes.Done),
    Route("POST", "/snapshots", "snapshot", "Take a snapshot of the state",
          lambda control, _: control.snapshot(), shapes.SnapshotRow),
    Route("POST", "/snapshots/{id}/restore", "restore", "Restore a snapshot",
          lambda control, call: control.restore(call.path["id"]), shapes.Done),
    Route("DELETE", "/snapshots/{id}", "forget_snapshot", "Delete a snapshot",
          lambda control, call: control.forget_snapshot(call.path["id"]), shapes.Done),
    Route("GET", "/topics", "list_topics", "All topics",
          lambda control, _: control.topics(), shapes.TopicRows),
    Route("POST", "/topics", "create_topic", "Create a topic",
          lambda control, call: control.create_topic(call.body), shapes.TopicRow, shapes.NewTopic),
    Route("DELETE", "/topics/{name}", "delete_topic", "Delete a topic",
          lambda control, call: control.delete_topic(call.path["name"]), shapes.Done),
    Route("POST", "/topics/{name}/compact", "compact_topic",
          "Compact a topic now, as the log cleaner of a real broker does at some time",
          lambda control, call: control.compact_topic(call.path["name"]),
          shapes.CleanedPartitions),
    Route("GET", "/topics/{name}/records", "list_records",
          "Records of a partition, oldest first",
          lambda control, call: control.records.rows(call.path["name"], call.query),
          state_shapes.RecordRows, query=_RECORDS),
    Route("POST", "/topics/{name}/records", "produce_record", "Produce a record",
          lambda control, call: control.records.produce(call.path["name"], call.body),
          state_shapes.ProducedRecord, state_shapes.NewRecord),
    Route("GET", "/groups", "list_groups", "All groups, with members, offsets and lag",
          lambda control, _: control.groups.rows(), state_shapes.GroupRows),
    Route("GET", "/groups/{id}", "group", "One group",
          lambda control, call: control.groups.row(call.path["id"]), state_shapes.GroupDetail),
    Route("DELETE", "/groups/{id}", "delete_group", "Delete a group without members",
          lambda control, call: control.groups.delete(call.path["id"]), shapes.Done),
    Route("POST", "/groups/{id}/offsets", "reset_offsets", "Set offsets of a group without members",
          lambda control, call: control.groups.reset(call.path["id"], call.body),
          state_shapes.GroupOffsets, state_shapes.NewOffsets),
    Route("GET", "/transactions", "transactions", "Transactional ids, and producers by partition",
          lambda control, _: control.transactions(), state_shapes.TransactionRows),
    Route("GET", "/users", "list_users", "Who can log in",
          lambda control, _: control.users(), shapes.UserNames),
    Route("POST", "/users", "add_user", "Add a user, or change its password",
          lambda control, call: control.add_user(call.body), shapes.Done, shapes.NewUser),
    Route("DELETE", "/users/{name}", "remove_user", "Remove a user",
          lambda control, call: control.remove_user(call.path["name"]), shapes.Done),
    Route("GET", "/acls", "list_acls", "All ACLs",
          lambda control, call: control.acls(call.query.get("principal")), shapes.AclRows,
          query={"principal": "only those of this principal"}),
    Route("POST", "/acls", "add_acls", "Add ACLs; those that exist already stay",
          lambda control, call: control.add_acls(call.body), shapes.AclRows, shapes.AclRules),
    Route("POST", "/acls/import", "import_acls", "Add ACLs from a text in any known format",
          lambda control, call: control.import_acls(call.body), shapes.AclRows,
          state_shapes.AclText),
    Route("GET", "/acls/export", "export_acls", "All ACLs as text, in any known format",
          lambda control, call: control.export_acls(call.query), state_shapes.ExportedAcls,
          query={"form": f"format: {', '.join(FORMATS)} (default: commands)"}),
    Route("POST", "/acls/remove", "remove_acls", "Remove exactly these ACLs, if they are there",
          lambda control, call: control.remove_acls(call.body), shapes.AclRows, shapes.AclRules),
    Route("GET", "/matrix", "matrix", "Who may do what on which resource",
          lambda control, call: control.matrix(call.query), shapes.Matrix, query=_MATRIX),
    Route("GET", "/who-can", "who_can", "Who may do something on a resource, and by which ACLs",
          lambda control, call: control.who_may(call.query), state_shapes.Permitted,
          query=_ACTION),
    Route("GET", "/requests", "requests", "The last requests, decoded",
          lambda control, call: control.seen.requests(call.query), shapes.RequestRows, query=_SEEN),
    Route("GET", "/requests/{number}", "request",
          "One request and its response, decoded and as bytes",
          lambda control, call: control.seen.request(call.path["number"]),
          state_shapes.RequestDetail),
    Route("GET", "/decisions", "decisions", "The authorizer's decisions for the last requests",
          lambda control, call: control.seen.decisions(call.query), shapes.DecisionRows,
          query=_DECIDED),
    Route("GET", "/telemetry", "telemetry", "Metrics that clients pushed (KIP-714), by size",
          lambda control, _: control.nodes.pushes(), shapes.PushRows),
    Route("GET", "/faults", "list_faults", "All faults, with their counts",
          lambda control, _: control.faults.rows(), shapes.FaultRows),
    Route("POST", "/faults", "add_fault", "Add a fault",
          lambda control, call: control.faults.add(call.body), shapes.FaultRow, shapes.NewFault),
    Route("DELETE", "/faults", "clear_faults", "Remove all faults",
          lambda control, _: control.faults.clear(), shapes.Done),
    Route("GET", "/faults/{id}", "fault", "One fault, with its counts",
          lambda control, call: control.faults.row(call.path["id"]), shapes.FaultRow),
    Route("DELETE", "/faults/{id}", "remove_fault", "Remove a fault",
          lambda control, call: control.faults.remove(call.path["id"]), shapes.Done),
    Route("POST", "/faults/{id}/release", "release_fault", "Release the paused requests of a fault",
          lambda control, call: control.faults.release(call.path["id"]), shapes.Released),
    Route("GET", "/nodes", "list_nodes", "The brokers of the cluster",
          lambda control, _: control.nodes.rows(), shapes.NodeRows),
    Route("GET", "/authentications", "list_authentications",
          "The last authentications by SASL, also refused ones",
          lambda control, call: control.nodes.authentications(call.query),
          shapes.AuthenticationRows, query={"after": "only those with a greater number"}),
    Route("GET", "/listeners", "list_listeners", "How clients connect",
          lambda control, _: control.nodes.listeners(), shapes.ListenerRows),
    Route("POST", "/nodes/{id}/stop", "stop_node", "Stop a broker; others lead in its place",
          lambda control, call: control.nodes.stop(call.path["id"]), shapes.NodeRows),
    Route("POST", "/nodes/{id}/start", "start_node", "Start a broker that was stopped",
          lambda control, call: control.nodes.start(call.path["id"]), shapes.NodeRows),
    Route("POST", "/topics/{name}/partitions/{partition}/leader", "move_leader",
          "Make another broker the leader of a partition",
          lambda control, call: control.nodes.lead(
              call.path["name"], call.path["partition"], call.body.node_id
          ), shapes.Leader, shapes.NewLeader),
    Route("POST", "/groups/{id}/coordinator", "move_coordinator",
          "Make another broker the coordinator of a group",
          lambda control, call: control.nodes.coordinate(call.path["id"], call.body.node_id),
          shapes.Leader, shapes.NewLeader),
    Route("GET", "/clock", "clock", "The cluster's time",
          lambda control, _: control.clock(), shapes.Time),
    Route("POST", "/clock/advance", "advance", "Advance a frozen clock",
          lambda control, call: control.advance(call.body), shapes.Time, shapes.Advance),
)  # fmt: skip


async def call_route(target: Target, route: Route[Target], call: Call) -> Any:
    """Call a route; ControlError if the query or the body is invalid, or the call fails."""
    unknown = sorted(call.query.keys() - route.query.keys())
    if unknown:
        known = ", ".join(route.query) or "none"
        raise ControlError(400, f"unknown query parameter `{unknown[0]}`; expected one of {known}")
    if route.takes is not None:
        shaped = convert(call.body, route.takes)
        # a fault is read again by those who own it
        call.body = call.body if route.takes is shapes.NewFault else shaped
    if route.method == "GET":
        response = route.verb(target, call)
        return await response if isawaitable(response) else response
    with target.changing():
        response = route.verb(target, call)
        return await response if isawaitable(response) else response


def find(method: str, path: str) -> tuple[Route[Control], dict[str, str]]:
    """Return the route of a path with its parameters; for calls without HTTP."""
    for route in ROUTES:
        matched = _pattern(route.path).fullmatch(path)
        if matched is not None and route.method == method:
            return route, matched.groupdict()
    raise ControlError(404, f"there is no {method} {path}")


@cache
def _pattern(path: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", path))

"""Faults from Python: `broker.faults.error("NOT_LEADER_OR_FOLLOWER", api="Produce", times=3)`."""

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypedDict, Unpack

from kafka_shim.testing.names import ApiName, ErrorName, OperationName, ResourceTypeName
from kafka_shim.testing.rows import FaultRow
from kafka_shim.testing.rule import json_rules
from kafka_shim.testing.unknown_name import unknown_name_message

ControlCall = Callable[..., Any]


class FaultOptions(TypedDict, total=False):
    """The keywords of every kind of fault: which requests it matches, and when it affects them.

    All given conditions must hold. Without a trigger, only the first matching request is affected.
    With `must_fire`, the test fails if the fault never fires.
    """

    api: ApiName
    version: int
    client_id: str
    principal: str
    topic: str
    partition: int
    group: str
    transactional_id: str
    node_id: int
    on_call: int
    times: int
    every_time: bool
    with_probability: float
    seed: int
    must_fire: bool


_TRIGGERS = frozenset({"on_call", "times", "every_time", "with_probability", "seed"})
_CONDITIONS = FaultOptions.__annotations__.keys() - _TRIGGERS - {"must_fire"}


class InjectedFault:
    """A fault that was added."""

    def __init__(self, call_control_api: ControlCall, fault_id: int) -> None:
        self._call_control_api = call_control_api
        self.id = fault_id

    @property
    def fired(self) -> int:
        """The number of requests to which it was applied."""
        return int(self._current_row()["fired"])

    @property
    def calls(self) -> int:
        """The number of matching requests."""
        return int(self._current_row()["calls"])

    def release(self) -> int:
        """Send the responses that a pause holds back; return their number."""
        return int(self._call_control_api("POST", f"/faults/{self.id}/release")["released"])

    def remove(self) -> None:
        self._call_control_api("DELETE", f"/faults/{self.id}")

    def _current_row(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self._call_control_api("GET", f"/faults/{self.id}")
        return found


class Faults:
    """Adds faults. Each method also takes conditions (`api`, `version`, `client_id`,
    `principal`, `topic`, `partition`, `group`, `transactional_id`, `node_id`) and a trigger:
    `on_call=n`, `times=n`, `every_time=True`, `with_probability=p, seed=n`; by default the first
    matching request. A fault that cannot fire is an error, one that never fired a warning when the
    test has ended; with `must_fire=True`, an error.
    """

    def __init__(self, call_control_api: ControlCall) -> None:
        self._call_control_api = call_control_api

    def error(self, error: ErrorName | int, **options: Unpack[FaultOptions]) -> InjectedFault:
        """Answer with this Kafka error, without handling the request."""
        return self.add({"error": error}, **options)

    def delay(self, delay_ms: int, **options: Unpack[FaultOptions]) -> InjectedFault:
        """Delay the response."""
        return self.add({"delay_ms": delay_ms}, **options)

    def disconnect(
        self, when: Literal["before", "after"] = "before", **options: Unpack[FaultOptions]
    ) -> InjectedFault:
        """Close the connection `before` the request is handled, or `after`."""
        return self.add({"disconnect": when}, **options)

    def black_hole(self, **options: Unpack[FaultOptions]) -> InjectedFault:
        """Handle the request, and never answer it."""
        return self.add({"black_hole": True}, **options)

    def pause(self, **options: Unpack[FaultOptions]) -> InjectedFault:
        """Handle the request, and send the response when the fault is released."""
        return self.add({"pause": True}, **options)

    def throttle(self, throttle_time_ms: int, **options: Unpack[FaultOptions]) -> InjectedFault:
        """Set the throttle time of the answer, for which the client must wait."""
        return self.add({"throttle_time_ms": throttle_time_ms}, **options)

    def truncate(self, length: int, **options: Unpack[FaultOptions]) -> InjectedFault:
        """Send only the first bytes of the response, then close the connection."""
        return self.add({"truncate": length}, **options)

    def corrupt(self, **options: Unpack[FaultOptions]) -> InjectedFault:
        """Flip bits of the response."""
        return self.add({"corrupt": True}, **options)

    def set(self, fields: Mapping[str, Any], **options: Unpack[FaultOptions]) -> InjectedFault:
        """Set fields in the responses of `api`, by their paths: `topics.*.error_code`."""
        return self.add({"set": fields}, **options)

    def advertise(
        self, versions: Mapping[str, tuple[int, int] | None], **options: Unpack[FaultOptions]
    ) -> InjectedFault:
        """Let ApiVersions return these versions of an API, or (None) omit it."""
        return self.add({"api_versions": versions}, **options)

    def deny(
        self,
        operation: OperationName | None = None,
        resource_type: ResourceTypeName | None = None,
        resource_name: str | None = None,
        **options: Unpack[FaultOptions],
    ) -> InjectedFault:
        """Deny an operation as if by an ACL; with `topic=`, on that topic."""
        denied = {
            "operation": operation,
            "resource_type": resource_type,
            "resource_name": resource_name,
        }
        return self.add({"deny": {k: v for k, v in denied.items() if v is not None}}, **options)

    def revoke(
        self, *rules: Mapping[str, Any], after: int = 0, **options: Unpack[FaultOptions]
    ) -> InjectedFault:
        """Remove these ACLs permanently after `after` matching requests."""
        return self._add_acl_change("revoke", rules, after, options)

    def grant(
        self, *rules: Mapping[str, Any], after: int = 0, **options: Unpack[FaultOptions]
    ) -> InjectedFault:
        """Add these ACLs after `after` matching requests."""
        return self._add_acl_change("grant", rules, after, options)

    def add(self, action: Mapping[str, Any], **options: Unpack[FaultOptions]) -> InjectedFault:
        """Add a fault with any effects: `{"error": "REQUEST_TIMED_OUT", "delay_ms": 100}`."""
        return self._add_fault(action, options)

    def list(self) -> list[FaultRow]:
        return [FaultRow(fault) for fault in self._call_control_api("GET", "/faults")["faults"]]

    def clear(self) -> None:
        self._call_control_api("DELETE", "/faults")

    def _add_acl_change(
        self, verb: str, rules: tuple[Mapping[str, Any], ...], after: int, options: FaultOptions
    ) -> InjectedFault:
        if "on_call" in options:
            raise TypeError(f"{verb} has no keyword on_call; use after={options['on_call'] - 1}")
        written = {verb: json_rules(*rules)}
        return self._add_fault(written, {"on_call": after + 1, **options})

    def _add_fault(self, action: Mapping[str, Any], options: Mapping[str, Any]) -> InjectedFault:
        wrong = next((name for name in options if name not in FaultOptions.__annotations__), None)
        if wrong is not None:
            raise TypeError(unknown_name_message("keyword", wrong, FaultOptions.__annotations__))
        match = {name: value for name, value in options.items() if name in _CONDITIONS}
        trigger = {name: value for name, value in options.items() if name in _TRIGGERS}
        must_fire = options.get("must_fire", False)
        body = {"action": action, "match": match, "trigger": trigger, "must_fire": must_fire}
        return InjectedFault(
            self._call_control_api, self._call_control_api("POST", "/faults", body)["id"]
        )

"""Faults from Python: `broker.faults.error("NOT_LEADER_OR_FOLLOWER", api="Produce", times=3)`."""

from collections.abc import Callable, Mapping
from typing import Any, TypedDict, Unpack

from kafka_shim.shim.testing.rows import FaultRow
from kafka_shim.shim.testing.settings import principal_of, with_type
from kafka_shim.shim.testing.unknown import unknown

Ask = Callable[..., Any]


class Match(TypedDict, total=False):
    """Which requests a fault is about: all that are given must hold."""

    api: str
    version: int
    client_id: str
    principal: str
    topic: str
    partition: int
    group: str
    transactional_id: str
    node_id: int


class Trigger(TypedDict, total=False):
    """When a fault affects the requests that match; without any, the first time only."""

    on_call: int
    times: int
    every_time: bool
    with_probability: float
    seed: int


class About(Match, Trigger, total=False):
    """The keywords of every kind of fault."""


class SetFault:
    """A fault that was added."""

    def __init__(self, ask: Ask, fault_id: int) -> None:
        self._ask = ask
        self.id = fault_id

    @property
    def fired(self) -> int:
        """The number of requests to which it was applied."""
        return int(self._row()["fired"])

    @property
    def calls(self) -> int:
        """The number of matching requests."""
        return int(self._row()["calls"])

    def release(self) -> int:
        """Send the responses that a pause holds back; return their number."""
        return int(self._ask("POST", f"/faults/{self.id}/release")["released"])

    def remove(self) -> None:
        self._ask("DELETE", f"/faults/{self.id}")

    def _row(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self._ask("GET", f"/faults/{self.id}")
        return found


class Faults:
    """Adds faults. Each method also takes conditions (`api`, `version`, `client_id`,
    `principal`, `topic`, `partition`, `group`, `transactional_id`, `node_id`) and a trigger:
    `on_call=n`, `times=n`, `every_time=True`, `with_probability=p, seed=n`; by default the first
    matching request.
    """

    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    def error(self, error: str | int, **about: Unpack[About]) -> SetFault:
        """Answer with this Kafka error, without handling the request."""
        return self.add({"error": error}, **about)

    def delay(self, delay_ms: int, **about: Unpack[About]) -> SetFault:
        """Delay the response."""
        return self.add({"delay_ms": delay_ms}, **about)

    def disconnect(self, when: str = "before", **about: Unpack[About]) -> SetFault:
        """Close the connection `before` the request is handled, or `after`."""
        return self.add({"disconnect": when}, **about)

    def black_hole(self, **about: Unpack[About]) -> SetFault:
        """Handle the request, and never answer it."""
        return self.add({"black_hole": True}, **about)

    def pause(self, **about: Unpack[About]) -> SetFault:
        """Handle the request, and send the response when the fault is released."""
        return self.add({"pause": True}, **about)

    def throttle(self, throttle_time_ms: int, **about: Unpack[About]) -> SetFault:
        """Set the throttle time of the answer, for which the client must wait."""
        return self.add({"throttle_time_ms": throttle_time_ms}, **about)

    def truncate(self, length: int, **about: Unpack[About]) -> SetFault:
        """Send only the first bytes of the response, then close the connection."""
        return self.add({"truncate": length}, **about)

    def corrupt(self, **about: Unpack[About]) -> SetFault:
        """Flip bits of the response."""
        return self.add({"corrupt": True}, **about)

    def set(self, fields: Mapping[str, Any], **about: Unpack[About]) -> SetFault:
        """Set fields in the responses of `api`, by their paths: `topics.*.error_code`."""
        return self.add({"set": fields}, **about)

    def advertise(
        self, versions: Mapping[str, tuple[int, int] | None], **about: Unpack[About]
    ) -> SetFault:
        """Let ApiVersions return these versions of an API, or (None) omit it."""
        return self.add({"api_versions": versions}, **about)

    def deny(
        self,
        operation: str | None = None,
        resource_type: str | None = None,
        resource_name: str | None = None,
        **about: Unpack[About],
    ) -> SetFault:
        """Deny an operation as if by an ACL; with `topic=`, on that topic."""
        denied = {
            "operation": operation,
            "resource_type": resource_type,
            "resource_name": resource_name,
        }
        return self.add({"deny": {k: v for k, v in denied.items() if v is not None}}, **about)

    def revoke(self, *rules: Mapping[str, Any], after: int = 0, **about: Unpack[About]) -> SetFault:
        """Remove these ACLs permanently after `after` matching requests."""
        return self._move("revoke", rules, after, about)

    def grant(self, *rules: Mapping[str, Any], after: int = 0, **about: Unpack[About]) -> SetFault:
        """Add these ACLs after `after` matching requests."""
        return self._move("grant", rules, after, about)

    def add(self, action: Mapping[str, Any], **about: Unpack[About]) -> SetFault:
        """Add a fault with any effects: `{"error": "REQUEST_TIMED_OUT", "delay_ms": 100}`."""
        return self._add(action, about)

    def list(self) -> list[FaultRow]:
        return [FaultRow(fault) for fault in self._ask("GET", "/faults")["faults"]]

    def clear(self) -> None:
        self._ask("DELETE", "/faults")

    def _move(
        self, verb: str, rules: tuple[Mapping[str, Any], ...], after: int, about: About
    ) -> SetFault:
        if "on_call" in about:
            raise TypeError(f"{verb} has no keyword on_call; use after={about['on_call'] - 1}")
        written = {verb: [with_type(rule) for rule in rules]}
        return self._add(written, {"on_call": after + 1, **about})

    def _add(self, action: Mapping[str, Any], about: Mapping[str, Any]) -> SetFault:
        wrong = next((name for name in about if name not in About.__annotations__), None)
        if wrong is not None:
            raise TypeError(unknown("keyword", wrong, About.__annotations__))
        match = {name: value for name, value in about.items() if name in Match.__annotations__}
        if "principal" in match:
            match["principal"] = principal_of(match["principal"])
        trigger = {name: value for name, value in about.items() if name not in match}
        body = {"action": action, "match": match, "trigger": trigger}
        return SetFault(self._ask, self._ask("POST", "/faults", body)["id"])

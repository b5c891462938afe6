"""An injected fault: conditions, trigger, and counts.

`shim/faults/spec.py` has its definition, `fault_effects.py` its effects on requests.
"""

import random
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.shim.faults.response_changes import (
    build_advertised_versions_change,
    build_field_setter,
)
from kafka_shim.shim.faults.spec import (
    FaultError,
    FaultSpec,
    check_fault_spec,
    denied_action_predicate,
    parse_api_name,
    parse_error_code,
    parse_fault_acls,
)

_TOPIC = 2
"""The type of a config resource."""

if TYPE_CHECKING:
    from kafka_shim.protocol.codec.resource_names import ResourceNames
    from kafka_shim.shim.request.context import RequestContext


class RequestedNames:
    """Names, searched only if a fault needs them; a request that cannot be decoded has none."""

    def __init__(self, context: "RequestContext", frame: bytes, body_at: int) -> None:
        self._context = context
        self._frame = frame
        self._body_at = body_at

    @property
    def topics(self) -> list[str]:
        return [
            *self._resource_names.topics,
            *self._existing_topic_names(self._resource_names.topic_ids),
            *(name for kind, name in self._resource_names.config_resources if kind == _TOPIC),
        ]

    @property
    def groups(self) -> list[str]:
        return self._resource_names.groups

    @property
    def transactional_ids(self) -> list[str]:
        return self._resource_names.transactional_ids

    @cached_property
    def partitions(self) -> set[tuple[str, int]]:
        """Return topic and index of every partition in the request."""
        from kafka_shim.protocol.partitions import read_request_partitions  # noqa: PLC0415 - faults are rare

        header = self._context.header
        try:
            requested = read_request_partitions(
                header.api_key, header.api_version, self._frame, self._body_at
            )
        except ProtocolError:
            return set()
        return {
            (name, partition)
            for topic, partition in requested
            for name in ([topic] if isinstance(topic, str) else self._existing_topic_names([topic]))
        }

    def _existing_topic_names(self, topic_ids: list[bytes]) -> list[str]:
        topics = self._context.cluster.topics
        topics_by_id = [topics.by_id(topic_id) for topic_id in topic_ids]
        return [topic.name for topic in topics_by_id if topic is not None]

    @cached_property
    def _resource_names(self) -> "ResourceNames":
        from kafka_shim.protocol.codec.resource_names import ResourceNames, read_resource_names  # noqa: PLC0415 - as above

        header = self._context.header
        try:
            return read_resource_names(
                header.api_key, header.api_version, self._frame, self._body_at
            )
        except ProtocolError:
            return ResourceNames()


if TYPE_CHECKING:
    from kafka_shim.shim.request.context import RequestContext


def parse_fault_spec(fields: Mapping[str, Any]) -> FaultSpec:
    """Parse a fault. Raise FaultError if it is invalid."""
    try:
        return msgspec.convert(fields, FaultSpec)
    except msgspec.ValidationError as error:
        raise FaultError(f"invalid fault: {error}") from error


class Fault:
    """One fault at work. `calls` counts the requests that matched, `fired` those it changed."""

    def __init__(self, fault_id: int, spec: FaultSpec) -> None:
        self.fault_id = fault_id
        self.spec = spec
        self.calls = 0
        self.fired = 0
        self.is_disabled = False
        self.revoked_nothing = False
        self.api = parse_api_name(spec.match.api)
        check_fault_spec(spec)
        self.error = parse_error_code(spec.action.error)
        self.denial = denied_action_predicate(spec)
        self.alter = build_field_setter(self.api, spec.action.set)
        self.advertise = build_advertised_versions_change(spec.action.api_versions)
        self.revoked = parse_fault_acls(spec.action.revoke)
        self.granted = parse_fault_acls(spec.action.grant)
        self._random = random.Random(spec.trigger.seed)  # noqa: S311 - chances of a test, repeatable
        self._held_responses: list[Callable[[], None]] = []

    def json_row(self) -> dict[str, Any]:
        """Return the fault as it was defined, with its counts, for the control API."""
        fields: dict[str, Any] = msgspec.to_builtins(self.spec)
        counts = {"id": self.fault_id, "calls": self.calls, "fired": self.fired}
        return counts | {"is_disabled": self.is_disabled} | fields

    def matches_apart_from_names(self, api: ApiKey, context: "RequestContext") -> bool:
        """Return whether the request matches, apart from the names in it."""
        match = self.spec.match
        return (
            self.api in (None, api)
            and match.version in (None, context.version)
            and match.client_id in (None, context.header.client_id)
            and match.principal in (None, context.session.principal)
            and match.node_id in (None, context.node_id)
        )

    def matches_names(self, names: RequestedNames) -> bool:
        """Return whether the request names the fault's topic, group, transaction and partition."""
        match = self.spec.match
        return (
            (match.topic is None or match.topic in names.topics)
            and (match.partition is None or self._matches_any_partition(names.partitions))
            and (match.group is None or match.group in names.groups)
            and (
                match.transactional_id is None or match.transactional_id in names.transactional_ids
            )
        )

    def _matches_any_partition(self, partitions: set[tuple[str, int]]) -> bool:
        match = self.spec.match
        return any(
            partition == match.partition and match.topic in (None, topic)
            for topic, partition in partitions
        )

    def advance_trigger(self) -> bool:
        """Count a request that matches; return whether the trigger fires for it."""
        self.calls += 1
        trigger = self.spec.trigger
        if trigger.every_time:
            fires = True
        elif trigger.with_probability is not None:
            fires = self._random.random() < trigger.with_probability
        elif trigger.on_call is not None:
            fires = self.calls == trigger.on_call
        else:
            fires = self.calls <= (1 if trigger.times is None else trigger.times)
        self.fired += fires
        return fires

    def no_effect_reason(self) -> str | None:
        """Return why the fault has had no effect; None if it had one, by chance had none, or is
        switched off.
        """
        if self.is_disabled:
            return None
        if self.revoked_nothing:
            return f"{self._title()} fired, and the ACL that it revokes did not exist"
        if self.fired:
            return None
        if self.calls and self.spec.trigger.with_probability and not self.spec.must_fire:
            return None
        reason = f"its trigger chose none of {self.calls} matching requests"
        if not self.calls:
            reason = "no request matched"
        return f"{self._title()} never fired: {reason}"

    def _title(self) -> str:
        """Return the fault in short, with its number."""
        fields: dict[str, Any] = msgspec.to_builtins(self.spec)
        effects = ", ".join(
            name if value is True else f"{name} {value}" for name, value in fields["action"].items()
        )
        conditions = ", ".join(f"{name} {value}" for name, value in fields["match"].items())
        return f"fault {self.fault_id} ({effects}{'; ' if conditions else ''}{conditions})"

    def hold_response(self, send_response: Callable[[], None]) -> None:
        self._held_responses.append(send_response)

    def send_held_responses(self) -> int:
        """Send the responses that a pause holds back; return their number."""
        held, self._held_responses = self._held_responses, []
        for send_response in held:
            send_response()
        return len(held)

"""An injected fault: conditions, trigger, and counts.

`shim/faults/spec.py` has its definition, `striking.py` its effects on requests.
"""

import random
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.shim.faults.requested_names import Names
from kafka_shim.shim.faults.response_changes import advertising, alteration
from kafka_shim.shim.faults.spec import (
    FaultError,
    FaultSpec,
    acls_of,
    api_named,
    check,
    denial_of,
    error_named,
)

if TYPE_CHECKING:
    from kafka_shim.shim.request.context import RequestContext


def parse_fault(written: Mapping[str, Any]) -> FaultSpec:
    """Parse a fault; FaultError if it is invalid."""
    try:
        return msgspec.convert(written, FaultSpec)
    except msgspec.ValidationError as error:
        raise FaultError(f"invalid fault: {error}") from error


class Fault:
    """One fault at work. `calls` counts the requests that matched, `fired` those it struck."""

    def __init__(self, fault_id: int, spec: FaultSpec) -> None:
        self.fault_id = fault_id
        self.spec = spec
        self.calls = 0
        self.fired = 0
        self.api = api_named(spec.match.api)
        check(spec)
        self.error = error_named(spec.action.error)
        self.denial = denial_of(spec)
        self.alter = alteration(self.api, spec.action.set)
        self.advertise = advertising(spec.action.api_versions)
        self.revoked = acls_of(spec.action.revoke)
        self.granted = acls_of(spec.action.grant)
        self._random = random.Random(spec.trigger.seed)  # noqa: S311 - chances of a test, repeatable
        self._held: list[Callable[[], None]] = []

    def row(self) -> dict[str, Any]:
        """Return the fault as it was defined, with its counts, for the control API."""
        written: dict[str, Any] = msgspec.to_builtins(self.spec)
        return {"id": self.fault_id, "calls": self.calls, "fired": self.fired} | written

    def is_about(self, api: ApiKey, context: "RequestContext") -> bool:
        """Return whether the request matches, apart from the names in it."""
        match = self.spec.match
        return (
            self.api in (None, api)
            and match.version in (None, context.version)
            and match.client_id in (None, context.header.client_id)
            and match.principal in (None, context.session.principal)
            and match.node_id in (None, context.node_id)
        )

    def names_match(self, names: Names) -> bool:
        """Whether the request is about a topic, group, transaction, partition that is meant."""
        match = self.spec.match
        return (
            (match.topic is None or match.topic in names.topics)
            and (match.partition is None or self._partition_matches(names.partitions))
            and (match.group is None or match.group in names.groups)
            and (match.transactional_id is None or match.transactional_id in names.transactions)
        )

    def _partition_matches(self, partitions: set[tuple[str, int]]) -> bool:
        match = self.spec.match
        return any(
            partition == match.partition and match.topic in (None, topic)
            for topic, partition in partitions
        )

    def fires(self) -> bool:
        """Count a request that matches; whether it is struck."""
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

    def hold(self, response: Callable[[], None]) -> None:
        self._held.append(response)

    def release(self) -> int:
        """Send the responses that a pause holds back; return their number."""
        held, self._held = self._held, []
        for response in held:
            response()
        return len(held)

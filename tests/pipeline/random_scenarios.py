"""Random requests of all APIs, played with two sets of ACLs on a running shim.

Each request is sent to a cluster of its own, so that no other request has changed what it finds.
"""

import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from kafka_shim.authorizer.model import ANY_USER, Acl
from kafka_shim.protocol.enums import (
    ApiKey,
    Operation,
    PatternType,
    Permission,
    ResourceType,
)
from kafka_shim.protocol.messages.create_acls import AclCreation, CreateAclsRequest
from kafka_shim.shim.observing.trace_recorder import TraceRecorder
from kafka_shim.trace_format.entries import Access
from kafka_shim.trace_format.segments import Block, read_trace
from tests.recordings.conformance.draw import Draw
from tests.recordings.conformance.generate import plain, scenario
from tests.recordings.conformance.play import CLIENT_ID, Play
from tests.recordings.conformance.scenario import Scenario, Step
from tests.recordings.peers.in_process import InProcess
from tests.recordings.peers.peer import ask_root

RELEASE = "4.4"
REFUSALS = frozenset({29, 30, 31, 53, 65})
"""The error codes whose names end with AUTHORIZATION_FAILED."""
_NOT_OF_THE_REQUEST = "topic_config_error_code"
"""Of a topic that was created, but whose settings are not shown."""


class Policies:
    """Requests of a seed, the ACLs with which they are recorded, and other ACLs."""

    def __init__(self, seed: int, requests: int = 12) -> None:
        rng = random.Random(seed)
        made = scenario(RELEASE, seed)
        self._scenario = made
        acls = [*made.acls]
        for more in range(3):
            draw = Draw(RELEASE, 1_000_000 + 10 * seed + more, prefix=made.prefix)
            acls += [plain(acl) for acl in draw.acls()]
        acls = [acl for acl in acls if _is_valid(acl)]
        self._steps = rng.sample(list(filter(_shows_denials, made.steps)), requests)
        self.present, self.candidate = (
            [*dict.fromkeys(as_acl(acl) for acl in acls if rng.random() < share)]
            for share in (0.7, 0.5)
        )

    def play(self, acls: Iterable[Acl], trace: Path | None = None) -> list[Any]:
        """Return the response to each request with these ACLs; record it in a trace."""
        return [self._response(number, acls, trace) for number in range(len(self._steps))]

    def changes_without(self, acls: Sequence[Acl], removed: Acl, played: list[Any]) -> bool:
        """Return whether a response changes without this ACL; `played` are those with all."""
        rest = [acl for acl in acls if acl != removed]
        return any(
            without_authorized_operations(self._response(number, rest, None))
            != without_authorized_operations(played[number])
            for number, step in enumerate(self._steps)
            if removed.principal in (f"User:{step.user}", ANY_USER)
        )

    def _response(self, number: int, acls: Iterable[Acl], trace: Path | None) -> Any:
        alone: Scenario = msgspec.structs.replace(
            self._scenario, acls=[*map(_as_creation, acls)], steps=[self._steps[number]]
        )
        peer = InProcess(RELEASE, "authorizer", client_id=CLIENT_ID)
        playing = _RawPlay(alone, peer)
        if trace is None:
            return playing.run()[0]
        recorder = TraceRecorder(trace, peer.stage.clock, writer=f"request-{number}")
        peer.stage.dispatcher.set_recorder(recorder)
        (response,) = playing.run()
        recorder.close()
        return response


class _RawPlay(Play):
    """A scenario whose responses are as the broker sent them; equal runs have equal ones."""

    def _plain(self, step: Step, response: Any) -> Any:
        return msgspec.to_builtins(response)


def accesses_empty_name(trace: Path, number: int) -> bool:
    """Return whether a recorded request needs a resource with an empty name, as no ACL can have."""
    (segment,) = trace.glob(f"request-{number}-*")
    return any(
        isinstance(entry, Access) and not entry.resource_name
        for block in read_trace(segment)
        if isinstance(block, Block)
        for entry in block.body.entries
    )


def is_refused(response: Any) -> bool:
    """Return whether the response has an error of authorization, other than of a shown value."""
    if isinstance(response, dict):
        return any(
            (value in REFUSALS if name.endswith("error_code") else is_refused(value))
            for name, value in response.items()
            if name != _NOT_OF_THE_REQUEST
        )
    return isinstance(response, list) and any(map(is_refused, response))


def without_authorized_operations(value: Any) -> Any:
    """Return a response without the fields of which jobs say that they do not judge them."""
    if isinstance(value, dict):
        return {
            name: without_authorized_operations(of)
            for name, of in value.items()
            if not name.endswith("authorized_operations")
        }
    if isinstance(value, list):
        return [without_authorized_operations(each) for each in value]
    return value


def as_acl(creation: dict[str, Any]) -> Acl:
    fields = msgspec.convert(creation, AclCreation)
    return Acl(
        ResourceType(fields.resource_type),
        fields.resource_name,
        PatternType(fields.resource_pattern_type),
        fields.principal,
        fields.host,
        Operation(fields.operation),
        Permission(fields.permission_type),
    )


def _as_creation(acl: Acl) -> dict[str, Any]:
    return {
        "resource_type": int(acl.resource_type),
        "resource_name": acl.resource_name,
        "resource_pattern_type": int(acl.pattern_type),
        "principal": acl.principal,
        "host": acl.host,
        "operation": int(acl.operation),
        "permission_type": int(acl.permission),
    }


def _shows_denials(step: Step) -> bool:
    """Return whether the response shows what the authorizer decided about the request."""
    request = step.request
    if step.api in ("DeleteAcls", "DescribeAcls"):  # their responses list the ACLs
        return False
    if step.api == "ElectLeaders" and step.version == 0:  # a denial of all topics has no error
        return bool(request.get("topic_partitions"))
    if step.api == "Produce":  # without acks, there is no response
        return bool(request.get("acks"))
    if step.api == "AlterReplicaLogDirs":  # errors are in partitions
        return all(folder.get("topics") for folder in request.get("dirs", ()))
    if step.api == "OffsetFetch":  # errors of topics are in their partitions
        topics = [*(request.get("topics") or ())]
        topics += [
            topic for group in request.get("groups", ()) for topic in group.get("topics") or ()
        ]
        return all(topic.get("partition_indexes") for topic in topics)
    return True


def _is_valid(creation: dict[str, Any]) -> bool:
    """Return whether a broker accepts the ACL."""
    peer = InProcess(RELEASE, "authorizer", client_id=CLIENT_ID)
    request = CreateAclsRequest(creations=[msgspec.convert(creation, AclCreation)])
    return ask_root(peer, ApiKey.CREATE_ACLS, request).results[0].error_code == 0

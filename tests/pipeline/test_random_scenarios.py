"""What jobs predict and propose is what happens when the same requests are sent again.

Random requests of all APIs are recorded with a set of ACLs. They are then sent to a shim with other
ACLs: the candidate, the fewest, and those without each one. Each request is sent to a cluster of
its own, so that no other request has changed what it finds.
"""

import json
import random
import shutil
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kafka_shim.authorizer.model import ANY_USER, Acl
from kafka_shim.cli import main
from kafka_shim.policy.formats import format_acls_losslessly
from kafka_shim.policy.formats.trace_rule import format_acl_rule, parse_acl_rule
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
from tests.support.checked_folders import PIPELINE

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


pytestmark = [PIPELINE, pytest.mark.folders("src/kafka_shim/shim")]

SEEDS = (
    *range(6),
    *(pytest.param(seed, marks=pytest.mark.heavy) for seed in range(6, 206)),
)
SEEDS_OF_ACLS = (range(6), pytest.param(range(6, 56), marks=pytest.mark.heavy))
UNKNOWN_SHARE_MAX = 0.03
"""Of all ACLs without which a response changes: those of which `unused-acls` does not know it."""
Ask = Callable[..., dict[str, Any]]


@pytest.fixture
def ask(tmp_path: Path, capsys: Any) -> Ask:
    """Return a function that runs a job on the recorded trace, with ACLs."""

    def answer(job: str, *words: str, acls: list[Acl] | None = None) -> dict[str, Any]:
        words = (*words, "--kafka-version", RELEASE, "--engine", "duckdb", "--json")
        for user in ("ANONYMOUS", "admin"):
            words += ("--super-user", f"User:{user}")
        if acls is not None:
            file = tmp_path / "acls.json"
            file.write_text(format_acls_losslessly(acls, "json"))
            words += ("--acls", str(file))
        assert main(["pipeline", job, str(tmp_path / "trace"), *words]) == 0
        found: dict[str, Any] = json.loads(capsys.readouterr().out)
        return found

    return answer


@pytest.mark.parametrize("seed", SEEDS)
def test_as_many_requests_newly_fail_as_predicted(seed: int, tmp_path: Path, ask: Ask) -> None:
    policies = Policies(seed)
    before = policies.play(policies.present, tmp_path / "trace")
    after = policies.play(policies.candidate)
    failing = sum(
        is_refused(new) and not is_refused(old) for old, new in zip(before, after, strict=True)
    )
    assert ask("what-breaks", acls=policies.candidate)["requests_newly_failing"] == failing


@pytest.mark.parametrize("seeds", SEEDS_OF_ACLS)
def test_the_fewest_acls_refuse_the_same_requests_and_are_needed(
    seeds: range, tmp_path: Path, ask: Ask
) -> None:
    needless = []
    for seed in seeds:
        policies = Policies(seed)
        trace = new_folder(tmp_path / "trace")
        before = policies.play(policies.present, trace)
        least = acls_of(row["acl"] for row in ask("least-acls")["rows"])
        after = policies.play(least)
        without_acl = {n for n in range(len(before)) if accesses_empty_name(trace, n)}
        for number, (old, new) in enumerate(zip(before, after, strict=True)):
            assert is_refused(old) == is_refused(new) or number in without_acl, seed
        needless += [
            (seed, format_acl_rule(acl))
            for acl in least
            if not without_acl and not policies.changes_without(least, acl, after)
        ]
    assert not needless


@pytest.mark.parametrize("seeds", SEEDS_OF_ACLS)
def test_an_acl_is_needed_if_a_response_changes_without_it(
    seeds: range, tmp_path: Path, ask: Ask
) -> None:
    needed, wrong, unknown = 0, [], []
    for seed in seeds:
        policies = Policies(seed)
        present = policies.present
        before = policies.play(present, new_folder(tmp_path / "trace"))
        rows = ask("unused-acls", "--accept-incomplete", acls=present)["rows"]
        for row in rows:
            (acl,) = acls_of([row["acl"]])
            changes = policies.changes_without(present, acl, before)
            needed += changes
            if row["state"] == "not known":
                assert row["not_known"]
                unknown += [(seed, row["acl"])] * changes
            elif changes != (row["state"] == "needed"):
                wrong.append((seed, row["acl"], row["state"]))
        removed = set(acls_of(row["acl"] for row in rows if row["can_go"]))
        after = policies.play([acl for acl in present if acl not in removed])
        assert without_authorized_operations(after) == without_authorized_operations(before), seed
    assert not wrong
    assert len(unknown) <= UNKNOWN_SHARE_MAX * needed, unknown


def new_folder(path: Path) -> Path:
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir()
    return path


def acls_of(rules: Any) -> list[Acl]:
    return [acl for rule in rules if (acl := parse_acl_rule(rule)) is not None]

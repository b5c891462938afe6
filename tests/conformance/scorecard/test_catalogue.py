"""Each behaviour passes for a correct client, fails for an incorrect one, or is not exercised."""

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from kafka_shim.conformance.scorecard.behaviour import BehaviourStatus, evaluate_behaviour
from kafka_shim.conformance.scorecard.denials import Decisions
from kafka_shim.conformance.scorecard.exchanges import exchanges_of_recording
from kafka_shim.conformance.scorecard.scorecard import CATALOGUE
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
)
from kafka_shim.protocol.messages.create_acls import AclCreation, CreateAclsRequest
from kafka_shim.protocol.messages.describe_acls import DescribeAclsRequest, DescribeAclsResponse
from kafka_shim.protocol.messages.find_coordinator import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from kafka_shim.protocol.messages.heartbeat import HeartbeatRequest
from kafka_shim.protocol.messages.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from kafka_shim.protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse
from kafka_shim.protocol.messages.leave_group import LeaveGroupRequest
from kafka_shim.protocol.messages.metadata import MetadataRequest, MetadataResponse
from kafka_shim.protocol.messages.sasl_handshake import SaslHandshakeRequest
from kafka_shim.protocol.records.batches import BatchOptions, Record, encode_batch
from kafka_shim.trace_format.entries import Request, Response
from kafka_shim.traces.replay.events import Event, Recording
from tests.support.frames import request_frame, response_frame
from tests.support.record_requests import produce_request

BY_ID = {behaviour.id: behaviour for behaviour in CATALOGUE}
LINE = ("test", 1)


class Step(msgspec.Struct):
    """A request and its response; `spoil` is appended to the frame, `pause_us` is before it."""

    api: ApiKey
    version: int
    request: Any
    response: Any = None
    damage_frame: bytes = b""
    correlation_id: int | None = None
    pause_us: int = 1000


def recording(steps: Sequence[Step], *, responds_late: bool = False) -> Recording:
    events: list[Any] = []
    late: list[Any] = []
    now = 0
    for number, step in enumerate(steps):
        now += step.pause_us
        wanted = number if step.correlation_id is None else step.correlation_id
        frame = request_frame(step.api, step.version, step.request, wanted, "c") + step.damage_frame
        events.append(Event(LINE, "User:x", 1, "PLAINTEXT", Request(0, number, now, frame)))
        if step.response is not None:
            content = response_frame(step.api, step.version, step.response, wanted)
            response = Response(0, number, now + 10, step.api, step.version, content)
            event = Event(LINE, "User:x", 1, "PLAINTEXT", response)
            (late if responds_late else events).append(event)
    return Recording(events + late, [])


def status(behaviour: str, *steps: Step, **options: bool) -> BehaviourStatus:
    return evaluate_behaviour(
        BY_ID[behaviour], exchanges_of_recording(recording(steps, **options)), Decisions()
    ).status


def offer(*rows: tuple[ApiKey, int]) -> Step:
    keys = [ApiVersion(api_key=key, max_version=high) for key, high in rows]
    return Step(
        ApiKey.API_VERSIONS,
        3,
        ApiVersionsRequest("client", "1.0"),
        ApiVersionsResponse(api_keys=keys),
    )


def describe_acls(version: int = 3, error: int = 0, **fields: Any) -> Step:
    codes: dict[str, Any] = {"resource_type_filter": 1, "operation": 1}
    codes["pattern_type_filter"] = 1 if version else 3
    codes |= dict.fromkeys(("resource_name_filter", "principal_filter", "host_filter"))
    request = DescribeAclsRequest(**(codes | {"permission_type": 1} | fields))
    return Step(ApiKey.DESCRIBE_ACLS, version, request, DescribeAclsResponse(error_code=error))


def create_acl(version: int = 2, **fields: Any) -> Step:
    usual: dict[str, Any] = {
        "resource_type": 2,
        "resource_name": "t",
        "resource_pattern_type": 3,
        "principal": "User:x",
        "host": "*",
        "operation": 3,
        "permission_type": 3,
    }
    return Step(
        ApiKey.CREATE_ACLS, version, CreateAclsRequest(creations=[AclCreation(**(usual | fields))])
    )


def produce(sequence: int = 0, producer_id: int = 5, acks: int = -1, epoch: int = 0) -> Step:
    options = BatchOptions(producer_id=producer_id, producer_epoch=epoch, base_sequence=sequence)
    records = encode_batch([Record(0, 0, value=b"x"), Record(1, 0, value=b"y")], options)
    return Step(ApiKey.PRODUCE, 9, produce_request("t", records, acks=acks))


METADATA = Step(ApiKey.METADATA, 12, MetadataRequest(topics=[]))
PRODUCER = Step(
    ApiKey.INIT_PRODUCER_ID,
    4,
    InitProducerIdRequest(),
    InitProducerIdResponse(producer_id=5, producer_epoch=0),
)
BEAT = Step(ApiKey.HEARTBEAT, 4, HeartbeatRequest(group_id="g", member_id="m"))
NOT_READY = Step(
    ApiKey.FIND_COORDINATOR,
    2,
    FindCoordinatorRequest(key="g"),
    FindCoordinatorResponse(error_code=15),
)
JOIN = Step(
    ApiKey.JOIN_GROUP,
    5,
    JoinGroupRequest(group_id="g"),
    JoinGroupResponse(error_code=79, member_id="m"),
)


def rejoin(member_id: str) -> Step:
    request = JoinGroupRequest(group_id="g", member_id=member_id)
    response = JoinGroupResponse(generation_id=1, member_id=member_id)
    return Step(ApiKey.JOIN_GROUP, 5, request, response)


def leave(member_id: str) -> Step:
    return Step(ApiKey.LEAVE_GROUP, 2, LeaveGroupRequest(group_id="g", member_id=member_id))


def denied(*, pause_us: int) -> list[Step]:
    step = describe_acls(error=31)
    step.pause_us = pause_us
    return [step] * 5


REFUSED = Step(
    ApiKey.API_VERSIONS,
    0,
    ApiVersionsRequest(),
    ApiVersionsResponse(error_code=35, api_keys=[ApiVersion(api_key=18, max_version=2)]),
)
VERSIONS_0 = Step(ApiKey.API_VERSIONS, 0, ApiVersionsRequest())
VERSIONS_3 = Step(ApiKey.API_VERSIONS, 3, ApiVersionsRequest("client", "1.0"))
NAMELESS = Step(ApiKey.API_VERSIONS, 3, ApiVersionsRequest("", "1.0"))
TRAILING = Step(ApiKey.METADATA, 12, MetadataRequest(topics=[]), damage_frame=b"\0")
SASL_0, SASL_1 = (Step(ApiKey.SASL_HANDSHAKE, v, SaslHandshakeRequest("PLAIN")) for v in (0, 1))
OFFER = offer((ApiKey.METADATA, 12), (ApiKey.DESCRIBE_ACLS, 3))
ONLY_0 = offer((ApiKey.DESCRIBE_ACLS, 0))
NEAR = offer((ApiKey.METADATA, 11))
ASKING = Step(ApiKey.METADATA, 12, MetadataRequest(include_topic_authorized_operations=True))
ASKED = msgspec.structs.replace(ASKING, response=MetadataResponse())

CASES: list[tuple[str, list[Step], list[Step]]] = [
    ("versions.negotiated", [OFFER], [METADATA]),
    ("versions.within-offer", [OFFER, METADATA], [NEAR, METADATA]),
    ("versions.fallback", [REFUSED, VERSIONS_0], [REFUSED, VERSIONS_3]),
    ("versions.software-named", [OFFER], [NAMELESS]),
    ("encoding.no-trailing-bytes", [METADATA], [TRAILING]),
    ("acls.create-concrete", [create_acl()], [create_acl(resource_pattern_type=1)]),
    ("acls.create-concrete", [create_acl(permission_type=2)], [create_acl(principal="alice")]),
    ("acls.pattern-types", [OFFER, describe_acls()], [OFFER, describe_acls(0)]),
    ("acls.pattern-types", [ONLY_0, describe_acls(0)], [OFFER, describe_acls(0)]),
    ("acls.v0-fallback", [ONLY_0, describe_acls(0)], [ONLY_0, describe_acls(1)]),
    ("operations.decoded", [ASKED], [ASKED] * 4),
    ("acls.any-name-null", [describe_acls()], [describe_acls(principal_filter="")]),
    ("acls.any-code", [describe_acls()], [describe_acls(operation=0)]),
    ("encoding.known-codes", [describe_acls()], [describe_acls(operation=99)]),
    ("encoding.known-codes", [create_acl()], [create_acl(operation=0)]),
    ("errors.31-final", denied(pause_us=400_000), denied(pause_us=1000)),
    ("operations.not-by-default", [produce(), METADATA], [produce(), ASKING]),
    ("producer.idempotent", [produce()], [produce(producer_id=-1)]),
    ("producer.acks-all", [produce()], [produce(acks=1)]),
    ("producer.sequences", [produce(), produce(2), produce(2)], [produce(), produce(3)]),
    ("producer.sequences", [PRODUCER, produce(), PRODUCER, produce()], [PRODUCER, produce(1)]),
    ("producer.given-ids", [PRODUCER, produce()], [PRODUCER, produce(producer_id=6)]),
    ("errors.not-ready-retried", [NOT_READY, NOT_READY], [NOT_READY, BEAT, BEAT]),
    ("groups.member-id-required", [JOIN, rejoin("m")], [JOIN, rejoin("")]),
    ("groups.leaves", [rejoin("m"), leave("m")], [rejoin("m"), leave("other")]),
    ("sasl.wrapped", [SASL_1], [SASL_0]),
]  # fmt: skip
SEEN = [
    ("acls.create-prefixed", create_acl(resource_pattern_type=4)),
    ("acls.match-filter", describe_acls(pattern_type_filter=2)),
    ("operations.topics", ASKING),
]


@pytest.mark.parametrize(("behaviour", "right", "wrong"), CASES)
def test_correct_clients_pass_and_incorrect_ones_fail(
    behaviour: str, right: list[Step], wrong: list[Step]
) -> None:
    wrong = [*wrong[:-1], msgspec.structs.replace(wrong[-1], pause_us=wrong[-1].pause_us)]
    if behaviour == "errors.not-ready-retried":
        wrong[-1].pause_us = 2_000_000
    assert status(behaviour, *right) is BehaviourStatus.PASSED
    assert status(behaviour, *wrong) is BehaviourStatus.FAILED
    assert status(behaviour) is BehaviourStatus.NOT_EXERCISED


@pytest.mark.parametrize(("behaviour", "step"), SEEN)
def test_some_behaviours_pass_as_soon_as_they_occur(behaviour: str, step: Step) -> None:
    assert status(behaviour, step) is BehaviourStatus.PASSED
    assert (
        status(behaviour, create_acl(), describe_acls(), METADATA) is BehaviourStatus.NOT_EXERCISED
    )


def test_after_unsupported_version_without_a_list_any_lower_version_passes() -> None:
    """Brokers before KIP-511 return UNSUPPORTED_VERSION without the supported versions."""
    step = Step(ApiKey.API_VERSIONS, 2, ApiVersionsRequest(), ApiVersionsResponse(error_code=35))
    lower, same = (Step(ApiKey.API_VERSIONS, v, ApiVersionsRequest()) for v in (1, 2))
    assert status("versions.fallback", step, lower) is BehaviourStatus.PASSED
    assert status("versions.fallback", step, same) is BehaviourStatus.FAILED


def test_a_varint_that_could_be_shorter_is_not_canonical() -> None:
    step = Step(ApiKey.METADATA, 12, MetadataRequest(topics=[]))
    found = recording([step])
    event = next(iter(found.events))
    assert isinstance(event.entry, Request)
    frame = event.entry.frame
    at = frame.index(b"\x01", 12)  # the length plus one of the compact array of topics
    longer = frame[:at] + b"\x81\x00" + frame[at + 1 :]
    entry = msgspec.structs.replace(event.entry, frame=longer)
    bad = Recording([msgspec.structs.replace(event, entry=entry)], [])
    find_occurrences = BY_ID["encoding.canonical"]
    assert (
        evaluate_behaviour(find_occurrences, exchanges_of_recording(found), Decisions()).status
        is BehaviourStatus.PASSED
    )
    assert (
        evaluate_behaviour(find_occurrences, exchanges_of_recording(bad), Decisions()).status
        is BehaviourStatus.FAILED
    )


def test_a_correlation_id_must_differ_from_those_of_open_requests() -> None:
    steps = [
        msgspec.structs.replace(describe_acls(), correlation_id=7, pause_us=1) for _ in range(2)
    ]
    assert status("encoding.correlation-ids", *steps, responds_late=True) is BehaviourStatus.FAILED
    steps[1].pause_us = 1000
    assert status("encoding.correlation-ids", *steps) is BehaviourStatus.PASSED


def test_a_batch_with_a_wrong_checksum_fails() -> None:
    step = produce()
    row = step.request.topic_data[0].partition_data[0]
    assert status("producer.checksums", step) is BehaviourStatus.PASSED
    row.records = row.records[:-1] + bytes([row.records[-1] ^ 1])
    assert status("producer.checksums", step) is BehaviourStatus.FAILED


def test_ids_are_unique_and_every_behaviour_has_its_descriptions() -> None:
    assert len(BY_ID) == len(CATALOGUE)
    assert all(behaviour.text and behaviour.detection for behaviour in CATALOGUE)

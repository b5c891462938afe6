"""Late changes explain the differences of `both_ways` that they cause, and no others."""

from pathlib import Path

import msgspec
import pytest

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.create_acls import AclCreation, CreateAclsRequest
from kafka_shim.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from kafka_shim.protocol.messages.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from kafka_shim.protocol.messages.describe_acls import DescribeAclsRequest
from kafka_shim.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from kafka_shim.trace_format.entries import Request
from kafka_shim.traces.replay.compare import MISSING, Difference
from kafka_shim.traces.replay.events import Event, Recording
from kafka_shim.traces.replay.report import RequestId
from tests.clients.lateness import LATE, MOMENT_US, Lateness
from tests.support.frames import request_frame

ORDERS = "DescribeAclsResource(resource_type=2, resource_name='orders')"
CREATED = CreateAclsRequest(creations=[AclCreation(2, "orders", 3, "User:a", "*", 3, 3)])
DELETED = DeleteAclsRequest(filters=[DeleteAclsFilter(1, None, 1, None, None, 1, 1)])
MADE = CreateTopicsRequest(topics=[CreatableTopic("orders", 1, 1)])
DESCRIBED = DescribeAclsRequest(1, None, 1, None, None, 1, 1)
LOOKED_UP = MetadataRequest(topics=[MetadataRequestTopic(name="orders")])
Asked = tuple[ApiKey, msgspec.Struct]
VERSIONS = {
    ApiKey.CREATE_ACLS: 3,
    ApiKey.DELETE_ACLS: 3,
    ApiKey.CREATE_TOPICS: 7,
    ApiKey.DESCRIBE_ACLS: 3,
    ApiKey.METADATA: 12,
}


def explained(change: Asked, asked: Asked, found: Difference, *, after_us: int) -> list[str | None]:
    """Return the explanation if the recording is the real broker's, and if it is the shim's."""
    events = []
    for number, ((api, message), time_us) in enumerate(((change, 0), (asked, after_us))):
        frame = request_frame(api, VERSIONS[api], message, number, "c")
        events.append(Event(("w", 1), "User:a", 1, "PLAINTEXT", Request(1, number, time_us, frame)))
    api = asked[0]
    place = RequestId(1, 1, api.wire_name, VERSIONS[api], "User:a", "w")
    return [
        Lateness(Recording(events, []), real_is_recorded=is_real).explains(place, found)
        for is_real in (True, False)
    ]


ACLS = "ACL changes apply immediately"
TOPIC = "A new topic is in Metadata as soon as CreateTopics is answered"


@pytest.mark.parametrize(
    ("change", "asked", "found", "rows"),
    [
        # only the real broker may lack the change
        (
            (ApiKey.CREATE_ACLS, CREATED),
            (ApiKey.DESCRIBE_ACLS, DESCRIBED),
            Difference("resources[]", MISSING, ORDERS),
            [ACLS, None],
        ),
        (
            (ApiKey.DELETE_ACLS, DELETED),
            (ApiKey.DESCRIBE_ACLS, DESCRIBED),
            Difference("resources[]", ORDERS, MISSING),
            [ACLS, None],
        ),
        (
            (ApiKey.CREATE_TOPICS, MADE),
            (ApiKey.METADATA, LOOKED_UP),
            Difference("topics[].error_code", 0, 3),
            [None, TOPIC],
        ),
        # another error, another field, another name
        (
            (ApiKey.CREATE_TOPICS, MADE),
            (ApiKey.METADATA, LOOKED_UP),
            Difference("topics[].error_code", 0, 29),
            [None, None],
        ),
        (
            (ApiKey.CREATE_ACLS, CREATED),
            (ApiKey.DESCRIBE_ACLS, DESCRIBED),
            Difference("error_code", 0, 3),
            [None, None],
        ),
        (
            (ApiKey.CREATE_ACLS, CREATED),
            (ApiKey.DESCRIBE_ACLS, DESCRIBED),
            Difference("resources[]", MISSING, ORDERS.replace("orders", "another")),
            [None, None],
        ),
    ],
)
def test_recent_changes_may_be_late_on_the_real_broker(
    change: Asked,
    asked: Asked,
    found: Difference,
    rows: list[str | None],
) -> None:
    assert explained(change, asked, found, after_us=MOMENT_US) == rows
    assert explained(change, asked, found, after_us=MOMENT_US + 1) == [None, None]
    assert explained(change, asked, found, after_us=-1) == [None, None]


def test_every_row_is_on_the_page() -> None:
    page = (Path(__file__).parents[2] / "docs/explanation/differences.md").read_text()
    assert {late.row for late in LATE if f"\n- {late.row}" not in page} == set()

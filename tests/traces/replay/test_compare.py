"""Differences between a recorded and an actual response."""

import pytest

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.headers import RequestHeader, write_request_header
from kafka_shim.protocol.message_frames import read_response_with_version
from kafka_shim.protocol.messages.create_acls import AclCreationResult, CreateAclsResponse
from kafka_shim.protocol.messages.describe_acls import (
    AclDescription,
    DescribeAclsResource,
    DescribeAclsResponse,
)
from kafka_shim.protocol.messages.fetch import (
    FetchableTopicResponse,
    FetchResponse,
    PartitionData,
)
from kafka_shim.protocol.messages.metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponseTopic,
)
from kafka_shim.trace_format.entries import Response
from kafka_shim.traces.replay.compare import (
    Difference,
    compare_and_learn,
    message_differences,
)
from kafka_shim.traces.replay.events import Event
from kafka_shim.traces.replay.recorded_to_target_mapping import RecordedToTargetMapping
from tests.support.frames import response_frame


def metadata(*names: str, error: int = 0, **fields: object) -> MetadataResponse:
    topics = [MetadataResponseTopic(name=name, error_code=error) for name in names]
    return MetadataResponse(topics=topics, **fields)  # type: ignore[arg-type]


def test_ids_addresses_and_the_order_of_named_rows_are_ignored() -> None:
    left = metadata("a", "b", cluster_id="one", controller_id=1)
    right = metadata("b", "a", cluster_id="two", controller_id=2)
    assert message_differences(12, left, right) == []


def test_error_codes_and_missing_rows_are_differences() -> None:
    assert message_differences(12, metadata("a"), metadata("a", error=29)) == [
        Difference("topics[].error_code", 0, 29)
    ]
    (found,) = message_differences(12, metadata("a", "b"), metadata("a"))
    assert (found.field, found.actual) == ("topics[]", "missing")


def test_rows_without_names_are_compared_in_their_order() -> None:
    left, right = (
        CreateAclsResponse(results=[AclCreationResult(error_code=code) for code in codes])
        for codes in ((0, 31), (31, 0))
    )
    assert [d.field for d in message_differences(2, left, right)] == ["results[].error_code"] * 2


def test_fields_of_other_versions_are_ignored() -> None:
    left, right = metadata(cluster_authorized_operations=1), metadata()
    assert message_differences(12, left, right) == []
    assert [d.field for d in message_differences(9, left, right)] == [
        "cluster_authorized_operations"
    ]


def test_omitted_partitions_of_a_fetch_are_ignored_but_changed_errors_are_not() -> None:
    def fetch(*codes: int) -> FetchResponse:
        rows = [PartitionData(partition_index=n, error_code=c) for n, c in enumerate(codes)]
        return FetchResponse(responses=[FetchableTopicResponse(topic="t", partitions=rows)])

    assert message_differences(11, fetch(0, 0), fetch(0)) == []
    assert message_differences(11, fetch(0), FetchResponse()) == []
    assert [d.actual for d in message_differences(11, fetch(0, 0), fetch(0, 29))] == [29]


def played(
    mapping: RecordedToTargetMapping, host: str, port: int, cluster_id: str
) -> list[Difference]:
    """Compare two Metadata responses that differ in an address and in the cluster id."""
    request = write_request_header(RequestHeader(ApiKey.METADATA, 12, 7, "c")) + b"\0" * 4

    def frame(response: MetadataResponse) -> bytes:
        return response_frame(ApiKey.METADATA, 12, response, 7)

    here = [MetadataResponseBroker(node_id=1, host="recorded", port=9092)]
    there = [MetadataResponseBroker(node_id=1, host=host, port=port)]
    old, new = (
        frame(metadata("t", brokers=brokers, cluster_id=name))
        for brokers, name in ((here, "one"), (there, cluster_id))
    )
    entry = Response(1, 0, 0, ApiKey.METADATA, 12, old)
    return compare_and_learn(
        mapping, Event(("w", 1), "User:a", 1, "PLAINTEXT", entry), request, entry, new
    )


def test_two_equal_pairs_of_responses_are_decoded_once_unless_ids_changed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: list[bytes] = []

    def noting(api_key: int, version: int, frame: bytes) -> object:
        read.append(frame)
        return read_response_with_version(api_key, version, frame)

    monkeypatch.setattr("kafka_shim.traces.replay.compare.read_response_with_version", noting)
    mapping = RecordedToTargetMapping()
    for host, port, cluster_id, reads in (
        ("a", 1, "two", 2),
        ("a", 1, "two", 0),  # the same pair of responses
        ("b", 1, "two", 2),  # another address
        ("a", 1, "two", 2),  # the first pair again, but only the last one is kept
        ("a", 1, "two", 0),
    ):
        read.clear()
        assert played(mapping, host, port, cluster_id) == []
        assert len(read) == reads


def acls(*resources: tuple[int, int, list[tuple[str, str, int]]]) -> DescribeAclsResponse:
    return DescribeAclsResponse(
        resources=[
            DescribeAclsResource(
                resource_type=kind,
                resource_name="orders",
                pattern_type=pattern,
                acls=[
                    AclDescription(
                        principal=who, host=host, operation=3, permission_type=permission
                    )
                    for who, host, permission in rows
                ],
            )
            for kind, pattern, rows in resources
        ]
    )


def test_acls_are_matched_by_all_their_fields() -> None:
    """Brokers list ACLs in no order; ACLs of one name were once compared with each other."""
    first, second = ("User:a", "*", 3), ("User:b", "h", 2)
    recorded = acls((2, 3, [first, second]), (3, 3, [first]), (2, 4, [second]))
    assert (
        message_differences(
            3, recorded, acls((2, 4, [second]), (2, 3, [second, first]), (3, 3, [first]))
        )
        == []
    )
    other_host = acls((2, 4, [("User:b", "i", 2)]), (2, 3, [second, first]), (3, 3, [first]))
    found = message_differences(3, recorded, other_host)
    assert [difference.field for difference in found] == ["resources[].acls[]"] * 2

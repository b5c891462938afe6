"""What counts as a difference between two answers, and what does not."""

from protocol.messages.create_acls_response import AclCreationResult, CreateAclsResponse
from protocol.messages.fetch_response import (
    FetchableTopicResponse,
    FetchResponse,
    PartitionData,
)
from protocol.messages.metadata_response import MetadataResponse, MetadataResponseTopic
from shim.replay.compare import Difference, differences


def metadata(*names: str, error: int = 0, **fields: object) -> MetadataResponse:
    topics = [MetadataResponseTopic(name=name, error_code=error) for name in names]
    return MetadataResponse(topics=topics, **fields)  # type: ignore[arg-type]


def test_ids_addresses_and_the_order_of_named_rows_do_not_count() -> None:
    one = metadata("a", "b", cluster_id="one", controller_id=1)
    two = metadata("b", "a", cluster_id="two", controller_id=2)
    assert differences(12, one, two) == []


def test_error_codes_and_missing_rows_do() -> None:
    assert differences(12, metadata("a"), metadata("a", error=29)) == [
        Difference("topics[].error_code", 0, 29)
    ]
    (found,) = differences(12, metadata("a", "b"), metadata("a"))
    assert (found.field, found.actual) == ("topics[]", "missing")


def test_rows_without_names_are_compared_in_their_order() -> None:
    one, two = (
        CreateAclsResponse(results=[AclCreationResult(error_code=code) for code in codes])
        for codes in ((0, 31), (31, 0))
    )
    assert [d.field for d in differences(2, one, two)] == ["results[].error_code"] * 2


def test_fields_of_other_versions_do_not_count() -> None:
    one, two = metadata(cluster_authorized_operations=1), metadata()
    assert differences(12, one, two) == []
    assert [d.field for d in differences(9, one, two)] == ["cluster_authorized_operations"]


def test_a_fetch_may_leave_out_partitions_but_not_change_errors() -> None:
    def fetch(*codes: int) -> FetchResponse:
        rows = [PartitionData(partition_index=n, error_code=c) for n, c in enumerate(codes)]
        return FetchResponse(responses=[FetchableTopicResponse(topic="t", partitions=rows)])

    assert differences(11, fetch(0, 0), fetch(0)) == []
    assert differences(11, fetch(0), FetchResponse()) == []
    assert [d.actual for d in differences(11, fetch(0, 0), fetch(0, 29))] == [29]

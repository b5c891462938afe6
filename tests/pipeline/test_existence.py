"""Resources that certainly existed, so that their absence in a list is a denial."""

from typing import Any

import pytest

from kafka_shim.pipeline.rows.existence import (
    CONSUMER_GROUP,
    GROUP,
    OFFSETS,
    TOPIC,
    TRANSACTION,
    ExistenceIndex,
    ExistenceRecord,
)
from kafka_shim.protocol.messages.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    ResponseCursor,
)
from kafka_shim.protocol.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from kafka_shim.protocol.messages.list_transactions import (
    ListTransactionsRequest,
    ListTransactionsResponse,
)
from kafka_shim.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
)

PLACE = "1 SASL"
DURING = (50, 60)


def seen(kind: str, first: int, last: int, *, owner: str = "", life: str = "") -> ExistenceRecord:
    return ExistenceRecord(
        PLACE, kind, "x", owner, life, is_end=False, first_us=first, last_us=last
    )


def ended(
    kind: str, at: int, *, name: str = "x", owner: str = "", life: str = ""
) -> ExistenceRecord:
    return ExistenceRecord("2 SASL", kind, name, owner, life, is_end=True, first_us=at, last_us=at)


def there(*rows: ExistenceRecord, kind: str = GROUP, place: str = PLACE) -> list[str]:
    return list(ExistenceIndex(rows).names_existing_throughout(place, kind, DURING))


def test_things_seen_before_and_after_existed_in_between() -> None:
    assert there(seen(GROUP, 10, 90)) == ["x"]
    assert there(seen(GROUP, 10, 20), seen(GROUP, 80, 90)) == ["x"]  # from two parts of the trace
    assert there(seen(GROUP, 10, 59)) == there(seen(GROUP, 51, 90)) == []
    assert there(seen(GROUP, 10, 90), place="2 SASL") == []


def test_things_that_may_have_been_deleted_are_unknown() -> None:
    assert there(seen(GROUP, 10, 90), ended(GROUP, 20)) == []
    assert there(seen(GROUP, 10, 90), ended(GROUP, 9)) == ["x"]
    assert there(seen(GROUP, 10, 90), ended(GROUP, 90)) == ["x"]  # its deletion succeeded


def test_a_topic_of_the_same_id_is_the_same() -> None:
    assert there(seen(TOPIC, 10, 90, life="id"), ended(TOPIC, 55), kind=TOPIC) == ["x"]


@pytest.mark.parametrize(
    ("rows", "is_there"),
    [
        ([seen(TOPIC, 10, 5, life="id")], True),  # a single response shows it
        ([seen(TOPIC, 51, 45, life="id")], False),
        ([seen(TOPIC, 10, 5, life="id"), ended(TOPIC, 30)], False),
        ([seen(TOPIC, 10, 5, life="id"), ended(TOPIC, 30, name="", life="id")], False),
        ([seen(TOPIC, 10, 5, life="id"), ended(TOPIC, 30, name="", life="other")], True),
        ([seen(TOPIC, 10, 5, life="id"), ended(TOPIC, 60)], True),
        ([seen(TOPIC, 10, 90, life="id"), ended(TOPIC, 30)], True),
    ],
)
def test_a_topic_exists_until_a_request_deletes_it(
    rows: list[ExistenceRecord], *, is_there: bool
) -> None:
    assert ExistenceIndex(rows).topic_existed_throughout(PLACE, DURING, "x") == is_there


def test_a_topic_shown_by_its_id_has_its_name_from_other_responses() -> None:
    by_id = [
        ExistenceRecord(PLACE, TOPIC, "", "", "id", is_end=False, first_us=at, last_us=at)
        for at in (9, 80)
    ]
    named = ExistenceRecord("2 SASL", TOPIC, "x", "", "id", is_end=False, first_us=1, last_us=1)
    assert there(*by_id, named, ended(TOPIC, 55), kind=TOPIC) == ["x"]
    assert there(*by_id, kind=TOPIC) == []


def test_a_topic_is_seen_with_its_id_before_and_without_it_after() -> None:
    rows = seen(TOPIC, 10, 10, life="id"), seen(TOPIC, 80, 80)
    assert there(*rows, kind=TOPIC) == ["x"]
    assert there(*rows, ended(TOPIC, 55), kind=TOPIC) == []


ALL = [OffsetFetchRequestGroup("g", topics=None)]
NAMED = [OffsetFetchRequestGroup("g", topics=[])]
GIVEN = OffsetFetchResponse(groups=[OffsetFetchResponseGroup("g")])
REFUSED = OffsetFetchResponse(groups=[OffsetFetchResponseGroup("g", error_code=30)])
GROUPS, TRANSACTIONS = "ListGroups.group", "ListTransactions.transactional_id"
OFFSETS_OF, PAGES = "OffsetFetch.all_topics", "DescribeTopicPartitions.all_topics"
LISTS: list[tuple[str, str, Any, Any, bool]] = [
    (GROUP, GROUPS, ListGroupsRequest(), ListGroupsResponse(), True),
    (GROUP, GROUPS, ListGroupsRequest(), ListGroupsResponse(error_code=14), False),
    (GROUP, GROUPS, ListGroupsRequest(states_filter=["Stable"]), ListGroupsResponse(), False),
    (GROUP, GROUPS, ListGroupsRequest(types_filter=["Classic"]), ListGroupsResponse(), False),
    (
        *(CONSUMER_GROUP, GROUPS),
        *(ListGroupsRequest(types_filter=["Classic", "Consumer"]), ListGroupsResponse(), True),
    ),
    (TRANSACTION, TRANSACTIONS, ListTransactionsRequest(), ListTransactionsResponse(), True),
    (
        *(TRANSACTION, TRANSACTIONS),
        *(ListTransactionsRequest(duration_filter=9), ListTransactionsResponse(), False),
    ),
    (OFFSETS, OFFSETS_OF, OffsetFetchRequest(groups=ALL), GIVEN, True),
    (OFFSETS, OFFSETS_OF, OffsetFetchRequest(groups=ALL), REFUSED, False),
    (OFFSETS, OFFSETS_OF, OffsetFetchRequest(groups=NAMED), GIVEN, False),
    (
        *(TOPIC, PAGES),
        *(DescribeTopicPartitionsRequest(), DescribeTopicPartitionsResponse(), True),
    ),
    (
        *(TOPIC, PAGES, DescribeTopicPartitionsRequest()),
        *(DescribeTopicPartitionsResponse(next_cursor=ResponseCursor("y")), False),
    ),
]


@pytest.mark.parametrize(("kind", "requirement", "request_", "response", "is_whole"), LISTS)
def test_only_a_complete_list_shows_denials(
    kind: str, requirement: str, request_: Any, response: Any, *, is_whole: bool
) -> None:
    existence = ExistenceIndex([seen(kind, 10, 90, owner="g" if kind == OFFSETS else "")])
    found = list(existence.names_in_complete_list(PLACE, requirement, request_, response, DURING))
    assert found == (["x"] if is_whole else [])

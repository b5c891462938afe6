"""Transactions: permissions to write in them, to describe them, and to list producers."""

from typing import Any

import pytest

from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType
from kafka_shim.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from kafka_shim.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from kafka_shim.protocol.messages.describe_producers import (
    DescribeProducersRequest,
    TopicRequest,
)
from kafka_shim.protocol.messages.describe_transactions import DescribeTransactionsRequest
from kafka_shim.protocol.messages.end_txn import EndTxnRequest
from kafka_shim.protocol.messages.list_transactions import ListTransactionsRequest
from kafka_shim.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from kafka_shim.protocol.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from tests.shim.handlers.records import ALICE
from tests.shim.play import ADMIN, Stage

WRITE_ID = (Operation.WRITE, ResourceType.TRANSACTIONAL_ID, "x")
READ_GROUP = (Operation.READ, ResourceType.GROUP, "g")


def stage_with_transaction(release: str = "") -> Stage:
    """Begin a transaction `x` on `mine` and `others`; alice may WRITE and READ `mine`."""
    stage = Stage(release)
    for name in ("mine", "others"):
        stage.topic(name)
    transactions = stage.cluster.transactions
    _, producer_id, epoch = transactions.init_producer_id("x", 60_000, -1, -1)
    assert (producer_id, epoch) == (0, 0)
    transactions.add_partitions("x", 0, 0, [("mine", 0), ("others", 0)])
    for operation in (Operation.WRITE, Operation.READ):
        stage.allow(ALICE, operation, ResourceType.TOPIC, "mine")
    return stage


def added(stage: Stage, *topics: str, version: int = 3) -> dict[str, int]:
    rows = [AddPartitionsToTxnTopic(name, [0]) for name in topics]
    request = AddPartitionsToTxnRequest(
        v3_and_below_transactional_id="x",
        v3_and_below_producer_id=0,
        v3_and_below_producer_epoch=0,
        v3_and_below_topics=rows,
    )
    response = stage.ask(ApiKey.ADD_PARTITIONS_TO_TXN, version, request, ALICE)
    return {
        topic.name: topic.results_by_partition[0].partition_error_code
        for topic in response.results_by_topic_v3_and_below
    }


def test_adding_partitions_needs_the_transactional_id_and_then_every_topic() -> None:
    stage = stage_with_transaction()
    assert added(stage, "mine", "others") == {"mine": 53, "others": 53}
    stage.allow(ALICE, *WRITE_ID)
    assert added(stage, "mine") == {"mine": 0}
    assert added(stage, "mine", "others") == {"mine": 55, "others": 29}
    assert added(stage, "mine", "missing") == {"mine": 55, "missing": 29}


def test_a_missing_topic_prevents_adding_the_others() -> None:
    stage = stage_with_transaction()
    stage.allow(ALICE, *WRITE_ID)
    stage.allow(ALICE, Operation.WRITE, ResourceType.TOPIC, "missing")
    assert added(stage, "mine", "missing") == {"mine": 55, "missing": 3}


def test_internal_topics_cannot_be_added_even_without_an_authorizer() -> None:
    stage = Stage(authorizer="none")
    request = AddPartitionsToTxnRequest(
        v3_and_below_transactional_id="x",
        v3_and_below_topics=[AddPartitionsToTxnTopic("__consumer_offsets", [0])],
    )
    response = stage.ask(ApiKey.ADD_PARTITIONS_TO_TXN, 3, request, ALICE)
    (topic,) = response.results_by_topic_v3_and_below
    assert topic.results_by_partition[0].partition_error_code == 29


def test_0_11_reports_topics_without_describe_as_unknown() -> None:
    stage = stage_with_transaction("0.11")
    stage.allow(ALICE, *WRITE_ID)
    stage.allow(ALICE, Operation.DESCRIBE, ResourceType.TOPIC, "others")
    stage.topic("hidden")
    codes = {"mine": 55, "others": 29, "hidden": 3}
    assert added(stage, "mine", "others", "hidden", version=0) == codes


def test_brokers_that_add_partitions_need_cluster_action_only() -> None:
    stage = stage_with_transaction()
    row = AddPartitionsToTxnTransaction("x", 0, 0, True, [AddPartitionsToTxnTopic("others", [0])])
    request = AddPartitionsToTxnRequest(transactions=[row])
    denied = stage.ask(ApiKey.ADD_PARTITIONS_TO_TXN, 4, request, ALICE)
    assert (denied.error_code, denied.results_by_transaction) == (31, [])
    stage.allow(ALICE, Operation.CLUSTER_ACTION, ResourceType.CLUSTER, "kafka-cluster")
    allowed = stage.ask(ApiKey.ADD_PARTITIONS_TO_TXN, 4, request, ALICE)
    (topic,) = allowed.results_by_transaction[0].topic_results
    assert topic.results_by_partition[0].partition_error_code == 0


def test_adding_offsets_needs_the_transactional_id_and_then_the_group() -> None:
    stage = stage_with_transaction()
    request = AddOffsetsToTxnRequest("x", 0, 0, "g")

    def code() -> int:
        found: int = stage.ask(ApiKey.ADD_OFFSETS_TO_TXN, 3, request, ALICE).error_code
        return found

    assert code() == 53
    stage.allow(ALICE, *WRITE_ID)
    assert code() == 30
    stage.allow(ALICE, *READ_GROUP)
    assert code() == 0


def test_ending_a_transaction_needs_the_transactional_id() -> None:
    stage = stage_with_transaction()
    request = EndTxnRequest("x", 0, 0, True)
    assert stage.ask(ApiKey.END_TXN, 3, request, ALICE).error_code == 53
    stage.allow(ALICE, *WRITE_ID)
    assert stage.ask(ApiKey.END_TXN, 3, request, ALICE).error_code == 0


def committed(stage: Stage, *topics: str, version: int = 3) -> dict[str, int]:
    partition = TxnOffsetCommitRequestPartition(0, 5)
    request = TxnOffsetCommitRequest(
        transactional_id="x",
        group_id="g",
        topics=[TxnOffsetCommitRequestTopic(name, partitions=[partition]) for name in topics],
    )
    response = stage.ask(ApiKey.TXN_OFFSET_COMMIT, version, request, ALICE)
    return {topic.name: topic.partitions[0].error_code for topic in response.topics}


def test_offset_commits_check_transactional_id_group_and_topics_in_this_order() -> None:
    stage = stage_with_transaction("3.5")
    names = ("mine", "others", "missing")
    assert committed(stage, *names) == dict.fromkeys(names, 53)
    stage.allow(ALICE, *WRITE_ID)
    assert committed(stage, *names) == dict.fromkeys(names, 30)
    stage.allow(ALICE, *READ_GROUP)
    stage.allow(ALICE, Operation.READ, ResourceType.TOPIC, "missing")
    assert committed(stage, *names) == {"mine": 0, "others": 29, "missing": 3}


@pytest.mark.parametrize(("release", "alter_will_do"), [("3.7", False), ("3.8", True), ("", True)])
def test_markers_need_cluster_action_or_since_3_8_alter_on_the_cluster(
    release: str, alter_will_do: bool
) -> None:
    stage = stage_with_transaction(release)
    marker = WritableTxnMarker(0, 0, True, [WritableTxnMarkerTopic("mine", [0])])

    def code() -> int:
        request = WriteTxnMarkersRequest(markers=[marker])
        response = stage.ask(ApiKey.WRITE_TXN_MARKERS, 1, request, ALICE)
        found: int = response.markers[0].topics[0].partitions[0].error_code
        return found

    assert code() == 31
    stage.allow(ALICE, Operation.ALTER, ResourceType.CLUSTER, "kafka-cluster")
    assert code() == (0 if alter_will_do else 31)
    stage.allow(ALICE, Operation.CLUSTER_ACTION, ResourceType.CLUSTER, "kafka-cluster")
    assert code() == 0


def described(stage: Stage) -> Any:
    request = DescribeTransactionsRequest(transactional_ids=["x", "unknown"])
    return stage.ask(ApiKey.DESCRIBE_TRANSACTIONS, 0, request, ALICE).transaction_states


def test_a_described_transaction_omits_topics_without_describe() -> None:
    stage = stage_with_transaction()
    assert [state.error_code for state in described(stage)] == [53, 53]
    stage.allow(ALICE, Operation.DESCRIBE, ResourceType.TRANSACTIONAL_ID, "*")
    known, unknown = described(stage)
    assert (known.error_code, unknown.error_code) == (0, 105)
    assert [topic.topic for topic in known.topics] == ["mine"]
    stage.allow(ALICE, Operation.DESCRIBE, ResourceType.TOPIC, "others")
    assert [topic.topic for topic in described(stage)[0].topics] == ["mine", "others"]


def test_only_visible_transactions_are_listed() -> None:
    stage = stage_with_transaction()
    stage.cluster.transactions.init_producer_id("y", 60_000, -1, -1)

    def listed() -> list[str]:
        request = ListTransactionsRequest(state_filters=["Ongoing", "Empty", "Odd"])
        response = stage.ask(ApiKey.LIST_TRANSACTIONS, 2, request, ALICE)
        assert (response.error_code, response.unknown_state_filters) == (0, ["Odd"])
        return [state.transactional_id for state in response.transaction_states]

    assert listed() == []
    stage.allow(ALICE, Operation.DESCRIBE, ResourceType.TRANSACTIONAL_ID, "y")
    assert listed() == ["y"]


def test_describing_producers_needs_read_on_the_topic() -> None:
    stage = stage_with_transaction()
    names = ["mine", "others", "missing", "no name!"]
    stage.allow(ALICE, Operation.READ, ResourceType.TOPIC, "missing")
    request = DescribeProducersRequest(topics=[TopicRequest(name, [0]) for name in names])
    response = stage.ask(ApiKey.DESCRIBE_PRODUCERS, 0, request, ALICE)
    codes = {topic.name: topic.partitions[0].error_code for topic in response.topics}
    assert codes == {"mine": 0, "others": 29, "missing": 3, "no name!": 17}


def test_leaders_and_followers_describe_producers() -> None:
    stage = Stage(brokers=3)
    stage.cluster.topics.create_topic("t", [[2, 1]], {})
    codes = {}
    for node_id in (1, 2, 3):
        stage.session(ADMIN).node_id = node_id
        request = DescribeProducersRequest(topics=[TopicRequest("t", [0])])
        response = stage.ask(ApiKey.DESCRIBE_PRODUCERS, 0, request)
        codes[node_id] = response.topics[0].partitions[0].error_code
    assert codes == {1: 0, 2: 0, 3: 6}

"""A cluster that was killed and restarted has its data."""

import asyncio
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kafka_shim.authorizer.model import AclFilter
from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.init_producer_id import InitProducerIdRequest
from kafka_shim.protocol.records.batches import BatchOptions, Record, encode_batch
from kafka_shim.shim.config import InitialTopic
from kafka_shim.shim.initial_state import create_missing_initial_state
from kafka_shim.shim.sasl.scram_credential import ScramMechanism, credential_of_password
from kafka_shim.shim.state.cluster import Cluster
from kafka_shim.shim.state.groups.group import CommitIdentity
from kafka_shim.shim.state.groups.groups import OffsetCommit
from kafka_shim.shim.state.groups.offsets import CommittedOffset
from kafka_shim.shim.state.logs.log import PartitionLog
from kafka_shim.shim.state.transactions.transaction import TransactionalIdState
from tests.shim.storage.kept import KeptStage
from tests.support.record_requests import produce_request

NOBODY = CommitIdentity("", None, -1, 0)


@pytest.fixture
def stage(tmp_path: Path) -> KeptStage:
    return KeptStage(tmp_path)


def produce(stage: KeptStage, value: bytes, topic: str = "orders", **options: Any) -> Any:
    """Produce one record to partition 0; return the partition's response."""
    name = options.pop("transactional_id", None)
    records = [Record(offset=0, timestamp=stage.clock.now_ms(), key=b"k", value=value)]
    batch = encode_batch(records, BatchOptions(**options))
    request = produce_request(topic, batch, transactional_id=name)
    response = stage.ask(ApiKey.PRODUCE, 9, request)
    return response.responses[0].partition_responses[0]


def log_of(stage: KeptStage, topic: str = "orders") -> PartitionLog:
    return stage.found(topic).partitions[0].log


def picture(log: PartitionLog) -> Any:
    """Return the content of a log: offsets, batches, producers, transactions and epochs.

    A leader's epoch without a record is left out, since each start begins one.
    """
    batches = [(batch.base_offset, batch.max_timestamp, batch.payload) for batch in log.batches]
    producers = [
        (found.producer_id, found.epoch, found.transaction_offset, list(found.batches))
        for found in log.producers
    ]
    aborted = log.producers.aborted_between(0, log.end_offset + 1)
    offsets = (log.start_offset, log.end_offset, log.last_stable_offset)
    epochs = [each for each in log._epochs if each[1] < log.end_offset or each == (0, 0)]
    return offsets, batches, producers, aborted, epochs


def test_topics_records_and_producers_are_restored(stage: KeptStage) -> None:
    topic = stage.topic("orders", 2, {"retention.ms": "-1"})
    for n in range(3):
        produce(stage, b"%d" % n, producer_id=7, producer_epoch=0, base_sequence=n)
    before = picture(log_of(stage))
    again = stage.again()
    found = again.found("orders")
    assert (found.topic_id, found.configs) == (topic.topic_id, {"retention.ms": "-1"})
    assert [partition.leader_epoch for partition in found.partitions] == [2, 2]
    assert picture(log_of(again)) == before
    repeated: dict[str, Any] = {"producer_id": 7, "producer_epoch": 0, "base_sequence": 2}
    assert produce(again, b"2", **repeated).base_offset == 2
    assert produce(again, b"3", **repeated | {"base_sequence": 3}).base_offset == 3


def test_logs_with_deleted_records_are_restored(stage: KeptStage) -> None:
    for name in ("some", "all", "deleted"):
        stage.topic(name)
        for n in range(4):
            produce(stage, b"%d" % n, name, producer_id=7, producer_epoch=0, base_sequence=n)
    stage.storage.commit()
    log_of(stage, "some").advance_log_start(2)
    log_of(stage, "all").advance_log_start(4)
    before = [picture(log_of(stage, name)) for name in ("some", "all")]
    stage.cluster.topics.delete_topic("deleted")
    stage.topic("deleted")
    again = stage.again()
    assert [picture(log_of(again, name)) for name in ("some", "all")] == before
    assert log_of(again, "deleted").end_offset == 0


def test_eligible_leader_replicas_are_restored(stage: KeptStage) -> None:
    """A partition without a leader has an empty ISR; an eligible replica may lead (KIP-966)."""
    stage.topic("orders")
    stage.cluster.set_broker_alive(1, is_alive=False)
    later = stage.again()
    [partition] = later.found("orders").partitions
    assert (partition.isr, partition.eligible, partition.last_known) == ([], [1], [1])
    later.cluster.elect_live_leaders()
    assert (partition.leader_id, partition.isr, partition.eligible) == (1, [1], [])


def test_segments_are_restored(stage: KeptStage) -> None:
    stage.topic("orders", 1, {"retention.ms": "1000", "segment.ms": "500"})
    for at in range(4):
        produce(stage, b"%d" % at)
        stage.clock.advance(400)
    again = stage.again()
    again.clock.advance(300)
    log_of(again).delete_expired_segments()
    assert (log_of(again).start_offset, log_of(again).end_offset) == (2, 4)


def test_records_deleted_before_they_were_stored_are_not_restored(stage: KeptStage) -> None:
    stage.topic("orders")
    for n in range(4):
        produce(stage, b"%d" % n)
    log_of(stage).advance_log_start(3)
    before = picture(log_of(stage))
    again = stage.again()
    assert picture(log_of(again)) == before


def test_a_compacted_log_is_restored(stage: KeptStage) -> None:
    stage.topic("orders", 1, {"cleanup.policy": "compact"})
    for n in range(4):
        produce(stage, b"%d" % n)
    stage.storage.commit()
    produce(stage, b"4")
    stage.compact("orders")
    produce(stage, b"5")
    before = picture(log_of(stage))
    again = stage.again()
    assert picture(log_of(again)) == before
    assert [batch.is_clean for batch in log_of(again).batches] == [
        batch.is_clean for batch in log_of(stage).batches
    ]


@pytest.mark.parametrize("earlier_ms", [0, 1_000, 3_600_000])
@pytest.mark.parametrize("passed_ms", [0, 5_000])
def test_a_transaction_is_aborted_in_time_also_with_an_earlier_clock(
    stage: KeptStage, earlier_ms: int, passed_ms: int
) -> None:
    """The rest of a timeout of 8 s is at most 8 s, and the broker looks every 10 s."""
    stage.clock.advance(earlier_ms)
    stage.topic("orders")
    response = stage.ask(ApiKey.INIT_PRODUCER_ID, 4, InitProducerIdRequest("t", 8_000))
    stage.cluster.transactions.add_partitions("t", response.producer_id, 0, [("orders", 0)])
    stage.clock.advance(passed_ms)
    stage.storage.commit()
    stage.kill()
    again = KeptStage(stage.directory, stage.cluster.release)
    again.clock.advance(stage.clock.now_ms() - earlier_ms - again.clock.now_ms())

    def state() -> TransactionalIdState:
        found = again.cluster.transactions.get_for_reading("t")
        assert found is not None
        return found.state

    assert state() is TransactionalIdState.ONGOING
    again.clock.advance(10_000)
    assert state() is TransactionalIdState.COMPLETE_ABORT


def test_transactions_continue_and_producer_ids_are_not_reused(stage: KeptStage) -> None:
    stage.topic("orders")
    response = stage.ask(ApiKey.INIT_PRODUCER_ID, 4, InitProducerIdRequest("t", 60_000))
    transactions = stage.cluster.transactions
    transactions.add_partitions("t", response.producer_id, 0, [("orders", 0)])
    options: dict[str, Any] = {"is_transactional": True, "producer_epoch": 0, "base_sequence": 0}
    sent = produce(stage, b"1", transactional_id="t", producer_id=response.producer_id, **options)
    assert sent.error_code == ErrorCode.NONE
    before = picture(log_of(stage))
    again = stage.again()
    assert picture(log_of(again)) == before
    found = again.cluster.transactions.touch("t")
    assert found is not None
    assert (found.state, list(found.partitions)) == (TransactionalIdState.ONGOING, [("orders", 0)])
    fresh = again.ask(ApiKey.INIT_PRODUCER_ID, 4, InitProducerIdRequest(None, 60_000))
    assert fresh.producer_id == 1000
    again.clock.advance(70_000)
    found = again.cluster.transactions.touch("t")
    assert found is not None
    assert found.state is TransactionalIdState.COMPLETE_ABORT
    before = picture(log_of(again))
    assert before[3]
    assert picture(log_of(again.again())) == before


def test_offsets_of_groups_are_restored(stage: KeptStage) -> None:
    topic = stage.topic("orders", 2)
    groups = stage.cluster.groups
    groups.commit_offsets(
        "billing", NOBODY, [OffsetCommit(topic.topic_id, 1, CommittedOffset(5, 0, "note"))]
    )
    groups.commit_offsets("gone", NOBODY, [OffsetCommit(topic.topic_id, 0, CommittedOffset(1))])
    groups.commit_offsets(
        "held", NOBODY, [OffsetCommit(topic.topic_id, 0, CommittedOffset(3))], producer_id=4
    )
    stage.storage.commit()
    groups.delete_empty_group("gone")
    groups.offsets.delete_offset("held", topic.topic_id, 1)
    again = stage.again().cluster.groups
    assert again.offsets.committed_offset(
        "billing", topic.topic_id, 1
    ) == groups.offsets.committed_offset("billing", topic.topic_id, 1)
    assert sorted(group.group_id for group in again) == ["billing", "held"]
    assert again.offsets.has_pending_offset("held", topic.topic_id, 0)
    again.settle_pending_offsets(4, committed=True)
    settled = again.offsets.committed_offset("held", topic.topic_id, 0)
    assert settled is not None
    assert settled.offset == 3


def test_users_tokens_quotas_settings_features_and_acls_are_restored(stage: KeptStage) -> None:
    cluster = stage.cluster
    credential = credential_of_password(ScramMechanism.SCRAM_SHA_256, "pw", b"salt", 4096)
    cluster.users.store_credential(ScramMechanism.SCRAM_SHA_256, "carol", credential)
    cluster.users.set_configured_user("dave", "secret")
    token = cluster.tokens.create_token("User:a", "User:a", ["User:b"], -1)
    cluster.quotas.alter_limits([({"user": "alice"}, {"producer_byte_rate": 1000.0})])
    cluster.configs.brokers[1] = {"log.cleaner.threads": "2"}
    cluster.configs.store_group_settings("g", {"consumer.session.timeout.ms": "50000"})
    cluster.configs.store_client_metrics_settings("m", {"interval.ms": "100"})
    cluster.set_feature_level("transaction.version", 1)
    for name in ("a", "b"):
        stage.allow("User:alice", Operation.READ, ResourceType.TOPIC, name)
    stage.storage.mark_unreported_sections()
    stage.storage.commit()
    authorizer = cluster.policy.authorizer
    assert authorizer is not None
    cluster.users.remove_stored_credential(ScramMechanism.SCRAM_SHA_256, "nobody")
    again = stage.again().cluster
    assert again.users.scram_credential(ScramMechanism.SCRAM_SHA_256, "carol") == credential
    assert again.users.passwords["dave"] == "secret"
    assert list(again.tokens) == [token]
    assert list(again.quotas.all_entities_with_limits()) == [
        ({"user": "alice"}, {"producer_byte_rate": 1000.0})
    ]
    assert again.configs.brokers == cluster.configs.brokers
    assert again.configs.groups == cluster.configs.groups
    assert again.configs.client_metrics == cluster.configs.client_metrics
    assert again.features == cluster.features
    assert acls_of(again) == acls_of(cluster)
    assert len(acls_of(again)) == 2


def acls_of(cluster: Cluster) -> set[Any]:
    authorizer = cluster.policy.authorizer
    assert authorizer is not None
    return set(authorizer.acls(AclFilter()))


def test_a_reset_deletes_all_stored_data(stage: KeptStage) -> None:
    topic = stage.topic("orders")
    produce(stage, b"1")
    stage.cluster.groups.commit_offsets(
        "g", NOBODY, [OffsetCommit(topic.topic_id, 0, CommittedOffset(5))]
    )
    stage.cluster.users.set_configured_user("dave", "secret")
    stage.allow("User:alice", Operation.READ, ResourceType.TOPIC, "orders")
    stage.storage.mark_unreported_sections()
    stage.storage.commit()
    stage.cluster.reset_to_initial_state()
    stage.storage.attach_reset_cluster(stage.cluster)
    again = stage.again().cluster
    assert len(again.topics) == 0
    assert list(again.groups) == []
    assert dict(again.users.passwords) == {}
    assert acls_of(again) == set()


def test_each_start_has_a_new_leader_epoch(stage: KeptStage) -> None:
    stage.topic("orders")
    produce(stage, b"1")
    twice = stage.again().again()
    produce(twice, b"2")
    assert log_of(twice)._epochs == [(0, 0), (4, 1)]
    assert log_of(twice.again())._epochs == [(0, 0), (4, 1), (6, 2)]


def test_configured_topics_are_created_once(tmp_path: Path) -> None:
    topics = (InitialTopic("orders", 2),)
    stage = KeptStage(tmp_path, topics=topics)
    create_missing_initial_state(stage.cluster)
    produce(stage, b"1")
    again = stage.again(topics=(*topics, InitialTopic("payments")))
    create_missing_initial_state(again.cluster)
    assert log_of(again).end_offset == 1
    assert len(again.found("payments").partitions) == 1


def test_ids_are_not_reused(stage: KeptStage) -> None:
    stage.topic("orders")
    again = stage.again()
    again.topic("payments")
    assert again.found("payments").topic_id != again.found("orders").topic_id
    assert again.cluster.cluster_id == stage.cluster.cluster_id


def test_responses_wait_for_the_commit_if_the_loop_has_other_work(stage: KeptStage) -> None:
    sent: list[int] = []

    def send(number: int) -> Callable[[], None]:
        return lambda: sent.append(number)

    async def slices() -> None:
        stage.storage.commit()
        assert not stage.storage.try_defer_response(send(1))
        asyncio.get_running_loop().call_soon(lambda: None)
        stage.topic("orders")
        assert stage.storage.try_defer_response(send(2))
        assert sent == []
        await asyncio.sleep(0)
        assert sent == [2]
        stage.topic("payments")
        await asyncio.sleep(0)
        assert not stage.storage.try_defer_response(send(3))

    asyncio.run(slices())


def test_the_last_request_of_a_turn_commits(stage: KeptStage) -> None:
    async def turn() -> None:
        stage.topic("orders")
        assert not stage.storage.try_defer_response(lambda: None)

    asyncio.run(turn())
    stage.kill()
    assert "orders" in KeptStage(stage.directory).cluster.topics


def test_no_response_is_sent_if_the_commit_fails(stage: KeptStage) -> None:
    failed: list[bool] = []
    stage.storage.when_failed = lambda: failed.append(True)

    async def turn() -> None:
        stage.topic("orders")
        stage.kill()
        assert stage.storage.try_defer_response(lambda: failed.append(False))
        stage.storage.commit()

    asyncio.run(turn())
    assert failed == [True]
    assert isinstance(stage.storage.failure, sqlite3.Error | OSError)

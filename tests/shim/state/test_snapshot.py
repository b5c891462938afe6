"""A snapshot has everything that a real cluster keeps over a restart, and shares no objects."""

import asyncio

import pytest

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.init_producer_id import InitProducerIdRequest
from kafka_shim.shim.broker import Broker
from kafka_shim.shim.clock import ManualClock
from kafka_shim.shim.config import Config, InitialGroup, InitialTopic
from kafka_shim.shim.sasl.scram_credential import ScramMechanism, credential_of_password
from kafka_shim.shim.state.coordinators import KeyType
from kafka_shim.shim.state.logs.log import StoredBatch
from tests.shim.wire import connected, serving

SEEDED = {
    "topics": (InitialTopic("orders", 2, {"retention.ms": "-1"}),),
    "groups": (InitialGroup("billing", {"orders": {1: 0}}),),
    "users": {"alice": "secret"},
}


def broker() -> Broker:
    return Broker(Config(**SEEDED, seed=1), ManualClock())  # type: ignore[arg-type]


def append(found: Broker, name: str, first: int, last: int) -> None:
    partition = found.cluster.topics.led_partition(name, 0)
    assert partition is not None
    partition.log.append_batch(StoredBatch(first, last, 1000, bytes([first]) * 10), 0)


def payloads(found: Broker) -> list[bytes]:
    partition = found.cluster.topics.led_partition("orders", 0)
    assert partition is not None
    log = partition.log
    return log.read_batches(log.start_offset, log.end_offset, 1 << 20, whole_first=True)


def test_records_and_their_offsets_are_restored() -> None:
    found = broker()
    append(found, "orders", 0, 4)
    append(found, "orders", 5, 9)
    kept = found.take_snapshot()
    append(found, "orders", 10, 10)
    for _ in range(2):
        found.restore_snapshot(kept)
        partition = found.cluster.topics.led_partition("orders", 0)
        assert partition is not None
        assert (partition.log.start_offset, partition.log.end_offset) == (0, 10)
        assert payloads(found) == [b"\x00" * 10, b"\x05" * 10]
        append(found, "orders", 10, 12)


def test_the_start_offset_of_a_log_is_restored() -> None:
    found = broker()
    append(found, "orders", 0, 4)
    append(found, "orders", 5, 9)
    partition = found.cluster.topics.led_partition("orders", 0)
    assert partition is not None
    partition.log.advance_log_start(7)
    found.restore_snapshot(found.take_snapshot())
    partition = found.cluster.topics.led_partition("orders", 0)
    assert partition is not None
    assert (partition.log.start_offset, partition.log.end_offset) == (7, 10)
    partition.log.advance_log_start(10)
    found.restore_snapshot(found.take_snapshot())
    partition = found.cluster.topics.led_partition("orders", 0)
    assert partition is not None
    assert (partition.log.start_offset, partition.log.end_offset) == (10, 10)


def test_all_other_state_is_restored() -> None:
    found = broker()
    cluster = found.cluster
    topic = cluster.topics.get("orders")
    assert topic is not None
    credential = credential_of_password(ScramMechanism.SCRAM_SHA_256, "pw", b"salt", 4096)
    cluster.users.store_credential(ScramMechanism.SCRAM_SHA_256, "carol", credential)
    cluster.quotas.alter_limits([({"user": "alice"}, {"producer_byte_rate": 10.0})])
    cluster.configs.all_brokers["log.retention.ms"] = "5"
    cluster.transactions.new_producer_id()
    kept = found.take_snapshot()
    found.reset_to_initial_state()
    assert found.cluster.users.names_with_stored_credentials() == []
    found.restore_snapshot(kept)
    again = cluster.topics.get("orders")
    assert again is not None
    assert again is not topic
    assert (again.topic_id, again.configs) == (topic.topic_id, {"retention.ms": "-1"})
    assert cluster.users.scram_credential(ScramMechanism.SCRAM_SHA_256, "carol") == credential
    assert cluster.users.passwords == {"alice": "secret"}
    assert list(cluster.quotas.all_entities_with_limits()) == [
        ({"user": "alice"}, {"producer_byte_rate": 10.0})
    ]
    assert cluster.configs.all_brokers["log.retention.ms"] == "5"
    assert cluster.transactions.new_producer_id() == 1
    offset = cluster.groups.offsets.committed_offset("billing", topic.topic_id, 1)
    assert offset is not None
    assert offset.offset == 0


def test_a_reset_restores_the_start_with_the_same_topic_ids() -> None:
    found = broker()
    first = found.cluster.topics.get("orders")
    assert first is not None
    found.cluster.topics.delete_topic("orders")
    found.reset_to_initial_state()
    again = found.cluster.topics.get("orders")
    assert again is not None
    assert again.topic_id == first.topic_id


@pytest.mark.asyncio
async def test_a_reset_disconnects_clients_which_can_reconnect() -> None:
    request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=1000)
    async with serving() as found:
        async with connected(found) as wire:
            response = await wire.ask(ApiKey.INIT_PRODUCER_ID, 4, request)
            assert (response.error_code, response.producer_id) == (ErrorCode.NONE, 0)
            found.reset_to_initial_state()
            assert await wire.is_closed()
        await asyncio.sleep(0)
        async with connected(found) as wire:
            response = await wire.ask(ApiKey.INIT_PRODUCER_ID, 4, request)
            assert response.producer_id == 0


def test_records_of_groups_are_restored_once() -> None:
    found = broker()
    ends = []
    for _ in range(2):
        partition = found.cluster.coordinators.coordinator_partition_creating_topic(
            KeyType.GROUP, "billing"
        )
        ends.append(partition.log.end_offset)
        found.restore_snapshot(found.take_snapshot())
    assert ends == [1, 1]
    found.reset_to_initial_state()
    partition = found.cluster.coordinators.coordinator_partition_creating_topic(
        KeyType.GROUP, "billing"
    )
    assert partition.log.end_offset == 1  # of the seed

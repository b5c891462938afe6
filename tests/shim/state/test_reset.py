"""After a reset, nothing of the earlier state has any effect."""

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.init_producer_id import InitProducerIdRequest
from kafka_shim.shim.broker import Broker
from kafka_shim.shim.config import Config, InitialTopic
from tests.recordings.records.batches import batch
from tests.shim.handlers.records import produce
from tests.shim.play import Stage

DAY_MS = 86_400_000


def test_a_transaction_from_before_the_reset_writes_no_marker() -> None:
    stage = Stage()
    stage.topic("t")
    response = stage.ask(ApiKey.INIT_PRODUCER_ID, 4, InitProducerIdRequest("x", 10_000))
    transactions = stage.cluster.transactions
    transactions.add_partitions("x", response.producer_id, response.producer_epoch, [("t", 0)])
    stage.cluster.reset_to_initial_state()
    stage.topic("t")
    stage.clock.advance(DAY_MS)
    assert stage.found("t").partitions[0].log.end_offset == 0


def test_no_timer_from_before_the_reset_fires() -> None:
    stage = Stage()
    stage.topic("t", configs={"retention.ms": "1000"})
    produce(stage, "t", records=batch([b"a"], times=[stage.clock.now_ms()]))
    stage.ask(ApiKey.INIT_PRODUCER_ID, 4, InitProducerIdRequest("x", 10_000))
    stage.cluster.transactions.add_partitions("x", 0, 0, [("t", 0)])
    stage.cluster.groups.get_or_create_classic_group("g")
    stage.cluster.reset_to_initial_state()
    before = stage.clock.fired_timers
    stage.clock.advance(DAY_MS)
    assert stage.clock.fired_timers == before + 1  # `advance` itself counts


def test_topics_of_the_configuration_keep_their_ids() -> None:
    """A client that goes on after the reset is denied at once: it has no unknown topic id."""

    def topic_id() -> bytes:
        topic = broker.cluster.topics.get("orders")
        assert topic is not None
        return topic.topic_id

    broker = Broker(Config(topics=(InitialTopic("orders", 1),)))
    before = topic_id()
    broker.reset_to_initial_state()
    assert topic_id() == before

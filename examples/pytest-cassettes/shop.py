"""What is tested: a shop that creates its topic, publishes orders and adds them up."""

from collections.abc import Iterable

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic


def create_topic(config: dict[str, object], topic: str) -> None:
    """Create the topic; raise KafkaException if it exists."""
    admin = AdminClient(config)
    admin.create_topics([NewTopic(topic, num_partitions=1, replication_factor=1)])[topic].result()


def publish(config: dict[str, object], topic: str, orders: Iterable[str]) -> list[int]:
    """Return the offsets of the published orders; raise KafkaException if one was rejected."""
    offsets: list[int] = []
    errors: list[KafkaError] = []

    def delivered(error, message):
        if error is not None:
            errors.append(error)
        else:
            offsets.append(message.offset())

    producer = Producer(config)
    for order in orders:
        producer.produce(topic, value=order, on_delivery=delivered)
    producer.flush()
    if errors:
        raise KafkaException(errors[0])
    return offsets


def total(config: dict[str, object], topic: str, group: str, count: int) -> int:
    """Return the sum of the next orders of a group, whose offsets are then committed."""
    settings = {"auto.offset.reset": "earliest", "enable.auto.commit": False, "group.id": group}
    consumer = Consumer({**config, **settings})
    consumer.subscribe([topic])
    amounts = []
    while len(amounts) < count:
        message = consumer.poll(10)
        if message is None:
            raise TimeoutError(f"{len(amounts)} of {count} orders in {topic}")
        amounts.append(int(message.value()))
    last = TopicPartition(topic, message.partition(), message.offset() + 1)
    consumer.commit(offsets=[last], asynchronous=False)
    consumer.close()
    return sum(amounts)

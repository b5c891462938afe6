"""What is tested: a small publisher of orders, built on confluent-kafka."""

from collections.abc import Iterable

from confluent_kafka import KafkaError, KafkaException, Message, Producer

TOPIC = "orders"


class NotAllowedError(Exception):
    """The service lacks permission; an operator has to act, a retry does not help."""


class Publisher:
    """Publishes orders, one at a time, and knows how many arrived."""

    def __init__(self, config: dict[str, object]) -> None:
        self._producer = Producer({"linger.ms": 0, "enable.idempotence": True, **config})
        self._error: KafkaError | None = None
        self.published = 0

    def publish(self, order: str) -> None:
        """Returns once the order is stored. Raises NotAllowedError, or KafkaException."""
        self._error = None
        try:
            self._producer.produce(TOPIC, order.encode(), on_delivery=self._delivered)
            self._producer.flush()
        except KafkaException as error:
            self._error = error.args[0]
        if self._error is None:
            return
        if self._error.code() == KafkaError.TOPIC_AUTHORIZATION_FAILED:
            raise NotAllowedError(f"this service may not write to {TOPIC}")
        raise KafkaException(self._error)

    def publish_all(self, orders: Iterable[str]) -> list[str]:
        """Publishes until permission is missing; the orders that are left."""
        left = list(orders)
        while left:
            try:
                self.publish(left[0])
            except NotAllowedError:
                break
            left.pop(0)
        return left

    def _delivered(self, error: KafkaError | None, _: Message) -> None:
        self._error = error
        self.published += error is None

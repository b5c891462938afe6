"""The pins of clients are read from the files that pin them; newer ones need the network."""

from tests.clients.pins import NEWEST, driver_pins, suite_pins


def test_every_client_has_a_pin() -> None:
    packages = {(pin.registry, pin.package) for pin in driver_pins()}
    assert packages >= {
        ("PyPI", "confluent-kafka"),
        ("PyPI", "kafka-python"),
        ("PyPI", "aiokafka"),
        ("Go", "github.com/IBM/sarama"),
        ("Go", "github.com/segmentio/kafka-go"),
        ("Go", "github.com/twmb/franz-go"),
        ("Go", "github.com/twmb/franz-go/pkg/kfake"),
        ("npm", "@platformatic/kafka"),
        ("npm", "kafkajs"),
        ("crates.io", "rdkafka"),
    }


def test_every_pin_has_a_registry() -> None:
    assert {pin.registry for pin in (*driver_pins(), *suite_pins())} == set(NEWEST)

"""The suites by name."""

from collections.abc import Callable
from dataclasses import dataclass

from tests.suites import kafka_go, kafka_python, kgo, kombu, librdkafka, sarama
from tests.suites.broker import Broker, Needs, running
from tests.suites.go_projects import GOKA, WATERMILL
from tests.suites.kafka import jars as kafka_jars, running as kafka
from tests.suites.kafka_tools import running as kafka_tools
from tests.suites.outcome import Result
from tests.suites.rust_projects import RDKAFKA, RDKAFKA_NEEDS, RSKAFKA, RSKAFKA_NEEDS, SAMSA
from tests.suites.vertx import running as vertx


@dataclass(frozen=True)
class Suite:
    """A suite.

    `play` takes the side (`shim` or `real`), the release, and a pattern of tests (empty: all tests
    that can run here), and returns the results.
    """

    about: str
    version: str
    play: Callable[[str, str, str], list[Result]]


def _suite(
    about: str, version: str, needs: Needs, run: Callable[[Broker, str], list[Result]]
) -> Suite:
    """Return a suite that runs against one broker."""

    def play(against: str, release: str, only: str) -> list[Result]:
        with running(against, release, needs) as broker:
            return run(broker, only)

    return Suite(about, version, play)


def _librdkafka(about: str, needs: Needs, run: Callable[[Broker, str], list[Result]]) -> Suite:
    return _suite(f"librdkafka: {about}", librdkafka.VERSION, needs, run)


SUITES = {
    "kafka": Suite(
        "Kafka's own integration tests, each with its own brokers",
        kafka_jars.VERSION,
        kafka.play,
    ),
    "kgo": _suite(
        "franz-go: the client's tests that connect to a broker", kgo.VERSION, kgo.NEEDS, kgo.run
    ),
    "kafka-go": _suite(
        "segmentio/kafka-go: all its tests", kafka_go.VERSION, kafka_go.NEEDS, kafka_go.run
    ),
    "kafka-python": _suite(
        "kafka-python: integration tests",
        kafka_python.VERSION,
        kafka_python.NEEDS,
        kafka_python.run,
    ),
    "sarama": _suite("IBM/sarama: functional tests", sarama.VERSION, sarama.NEEDS, sarama.run),
    "rust-rdkafka": _suite(
        "rust-rdkafka: integration tests", RDKAFKA.version, RDKAFKA_NEEDS, RDKAFKA.run
    ),
    "rskafka": _suite(
        "rskafka: integration tests that need no JVM", RSKAFKA.version, RSKAFKA_NEEDS, RSKAFKA.run
    ),
    "samsa": _suite(
        "samsa: integration tests that need no Redpanda", SAMSA.version, Needs(), SAMSA.run
    ),
    "goka": _suite("lovoo/goka: system tests", GOKA.version, Needs(), GOKA.run),
    "watermill": _suite(
        "watermill-kafka: all its tests",
        WATERMILL.version,
        Needs(settings={"num.partitions": "1"}),
        WATERMILL.run,
    ),
    "vertx": Suite("Vert.x's Kafka client: all its tests", vertx.VERSION, vertx.play),
    "kombu": _suite("kombu: integration tests", kombu.VERSION, Needs(), kombu.run),
    "kafka-tools": _suite(
        "Kafka's command-line tools, compared with their output on a real broker",
        "4.3.1",
        kafka_tools.NEEDS,
        kafka_tools.run,
    ),
    "librdkafka": _librdkafka(
        "every test that needs a broker, in quick mode", librdkafka.NEEDS, librdkafka.for_quick
    ),
    "librdkafka-txn": _librdkafka(
        "transactions, idempotent producers", librdkafka.NEEDS, librdkafka.for_transactions
    ),
    "librdkafka-acl": _librdkafka(
        "administration and ACLs, with denials for the test's own user",
        librdkafka.NEEDS,
        librdkafka.for_acls,
    ),
    "librdkafka-acl-sasl": _librdkafka(
        "authorized operations, logged in",
        librdkafka.NEEDS_FOR_ACLS_LOGGED_IN,
        librdkafka.for_acls_logged_in,
    ),
    "librdkafka-share": _librdkafka(
        "share groups", librdkafka.NEEDS_FOR_SHARE, librdkafka.for_share
    ),
    "librdkafka-sasl": _librdkafka(
        "re-authentication", librdkafka.NEEDS_FOR_LOGIN, librdkafka.for_login
    ),
}

"""The kinds of scenarios that real brokers are recorded with."""

import time
from collections.abc import Mapping
from typing import Final

from tests.oracle.metrics_receiver import SETTINGS as RECEIVER, receiver_classes
from tests.oracle.real_kafka import RealKafka, numbers
from tests.recordings.groups import recording as groups
from tests.recordings.groups.peers import RealBroker as GroupsBroker
from tests.recordings.recorder import Kind
from tests.recordings.records import recording as records
from tests.recordings.records.peers import RealBroker as RecordsBroker
from tests.recordings.store import Steps
from tests.recordings.telemetry import recording as telemetry

QUICK_CLEANER: Final = {"log.cleaner.backoff.ms": "200"}
ASSIGNING_KINDS: Final = ("consumer", "share", "streams")


def _with_quick_cleaner(release: str, settings: Mapping[str, str]) -> RealKafka:
    return RealKafka(release, "none", {**QUICK_CLEANER, **settings})


def _with_delays(release: str, settings: Mapping[str, str]) -> RealKafka:
    """Return a broker whose delays are Kafka's defaults, where brokers of tests have none."""
    delays = {}
    if numbers(release) >= (4, 2):
        delays["group.streams.initial.rebalance.delay.ms"] = "3000"
    if numbers(release) >= (4, 3):
        delays |= {f"group.{kind}.assignment.interval.ms": "1000" for kind in ASSIGNING_KINDS}
    return RealKafka(release, "none", {**QUICK_CLEANER, **delays, **settings})


def _with_receiver(release: str, settings: Mapping[str, str]) -> RealKafka:
    return RealKafka(release, settings={**RECEIVER, **settings}, classes=receiver_classes(release))


def _played_now(name: str, peer: RecordsBroker) -> Steps:
    return records.played(name, peer, lambda: time.time_ns() // 1_000_000)


KINDS: Final = {
    "records": Kind(
        records.RECORDINGS,
        records.SCENARIOS,
        _with_quick_cleaner,
        lambda kafka: RecordsBroker(kafka.release, kafka.plain_port),
        _played_now,
    ),
    "groups": Kind(
        groups.RECORDINGS,
        groups.SCENARIOS,
        _with_delays,
        lambda kafka: GroupsBroker(kafka.release, kafka.plain_port),
        groups.played,
        groups.SETTINGS,
    ),
    "telemetry": Kind(
        telemetry.RECORDINGS,
        telemetry.NAMED,
        _with_receiver,
        telemetry.KafkaWithReceiver,
        telemetry.played,
    ),
}

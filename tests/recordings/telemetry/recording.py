"""What real brokers with a receiver answered, and what it received: one file a release."""

import re
from pathlib import Path
from typing import Any, Protocol

from tests.oracle.real_kafka import RealKafka
from tests.recordings.groups.peers import InProcess, RealBroker
from tests.recordings.store import Recordings, Steps
from tests.recordings.telemetry.scenarios import SCENARIOS
from tests.recordings.telemetry.telemetry_play import TelemetryPlay

RECEIVED = re.compile(r"^pushed (\S+) by \S+, ([\w ]+), (\d+) bytes", re.MULTILINE)
RECORDINGS = Recordings(Path(__file__).parent / "recorded", ".json")


class Receiving(Protocol):
    """A peer that tells what its receiver was given: client, `terminating` or not, bytes."""

    def received(self) -> list[list[str]]: ...


class ShimWithReceiver(InProcess):
    def __init__(self, release: str) -> None:
        super().__init__(release, properties={"shim.client.telemetry": "true"})

    def received(self) -> list[list[str]]:
        return [
            [
                push.client.client_instance_id,
                "terminating" if push.is_terminating else "going on",
                str(
                    push.bytes_sent if push.bytes_decompressed is None else push.bytes_decompressed
                ),
            ]
            for push in self.stage.cluster.telemetry[1].pushes
        ]


class KafkaWithReceiver(RealBroker):
    def __init__(self, kafka: RealKafka) -> None:
        super().__init__(kafka.release, kafka.plain_port)
        self._log = kafka.folder / "kafka.Kafka.log"

    def received(self) -> list[list[str]]:
        return [list(found) for found in RECEIVED.findall(self._log.read_text())]


NAMED = {scenario.__name__: scenario for scenario in SCENARIOS}


def played(name: str, peer: Any) -> Steps:
    """The answers to a scenario, and at its end what the receiver was given meanwhile."""
    play = TelemetryPlay(name, peer)
    before = len(peer.received())
    NAMED[name](play)
    return [*play.steps, ("received", peer.received()[before:])]

"""What real brokers with a receiver answered, and what it received: one file a release.

`python -m tests.shim.telemetry.recording 4.3.1` records one anew; it needs Java and Maven.
"""

import re
import sys
from pathlib import Path
from typing import Any, Protocol

import msgspec

from tests.oracle.metrics_receiver import SETTINGS, receiver_classes
from tests.oracle.real_kafka import RealKafka
from tests.shim.group_answers.peers import InProcess, RealBroker
from tests.shim.telemetry.scenarios import SCENARIOS
from tests.shim.telemetry.telemetry_play import TelemetryPlay

FOLDER = Path(__file__).parent / "recorded"
RECEIVED = re.compile(r"^pushed (\S+) by \S+, ([\w ]+), (\d+) bytes", re.MULTILINE)
Steps = list[tuple[str, Any]]


def releases() -> list[str]:
    return sorted(path.name.removesuffix(".json") for path in FOLDER.glob("*.json"))


def load(release: str) -> dict[str, Steps]:
    return msgspec.json.decode((FOLDER / f"{release}.json").read_bytes(), type=dict[str, Steps])


class Receiving(Protocol):
    """A peer that tells what its receiver was given: client, `terminating` or not, bytes."""

    def received(self) -> list[list[str]]: ...


class ShimWithReceiver(InProcess):
    def __init__(self, release: str) -> None:
        super().__init__(release, properties={"shim.client.telemetry": "true"})

    def received(self) -> list[list[str]]:
        return [
            [
                one.client.client_instance_id,
                "terminating" if one.is_terminating else "going on",
                str(one.bytes_sent if one.bytes_decompressed is None else one.bytes_decompressed),
            ]
            for one in self.stage.cluster.telemetry[1].pushes
        ]


class KafkaWithReceiver(RealBroker):
    def __init__(self, kafka: RealKafka) -> None:
        super().__init__(kafka.release, kafka.plain_port)
        self._log = kafka.folder / "kafka.Kafka.log"

    def received(self) -> list[list[str]]:
        return [list(found) for found in RECEIVED.findall(self._log.read_text())]


def played(name: str, peer: Any) -> Steps:
    """The answers to a scenario, and at its end what the receiver was given meanwhile."""
    play = TelemetryPlay(name, peer)
    before = len(peer.received())
    {one.__name__: one for one in SCENARIOS}[name](play)
    return [*play.steps, ("received", peer.received()[before:])]


def record(release: str) -> None:
    with RealKafka(release, settings=SETTINGS, classes=receiver_classes(release)) as kafka:
        peer = KafkaWithReceiver(kafka)
        answers = {one.__name__: played(one.__name__, peer) for one in SCENARIOS}
    FOLDER.mkdir(exist_ok=True)
    text = msgspec.json.format(msgspec.json.encode(answers), indent=0)
    (FOLDER / f"{release}.json").write_bytes(text)


if __name__ == "__main__":
    for one in sys.argv[1:]:
        record(one)

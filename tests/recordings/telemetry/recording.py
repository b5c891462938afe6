"""Records responses of real brokers with a metrics receiver, and the received metrics."""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.oracle.metrics_receiver import SETTINGS, receiver_classes
from tests.oracle.real_kafka import RealKafka
from tests.recordings.peers.connecting import real
from tests.recordings.peers.in_process import InProcess
from tests.recordings.peers.peer import Peer
from tests.recordings.recorder import Kind
from tests.recordings.store import Recordings, Steps
from tests.recordings.telemetry.scenarios import SCENARIOS
from tests.recordings.telemetry.telemetry_play import TelemetryPlay

RECEIVED = re.compile(r"^pushed (\S+) by \S+, ([\w ]+), (\d+) bytes", re.MULTILINE)
NAMED = {scenario.__name__: scenario for scenario in SCENARIOS}


class Receiving(NamedTuple):
    """A peer, and the metrics that its receiver got: client, whether terminating, bytes."""

    peer: Peer
    received: Callable[[], list[list[str]]]


def shim_with_receiver(release: str, mode: str, settings: Mapping[str, str]) -> Receiving:
    """Return the shim with a receiver in place of the Java class."""
    peer = InProcess(release, mode, {"shim.client.telemetry": "true"})

    def received() -> list[list[str]]:
        return [
            [
                push.client.client_instance_id,
                "terminating" if push.is_terminating else "going on",
                str(
                    push.bytes_sent if push.bytes_decompressed is None else push.bytes_decompressed
                ),
            ]
            for push in peer.stage.cluster.telemetry[1].pushes
        ]

    return Receiving(peer, received)


@contextmanager
def kafka_with_receiver(kafka: RealKafka) -> Iterator[Receiving]:
    log = kafka.folder / "kafka.Kafka.log"
    with real(kafka) as peer:
        yield Receiving(peer, lambda: [list(push) for push in RECEIVED.findall(log.read_text())])


def start(release: str, mode: str, settings: Mapping[str, str]) -> RealKafka:
    return RealKafka(release, mode, settings, classpath=str(receiver_classes(release)))


def played(name: str, receiving: Receiving) -> Steps:
    """Return the responses in a scenario, followed by the metrics that the receiver got."""
    play = TelemetryPlay(name, receiving.peer)
    before = len(receiving.received())
    NAMED[name](play)
    return [*play.steps, ("received", receiving.received()[before:])]


KIND = Kind(
    Recordings(Path(__file__).parent / "recorded", ".json"),
    lambda release: NAMED,
    played,
    settings=lambda release: SETTINGS,
    mode="authorizer",
    start=start,
    connect=kafka_with_receiver,
    shim=shim_with_receiver,
)

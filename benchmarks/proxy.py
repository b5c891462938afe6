"""The cost of `kafka-shim proxy`: requests and librdkafka through it, and without it.

    python -m benchmarks.proxy [--check] [--json]

A broker and a proxy in front of it run in their own processes. A client sends the same requests
directly and through the proxy in turn, so that other load of the machine affects both: with five
requests in flight, the default of Java's producer, and with 64. librdkafka writes and reads records
of 1 KiB both ways, too.
"""

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, Producer, TopicPartition

from benchmarks.broker import COMMAND, Broker, Server, framed, requests
from benchmarks.command import finish, parse_arguments
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic

ROUNDS = 5
WINDOWS = (5, 64)
REQUESTS = 1_600
RECORDS = 30_000
RECORD = b"x" * 1024
TOPIC = "records"
RATE_LEFT = {"5": 0.1, "64": 0.1, "librdkafka": 0.4}
"""Goals: the least share of the rate without the proxy. It is least for repeated reads, which the
broker answers from its cache, while the proxy records each and replaces addresses.
"""


class Proxy(Server):
    """A proxy process in front of a broker, and one connection to it."""

    def __init__(self, broker: Broker, trace: Path) -> None:
        upstream = "{}:{}".format(*broker.address)
        words = ("proxy", "--upstream", upstream, "--record", str(trace))
        child = subprocess.Popen([*COMMAND, *words], stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None
        super().__init__(child, child.stdout.readline().split(" on ")[1].partition(",")[0])


def measure() -> dict[str, dict[str, float]]:
    """Return medians of the rates through the proxy, as shares of those without it, and the
    proxy's processor time of a request or record in microseconds.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        kept = "log.retention.check.interval.ms=3600000"
        broker = Broker(folder, "--topic", TOPIC, "-c", kept)
        proxy = Proxy(broker, folder / "trace")
        try:
            return _requests(broker, proxy) | _records(broker, proxy)
        finally:
            proxy.stop()
            broker.stop()


def _requests(broker: Broker, proxy: Proxy) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for kind, frame in (requests() | {"Fetch of 10": _fetch()}).items():
        found[kind] = {}
        for window in WINDOWS:
            pairs = [
                (broker.play(frame, REQUESTS, window), proxy.play(frame, REQUESTS, window))
                for _ in range(ROUNDS)
            ]
            rates = [direct.clock / through.clock for direct, through in pairs[1:]]
            found[kind][str(window)] = statistics.median(rates)
            processor = statistics.median(through.processor for _, through in pairs[1:])
            found[kind][f"{window} us"] = processor * 1e6
    return found


def _fetch() -> bytes:
    """Return a Fetch of the first batch of the topic, which has ten records."""
    partition = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1)
    topic = FetchTopic(topic="orders", partitions=[partition])
    return framed(ApiKey.FETCH, 12, FetchRequest(max_wait_ms=0, min_bytes=0, topics=[topic]))


def _records(broker: Broker, proxy: Proxy) -> dict[str, dict[str, float]]:
    rates: dict[str, list[float]] = {"librdkafka in": [], "librdkafka out": []}
    processor: dict[str, list[float]] = {name: [] for name in rates}
    for _ in range(ROUNDS):
        for name, client in (("librdkafka in", _write), ("librdkafka out", _read)):
            direct = client(broker)
            before = proxy.processor_s()
            rates[name].append(direct / client(proxy))
            processor[name].append((proxy.processor_s() - before) / RECORDS * 1e6)
    return {
        name: {
            "librdkafka": statistics.median(rates[name][1:]),
            "librdkafka us": statistics.median(processor[name][1:]),
        }
        for name in rates
    }


def _settings(server: Server) -> dict[str, Any]:
    return {"bootstrap.servers": "{}:{}".format(*server.address), "log_level": 0}


def _write(server: Server) -> float:
    """Return the seconds in which librdkafka writes the records."""
    producer = Producer(_settings(server) | {"linger.ms": 5, "queue.buffering.max.messages": 10**6})
    producer.list_topics(timeout=20)
    began = time.monotonic()
    for _ in range(RECORDS):
        producer.produce(TOPIC, RECORD)
    assert producer.flush(120) == 0
    return time.monotonic() - began


def _read(server: Server) -> float:
    """Return the seconds in which librdkafka reads the newest records."""
    consumer = Consumer(_settings(server) | {"group.id": "g", "enable.auto.commit": False})
    partition = TopicPartition(TOPIC, 0)
    _, end = consumer.get_watermark_offsets(partition, timeout=20)
    partition.offset = end - RECORDS
    consumer.assign([partition])
    began, count = time.monotonic(), 0
    while count < RECORDS:
        count += len(consumer.consume(10_000, timeout=1))
    seconds = time.monotonic() - began
    consumer.close()
    return seconds


def main() -> int:
    options = parse_arguments(__doc__)
    found = measure()
    lines = ["| what | in flight | rate left | processor us of the proxy |", "|---|---|---|---|"]
    missed = []
    for kind, figures in found.items():
        for load in (name for name in RATE_LEFT if name in figures):
            left = figures[load]
            flight = load if load.isdecimal() else ""
            lines.append(f"| {kind} | {flight} | {left:.0%} | {figures[f'{load} us']:.1f} |")
            if left < RATE_LEFT[load]:
                missed.append(f"{left:.0%} of the rate of {kind} left, goal {RATE_LEFT[load]:.0%}")
    return finish(options, found, "\n".join(lines), missed)


if __name__ == "__main__":
    sys.exit(main())

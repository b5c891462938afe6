"""The cost of idle connections: 10,000 clients that have sent ApiVersions and wait.

    python -m benchmarks.connections [--connections N] [--check] [--json]

The broker runs in its own process. Its resident memory and processor time are measured before and
after the connections are opened. Then the response time for one more client is measured.
"""

import resource
import socket
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.broker import Broker, ask_versions
from benchmarks.command import finish, parse_arguments

CONNECTIONS = 10_000
KIB_MAX = 16
SPARE_FILES = 200
IDLE_S = 5.0


def measure(count: int) -> dict[str, float]:
    """Return the memory per connection, the idle load, and the time of a response beside them."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, count + SPARE_FILES), hard))
    with tempfile.TemporaryDirectory() as name:
        broker = Broker(Path(name))
        peers: list[socket.socket] = []
        try:
            alone = answer_s(broker)
            before = resident_kib(broker)
            began = time.monotonic()
            for _ in range(count):
                peer = socket.create_connection(broker.address, 30)
                ask_versions(peer)
                peers.append(peer)
            opened_s = time.monotonic() - began
            held = resident_kib(broker) - before
            began_cpu = broker.processor_s()
            time.sleep(IDLE_S)
            idle = (broker.processor_s() - began_cpu) / IDLE_S
            offload = answer_s(broker)
            asked = [is_served(peer) for peer in peers[:: max(1, count // 100)]]
        finally:
            for peer in peers:
                peer.close()
            broker.stop()
    return {
        "connections": count,
        "KiB a connection": held / count,
        "connections a second": count / opened_s,
        "load when idle": idle,
        "answer alone us": alone * 1e6,
        "answer beside all us": offload * 1e6,
        "still served": sum(asked) / len(asked),
    }


def is_served(peer: socket.socket) -> bool:
    try:
        ask_versions(peer)
    except OSError:
        return False
    return True


def answer_s(broker: Broker) -> float:
    """Return the seconds from a request to its response, on a new connection; the best of many."""
    with socket.create_connection(broker.address, 30) as peer:
        taken = []
        for _ in range(300):
            began = time.perf_counter()
            ask_versions(peer)
            taken.append(time.perf_counter() - began)
    return min(taken)


def resident_kib(broker: Broker) -> int:
    pages = int(Path(f"/proc/{broker.child.pid}/statm").read_text().split()[1])
    return pages * resource.getpagesize() // 1024


def main() -> int:
    options = parse_arguments(__doc__, connections=(CONNECTIONS, "how many wait"))
    found = measure(options.connections)
    missed = []
    if found["KiB a connection"] > KIB_MAX:
        missed.append(f"a connection takes {found['KiB a connection']:.1f} KiB, goal {KIB_MAX}")
    if found["still served"] < 1:
        missed.append(f"only {found['still served']:.0%} of the connections are still served")
    text = "\n".join(f"{name:<24} {value:>12,.2f}" for name, value in found.items())
    return finish(options, found, text, missed)


if __name__ == "__main__":
    sys.exit(main())

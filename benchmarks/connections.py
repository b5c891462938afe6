"""What an idle connection costs: 10,000 clients that have asked for ApiVersions and wait.

    python benchmarks/connections.py [--connections N] [--check] [--json]

The broker runs in a process of its own; its resident memory and processor time are read before and
after. Then one more client is served while all the others are there.
"""

import argparse
import json
import resource
import socket
import sys
import tempfile
import time
from pathlib import Path

from recording import Broker, framed

from protocol.enums import ApiKey
from protocol.messages.api_versions_request import ApiVersionsRequest

CONNECTIONS = 10_000
KIB_MAX = 16
SPARE_FILES = 200
IDLE_S = 5.0


def measure(count: int) -> dict[str, float]:
    """Memory of a connection, the idle load of all, and an answer beside them."""
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
                ask(peer)
                peers.append(peer)
            opened_s = time.monotonic() - began
            held = resident_kib(broker) - before
            began_cpu = broker.processor_s()
            time.sleep(IDLE_S)
            idle = (broker.processor_s() - began_cpu) / IDLE_S
            beside = answer_s(broker)
            still = sum(is_served(peer) for peer in peers[:: max(1, count // 100)])
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
        "answer beside all us": beside * 1e6,
        "of 100 still served": still,
    }


def ask(peer: socket.socket) -> None:
    """One request, its answer read whole."""
    peer.sendall(REQUEST)
    size = int.from_bytes(peer.recv(4, socket.MSG_WAITALL), "big")
    assert len(peer.recv(size, socket.MSG_WAITALL)) == size


def is_served(peer: socket.socket) -> bool:
    try:
        ask(peer)
    except OSError:
        return False
    return True


def answer_s(broker: Broker) -> float:
    """Seconds from a request to its answer, on a connection of its own; the best of many."""
    with socket.create_connection(broker.address, 30) as peer:
        taken = []
        for _ in range(300):
            began = time.perf_counter()
            ask(peer)
            taken.append(time.perf_counter() - began)
    return min(taken)


def resident_kib(broker: Broker) -> int:
    pages = int(Path(f"/proc/{broker.child.pid}/statm").read_text().split()[1])
    return pages * resource.getpagesize() // 1024


REQUEST = framed(ApiKey.API_VERSIONS, 3, ApiVersionsRequest("bench", "1"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--connections", type=int, default=CONNECTIONS)
    parser.add_argument("--check", action="store_true", help="exit 3 when a goal is missed")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    found = measure(args.connections)
    if args.json:
        print(json.dumps(found))
    else:
        print("\n".join(f"{name:<24} {value:>12,.2f}" for name, value in found.items()))
    missed = found["KiB a connection"] > KIB_MAX or found["of 100 still served"] < 100
    return 3 if args.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())

"""A flood of abandoned TLS handshakes, and a normal client at the same time.

    python -m benchmarks.handshakes [--seconds N] [--check] [--json]

The flood runs in its own process: it connects as fast as it can, sends only a ClientHello, and
keeps 3,000 connections open. The normal client repeatedly connects and sends ApiVersions.
"""

import contextlib
import multiprocessing
import os
import resource
import socket
import ssl
import statistics
import sys
import tempfile
import time
from collections import deque
from pathlib import Path
from typing import Any

from benchmarks.broker import framed
from benchmarks.command import finish, parse_arguments
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.api_versions import ApiVersionsRequest
from kafka_shim.testing.broker_start import start

SECONDS = 20
HELD = 3_000
PAUSE_S = 0.1
MIB_MAX = 256
"""Goal: maximal growth of the broker's memory."""
REQUEST = framed(ApiKey.API_VERSIONS, 3, ApiVersionsRequest("bench", "1"))
_FORK = multiprocessing.get_context("fork")
Address = tuple[str, int]


def hello(context: ssl.SSLContext) -> bytes:
    """Return a ClientHello."""
    outgoing = ssl.MemoryBIO()
    tls = context.wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname="localhost")
    with contextlib.suppress(ssl.SSLWantReadError):
        tls.do_handshake()
    return outgoing.read()


def flood(address: Address, data: bytes, begun: Any) -> None:
    held: deque[socket.socket] = deque()
    while True:
        with contextlib.suppress(OSError):
            held.append(socket.create_connection(address, 5))
            held[-1].sendall(data)
            begun.value += 1
        if len(held) > HELD:
            held.popleft().close()


def honest_s(address: Address, context: ssl.SSLContext) -> float:
    """Return the seconds for a handshake and a request."""
    began = time.monotonic()
    with (
        socket.create_connection(address, 30) as peer,
        context.wrap_socket(peer, server_hostname="localhost") as tls,
        tls.makefile("rb") as responses,
    ):
        tls.sendall(REQUEST)
        size = int.from_bytes(responses.read(4), "big")
        if not size or len(responses.read(size)) != size:
            raise ConnectionError("the broker closed the connection")
    return time.monotonic() - began


def measure(seconds: int) -> dict[str, float]:
    """Return the normal client's times and failures, and the broker's memory."""
    with tempfile.TemporaryDirectory() as folder, start(tls=folder, log_level="error") as broker:
        host, _, port = broker.listeners["SSL"].rpartition(":")
        address = host, int(port)
        context = ssl.create_default_context(cafile=f"{folder}/ca.pem")
        alone_s = honest_s(address, context)
        (pid,) = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
        before = resident_mib(pid)
        begun = _FORK.Value("q", 0)
        hostile = _FORK.Process(target=flood, args=(address, hello(context), begun), daemon=True)
        hostile.start()
        times, failed, end_s = [], 0, time.monotonic() + seconds
        while time.monotonic() < end_s:
            try:
                times.append(honest_s(address, context))
            except OSError:
                failed += 1
            time.sleep(PAUSE_S)
        grown = resident_mib(pid) - before
        hostile.kill()
        hostile.join()
    return {
        "handshakes begun": begun.value,
        "alone, s": alone_s,
        "median, s": statistics.median(times or [seconds]),
        "longest, s": max(times, default=seconds),
        "served": len(times),
        "failed": failed,
        "MiB more": grown,
    }


def resident_mib(pid: str) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def main() -> int:
    options = parse_arguments(__doc__, seconds=(SECONDS, "how long"))
    figures = measure(options.seconds)
    missed = [f"{figures['failed']:.0f} honest handshakes failed"] if figures["failed"] else []
    if figures["MiB more"] > MIB_MAX:
        missed.append(f"{figures['MiB more']:.0f} MiB more, above {MIB_MAX}")
    lines = [f"{name:<17} {value:10.3f}" for name, value in figures.items()]
    return finish(options, figures, "\n".join(lines), missed)


if __name__ == "__main__":
    sys.exit(main())

"""Runs IBM/sarama's functional tests, which connect to the broker through toxiproxy.

The tests expect five brokers with a proxy each; here all five proxies forward to the same broker.
It returns its own address to clients, so that only the first requests go through a proxy.
"""

import json
import os
import re
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.oracle.real_kafka import free_ports
from tests.suites.broker import Broker, Needs
from tests.suites.cache import SuiteError, command, fetched, go_module, need, patch, run_to_file
from tests.suites.outcome import Result, of_go

VERSION = "1.60.1"
TOXIPROXY = "github.com/Shopify/toxiproxy/v2/cmd/server@v2.12.0"
NEEDS = Needs()
RUN_SECONDS = 1200
START_SECONDS = 20
BROKERS = 5

LEFT_OUT = {
    "TestConsumerFetchFollowerFailover": "stops brokers with Docker",
    "TestFuncTxnProduceWithBrokerFailure": "stops brokers with Docker",
    "TestFuncProducingIdempotentWithBrokerFailure": "stops brokers with Docker",
    "TestFuncAdminAlterPartitionReassignments": "moves replicas between brokers",
    "TestFuncAdminElectLeadersV1": "moves a leader between brokers",
    "TestFuncAdminDescribeLogDirs": "counts five brokers",
    "TestFuncAdminNetworkErrorClosesControllerConnection": "requires the controller behind a proxy",
    "TestFuncClientMetadata": "counts five brokers",
    "TestFuncConnectionFailure": "requires every broker behind a proxy",
    "TestFuncAdminListConsumerGroupOffsets$": "requires brokers that advertise the proxies",
    "TestFuncIdempotentBufferedSequence": "requires every broker behind a proxy",
    "TestJava": "builds a Java program with Docker",
}

_PATCHES = {
    'fmt.Sprintf("127.0.0.1:%d", 29090+i)': "proxy.ListenAddr",
    "minRequestLatencyInMs := 10": "minRequestLatencyInMs := 0",  # proxies are bypassed
    "len(partition.Isr) != 3": "len(partition.Isr) != 1",
}
_REPLICAS = re.compile(r"(ReplicationFactor: +)[23]\b")


def run(broker: Broker, only: str) -> list[Result]:
    need("go")
    folder = fetched(f"sarama-{VERSION}", _fetch)
    output = folder / "output.json"
    with _proxies(folder / "bin" / "server", broker.plaintext) as url:
        words = ["go", "test", "-json", "-count=1", "-tags=functional", f"-timeout={RUN_SECONDS}s"]
        words += ["-skip", "|".join(LEFT_OUT), "-run", only or _names(folder), "."]
        environment = {"TOXIPROXY_ADDR": url, "KAFKA_VERSION": broker.release}
        run_to_file(words, folder, environment, output, RUN_SECONDS + 60)
    return of_go(output.read_text())


def _fetch(folder: Path) -> None:
    go_module("github.com/IBM/sarama", VERSION, folder)
    command(["go", "install", TOXIPROXY], folder.parent, {"GOBIN": str(folder / "bin")})
    patch(folder, "functional*_test.go", _PATCHES)
    for path in folder.glob("functional*_test.go"):
        path.write_text(_REPLICAS.sub(r"\g<1>1", path.read_text()))


def _names(folder: Path) -> str:
    """Return a pattern of the tests in files that need a broker."""
    texts = [path.read_text() for path in folder.glob("functional*_test.go")]
    names = re.findall(r"^func (Test\w+)\(\w+ \*testing\.T\)", "".join(texts), re.MULTILINE)
    return f"^({'|'.join(sorted(names))})$"


@contextmanager
def _proxies(server: Path, upstream: str) -> Iterator[str]:
    """Run a toxiproxy with the suite's proxies on free ports; yield its URL."""
    (port,) = free_ports(1)
    url = f"http://127.0.0.1:{port}"
    child = subprocess.Popen(
        [str(server), "-host", "127.0.0.1", "-port", str(port)],
        env=os.environ | {"LOG_LEVEL": "error"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait(url)
        for number in range(1, BROKERS + 1):
            name = f"kafka{number}"
            proxy = {"name": name, "listen": "127.0.0.1:0", "upstream": upstream, "enabled": True}
            _ask(f"{url}/proxies", json.dumps(proxy).encode())
        yield url
    finally:
        child.kill()
        child.wait()


def _wait(url: str) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            return _ask(f"{url}/version")
        except urllib.error.URLError as error:
            if time.monotonic() > deadline:
                raise SuiteError(f"toxiproxy did not come up: {error}") from error
            time.sleep(0.05)


def _ask(url: str, body: bytes | None = None) -> None:
    with urllib.request.urlopen(url, body, timeout=5) as response:
        response.read()

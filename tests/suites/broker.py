"""The broker that a suite runs against: the shim, or a real Kafka with the same settings."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import trustme
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.describe_transactions import DescribeTransactionsRequest
from kafka_shim.protocol.messages.find_coordinator import FindCoordinatorRequest
from kafka_shim.testing.broker_start import start
from tests.oracle.real_kafka import START_SECONDS, RealKafka, missing_tools, settings_of
from tests.recordings.peers.peer import ROOT, ask
from tests.recordings.peers.socket_peer import SocketPeer
from tests.suites.cache import SuiteError

PLAINTEXT, SASL_PLAINTEXT, SSL = "PLAINTEXT", "SASL_PLAINTEXT", "SSL"
ANYBODY = "User:ANONYMOUS"


@dataclass(frozen=True)
class Needs:
    """What a suite requires of its broker.

    `users` can log in with PLAIN, and with SCRAM unless `scram` is False; `settings` are Kafka's
    own. With `tls` the broker has a listener SSL in addition to PLAINTEXT and SASL_PLAINTEXT.
    """

    super_users: tuple[str, ...] = (ANYBODY, "User:admin")
    users: Mapping[str, str] = field(default_factory=lambda: {"admin": "admin-secret"})
    settings: Mapping[str, str] = field(default_factory=dict)
    scram: bool = True
    tls: bool = False
    broker_id: int = 1


@dataclass(frozen=True)
class Broker:
    """A running broker: HOST:PORT of each listener, and the file with the CA of its certificate."""

    release: str
    listeners: Mapping[str, str]
    authority: Path | None

    @property
    def plaintext(self) -> str:
        return self.listeners[PLAINTEXT]

    @property
    def sasl_plaintext(self) -> str:
        return self.listeners[SASL_PLAINTEXT]


@contextmanager
def running(against: str, release: str, needs: Needs) -> Iterator[Broker]:
    """Run a broker for the block; `against` is `shim` or `real`."""
    with TemporaryDirectory(prefix="kafka-suite-") as name:
        folder = Path(name)
        settings = _settings(release, needs)
        if needs.tls:
            settings |= _certificates(folder)
        opening = _real if against == "real" else _shim
        with opening(release, needs, settings) as listeners:
            yield Broker(release, listeners, folder / "ca.pem" if needs.tls else None)


def _settings(release: str, needs: Needs) -> dict[str, str]:
    return {
        **settings_of(release),
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
        "num.partitions": "4",
        "auto.create.topics.enable": "true",
        **needs.settings,
    }


def _certificates(folder: Path) -> dict[str, str]:
    """Create a CA, `ca.pem`; return broker settings with a certificate that it has signed."""
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(folder / "ca.pem"))
    issued = authority.issue_cert("localhost", "127.0.0.1")
    key = load_pem_private_key(issued.private_key_pem.bytes(), None)
    store = folder / "server.pem"
    chain = b"".join(blob.bytes() for blob in issued.cert_chain_pems)
    store.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()) + chain)
    return {"ssl.keystore.type": "PEM", "ssl.keystore.location": str(store)}


@contextmanager
def _shim(release: str, needs: Needs, settings: Mapping[str, str]) -> Iterator[Mapping[str, str]]:
    names = (PLAINTEXT, SASL_PLAINTEXT, SSL) if needs.tls else (PLAINTEXT, SASL_PLAINTEXT)
    with start(
        kafka_version=release,
        listeners=[f"{name}://127.0.0.1:0" for name in names],
        first_broker_id=needs.broker_id,
        super_users=needs.super_users,
        users=needs.users,
        properties=settings,
        log_level="error",
    ) as broker:
        yield broker.listeners


@contextmanager
def _real(release: str, needs: Needs, settings: Mapping[str, str]) -> Iterator[Mapping[str, str]]:
    missing = missing_tools()
    if missing:
        raise SuiteError(f"a real Kafka needs {missing}: please install it")
    with RealKafka(
        release,
        settings={
            **settings,
            "node.id": str(needs.broker_id),
            "super.users": ";".join(needs.super_users),
        },
        users=needs.users,
        scram=needs.scram,
    ) as kafka:
        _wait_for_coordinators(kafka)
        yield {PLAINTEXT: kafka.plain, SASL_PLAINTEXT: kafka.sasl, SSL: kafka.ssl}


def _wait_for_coordinators(kafka: RealKafka) -> None:
    """Wait until the topics of groups and transactions exist, since suites time out earlier."""
    finds = [FindCoordinatorRequest(key="nobody", key_type=kind) for kind in (0, 1)]
    describe = DescribeTransactionsRequest(transactional_ids=["nobody"])
    peer = SocketPeer(kafka.release, kafka.plain, kafka.sasl)
    deadline = time.monotonic() + START_SECONDS
    try:
        while time.monotonic() < deadline:
            found = [ask(peer, ROOT, ApiKey.FIND_COORDINATOR, 1, find) for find in finds]
            (state,) = ask(peer, ROOT, ApiKey.DESCRIBE_TRANSACTIONS, 0, describe).transaction_states
            known = state.error_code == ErrorCode.TRANSACTIONAL_ID_NOT_FOUND
            if known and not any(response.error_code for response in found):
                return
            time.sleep(0.5)
    finally:
        peer.close()
    raise SuiteError(f"the coordinators of kafka {kafka.release} do not come up")

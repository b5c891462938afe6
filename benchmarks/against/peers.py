"""Find out over the protocol what brokers offer: `python -m benchmarks.against.peers`.

The brokers are the shim, kfake, librdkafka's mock cluster (in a Python process) and a real Kafka.
The output is the comparison in the README.
"""

import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from struct import Struct
from typing import Any, Final

import msgspec

from benchmarks.against.brokers import Broker, kfake, real, shim
from benchmarks.against.client import Peer
from benchmarks.against.setting import ask
from benchmarks.broker import framed
from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.enums import ApiKey, Operation, PatternType, Permission, ResourceType
from kafka_shim.protocol.messages.api_versions import ApiVersionsRequest
from kafka_shim.protocol.messages.create_acls import AclCreation, CreateAclsRequest
from kafka_shim.protocol.messages.describe_acls import DescribeAclsRequest
from kafka_shim.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from kafka_shim.protocol.messages.sasl_handshake import SaslHandshakeRequest

_SIZE: Final = Struct(">i")
_MOCK: Final = """
import sys
from confluent_kafka import libversion
from confluent_kafka.admin import AdminClient
admin = AdminClient({"bootstrap.servers": "", "test.mock.num.brokers": 1})
[broker] = admin.list_topics(timeout=20).brokers.values()
print(f"{broker.host}:{broker.port} {libversion()[0]}", flush=True)
sys.stdin.read()
"""

_FEATURES: Final = (
    ApiKey.END_TXN,
    ApiKey.CONSUMER_GROUP_HEARTBEAT,
    ApiKey.SHARE_GROUP_HEARTBEAT,
    ApiKey.STREAMS_GROUP_HEARTBEAT,
)
"""The API without which a broker has no transactions, or no groups of this kind."""


class Offer(msgspec.Struct):
    """The offer of a broker; None if it does not apply."""

    name: str
    start_s: float
    resident_mib: float
    apis: int
    acls: bool
    logs_in: bool
    delegation_tokens: bool
    wrong_password: str | None
    match_filter: bool | None
    transactions: bool
    consumer_groups: bool
    share_groups: bool
    streams_groups: bool


@contextmanager
def librdkafka_mock() -> Iterator[Broker]:
    """Start librdkafka's mock cluster in a Python process that does nothing else."""
    began = time.perf_counter()
    pipe = subprocess.PIPE
    child = subprocess.Popen([sys.executable, "-c", _MOCK], stdin=pipe, stdout=pipe, text=True)
    assert child.stdout is not None
    try:
        address, version = child.stdout.readline().split()
        start_s = time.perf_counter() - began
        yield Broker("librdkafka's mock", address, [child.pid], version, start_s)
    finally:
        child.kill()
        child.communicate()


def offer(broker: Broker) -> Offer:
    """Return the offer of a broker."""
    apis = _apis(broker)
    has_acls = ApiKey.CREATE_ACLS in apis
    logs_in = ApiKey.SASL_HANDSHAKE in apis
    name = f"{broker.name} {broker.version}".strip()
    return Offer(
        name,
        round(broker.start_s, 2),
        round(broker.resident_mib()),
        len(apis),
        has_acls,
        logs_in,
        ApiKey.CREATE_DELEGATION_TOKEN in apis,
        _wrong_password(broker) if logs_in else None,
        _matches(broker) if has_acls else None,
        *(api in apis for api in _FEATURES),
    )


def _apis(broker: Broker) -> set[int]:
    with socket.create_connection(broker.address, 30) as peer:
        response = _asked(peer, ApiKey.API_VERSIONS, 2, ApiVersionsRequest())
    found: Iterable[Any] = response.api_keys
    return {api.api_key for api in found}


def _asked(peer: socket.socket, api: ApiKey, version: int, request: msgspec.Struct) -> Any:
    peer.sendall(framed(api, version, request))
    with peer.makefile("rb") as stream:
        size = stream.read(4)
        if len(size) < 4:
            raise EOFError
        response = stream.read(_SIZE.unpack(size)[0])
    return codecs.read_response(api, version, response, 4)


def _wrong_password(broker: Broker) -> str:
    """Return the reaction to a wrong password."""
    with socket.create_connection(broker.address, 30) as peer:
        _asked(peer, ApiKey.SASL_HANDSHAKE, 1, SaslHandshakeRequest("PLAIN"))
        with suppress(EOFError, OSError):
            token = SaslAuthenticateRequest(b"\0alice\0wrong")
            response = _asked(peer, ApiKey.SASL_AUTHENTICATE, 1, token)
            return f"error {response.error_code}"
    return "the connection is closed"


def _matches(broker: Broker) -> bool:
    """Return whether the filter MATCH of KIP-290 finds a prefixed ACL by a name that it covers."""
    admin = Peer(broker, "admin")
    acl = AclCreation(
        ResourceType.TOPIC,
        "ord",
        PatternType.PREFIXED,
        "User:alice",
        "*",
        Operation.READ,
        Permission.ALLOW,
    )
    wanted = DescribeAclsRequest(
        ResourceType.TOPIC, "orders", PatternType.MATCH, None, None, Operation.ANY, Permission.ANY
    )
    try:
        ask(admin, ApiKey.CREATE_ACLS, 3, CreateAclsRequest([acl]))
        deadline = time.monotonic() + 5  # a real broker applies ACLs later
        while time.monotonic() < deadline:
            if ask(admin, ApiKey.DESCRIBE_ACLS, 3, wanted).resources:
                return True
            time.sleep(0.1)
        return False
    finally:
        admin.close()


def main() -> None:
    names = [field.name for field in msgspec.structs.fields(Offer)]
    print(f"| {' | '.join(names)} |\n|{'---|' * len(names)}")
    for opened in (shim, kfake, librdkafka_mock, real):
        with opened() as broker:
            row = msgspec.structs.astuple(offer(broker))
        print(f"| {' | '.join(str(value) for value in row)} |", flush=True)


if __name__ == "__main__":
    main()

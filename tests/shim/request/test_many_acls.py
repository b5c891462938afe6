"""A million ACLs over the wire: created, listed and deleted, while others are served."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import msgspec
import pytest

from kafka_shim.authorizer.model import Acl, AclFilter
from kafka_shim.client.acls import create_acls, delete_acls, describe_acls
from kafka_shim.client.client import ClientError, connect
from kafka_shim.client.config import PLAINTEXT
from kafka_shim.protocol.enums import ApiKey, Operation
from kafka_shim.protocol.messages.api_versions import ApiVersionsRequest
from kafka_shim.testing.broker_start import start
from tests.support.acls import make_acl

PEOPLE, EACH = 1_000, 1_000
A_REQUEST = 10_000
"""A Kafka controller accepts no more changes in one request."""
PATIENT = msgspec.structs.replace(PLAINTEXT, timeout_s=240)
EVERY = AclFilter()


def acls(person: int) -> list[Acl]:
    return [
        make_acl(Operation.READ, f"topic-{person}-{number}", principal=f"User:u{person}")
        for number in range(EACH)
    ]


@contextmanager
def another_client(address: str) -> Iterator[Callable[[], int]]:
    """Run a client that repeats a small request; yield a function that counts the responses."""
    responded, ended = [0], threading.Event()

    def ask() -> None:
        with connect(address, PATIENT) as client:
            while not ended.is_set():
                client.send_request(ApiKey.API_VERSIONS, ApiVersionsRequest(), 0)
                responded[0] += 1

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        yield lambda: responded[0]
    finally:
        ended.set()
        thread.join()


@pytest.mark.heavy
@pytest.mark.timeout(600)
def test_other_clients_are_served_while_a_million_acls_are_listed_and_deleted() -> None:
    with start() as broker, connect(broker.bootstrap_servers, PATIENT) as client:
        few = A_REQUEST // EACH
        for first in range(0, PEOPLE, few):
            create_acls(client, [a for at in range(first, first + few) for a in acls(at)])
        with another_client(broker.bootstrap_servers) as responses:
            before = responses()
            assert len(describe_acls(client)) == PEOPLE * EACH
            assert responses() - before > 20
            before = responses()
            with pytest.raises(ClientError, match=str(PEOPLE * EACH)):
                delete_acls(client, [EVERY])
            assert responses() - before > 20
        person = AclFilter(principal="User:u7")
        assert set(describe_acls(client, person)) == set(acls(7))
        for first in range(0, PEOPLE, few):
            people = range(first, first + few)
            removed = delete_acls(client, [AclFilter(principal=f"User:u{at}") for at in people])
            assert len(removed) == A_REQUEST
        assert describe_acls(client) == []

"""A million ACLs over the wire: created, listed and deleted."""

import msgspec
import pytest

from kafka_shim.authorizer.model import Acl, AclFilter
from kafka_shim.client.acls import create_acls, delete_acls, describe_acls
from kafka_shim.client.client import ClientError, connect
from kafka_shim.client.config import PLAINTEXT
from kafka_shim.protocol.enums import Operation
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


@pytest.mark.heavy
@pytest.mark.timeout(600)
def test_a_million_acls_are_listed_and_deleted() -> None:
    with start() as broker, connect(broker.bootstrap_servers, PATIENT) as client:
        few = A_REQUEST // EACH
        for first in range(0, PEOPLE, few):
            create_acls(client, [a for at in range(first, first + few) for a in acls(at)])
        assert len(describe_acls(client)) == PEOPLE * EACH
        with pytest.raises(ClientError, match=str(PEOPLE * EACH)):
            delete_acls(client, [EVERY])
        person = AclFilter(principal="User:u7")
        assert set(describe_acls(client, person)) == set(acls(7))
        for first in range(0, PEOPLE, few):
            people = range(first, first + few)
            removed = delete_acls(client, [AclFilter(principal=f"User:u{at}") for at in people])
            assert len(removed) == A_REQUEST
        assert describe_acls(client) == []

"""Sessions: addresses as they are compared with the hosts of ACLs, and the initial state."""

import pytest

from kafka_shim.shim.config import ListenerConfig, SecurityProtocol
from kafka_shim.shim.request.session import AuthenticationPhase, Session, address_of_peer


@pytest.mark.parametrize(
    ("peername", "text"),
    [
        (("127.0.0.1", 50_000), "127.0.0.1"),
        (("::1", 50_000, 0, 0), "0:0:0:0:0:0:0:1"),
        (("2001:db8::a", 50_000, 0, 0), "2001:db8:0:0:0:0:0:a"),
        (("::ffff:10.1.2.3", 50_000, 0, 0), "10.1.2.3"),
        # as in DescribeGroups of a real 4.4.0 that listens on `[::]`
        (("fe80::fc:ff:fe00:1", 50_000, 0, 4), "fe80:0:0:0:fc:ff:fe00:1%4"),
        (("fe80::fc:ff:fe00:1%eth0", 50_000, 0, 4), "fe80:0:0:0:fc:ff:fe00:1%4"),
    ],
)
def test_hosts_are_written_as_java_does(peername: tuple[object, ...], text: str) -> None:
    assert address_of_peer(peername) == text


def test_sasl_listeners_start_before_authentication() -> None:
    sasl = ListenerConfig("A", SecurityProtocol.SASL_PLAINTEXT, "127.0.0.1", 0)
    plain = ListenerConfig("B", SecurityProtocol.PLAINTEXT, "127.0.0.1", 0, "User:suite")
    assert Session(sasl, 1, "127.0.0.1", 1).phase is AuthenticationPhase.HANDSHAKE
    session = Session(plain, 1, "127.0.0.1", 1)
    assert session.phase is AuthenticationPhase.READY
    assert session.principal == "User:suite"


def test_a_listener_on_every_interface_is_advertised_as_reached() -> None:
    plain = ListenerConfig("B", SecurityProtocol.PLAINTEXT, "0.0.0.0", 0)
    session = Session(plain, 1, "10.0.0.9", 1, local_host="10.0.0.1")
    assert session.advertised_host("0.0.0.0") == "10.0.0.1"
    assert session.advertised_host("broker.test") == "broker.test"

"""Sessions: addresses as they are compared with the hosts of ACLs, and the initial state."""

import pytest

from kafka_shim.shim.config import ListenerConfig, SecurityProtocol
from kafka_shim.shim.request.session import AuthenticationPhase, Session, java_ip_text


@pytest.mark.parametrize(
    ("address", "text"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("::1", "0:0:0:0:0:0:0:1"),
        ("2001:db8::a", "2001:db8:0:0:0:0:0:a"),
        ("::ffff:10.1.2.3", "10.1.2.3"),
        ("fe80::1%eth0", "fe80:0:0:0:0:0:0:1"),
    ],
)
def test_hosts_are_written_as_java_does(address: str, text: str) -> None:
    assert java_ip_text(address) == text


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

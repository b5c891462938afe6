"""The client with peers that misbehave; tests of the commands cover other peers."""

import socket
import threading
from collections.abc import Callable, Iterator

import pytest

from kafka_shim.client.client import Client, ClientError, connect
from kafka_shim.client.config import ClientConfig, Login
from kafka_shim.protocol.code_names import error_name_with_code
from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.headers import write_response_header
from kafka_shim.protocol.messages.api_versions import ApiVersion, ApiVersionsResponse
from kafka_shim.protocol.messages.describe_acls import DescribeAclsRequest
from kafka_shim.protocol.messages.sasl_handshake import SaslHandshakeResponse
from kafka_shim.shim.config import SecurityProtocol
from tests.support.frames import sized

FAST = ClientConfig(timeout_s=0.3)
LOGIN = ClientConfig(SecurityProtocol.SASL_PLAINTEXT, Login("PLAIN", "a", "s"), timeout_s=2)

Script = Callable[[socket.socket], object]
Peer = Callable[[Script], str]


@pytest.fixture
def peer() -> Iterator[Peer]:
    """Return a function that runs a script with one connection, and returns the address."""
    threads: list[threading.Thread] = []

    def listening(script: Script) -> str:
        listener = socket.create_server(("127.0.0.1", 0))

        def serve() -> None:
            with listener, listener.accept()[0] as connection:
                script(connection)

        thread = threading.Thread(target=serve)
        thread.start()
        threads.append(thread)
        return f"127.0.0.1:{listener.getsockname()[1]}"

    yield listening
    for thread in threads:
        thread.join(5)
        assert not thread.is_alive()


def receive(connection: socket.socket) -> bytes:
    size = int.from_bytes(connection.recv(4), "big")
    return connection.recv(size, socket.MSG_WAITALL)


def send(connection: socket.socket, payload: bytes) -> None:
    connection.sendall(sized(payload))


def serve_versions(connection: socket.socket, *apis: tuple[int, int, int]) -> None:
    """Answer ApiVersions."""
    frame = receive(connection)
    response = ApiVersionsResponse(api_keys=[ApiVersion(*api) for api in apis])
    head = write_response_header(18, 0, int.from_bytes(frame[4:8], "big"))
    send(connection, head + codecs.write_response(18, 0, response))


def failure(address: str, config: ClientConfig = FAST) -> str:
    with pytest.raises(ClientError) as caught:
        connect(address, config)
    return str(caught.value)


def test_a_silent_peer_causes_a_timeout(peer: Peer) -> None:
    address = peer(lambda connection: connection.recv(1000) and connection.recv(1000))
    assert failure(address) == f"{address} did not answer ApiVersions within 0.3 s"


def test_a_peer_that_disconnects_is_reported(peer: Peer) -> None:
    text = failure(peer(lambda connection: None))
    assert "closed the connection at ApiVersions" in text
    assert "security.protocol=SASL_PLAINTEXT" in text


def test_a_peer_with_another_protocol_is_an_error(peer: Peer) -> None:
    text = failure(peer(lambda connection: connection.sendall(b"SSH-2.0-x\r\n")))
    assert "does not speak the Kafka protocol" in text


def test_a_damaged_response_is_reported(peer: Peer) -> None:
    text = failure(peer(lambda connection: send(connection, b"\0\0\0\1\0\0\0\0\1")))
    assert text.startswith("ApiVersions 0 to 127.0.0.1")


def test_a_response_with_another_correlation_id_is_reported(peer: Peer) -> None:
    text = failure(peer(lambda connection: send(connection, b"\0\0\0\7")))
    assert "answered a request that was not sent" in text


def test_apis_and_versions_that_the_broker_lacks_are_reported(peer: Peer) -> None:
    def script(connection: socket.socket) -> None:
        serve_versions(connection, (ApiKey.CREATE_ACLS, 90, 91), (ApiKey.DELETE_ACLS, 0, 90))
        connection.recv(1)

    with connect(peer(script), FAST) as client:
        assert client.negotiated_version(ApiKey.DELETE_ACLS) == 3
        with pytest.raises(ClientError, match="does not serve DescribeAcls requests"):
            client.send_request(ApiKey.DESCRIBE_ACLS, DescribeAclsRequest())
        with pytest.raises(ClientError, match=r"CreateAcls in versions 90 to 91, this .* 0 to 3"):
            client.negotiated_version(ApiKey.CREATE_ACLS)


def test_an_old_broker_gets_the_token_without_a_request_header(peer: Peer) -> None:
    got = []

    def script(connection: socket.socket) -> None:
        serve_versions(connection, (ApiKey.SASL_HANDSHAKE, 0, 0))
        frame = receive(connection)
        head = write_response_header(17, 0, int.from_bytes(frame[4:8], "big"))
        send(connection, head + codecs.write_response(17, 0, SaslHandshakeResponse()))
        got.append(receive(connection))
        send(connection, b"")

    connect(peer(script), LOGIN).close()
    assert got == [b"\0a\0s"]


def test_an_old_broker_that_disconnects_during_the_login_is_explained(peer: Peer) -> None:
    def script(connection: socket.socket) -> None:
        serve_versions(connection, (ApiKey.SASL_HANDSHAKE, 0, 0))
        frame = receive(connection)
        head = write_response_header(17, 0, int.from_bytes(frame[4:8], "big"))
        send(connection, head + codecs.write_response(17, 0, SaslHandshakeResponse()))
        receive(connection)

    text = failure(peer(script), LOGIN)
    assert "during the authentication of a, as this release does after a wrong password" in text


def test_a_mechanism_that_is_not_enabled_is_reported(peer: Peer) -> None:
    def script(connection: socket.socket) -> None:
        serve_versions(connection, (ApiKey.SASL_HANDSHAKE, 0, 1), (ApiKey.SASL_AUTHENTICATE, 0, 2))
        frame = receive(connection)
        refusal = SaslHandshakeResponse(error_code=33, mechanisms=["SCRAM-SHA-256", "GSSAPI"])
        head = write_response_header(17, 1, int.from_bytes(frame[4:8], "big"))
        send(connection, head + codecs.write_response(17, 1, refusal))

    text = failure(peer(script), LOGIN)
    assert "UNSUPPORTED_SASL_MECHANISM (33); enabled there: SCRAM-SHA-256, GSSAPI" in text


def test_the_first_reachable_address_is_used(peer: Peer) -> None:
    address = peer(serve_versions)
    with connect(f"127.0.0.1:1, {address}", FAST) as client:
        assert client.address == address


@pytest.mark.parametrize("address", ["broker", "broker:", ":9092", "broker:port", "b:0", "b:65536"])
def test_an_address_needs_host_and_port(address: str) -> None:
    assert "expected HOST:PORT" in failure(address)


def test_tls_to_a_plaintext_listener_is_reported(peer: Peer) -> None:
    def script(connection: socket.socket) -> None:
        connection.recv(1000)
        connection.sendall(b"\0\0\0\0")

    text = failure(peer(script), ClientConfig(SecurityProtocol.SSL, timeout_s=2))
    assert text.startswith("cannot connect to 127.0.0.1")


def test_error_codes_are_named() -> None:
    assert error_name_with_code(42) == "INVALID_REQUEST (42)"
    assert error_name_with_code(9999) == "error 9999"


def test_closing_twice_is_harmless(peer: Peer) -> None:
    client = connect(peer(serve_versions), FAST)
    assert isinstance(client, Client)
    client.close()
    client.close()

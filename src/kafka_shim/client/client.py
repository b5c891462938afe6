"""A small synchronous client for the command line: one connection, one request after another.

Versions are negotiated with every broker (ApiVersions 0, which all releases answer), so the
commands work against real brokers of any release as well.
"""

import socket
from types import TracebackType
from typing import Any, Self

import msgspec

from kafka_shim.client.config import PLAINTEXT, ClientConfig, Login
from kafka_shim.protocol.code_names import error_name_with_code
from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.codec.catalogue import request_versions
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.headers import RequestHeader, read_response_header, write_request_header
from kafka_shim.protocol.messages.api_versions import ApiVersionsRequest
from kafka_shim.protocol.messages.metadata import MetadataRequest
from kafka_shim.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from kafka_shim.protocol.messages.sasl_handshake import SaslHandshakeRequest
from kafka_shim.text.whole_number import parse_whole_number

CLIENT_ID = "kafka-shim"
FRAME_BYTES_MAX = 104_857_600
"""A larger answer is none from a Kafka broker: other protocols' first bytes read as huge sizes."""


class ClientError(Exception):
    """No broker answered as expected; the text says which, why, and what to try.

    `code` is the error code of a response to a request about ACLs.
    """

    def __init__(self, text: str, code: int | None = None) -> None:
        super().__init__(text)
        self.code = code


def connect(bootstrap: str, config: ClientConfig = PLAINTEXT) -> "Client":
    """Return a connection to the first HOST:PORT in a list that answers, logged in."""
    failures = []
    for address in bootstrap.split(","):
        host, port = _parse_address(address.strip())
        try:
            return Client(host, port, config)
        except OSError as error:
            failures.append(f"cannot connect to {host}:{port}: {_connect_failure_reason(error)}")
    advice = "is the broker running, and is this its address?"
    if config.protocol.uses_tls and "CERTIFICATE" in failures[-1]:
        advice = "its authority must be trusted: ssl.truststore.location, ssl.truststore.type=PEM"
    raise ClientError(f"{'; '.join(failures)}; {advice}")


class Client:
    """One connection to one broker."""

    def __init__(self, host: str, port: int, config: ClientConfig = PLAINTEXT) -> None:
        """Connect, negotiate versions and log in. Raise OSError if the broker cannot be reached."""
        self.address = f"{host}:{port}"
        self.versions: dict[int, tuple[int, int]] = {}
        """What the broker advertises: API key -> (lowest, highest version)."""
        self._correlation_id = 0
        self._config = config
        self._socket = socket.create_connection((host, port), timeout=config.timeout_s)
        try:
            if config.protocol.uses_tls:
                from kafka_shim.client.tls import wrap_socket_with_tls  # noqa: PLC0415 - ssl takes a while to import

                self._socket = wrap_socket_with_tls(self._socket, host, config.trust)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._negotiate_versions()
            if config.login is not None:
                self._authenticate_with_sasl(config.login)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self._socket.close()

    def negotiated_version(self, api: ApiKey) -> int:
        """Return the highest version that both sides support. Raise ClientError if there is
        none.
        """
        if api not in self.versions:
            raise ClientError(
                f"the broker at {self.address} does not serve {api.wire_name} requests"
            )
        low, high = self.versions[api]
        our_low, our_high = request_versions(api)
        if high < our_low or low > our_high:
            raise ClientError(
                f"the broker at {self.address} serves {api.wire_name} in versions {low} to {high},"
                f" this client supports {our_low} to {our_high}"
            )
        return min(high, our_high)

    def send_request(self, api: ApiKey, request: msgspec.Struct, version: int | None = None) -> Any:
        """Return the broker's response, with any error codes. Raise ClientError if there is
        none.
        """
        if version is None:
            version = self.negotiated_version(api)
        self._correlation_id += 1
        header = RequestHeader(api, version, self._correlation_id, CLIENT_ID)
        try:
            payload = write_request_header(header) + codecs.write_request(request, version)
            frame = self._exchange(payload, api.wire_name)
            response_header, at = read_response_header(api, version, frame)
            if response_header.correlation_id != self._correlation_id:
                raise ClientError(f"{self.address} answered a request that was not sent")
            return codecs.read_response(api, version, frame, at)
        except ProtocolError as error:
            raise ClientError(f"{api.wire_name} {version} to {self.address}: {error}") from error

    def _exchange(self, payload: bytes, request: str) -> bytes:
        """Send a frame and wait for the next one."""
        try:
            self._socket.sendall(len(payload).to_bytes(4, "big") + payload)
            size = int.from_bytes(self._receive_exactly(4), "big")
            if size > FRAME_BYTES_MAX:
                raise ClientError(
                    f"{self.address} does not speak the Kafka protocol here; a TLS listener"
                    f" needs security.protocol=SSL or SASL_SSL in {self._config.option}"
                )
            return self._receive_exactly(size)
        except TimeoutError as error:
            raise ClientError(
                f"{self.address} did not answer {request} within {self._config.timeout_s:g} s"
            ) from error
        except (EOFError, ConnectionError) as error:
            raise ClientError(
                f"{self.address} closed the connection at {request}; a SASL listener needs"
                f" security.protocol=SASL_PLAINTEXT and credentials in {self._config.option}, a TLS"
                " listener SSL or SASL_SSL"
            ) from error

    def _receive_exactly(self, count: int) -> bytes:
        chunks = []
        while count:
            chunk = self._socket.recv(min(count, 1 << 20))
            if not chunk:
                raise EOFError
            chunks.append(chunk)
            count -= len(chunk)
        return b"".join(chunks)

    def _negotiate_versions(self) -> None:
        response = self.send_request(ApiKey.API_VERSIONS, ApiVersionsRequest(), 0)
        if response.error_code:
            raise ClientError(
                f"{self.address} rejected ApiVersions: {error_name_with_code(response.error_code)}"
            )
        self.versions = {
            api.api_key: (api.min_version, api.max_version) for api in response.api_keys
        }

    def _authenticate_with_sasl(self, login: Login) -> None:
        """Log in with SaslAuthenticate requests, or on 0.11 with raw tokens."""
        from kafka_shim.client.login import InvalidLoginResponseError, sasl_messages  # noqa: PLC0415 - only where needed

        has_requests = ApiKey.SASL_AUTHENTICATE in self.versions
        handshake = self.send_request(
            ApiKey.SASL_HANDSHAKE, SaslHandshakeRequest(login.mechanism), int(has_requests)
        )
        if handshake.error_code:
            enabled = ", ".join(handshake.mechanisms) or "none"
            raise ClientError(
                f"{self.address} rejected the SASL mechanism {login.mechanism}:"
                f" {error_name_with_code(handshake.error_code)}; enabled there: {enabled}"
            )
        send_sasl_message = (
            self._send_sasl_authenticate if has_requests else self._send_raw_sasl_token
        )
        exchange = sasl_messages(login)
        try:
            message = next(exchange)
            while True:
                message = exchange.send(send_sasl_message(message, login.username))
        except StopIteration:
            return
        except InvalidLoginResponseError as error:
            raise ClientError(f"{self.address}: {error}") from error

    def _send_sasl_authenticate(self, message: bytes, username: str) -> bytes:
        response = self.send_request(ApiKey.SASL_AUTHENTICATE, SaslAuthenticateRequest(message))
        if response.error_code:
            reason = response.error_message or error_name_with_code(response.error_code)
            raise ClientError(f"{self.address} rejected the authentication of {username}: {reason}")
        reply: bytes = response.auth_bytes
        return reply

    def _send_raw_sasl_token(self, message: bytes, username: str) -> bytes:
        try:
            return self._exchange(message, f"the authentication of {username}")
        except ClientError as error:
            if not isinstance(error.__cause__, EOFError | ConnectionError):
                raise
            raise ClientError(
                f"{self.address} closed the connection during the authentication of {username},"
                " as this release does after a wrong password"
            ) from error


def _parse_address(address: str) -> tuple[str, int]:
    host, _, port_text = address.rpartition(":")
    port = parse_whole_number(port_text)
    if not host or port is None or not 0 < port <= 65_535:
        raise ClientError(f"invalid broker address `{address}`; expected HOST:PORT")
    return host.strip("[]"), port


def _connect_failure_reason(error: OSError) -> str:
    if isinstance(error, TimeoutError):
        return "no response in time"
    return error.strerror or str(error)


def topic_names(client: Client) -> list[str]:
    """Return the names of the topics that the client may describe, in lexical order."""
    request = MetadataRequest(topics=None, allow_auto_topic_creation=False)
    found = client.send_request(ApiKey.METADATA, request).topics
    return sorted(topic.name for topic in found if topic.name is not None)

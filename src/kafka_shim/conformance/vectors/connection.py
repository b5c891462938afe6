"""A connection that sends requests in any version, and says what happened instead of a response."""

from typing import Any, Final

from kafka_shim.client.client import Client
from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.headers import RequestHeader, write_request_header
from kafka_shim.protocol.message_frames import read_response_with_version
from kafka_shim.protocol.messages.api_versions import ApiVersionsRequest

CLIENT_ID: Final = "kafka-shim-vectors"
CLOSED: Final = "closed"
SILENT: Final = "silent"
UNREADABLE: Final = "unreadable"
WAITS: Final = "waits"
_FRAME_BYTES_MAX = 1 << 28


class VectorConnection(Client):
    """One connection, on which at most one request waits for its response."""

    def send(self, api: ApiKey, version: int, request: Any) -> None:
        """Send a request; that the connection is closed shows when its response is received."""
        self._correlation_id += 1
        header = RequestHeader(api, version, self._correlation_id, CLIENT_ID)
        payload = write_request_header(header) + codecs.write_request(request, version)
        self._sent = api, version, not (api is ApiKey.PRODUCE and request.acks == 0)
        try:
            self._socket.sendall(len(payload).to_bytes(4, "big") + payload)
        except OSError:
            self.close()

    def receive(self) -> Any:
        """Return the response, or CLOSED, WAITS, UNREADABLE, or SILENT if none is to come."""
        api, version, has_response = self._sent
        if not has_response:
            response = self.call(ApiKey.API_VERSIONS, 0, ApiVersionsRequest())
            return response if isinstance(response, str) else SILENT
        try:
            size = int.from_bytes(self._receive_exactly(4), "big")
            if size > _FRAME_BYTES_MAX:
                return UNREADABLE
            frame = self._receive_exactly(size)
            return read_response_with_version(api, version, frame)[0]
        except TimeoutError:
            return WAITS
        except (OSError, EOFError):
            return CLOSED
        except ProtocolError:
            return UNREADABLE

    def call(self, api: ApiKey, version: int, request: Any) -> Any:
        """Send a request and return its response, or the outcome."""
        self.send(api, version, request)
        return self.receive()

"""Entries of a trace: connections, requests, responses, accesses, and the messages in them.

Times are in microseconds (UTC). Entries are MessagePack arrays of the tag and these fields, in
their order. New fields come last and have defaults, so that older readers skip them and newer ones
accept their absence.
"""

from typing import Any, TypeAlias

import msgspec

from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.headers import RequestHeader, read_request_header
from kafka_shim.protocol.message_frames import read_response_with_version

RECORDED = "recorded"
DERIVED = "derived"
AUDIT = "audit"
UNKNOWN_PRINCIPAL = "unknown"
"""The principal of a client whose authentication a writer did not see or could not read."""


class Connection(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """The client of a connection. `number` is unique only within the block.

    `principal` is that of the entries that refer to this row, or UNKNOWN_PRINCIPAL: an
    authentication makes a new row.
    `writer_connection` is unique among all connections of a writer. `access_source`:
    RECORDED by the broker that decided; DERIVED from messages, if the writer saw no
    decisions; or AUDIT, from a broker's log without requests. `observed_host` is the host that the
    broker saw instead of the client's, such as that of a proxy; empty if it saw the client's.
    `release` is the Kafka release of the broker; empty if the writer did not know it.
    """

    number: int
    writer_connection: int
    node_id: int
    listener: str
    host: str
    port: int
    principal: str
    mechanism: str = ""
    software_name: str = ""
    software_version: str = ""
    access_source: str = RECORDED
    observed_host: str = ""
    release: str = ""

    @property
    def authorized_host(self) -> str:
        """The host to which ACLs were applied."""
        return self.observed_host or self.host


class Request(msgspec.Struct, array_like=True, tag=1, frozen=True, gc=False):
    """A request: the frame as received, without its size, and with secrets blanked.

    `sequence` counts a connection's requests from 0. `redacted`: the frame was encoded again
    without the secrets in it, so its length is not the original one.
    """

    connection: int
    sequence: int
    time_us: int
    frame: bytes
    redacted: bool = False

    @property
    def api_key(self) -> int:
        """The API key at the start of the frame, which may be unknown."""
        return int.from_bytes(self.frame[:2], "big", signed=True)


class Response(msgspec.Struct, array_like=True, tag=2, frozen=True, gc=False):
    """A response, with all that is needed to read it without its request."""

    connection: int
    sequence: int
    time_us: int
    api_key: int
    api_version: int
    frame: bytes
    redacted: bool = False


class Access(msgspec.Struct, array_like=True, tag=3, frozen=True, gc=False):
    """A decision for a request: codes of operation and resource type, the name, and the rule.

    `rule` is `SuperUser`, `DefaultAllow`, `DefaultDeny`, `NoAuthorizer`, or the deciding ACL as
    `type|name|pattern|principal|host|operation|permission` in Kafka's names. `count` is the
    number of elements of the request that it stands for. `log_level` is that of the line in an
    authorizer's log, such as `INFO`; empty if it is unknown.
    """

    connection: int
    sequence: int
    time_us: int
    api_key: int
    api_version: int
    operation: int
    resource_type: int
    resource_name: str
    allowed: bool
    rule: str
    count: int = 1
    log_level: str = ""


class ConnectionClosed(msgspec.Struct, array_like=True, tag=4, frozen=True, gc=False):
    """The end of a connection; `reason` is empty if the client closed it."""

    connection: int
    sequence: int
    time_us: int
    reason: str = ""


Entry: TypeAlias = Request | Response | Access | ConnectionClosed


class BlockBody(msgspec.Struct, array_like=True):
    """The content of a block: connections that its entries refer to, then the entries in order.

    `masks` has the masks of the records in it, as for the option `--mask`.
    """

    connections: list[Connection]
    entries: list[Entry]
    masks: list[str] = []


def decode_request(frame: bytes) -> tuple[RequestHeader, Any]:
    """Return header and message of a request; the message is None if it cannot be read."""
    header, at = read_request_header(frame)
    try:
        return header, codecs.read_request(header.api_key, header.api_version, frame, at)
    except ProtocolError:
        return header, None


def decode_response(api_key: int, version: int, frame: bytes) -> Any:
    """Return the response to a request of this version; None if it cannot be read."""
    try:
        return read_response_with_version(api_key, version, frame)[0]
    except ProtocolError:
        return None


def decode_response_entry(entry: Response) -> Any:
    """Return the message; None if it cannot be read."""
    return decode_response(entry.api_key, entry.api_version, entry.frame)

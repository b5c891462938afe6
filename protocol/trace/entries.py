"""What a trace says: connections, requests, responses, accesses. All times in microseconds (UTC).

Entries are written as MessagePack arrays in the order of these fields, led by their tag; new fields
come last and have defaults, so that older readers skip them and newer ones do without.
"""

from typing import TypeAlias

import msgspec

RECORDED = "recorded"
DERIVED = "derived"
AUDIT = "audit"


class Connection(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """Who is at the other end. `number` is unique in the block only.

    `principal` is the one at the time of the entries that name this connection: a log-in makes a
    new row. `writer_connection` is unique among all connections of one writer. `accesses` says
    where those come from: RECORDED by the broker that decided; DERIVED, since the writer only saw
    the messages and noted none; or the AUDIT log of a broker, a line for each and no requests.
    `seen_host` is the host that the broker saw in place of the client's: that of a proxy; empty if
    it saw the client's.
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
    accesses: str = RECORDED
    seen_host: str = ""

    @property
    def judged_host(self) -> str:
        """The host that ACLs were about."""
        return self.seen_host or self.host


class Request(msgspec.Struct, array_like=True, tag=1, frozen=True, gc=False):
    """One request: the frame as it arrived, without its size; secrets blanked.

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
        """What the frame begins with, whether or not there is such an API."""
        return int.from_bytes(self.frame[:2], "big", signed=True)


class Response(msgspec.Struct, array_like=True, tag=2, frozen=True, gc=False):
    """One answer. It repeats what is needed to read it without its request."""

    connection: int
    sequence: int
    time_us: int
    api_key: int
    api_version: int
    frame: bytes
    redacted: bool = False


class Access(msgspec.Struct, array_like=True, tag=3, frozen=True, gc=False):
    """One decision made for a request: operation and resource by their wire codes, and the rule.

    `rule` is `SuperUser`, `DefaultAllow`, `DefaultDeny`, `NoAuthorizer`, or the deciding ACL as
    `type|name|pattern|principal|host|operation|permission` in Kafka's names. `count` is how many
    elements of the request it stands for.
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


class Closed(msgspec.Struct, array_like=True, tag=4, frozen=True, gc=False):
    """The connection ended; `reason` is empty when the client simply left."""

    connection: int
    sequence: int
    time_us: int
    reason: str = ""


Entry: TypeAlias = Request | Response | Access | Closed


class Body(msgspec.Struct, array_like=True):
    """A block's content: the connections that its entries name, then the entries in order."""

    connections: list[Connection]
    entries: list[Entry]

"""A cache of responses to repeated read-only requests.

A response is reused for the same bytes after the correlation id, on the same broker and
listener, for the same principal from the same host, as long as nothing may have changed
(`shim/state/state_version.py`). Its decisions are cached too: they are logged, shown and recorded
each time. Responses with a fault, an internal error or a user's own authorizer are never cached.
"""

from collections import OrderedDict
from typing import TYPE_CHECKING, Any

import msgspec

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.shim.apis import LOOKING
from kafka_shim.shim.observing import audit
from kafka_shim.shim.request.access import RECORDS_MAX, AccessRecord
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.request.session import Phase, Session
from kafka_shim.shim.state.cluster import Cluster

if TYPE_CHECKING:
    from kafka_shim.shim.observing.history import History
    from kafka_shim.shim.observing.recorder import Recorder

BYTES_MAX = 16 * 1024 * 1024
OVERHEAD_BYTES = 500
"""Roughly what is held of an answer besides its bytes and those of the request."""
_DECISION_BYTES = 250
MARKS = 4096
MISSES_MAX = 256
"""After so many requests in a row that no kept answer was found for, only one in eight is looked
up, until one is found: requests that are all different need not pay for it."""
_IDENTITIES_MAX = 10_000
_READY = Phase.READY  # by itself for the reason that NO_ERROR is
KEYS = frozenset(key.to_bytes(2, "big") for key in LOOKING)
"""What the frames of requests that only look begin with."""


class Kept(msgspec.Struct, frozen=True):
    """A cached response: its size, the bytes after its correlation id, and its side effects.

    `software` is the client software in an ApiVersions request.
    """

    size: bytes
    rest: bytes
    context: RequestContext
    errors: tuple[int, ...]
    software: tuple[str, str] | None
    is_denied: bool
    held_bytes: int

    @property
    def records(self) -> list[AccessRecord]:
        return self.context.access.records

    def framed(self, frame: bytes) -> bytes:
        """Return the frame for this request."""
        return self.size + frame[4:8] + self.rest


class ResponseCache:
    """The cached responses of a cluster; the oldest are dropped above `bytes_max`.

    The first occurrence of a request only sets a mark, and its response is cached when it is
    repeated. So different requests cost nothing more.
    """

    def __init__(self, cluster: Cluster, bytes_max: int = BYTES_MAX) -> None:
        self._changes = cluster.changes
        self._clock = cluster.clock
        self._counters = cluster.counters
        self._bytes_max = bytes_max
        self.held_bytes = 0
        self.given = 0
        """How often a kept answer was given."""
        self._changes_then = self._timers_then = -1
        self._responses: OrderedDict[bytes, Kept] = OrderedDict()
        self._marks = [0] * MARKS
        self._misses = 0
        self.asked = b""
        """The key of the request that is being answered; empty: its answer is not to be kept."""
        self._identities: dict[tuple[object, ...], bytes] = {}
        self._identified = 0

    def find(self, frame: bytes, session: Session) -> Kept | None:
        """Return the cached response to a request, if nothing may have changed since."""
        changes, self.asked = self._changes, b""
        if session.phase is not _READY or session.expires_at_ms is not None:
            return None
        if self._changes_then != changes.number or self._timers_then != self._clock.fired:
            self._forget()
        if changes.under_way:
            return None
        self._misses += 1
        if self._misses > MISSES_MAX and self._misses & 7:
            return None
        identity = session.identity or self._identify(session)
        self.asked = key = identity + frame[:4] + frame[8:]
        kept = self._responses.get(key)
        if kept is not None:
            self._misses = 0
        return kept

    def keep(self, request: Any, context: RequestContext, response: Any, framed: bytes) -> None:
        """Cache the response to the last request of `find`, with its frame `framed`, if it may be
        reused.
        """
        key, then = self.asked, self._changes_then
        if not key or then != self._changes.number or self._timers_then != self._clock.fired:
            return
        mark = hash(key) + then
        if self._marks[mark % MARKS] != mark:
            self._marks[mark % MARKS] = mark
            return
        access = context.access
        if access.left_out or len(access.records) > RECORDS_MAX:
            return
        from kafka_shim.protocol.response_codes import error_codes  # noqa: PLC0415 - not at the start

        errors = tuple(error_codes(response, context.version))
        software = None
        if context.header.api_key == ApiKey.API_VERSIONS and not errors:
            software = (request.client_software_name, request.client_software_version)
        kept = Kept(
            framed[:4],
            framed[8:],
            context,
            errors,
            software,
            any(not record.decision.allowed for record in access.records),
            OVERHEAD_BYTES + len(key) + len(framed) + len(access.records) * _DECISION_BYTES,
        )
        self._responses[key] = kept
        self.held_bytes += kept.held_bytes
        while self.held_bytes > self._bytes_max:
            self.held_bytes -= self._responses.popitem(last=False)[1].held_bytes

    def give(
        self,
        kept: Kept,
        frame: bytes,
        session: Session,
        recorder: "Recorder | None",
        history: "History | None",
    ) -> bytes:
        """Return a cached response, and repeat its side effects."""
        self.given += 1
        response, records, header = kept.framed(frame), kept.records, kept.context.header
        if recorder is not None:
            session.sequence = recorder.request(session, header, frame)
        if history is not None:
            number = int.from_bytes(frame[4:8], "big", signed=True)
            asked = msgspec.structs.replace(header, correlation_id=number)
            now_us = self._clock.now_us()
            seen = history.request(session, asked, frame, now_us)
            history.decided(seen, records)
            history.responded_with(seen, kept.errors, now_us)
            history.framed(seen, response)
        if kept.software is not None:
            session.runs(*kept.software)
        self._counters.requests += 1
        if kept.is_denied or (records and audit.writes_allowed()):
            audit.write(kept.context, ApiKey(header.api_key))
        if recorder is not None:
            recorder.responded(session, session.sequence, header, records, response[4:])
        return response

    def _forget(self) -> None:
        """Empty the cache, since something may have changed."""
        if self._responses:
            self._responses.clear()
            self.held_bytes = 0
        self._changes_then, self._timers_then = self._changes.number, self._clock.fired

    def _identify(self, session: Session) -> bytes:
        """Return an identity of the caller and its connection's
        endpoints, which is never reused.
        """
        who = (session.principal, session.host, session.listener.name)
        where = (session.node_id, session.local_host)
        if len(self._identities) >= _IDENTITIES_MAX:
            self._identities.clear()
        found = self._identities.get(who + where)
        if found is None:
            self._identified += 1
            found = self._identities[who + where] = self._identified.to_bytes(8, "big")
        session.identity = found
        return found

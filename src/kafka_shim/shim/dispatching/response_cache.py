"""A cache of responses to repeated read-only requests.

A response is reused for the same bytes after the correlation id, on the same broker and
listener, for the same principal from the same host, as long as nothing may have changed
(`shim/state/state_change.py`). Its decisions are cached too: they are logged, shown and recorded
each time. Responses with a fault, an internal error or a user's own authorizer are never cached.
"""

from collections import OrderedDict

import msgspec

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.headers import RequestHeader
from kafka_shim.shim.apis import ServedApi
from kafka_shim.shim.dispatching.interceptors import Exchange
from kafka_shim.shim.request.access import RECORDS_MAX
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.request.session import AuthenticationPhase, Session
from kafka_shim.shim.state.cluster import Cluster

BYTES_MAX = 16 * 1024 * 1024
OVERHEAD_BYTES = 500
"""Roughly the memory of a cached response besides its bytes and those of the request."""
_DECISION_BYTES = 250
MARKS = 4096
MISSES_MAX = 256
"""After so many misses in a row only one request in eight is looked up, until the next hit, so that
requests that are all different need not pay for it."""
_IDENTITIES_MAX = 10_000
_READY = AuthenticationPhase.READY  # module constant: enum attribute lookup is slow on CPython 3.11


class CachedResponse(msgspec.Struct, frozen=True):
    """A cached response: its size, the bytes after its correlation id, and its side effects.

    `client_software` is the client software in an ApiVersions request.
    """

    size_prefix: bytes
    after_correlation_id: bytes
    api: ServedApi
    context: RequestContext
    error_codes: tuple[int, ...]
    client_software: tuple[str, str] | None
    memory_bytes: int

    def exchange(self, frame: bytes, session: Session) -> Exchange:
        """Return the exchange of a repeated request with this response."""
        first = self.context.header
        return Exchange(
            session,
            RequestHeader(
                first.api_key,
                first.api_version,
                int.from_bytes(frame[4:8], "big", signed=True),
                first.client_id,
                first.unknown_tags,
            ),
            frame,
            len(frame),
            self.api,
            self.context,
            self.frame_for(frame),
            self.error_codes,
        )

    def frame_for(self, frame: bytes) -> bytes:
        """Return the response's frame for a repeated request."""
        return self.size_prefix + frame[4:8] + self.after_correlation_id

    def repeat_side_effects(self, session: Session) -> None:
        """Do what the handler of the request did besides its response."""
        if self.client_software is not None:
            session.set_client_software(*self.client_software)


class ResponseCache:
    """The cached responses of a cluster; the oldest are dropped above `bytes_max`.

    The first occurrence of a request only sets a mark, and its response is cached when it is
    repeated. So different requests cost nothing more.
    """

    def __init__(self, cluster: Cluster, bytes_max: int = BYTES_MAX) -> None:
        self._changes = cluster.state_version
        self._clock = cluster.clock
        self._bytes_max = bytes_max
        self.memory_bytes = 0
        self.hits = 0
        self._state_version = self._timers_fired = -1
        self._responses: OrderedDict[bytes, CachedResponse] = OrderedDict()
        self._marks = [0] * MARKS
        self._misses = 0
        self._pending_key = b""
        """The key of the request that is being handled; empty: its response is not to be cached."""
        self._identities: dict[tuple[object, ...], bytes] = {}
        self._identified = 0

    def find(self, frame: bytes, session: Session) -> CachedResponse | None:
        """Return the cached response to a request, if nothing may have changed since. Otherwise its
        response can be added.
        """
        changes, self._pending_key = self._changes, b""
        if session.phase is not _READY or session.expires_at_ms is not None:
            return None
        self._misses += 1
        if self._misses > MISSES_MAX and self._misses & 7:
            return None
        if self._state_version != changes.number or self._timers_fired != self._clock.fired_timers:
            self._invalidate()
        if changes.under_way:
            return None
        identity = session.identity or self._get_or_create_identity(session)
        self._pending_key = key = identity + frame[:4] + frame[8:]
        cached = self._responses.get(key)
        if cached is not None:
            self._misses = 0
            self.hits += 1
        return cached

    def add(self, exchange: Exchange, framed: bytes) -> None:
        """Cache the response to the last request of `find`, with its frame `framed`, if that
        request is repeated and nothing has changed since.
        """
        key, version = self._pending_key, self._state_version
        if (
            not key
            or version != self._changes.number
            or self._timers_fired != self._clock.fired_timers
        ):
            return
        mark = hash(key) + version
        if self._marks[mark % MARKS] != mark:
            self._marks[mark % MARKS] = mark
            return
        context, request = exchange.context, exchange.request
        access = context.access
        if access.unrecorded_counts or len(access.records) > RECORDS_MAX:
            return
        from kafka_shim.protocol.responses import nonzero_error_codes  # noqa: PLC0415 - not at the start

        errors = tuple(nonzero_error_codes(exchange.response, context.version))
        software = None
        if context.header.api_key == ApiKey.API_VERSIONS and not errors:
            software = (request.client_software_name, request.client_software_version)
        cached = CachedResponse(
            framed[:4],
            framed[8:],
            exchange.api,
            context,
            errors,
            software,
            OVERHEAD_BYTES + len(key) + len(framed) + len(access.records) * _DECISION_BYTES,
        )
        self._responses[key] = cached
        self.memory_bytes += cached.memory_bytes
        while self.memory_bytes > self._bytes_max:
            self.memory_bytes -= self._responses.popitem(last=False)[1].memory_bytes

    def _invalidate(self) -> None:
        """Empty the cache, since something may have changed."""
        if self._responses:
            self._responses.clear()
            self.memory_bytes = 0
        self._state_version, self._timers_fired = self._changes.number, self._clock.fired_timers

    def _get_or_create_identity(self, session: Session) -> bytes:
        """Return an identity of the caller and its connection's
        endpoints, which is never reused.
        """
        caller = (session.principal, session.host, session.listener.name)
        endpoints = (session.node_id, session.local_host)
        if len(self._identities) >= _IDENTITIES_MAX:
            self._identities.clear()
        identity = self._identities.get(caller + endpoints)
        if identity is None:
            self._identified += 1
            identity = self._identified.to_bytes(8, "big")
            self._identities[caller + endpoints] = identity
        session.identity = identity
        return identity

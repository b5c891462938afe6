"""One client connection: frames in, responses out, in order, with back-pressure and limits."""

import asyncio
from collections import deque
from typing import cast

from kafka_shim.protocol.errors import FrameError
from kafka_shim.protocol.framing import FrameSplitter
from kafka_shim.shim.clock import Timer
from kafka_shim.shim.config import Limits, ListenerConfig
from kafka_shim.shim.dispatching.dispatcher import PendingExchange
from kafka_shim.shim.errors import CloseConnection
from kafka_shim.shim.handlers.common.sasl_authentication import (
    failed_authentication_delay_ms,
    process_raw_sasl_message,
)
from kafka_shim.shim.network.connection_host import ConnectionHost
from kafka_shim.shim.network.connection_states import (
    ConnectionEvent,
    ConnectionState,
    next_state,
)
from kafka_shim.shim.network.protocols import ConnectionEndListener
from kafka_shim.shim.network.resource_limits import SMALL_BYTES, ArrivingRequestMemory
from kafka_shim.shim.network.write_buffer import WriteBuffer
from kafka_shim.shim.request.session import AuthenticationPhase, Session, address_of_peer
from kafka_shim.shim.state.cluster import Cluster
from kafka_shim.shim.wait import NoResponse

# module constants: enum attribute lookup is slow on CPython 3.11
_AUTHENTICATED = AuthenticationPhase.READY
_READY = ConnectionState.READY
_NOT_ADMITTED = ConnectionState.NOT_ADMITTED
_YIELDED = ConnectionState.YIELDED
_TURN_S = 0.005  # how long a connection handles requests before others do
_FLUSH_BYTES = 64 * 1024  # responses are sent at the latest above this size
_BYTES_BEHIND_PENDING_REQUEST = 16 * 1024  # bytes that are read behind a pending request
_DISCARDING_SECONDS = 1.0  # how long bytes behind a failed authentication are read


class Connection(asyncio.BufferedProtocol):
    """Cuts the stream into frames and handles them one at a time, as Kafka does.

    Frames are handled in turns (`_handle_frames`), only in the state `READY` and while the peer
    reads its responses. `connection_states` has all states, and what ends each of them. Reading
    stops while a whole frame waits for such an end (`_update_reading`).
    """

    def __init__(
        self,
        host: ConnectionHost,
        listener: ListenerConfig,
        node_id: int,
        end_listener: ConnectionEndListener | None = None,
    ) -> None:
        self._host = host
        self._end_listener = (
            end_listener  # the TLS connection, which quotas and server know instead
        )
        self._dispatcher = host.dispatcher
        self._cluster: Cluster = host.dispatcher.cluster
        self._listener = listener
        self.node_id = node_id
        self._limits: Limits = host.limits
        limit = self._limits.frame_bytes_max
        if listener.protocol.uses_sasl:
            limit = self._limits.unauthenticated_frame_bytes_max
        self._splitter = FrameSplitter(limit)
        self._frames: deque[bytes] = deque()
        self._pending: PendingExchange | None = None
        self._failure_timer: Timer | None = None  # reports a failed authentication
        self._pause_timer: Timer | None = None  # ends the pause of a throttled client
        self._responses: list[bytes] = []  # of pipelined requests: written together
        self._response_bytes = 0
        self._transport: asyncio.Transport | None = None
        self._session: Session | None = None
        self._state = _NOT_ADMITTED
        self._is_writable, self._is_handling = True, False
        self._scheduled_handling: asyncio.Handle | None = None  # the next turn
        self._large = ArrivingRequestMemory(host.request_memory, self)
        self._reason = ""  # why we closed it, if we did
        self.began_ms = self.last_used_ms = self._cluster.clock.now_ms()

    @property
    def host(self) -> str:
        assert self._session is not None
        return self._session.host

    @property
    def listener_name(self) -> str:
        return self._listener.name

    @property
    def awaits_authentication(self) -> bool:
        """Return whether the client has to authenticate first, and has not yet."""
        session = self._session
        is_admitted = self._state is not _NOT_ADMITTED
        return session is not None and is_admitted and session.phase is not _AUTHENTICATED

    def _transition(self, event: ConnectionEvent) -> None:
        self._state = next_state(self._state, event)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._session = _new_session(transport, self._listener, self.node_id, self._cluster)
        self._write_buffer = WriteBuffer(self._transport, self._limits.write_buffer_bytes_max)
        if self._transport.get_extra_info("ssl_object") is None:
            self._session.following_chunks = self._write_buffer.following_chunks
        try:
            _set_certificate_principal(self._transport, self._session, self._cluster)
        except CloseConnection as closing:
            self.close(closing.reason)
        if self._end_listener is not None:
            self.on_admitted()
        elif self._host.add_connection(self):
            self._host.quotas.admit(self)
            self._update_reading()
        else:
            self.close("too many connections, or a broker that is stopped")

    def on_admitted(self) -> None:
        """Begin to read, since quotas have room for the connection."""
        self._transition(ConnectionEvent.ADMITTED)
        self.began_ms = self.last_used_ms = self._cluster.clock.now_ms()
        self._update_reading()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's
        self._transport = None
        self._cancel_pending_work()
        self._transition(ConnectionEvent.CLOSED)
        self._large.release_memory(self._cluster.clock.now_ms())
        if self._session is not None:
            self._dispatcher.on_disconnect(self._session, self._reason)
        if self._end_listener is not None:
            self._end_listener.on_connection_ended()
        elif self._session is not None:
            self._host.quotas.remove(self)
            self._host.remove_connection(self)

    def _cancel_pending_work(self) -> None:
        """Cancel all timers and waits of the connection, and drop its frames."""
        self._frames.clear()
        timers = (self._scheduled_handling, self._failure_timer, self._pause_timer)
        for pending in (*timers, self._pending):
            if pending is not None:
                pending.cancel()
        self._pause_timer = self._pending = None

    def pause_writing(self) -> None:
        self._is_writable = False
        self._update_reading()

    def resume_writing(self) -> None:
        self._is_writable = True
        self._write_buffer.send_waiting_chunks()
        if self._state is not _YIELDED:
            self._handle_frames()
        self._update_reading()

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002 - asyncio's
        """Return the buffer for the next bytes, which all connections share."""
        if self._pending is not None:
            return self._host.receive_buffer[:_BYTES_BEHIND_PENDING_REQUEST]
        return self._host.receive_buffer

    def buffer_updated(self, nbytes: int) -> None:
        if self._state is ConnectionState.CLOSED:
            return
        self.last_used_ms = self._cluster.clock.now_ms()
        try:
            frames = self._splitter.feed(self._host.receive_buffer[:nbytes])
        except FrameError as error:
            self.close(str(error))
            return
        self._frames.extend(frames)
        if self._large.is_begun and self._frames:
            self._large.on_frame_complete()
        if self._state is not _YIELDED:
            self._handle_frames()
        if self._frames or self._splitter.arriving_bytes > SMALL_BYTES or self._splitter.failure:
            self._update_reading()  # otherwise reading continues, as nothing else has changed

    def on_memory_available(self) -> None:
        """Continue, since there is memory for the arriving frame."""
        self._large.has_memory = True
        self._update_reading()

    def cancel_requests_and_close(self) -> None:
        """Close after the written bytes were sent; requests that are being handled end here."""
        self._cancel_pending_work()
        self._flush(immediately=True)
        self._transition(ConnectionEvent.CLOSED)
        if self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        """Close immediately; bytes that the peer has not read are lost."""
        if self._transport is not None:
            self._transport.abort()

    def _handle_frames(self) -> None:
        """Handle frames until one must wait, or others have their turn."""
        if self._is_handling:  # a wait completed inside a handler of this same connection
            return
        self._is_handling, frames = True, self._frames
        is_one = len(frames) == 1
        ends_s = 0.0 if is_one else self._host.clock_s() + _TURN_S
        try:
            while frames and self._state is _READY and self._is_writable:
                self._handle_frame(frames.popleft())
                if frames and self._state is _READY and self._host.clock_s() >= ends_s:
                    self._yield_turn()
        except CloseConnection as closing:
            self._send_last(closing)
        finally:
            self._is_handling = False
            if is_one:
                self._flush_batched()
            else:
                self._flush()
            if self._large.is_begun or self._splitter.failure is not None:
                self._release_memory()
            if self._dispatcher.recorder is not None:
                self._dispatcher.recorder.flush_events()

    def _handle_frame(self, frame: bytes) -> None:
        session = self._session
        assert session is not None
        was_authenticated = session.phase is _AUTHENTICATED
        response: bytes | PendingExchange | NoResponse
        if not was_authenticated and session.phase is AuthenticationPhase.TOKENS:
            response = process_raw_sasl_message(frame, session, self._cluster)
        else:
            response = self._dispatcher.dispatch(frame, session)
        if type(response) is bytes:
            self._responses.append(response)  # as `_send`, without a call
            self._response_bytes += len(response)
            if self._response_bytes >= _FLUSH_BYTES or self._write_buffer.following_chunks:
                self._flush()
        elif isinstance(response, PendingExchange):
            self._pending = response
            self._transition(ConnectionEvent.REQUEST_WAITS)
            response.wait.set_response_callback(self._on_response_ready)
        elif response is NoResponse.CLOSE:
            raise CloseConnection("a request that expects no response failed")
        if session.throttle_pause_ms:
            self._throttle(session)
        if session.phase is not _AUTHENTICATED:
            if session.phase is AuthenticationPhase.FAILED:
                self._fail_authentication(session)
        elif not was_authenticated:
            self._splitter.frame_bytes_max = self._limits.frame_bytes_max

    def _yield_turn(self) -> None:
        """Continue after all other connections had their turn."""
        self._transition(ConnectionEvent.YIELDS)
        self._scheduled_handling = asyncio.get_running_loop().call_soon(self._resume_turn)

    def _resume_turn(self) -> None:
        self._scheduled_handling = None
        self._transition(ConnectionEvent.TURN_BEGINS)
        self._handle_frames()
        self._update_reading()

    def _release_memory(self) -> None:
        """If no request is left, release their memory, and close after too large a frame."""
        if self._frames or self._pending is not None:
            return
        self._large.on_responses_sent(self.last_used_ms)
        is_delayed = self._state is ConnectionState.AUTHENTICATION_FAILED
        if self._splitter.failure is not None and not is_delayed:
            self.close(str(self._splitter.failure))

    def _throttle(self, session: Session) -> None:
        """Enforce the pause that responses told the client (KIP-219); the last one counts."""
        if session.throttle_pause_ms:
            if self._pause_timer is not None:
                self._pause_timer.cancel()
            delay_ms, session.throttle_pause_ms = session.throttle_pause_ms, 0
            self._pause_timer = self._cluster.clock.call_later(delay_ms, self._on_pause_over)
        if self._pause_timer is not None:
            self._transition(ConnectionEvent.PAUSE_BEGINS)

    def _on_pause_over(self) -> None:
        self._pause_timer = None
        self._transition(ConnectionEvent.PAUSE_OVER)
        self._resume_handling()

    def _fail_authentication(self, session: Session) -> None:
        """Report a failed authentication after a delay, and close (KIP-306)."""
        delay_ms = failed_authentication_delay_ms(self._cluster, session.node_id)
        if not delay_ms or not self._responses:
            raise CloseConnection("authentication failed")
        error_response = self._responses.pop()
        self._flush(immediately=True)
        self._responses.append(error_response)
        self._transition(ConnectionEvent.AUTHENTICATION_FAILS)
        self._failure_timer = self._cluster.clock.call_later(
            delay_ms, self._close_failed_authentication
        )

    def _close_failed_authentication(self) -> None:
        self._failure_timer = None
        self._transition(ConnectionEvent.DELAY_OVER)
        self.close("authentication failed")

    def _on_response_ready(self, response: object) -> None:
        """Send the response to a request that waited."""
        (pending, self._pending), session = (self._pending, None), self._session
        assert isinstance(pending, PendingExchange)
        assert session is not None
        self._transition(ConnectionEvent.RESPONDED)
        if isinstance(response, CloseConnection):
            self.close(response.reason)
            return
        try:
            self._send(pending.finish(response))
        except CloseConnection as closing:
            self._send_last(closing)
            return
        self._throttle(session)
        self._resume_handling()

    def _resume_handling(self) -> None:
        """Continue after a response that was awaited, or after a pause."""
        if self._is_handling:
            return
        self._flush()
        if not self._frames:
            self._release_memory()
        elif self._state is _READY:  # not within the turn of the request that completed it
            self._yield_turn()
        self._update_reading()

    def _send_last(self, closing: CloseConnection) -> None:
        self._send(closing.last_bytes)
        self.close(closing.reason)

    def _send(self, frame: bytes) -> None:
        """Send a response, together with the next ones unless they are long."""
        self._responses.append(frame)
        self._response_bytes += len(frame)
        if self._response_bytes >= _FLUSH_BYTES or self._write_buffer.following_chunks:
            self._flush()

    def _flush_batched(self) -> None:
        """Send the response, together with those of other connections if these have requests."""
        host = self._host
        if not (self._responses and host.batched_sends.postpone(self._flush)):
            self._flush()
            if host.busy_polling.is_enabled:
                host.busy_polling.poll()

    def _flush(self, *, immediately: bool = False) -> None:
        """Send the responses, with one system call for several of them. They wait until the state
        is committed, if it is stored.
        """
        if immediately:
            self._write_buffer.flush()
        storage = self._dispatcher.storage
        is_held = storage is not None and storage.try_defer_response(
            self._flush, commits_now=immediately
        )
        is_delayed = self._state is ConnectionState.AUTHENTICATION_FAILED
        if is_held or not self._responses or is_delayed:
            return
        self._response_bytes = 0
        transport, responses = self._transport, self._responses
        if transport is None or transport.is_closing():  # the peer has closed
            responses.clear()
            self._frames.clear()
        elif self._write_buffer.following_chunks:
            self._write_buffer.send_in_chunks(responses)
        else:
            joined = responses[0] if len(responses) == 1 else b"".join(responses)
            responses.clear()
            transport.write(joined)
            if transport.is_closing():
                self._frames.clear()

    def _update_reading(self) -> None:
        """Read only while all received requests have their responses and the peer reads its
        responses.
        """
        transport = self._transport
        if transport is None or transport.is_closing():
            return
        size = self._splitter.arriving_bytes
        if (
            self._frames
            or not self._is_writable
            or self._state is _NOT_ADMITTED
            or self._splitter.failure is not None
            or (size > SMALL_BYTES and not self._large.reserve(size, self.last_used_ms))
        ):
            transport.pause_reading()
        else:
            transport.resume_reading()

    def close(self, reason: str) -> None:
        """Close after the responses so far were sent, and log why."""
        is_closed = self._state is ConnectionState.CLOSED
        if is_closed or self._transport is None or self._transport.is_closing():
            return
        self._cluster.counters.closed += 1
        self._reason = reason
        session = self._session
        if session is not None:
            self._host.close_log.log_close(
                session.host, session.port, self._listener.name, reason, session.principal
            )
        self._frames.clear()
        self._flush(immediately=True)
        self._transition(ConnectionEvent.CLOSED)
        is_failed = session is not None and session.phase is AuthenticationPhase.FAILED
        if is_failed and not self._transport.is_closing() and self._transport.can_write_eof():
            self._start_lingering_close(self._transport)
        else:
            self._transport.close()

    def _start_lingering_close(self, transport: asyncio.Transport) -> None:
        """End the stream, and discard what the client sends until it closes, or for a second.

        Unread bytes would make the system reset the connection, and the client could lose the
        error response.
        """
        transport.write_eof()
        transport.resume_reading()
        loop = asyncio.get_running_loop()
        self._scheduled_handling = loop.call_later(_DISCARDING_SECONDS, transport.close)


def _new_session(
    transport: asyncio.BaseTransport, listener: ListenerConfig, node_id: int, cluster: Cluster
) -> Session:
    """Begin the session of a connection; it gets a number of its own."""
    peer = transport.get_extra_info("peername") or ("127.0.0.1", 0)
    local = transport.get_extra_info("sockname") or ("", 0)
    session = Session(listener, node_id, address_of_peer(peer), peer[1], local[0])
    cluster.counters.connections += 1
    session.number = cluster.counters.connections
    return session


def _set_certificate_principal(
    transport: asyncio.Transport, session: Session, cluster: Cluster
) -> None:
    """Set the principal by the mapping rules for a verified client certificate (KIP-371). Raise
    CloseConnection if they reject it.
    """
    tls = transport.get_extra_info("ssl_object")
    certificate = None if tls is None else tls.getpeercert(binary_form=True)
    if not certificate or session.listener.protocol.uses_sasl:
        return
    from kafka_shim.shim.tls.principal_mapping import principal_of_certificate  # noqa: PLC0415 - for TLS alone

    try:
        rules = cluster.principal_rules_by_listener[session.listener.name]
        session.principal = principal_of_certificate(certificate, rules)
    except (LookupError, ValueError) as error:
        raise CloseConnection(str(error)) from error

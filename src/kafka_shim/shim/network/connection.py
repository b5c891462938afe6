"""One client connection: frames in, answers out, in order, with back-pressure and limits."""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import cast

from kafka_shim.protocol.errors import FrameError
from kafka_shim.protocol.framing import FrameSplitter
from kafka_shim.shim.clock import SLICE_S, Timer
from kafka_shim.shim.config import Limits, ListenerConfig
from kafka_shim.shim.dispatching.dispatcher import Pending
from kafka_shim.shim.errors import CloseConnection, TakesLong
from kafka_shim.shim.handlers.common.login import accept_token, failed_login_delay_ms
from kafka_shim.shim.network.certificate import identify
from kafka_shim.shim.network.protocols import ConnectionOwner, session_of
from kafka_shim.shim.network.connection_host import ConnectionHost
from kafka_shim.shim.network.large_requests import Working, is_large
from kafka_shim.shim.network.throttle_pause import ThrottlePause
from kafka_shim.shim.network.write_buffer import WriteBuffer
from kafka_shim.shim.network.request_memory import SMALL_BYTES, LargeRequest
from kafka_shim.shim.request.session import Phase, Session
from kafka_shim.shim.state.cluster import Cluster
from kafka_shim.shim.wait import NoResponse

_READY = Phase.READY  # module constant: enum attribute lookup is slow on CPython 3.11
_TOGETHER_BYTES = 64 * 1024  # responses are sent at the latest above this size
_RECEIVED_BEHIND_WAIT = 16 * 1024  # bytes read at once behind a request that waits


class Connection(asyncio.BufferedProtocol):
    """Cuts the stream into frames and answers them one at a time, as Kafka does.

    Reading stops while a whole frame waits for its turn, behind a request that must wait or for
    the requests of others, and while the peer does not read its answers.
    """

    def __init__(
        self, holder: ConnectionHost, listener: ListenerConfig, node_id: int, arrival: ConnectionOwner | None = None
    ) -> None:
        self._holder = holder
        self._arrival = arrival  # it has seen to the quotas
        self._dispatcher, self._large_requests = holder.dispatcher, holder.large_requests
        self._cluster: Cluster = holder.dispatcher.cluster
        self._listener = listener
        self.node_id = node_id
        self._limits: Limits = holder.limits
        limit = self._limits.frame_bytes_max
        if listener.protocol.sasl:
            limit = self._limits.unauthenticated_frame_bytes_max
        self._splitter = FrameSplitter(limit)
        self._frames: deque[bytes] = deque()
        self._pending: Pending | Working | None = None
        self._parting: Timer | None = None  # answers a failed login after a delay
        self._responses: list[bytes] = []  # of pipelined requests: written together
        self._response_bytes = 0
        self._transport: asyncio.Transport | None = None
        self._session: Session | None = None
        self._writable, self._running = True, False
        self._again: asyncio.Handle | None = None  # the next turn, if frames are left for it
        self._mute = ThrottlePause(self._cluster.clock, self._go_on)
        self._is_served = False  # its quotas may let it wait
        self._large = LargeRequest(holder.memory, self)
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
    def is_logging_in(self) -> bool:
        """Whether it could log in, but has not yet."""
        session = self._session
        return session is not None and self._is_served and session.phase is not _READY

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._session = session_of(transport, self._listener, self.node_id, self._cluster)
        wrong = identify(self._transport, self._session, self._cluster)
        self._outgoing = WriteBuffer(self._transport, self._limits.write_buffer_bytes_max)
        if self._transport.get_extra_info("ssl_object") is None:
            self._session.pieces = self._outgoing.rest
        if wrong:
            self.close(wrong)
        if self._arrival is not None:
            self.start()
        elif self._holder.accepts(self):
            self._holder.quotas.arrive(self)
            self._flow()
        else:
            self.close("too many connections, or a broker that is stopped")

    def start(self) -> None:
        """Read from a connection for which its quotas have a place."""
        self._is_served = True
        self.began_ms = self.last_used_ms = self._cluster.clock.now_ms()
        self._flow()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's
        self._transport = None
        self._cancel()
        self._large.end(self._cluster.clock.now_ms())
        if self._session is not None:
            self._dispatcher.disconnected(self._session, self._reason)
        if self._arrival is not None:
            self._arrival.ended()
        elif self._session is not None:
            self._holder.quotas.gone(self)
            self._holder.forget(self)

    def _cancel(self) -> None:
        """Cancel what is left to do for the client."""
        self._frames.clear()
        for waits in filter(None, (self._again, self._parting, self._pending, self._mute)):
            waits.cancel()
        self._pending = None

    def pause_writing(self) -> None:
        self._writable = False
        self._flow()

    def resume_writing(self) -> None:
        self._writable = True
        self._outgoing.go_on()
        if self._again is None:
            self._run()
        self._flow()

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002 - asyncio's
        """Return the buffer for the next bytes, which all connections share."""
        if self._pending is not None:
            return self._holder.received[:_RECEIVED_BEHIND_WAIT]
        return self._holder.received

    def buffer_updated(self, nbytes: int) -> None:
        self.last_used_ms = self._cluster.clock.now_ms()
        try:
            self._frames.extend(self._splitter.feed(self._holder.received[:nbytes]))
        except FrameError as error:
            self.close(str(error))
            return
        if self._large.is_begun and self._frames:
            self._large.arrived()
        if self._again is None:
            self._run()
        if self._frames or self._splitter.arriving_bytes > SMALL_BYTES or self._splitter.failure:
            self._flow()  # otherwise reading continues, as nothing else has changed

    def go_on(self) -> None:
        """Continue, since there is memory for the arriving frame."""
        self._large.has_memory = True
        self._flow()

    def shut_down(self) -> None:
        """Close after the written bytes were sent; requests that are being handled end here."""
        self._cancel()
        self._send(at_once=True)
        if self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        """Close at once; bytes that the peer has not read are lost."""
        if self._transport is not None:
            self._transport.abort()

    def _run(self) -> None:
        """Answer queued frames until one must wait, the peer stops reading or the turn is over."""
        if self._running:  # a wait completed inside a handler of this same connection
            return
        self._running, frames, clock_s = True, self._frames, self._holder.clock_s
        is_one = len(frames) == 1 and self._dispatcher.storage is None
        ends_s = 0.0 if is_one else clock_s() + SLICE_S
        try:
            while (
                frames
                and self._writable
                and self._pending is None
                and self._parting is None
                and self._mute.timer is None
            ):
                self._response(frames.popleft())
                if frames and clock_s() >= ends_s:
                    self._run_later()
                    break
        except CloseConnection as closing:
            self._part_at_once(closing)
        finally:
            self._running = False
            if not (is_one and self._responses and self._holder.outbox.takes(self._send)):
                self._send()
            if self._large.is_begun or self._splitter.failure is not None:
                self._end_turn()
            if self._dispatcher.recorder is not None:
                self._dispatcher.recorder.catch_up()

    def _run_later(self) -> None:
        """Continue after all other connections had a turn."""
        if self._again is None:
            self._again = asyncio.get_running_loop().call_soon(self._run_again)

    def _run_again(self) -> None:
        self._again = None
        self._run()
        self._flow()

    def _end_turn(self) -> None:
        """End the turn without open requests: free memory; close after too large a frame."""
        if self._frames or self._pending is not None:
            return
        self._large.responded(self.last_used_ms)
        if self._splitter.failure is not None and self._parting is None:
            self.close(str(self._splitter.failure))

    def _response(self, frame: bytes) -> None:
        session = self._session
        assert session is not None
        was_ready = session.phase is _READY
        if not was_ready and session.phase is Phase.TOKENS:
            self._write(accept_token(frame, session, self._cluster))
        elif was_ready and is_large(frame) and self._large_requests.may_take():
            self._respond_in_time_slices(frame, session)
        else:
            try:
                self._take(self._dispatcher.dispatch(frame, session), session)
            except TakesLong:
                self._respond_in_time_slices(frame, session)
        if session.phase is not _READY:
            if session.phase is Phase.FAILED:
                self._part_later(session)
        elif not was_ready:
            self._splitter.frame_bytes_max = self._limits.frame_bytes_max

    def _respond_in_time_slices(self, frame: bytes, session: Session) -> None:
        self._pending = working = Working(frame, session, self._worked)
        self._large_requests.begin(working)

    def _take(self, response: bytes | Pending | NoResponse, session: Session) -> None:
        if type(response) is bytes:
            self._write(response)
        elif isinstance(response, Pending):
            self._pending = response
            response.wait.when_done(self._complete)
        elif response is NoResponse.CLOSE:
            raise CloseConnection("a request that expects no response failed")
        if session.throttle_pause_ms:
            self._mute.begin(session)

    def _part_later(self, session: Session) -> None:
        """Report a failed log-in after a delay, and close (KIP-306)."""
        delay_ms = failed_login_delay_ms(self._cluster, session.node_id)
        if not delay_ms or not self._responses:
            raise CloseConnection("log-in failed")
        refusal = self._responses.pop()
        self._send(at_once=True)
        self._responses.append(refusal)
        self._parting = self._cluster.clock.call_later(delay_ms, self._part)

    def _part(self) -> None:
        self._parting = None
        self.close("log-in failed")

    def _complete(self, response: object) -> None:
        """Send the response to a request that waited."""
        pending, self._pending = self._pending, None
        assert isinstance(pending, Pending)
        if isinstance(response, CloseConnection):
            self.close(response.reason)
            return
        try:
            self._write(pending.frame(response))
        except CloseConnection as closing:
            self._part_at_once(closing)
            return
        self._mute.begin(self._session)
        self._go_on()

    def _worked(self, outcome: Callable[[], bytes | Pending | NoResponse]) -> None:
        """Send the response to a large request."""
        self._pending, session = None, self._session
        assert session is not None
        try:
            self._take(outcome(), session)
        except CloseConnection as closing:
            self._part_at_once(closing)
            return
        except BaseException:
            self.abort()
            raise
        self._go_on()

    def _go_on(self) -> None:
        """Continue after a response that had been waited for."""
        if self._running:
            return
        self._send()
        if self._frames:  # not within the turn of the request that completed it
            self._run_later()
        else:
            self._end_turn()
        self._flow()

    def _part_at_once(self, closing: CloseConnection) -> None:
        self._write(closing.last_bytes)
        self.close(closing.reason)

    def _write(self, frame: bytes) -> None:
        self._responses.append(frame)
        self._response_bytes += len(frame)
        if self._response_bytes >= _TOGETHER_BYTES or self._outgoing.rest:
            self._send()

    def _send(self, *, at_once: bool = False) -> None:
        """Send the responses, with one system call for several of them."""
        if at_once:
            self._outgoing.flush()
        storage = self._dispatcher.storage
        is_held = storage is not None and storage.holds(self._send, at_once=at_once)
        if is_held or not self._responses or self._parting is not None:
            return
        self._response_bytes = 0
        if not self._outgoing.send(self._responses):  # the peer has closed: drop further answers
            self._frames.clear()

    def _flow(self) -> None:
        """Read only while all received requests are answered and the peer reads its responses."""
        transport = self._transport
        if transport is None or transport.is_closing():
            return
        size = self._splitter.arriving_bytes
        if (
            self._frames
            or not self._writable
            or not self._is_served
            or self._splitter.failure is not None
            or (size > SMALL_BYTES and not self._large.may_arrive(size, self.last_used_ms))
        ):
            transport.pause_reading()
        else:
            transport.resume_reading()

    def close(self, reason: str) -> None:
        """Close after the responses so far were sent, and log why."""
        if self._transport is None or self._transport.is_closing():
            return
        self._cluster.counters.closed += 1
        self._reason = reason
        session = self._session
        if session is not None:
            self._holder.closings.closed(
                session.host, session.port, self._listener.name, reason, session.principal
            )
        self._frames.clear()
        self._send(at_once=True)
        self._transport.close()

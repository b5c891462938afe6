"""One client connection: frames in, answers out, in order, with back-pressure and limits."""

import asyncio
from collections import deque
from typing import TYPE_CHECKING, cast

from protocol.errors import FrameError
from protocol.framing import FrameSplitter
from shim.clock import Timer
from shim.config import Limits, ListenerConfig
from shim.dispatch import Pending, dispatch
from shim.errors import CloseConnection
from shim.logs import Log
from shim.sasl.login import accept_token
from shim.session import Phase, Session, java_host_text
from shim.state.cluster import Cluster
from shim.wait import NoAnswer

if TYPE_CHECKING:
    from shim.server import Server

log = Log("shim.connection")

_READY = Phase.READY  # by itself for the reason that NO_ERROR is
_FAILED_LOGIN_DELAY = "connection.failed.authentication.delay.ms"
_TOGETHER_BYTES = 64 * 1024  # answers go out at the latest when there are so many bytes of them


class Connection(asyncio.BufferedProtocol):
    """Cuts the stream into frames and answers them one at a time, as Kafka does.

    A request that must wait holds back those behind it; beyond a number of held frames, or
    while the peer does not read its answers, reading stops.
    """

    def __init__(self, server: "Server", listener: ListenerConfig, node_id: int) -> None:
        self._server = server
        self._cluster: Cluster = server.cluster
        self._listener = listener
        self.node_id = node_id
        self._limits: Limits = server.cluster.config.limits
        limit = self._limits.frame_bytes_max
        if listener.protocol.sasl:
            limit = self._limits.unauthenticated_frame_bytes_max
        self._splitter = FrameSplitter(limit)
        self._frames: deque[bytes] = deque()
        self._pending: Pending | None = None
        self._parting: Timer | None = None  # a log-in failed, which is told a while later
        self._answers: list[bytes] = []  # of pipelined requests: written together
        self._answers_bytes = 0
        self._transport: asyncio.Transport | None = None
        self._session: Session | None = None
        self._writable = True
        self._running = False
        self._reason = ""  # why we closed it, if we did
        self.last_used_ms = server.cluster.clock.now_ms()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        peer = transport.get_extra_info("peername") or ("127.0.0.1", 0)
        local = transport.get_extra_info("sockname") or ("", 0)
        self._session = Session(
            self._listener, self.node_id, java_host_text(peer[0]), peer[1], local[0]
        )
        self._cluster.counters.connections += 1
        self._session.number = self._cluster.counters.connections
        self._identify(self._transport, self._session)
        self._transport.set_write_buffer_limits(high=self._limits.write_buffer_bytes_max)
        if not self._server.accepts(self):
            self._close("too many connections, or a broker that is stopped")

    def _identify(self, transport: asyncio.Transport, session: Session) -> None:
        """A verified client certificate names the principal, by the mapping rules (KIP-371)."""
        certificate = transport.get_extra_info("peercert")
        if not certificate or self._listener.protocol.sasl:
            return
        from shim.tls.distinguished_name import rfc2253  # noqa: PLC0415 - for TLS alone
        from shim.tls.principal_mapping import map_name  # noqa: PLC0415 - as above

        name = rfc2253(certificate["subject"])
        try:
            session.belongs_to(f"User:{map_name(self._cluster.principal_rules, name)}")
        except LookupError as error:
            self._close(str(error))

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's
        self._transport = None
        self._frames.clear()
        if self._parting is not None:
            self._parting.cancel()
        if self._pending is not None:
            self._pending.wait.cancel()
            self._pending = None
        if self._cluster.recorder is not None and self._session is not None:
            self._cluster.recorder.closed(self._session, self._reason)
        if self._session is not None:
            self._cluster.disconnected(self._session)
        self._server.forget(self)

    def pause_writing(self) -> None:
        self._writable = False
        self._flow()

    def resume_writing(self) -> None:
        self._writable = True
        self._flow()
        self._run()

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002 - asyncio's
        """Where the next bytes go: one place for all connections, emptied before the next read."""
        return self._server.received

    def buffer_updated(self, nbytes: int) -> None:
        self.last_used_ms = self._cluster.clock.now_ms()
        try:
            self._frames.extend(self._splitter.feed(bytes(self._server.received[:nbytes])))
        except FrameError as error:
            self._close(str(error))
            return
        self._run()
        if self._splitter.failure is not None:
            self._close(str(self._splitter.failure))
        self._flow()

    def shut_down(self) -> None:
        """Close after what is already written has gone out."""
        self._frames.clear()
        if self._transport is not None:
            self._transport.close()

    def _run(self) -> None:
        """Answer queued frames until one must wait or the peer stops reading."""
        if self._running:  # a wait completed inside a handler of this same connection
            return
        self._running = True
        try:
            frames = self._frames
            while frames and self._writable and self._pending is None and self._parting is None:
                self._answer(frames.popleft())
        except CloseConnection as closing:
            self._write(closing.last_bytes)
            self._send()
            self._close(closing.reason)
        finally:
            self._running = False
            self._send()
            if self._cluster.recorder is not None:
                self._cluster.recorder.catch_up()

    def _answer(self, frame: bytes) -> None:
        session = self._session
        assert session is not None
        was_ready = session.phase is _READY
        if not was_ready and session.phase is Phase.TOKENS:
            self._write(accept_token(frame, session, self._cluster))
        else:
            answer = dispatch(frame, session, self._cluster)
            if type(answer) is bytes:
                self._write(answer)
            elif isinstance(answer, Pending):
                self._pending = answer
                answer.wait.when_done(self._complete)
            elif answer is NoAnswer.CLOSE:
                raise CloseConnection("a request without a response failed")
        if session.phase is not _READY:
            if session.phase is Phase.FAILED:
                self._part_later(session)
        elif not was_ready:
            self._splitter.frame_bytes_max = self._limits.frame_bytes_max

    def _part_later(self, session: Session) -> None:
        """Tell that a log-in failed, and close, after a while: clients come again (KIP-306)."""
        delay = self._cluster.configs.broker_value(_FAILED_LOGIN_DELAY, session.node_id)
        if not int(delay or 0) or not self._answers:  # the setting came with KIP-306
            raise CloseConnection("login failed")
        refusal = self._answers.pop()
        self._send()
        self._answers.append(refusal)
        self._parting = self._cluster.clock.call_later(int(delay or 0), self._part)

    def _part(self) -> None:
        self._parting = None
        self._send()
        self._close("login failed")

    def _complete(self, answer: object) -> None:
        pending, self._pending = self._pending, None
        assert pending is not None
        if isinstance(answer, CloseConnection):
            self._close(answer.reason)
            return
        try:
            self._write(pending.frame(answer))
        except CloseConnection as closing:
            self._write(closing.last_bytes)
            self._send()
            self._close(closing.reason)
            return
        self._run()
        self._flow()

    def _write(self, frame: bytes) -> None:
        self._answers.append(frame)
        self._answers_bytes += len(frame)
        if self._answers_bytes >= _TOGETHER_BYTES:
            self._send()

    def _send(self) -> None:
        """Hand over what has been answered: a call of the system for many answers, not for each."""
        if not self._answers or self._parting is not None:
            return
        together = self._answers[0] if len(self._answers) == 1 else b"".join(self._answers)
        self._answers.clear()
        self._answers_bytes = 0
        if self._transport is not None:
            self._transport.write(together)

    def _flow(self) -> None:
        """Read on only while the queue is short and the peer takes its answers."""
        transport = self._transport
        if transport is None or transport.is_closing():
            return
        if len(self._frames) > self._limits.queued_frames_max or not self._writable:
            transport.pause_reading()
        else:
            transport.resume_reading()

    def _close(self, reason: str) -> None:
        if self._transport is None or self._transport.is_closing():
            return
        self._cluster.counters.closed += 1
        self._reason = reason
        session = self._session
        log.info(
            "connection closed",
            reason=reason,
            listener=self._listener.name,
            peer=f"{session.host}:{session.port}" if session else "unknown",
            principal=session.principal if session else "unknown",
        )
        self._frames.clear()
        self._transport.close()

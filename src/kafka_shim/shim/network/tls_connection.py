"""A connection to a TLS listener: counted when accepted, limited during the handshake.

Quotas and server count it from its arrival to its end, whichever part reads from it.
"""

import asyncio
import ssl
from typing import cast

from kafka_shim.shim.config import ListenerConfig
from kafka_shim.shim.network.connection import Connection
from kafka_shim.shim.network.connection_host import ConnectionHost
from kafka_shim.shim.request.session import java_host_text
from kafka_shim.shim.tls.alerts import handshake_failure, send_alert


class TlsConnection(asyncio.Protocol):
    """Hands over to a `Connection` once the handshake is done."""

    def __init__(
        self, holder: ConnectionHost, listener: ListenerConfig, node_id: int, context: ssl.SSLContext
    ) -> None:
        self._holder = holder
        self._cluster = holder.dispatcher.cluster
        self._listener = listener
        self.node_id = node_id
        self._context = context
        self._transport: asyncio.Transport | None = None
        self._task: asyncio.Task[None] | None = None  # the handshake
        self._early: list[bytes] = []  # came with the end of the handshake
        self._connection: Connection | None = None
        self._is_over = False
        self.host, self._port = "127.0.0.1", 0
        self.began_ms = self._cluster.clock.now_ms()

    @property
    def listener_name(self) -> str:
        return self._listener.name

    @property
    def last_used_ms(self) -> int:
        return self.began_ms if self._connection is None else self._connection.last_used_ms

    @property
    def is_logging_in(self) -> bool:
        if self._connection is not None:
            return self._connection.is_logging_in
        return self._task is not None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._transport.pause_reading()
        host, self._port, *_ = transport.get_extra_info("peername") or (self.host, 0)
        self.host = java_host_text(host)
        if self._holder.accepts(self):
            self._holder.quotas.arrive(self)
        else:
            self.close("too many connections, or a broker that is stopped")

    def start(self) -> None:
        """Begin the handshake, since the quotas have a place."""
        self.began_ms = self._cluster.clock.now_ms()
        self._holder.handshakes.begin(self)
        self._task = asyncio.get_running_loop().create_task(self._shake_hands())

    def data_received(self, data: bytes) -> None:
        self._early.append(data)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's
        self.ended()

    def ended(self) -> None:
        """Record the end of the connection."""
        if not self._is_over:
            self._is_over = True
            self._holder.quotas.gone(self)
            self._holder.forget(self)

    def shut_down(self) -> None:
        """Close after the written bytes were sent."""
        if self._connection is not None:
            self._connection.shut_down()
        else:
            self.abort()

    def abort(self) -> None:
        """Close at once."""
        if self._connection is not None:
            self._connection.abort()
        elif self._transport is not None:
            self._transport.abort()

    def close(self, reason: str) -> None:
        """Close, and log why."""
        if self._connection is not None:
            self._connection.close(reason)
        elif self._transport is not None and not self._transport.is_closing():
            self._log(reason)
            self._transport.abort()

    async def _shake_hands(self) -> None:
        tls: asyncio.Transport | None = None
        transport = self._transport
        assert transport is not None
        try:
            if not transport.is_closing():
                send_alert.set(transport.write)
                tls = await asyncio.get_running_loop().start_tls(
                    transport,
                    self,
                    self._context,
                    server_side=True,
                    ssl_handshake_timeout=self._holder.limits.login_ms_max / 1000,
                )
        except ssl.SSLError as error:
            self._log(f"tls handshake failed: {handshake_failure(error)}")
        except OSError:
            pass  # the peer went, or was too slow
        finally:
            self._holder.handshakes.end(self)
        if tls is None or tls.is_closing():
            self.ended()
        else:
            self._hand_over(tls)

    def _hand_over(self, tls: asyncio.Transport) -> None:
        connection = Connection(self._holder, self._listener, self.node_id, self)
        self._connection = connection
        tls.set_protocol(connection)
        connection.connection_made(tls)
        early = memoryview(b"".join(self._early))
        self._early.clear()
        while early and not tls.is_closing():
            buffer = connection.get_buffer(len(early))
            size = min(len(buffer), len(early))
            buffer[:size] = early[:size]
            early = early[size:]
            connection.buffer_updated(size)

    def _log(self, reason: str) -> None:
        self._cluster.counters.closed += 1
        self._holder.closings.closed(
            self.host, self._port, self._listener.name, reason, self._listener.principal
        )

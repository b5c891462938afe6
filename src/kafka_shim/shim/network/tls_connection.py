"""A connection to a TLS listener: counted when accepted, limited during the handshake.

Quotas and server count it from its arrival to its end, whichever part reads from it.
"""

import asyncio
import ssl
from typing import cast

from kafka_shim.shim.config import ListenerConfig
from kafka_shim.shim.network.connection import Connection
from kafka_shim.shim.network.connection_host import ConnectionHost
from kafka_shim.shim.request.session import address_of_peer
from kafka_shim.shim.tls.alerts import handshake_failure_text_with_subject, send_alert


class TlsConnection(asyncio.Protocol):
    """Hands over to a `Connection` once the handshake is done."""

    def __init__(
        self, host: ConnectionHost, listener: ListenerConfig, node_id: int, context: ssl.SSLContext
    ) -> None:
        self._host = host
        self._cluster = host.dispatcher.cluster
        self._listener = listener
        self.node_id = node_id
        self._context = context
        self._transport: asyncio.Transport | None = None
        self._handshake: asyncio.Task[None] | None = None
        self._early_data: list[bytes] = []  # came with the end of the handshake
        self._connection: Connection | None = None
        self._has_ended = False
        self.host, self._port = "127.0.0.1", 0
        self.began_ms = self._cluster.clock.now_ms()

    @property
    def listener_name(self) -> str:
        return self._listener.name

    @property
    def last_used_ms(self) -> int:
        return self.began_ms if self._connection is None else self._connection.last_used_ms

    @property
    def awaits_authentication(self) -> bool:
        if self._connection is not None:
            return self._connection.awaits_authentication
        return self._handshake is not None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._transport.pause_reading()
        peer = transport.get_extra_info("peername") or (self.host, 0)
        self.host, self._port = address_of_peer(peer), peer[1]
        if self._host.add_connection(self):
            self._host.quotas.admit(self)
        else:
            self.close("too many connections, or a broker that is stopped")

    def on_admitted(self) -> None:
        """Begin the handshake, since quotas have room for the connection."""
        self.began_ms = self._cluster.clock.now_ms()
        self._host.handshakes.add(self)
        self._handshake = asyncio.get_running_loop().create_task(self._perform_handshake())

    def data_received(self, data: bytes) -> None:
        self._early_data.append(data)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's
        self.on_connection_ended()

    def on_connection_ended(self) -> None:
        """Record the end of the connection."""
        if not self._has_ended:
            self._has_ended = True
            self._host.quotas.remove(self)
            self._host.remove_connection(self)

    def cancel_requests_and_close(self) -> None:
        """Close after the written bytes were sent."""
        if self._connection is not None:
            self._connection.cancel_requests_and_close()
        else:
            self.abort()

    def abort(self) -> None:
        """Close immediately."""
        if self._connection is not None:
            self._connection.abort()
        elif self._transport is not None:
            self._transport.abort()

    def close(self, reason: str) -> None:
        """Close, and log why."""
        if self._connection is not None:
            self._connection.close(reason)
        elif self._transport is not None and not self._transport.is_closing():
            self._log_close(reason)
            self._transport.abort()

    async def _perform_handshake(self) -> None:
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
                    ssl_handshake_timeout=self._host.limits.authentication_ms_max / 1000,
                )
        except ssl.SSLError as error:
            self._log_close(f"tls handshake failed: {handshake_failure_text_with_subject(error)}")
        except OSError:
            pass  # the peer went, or was too slow
        finally:
            self._host.handshakes.remove(self)
        if tls is None or tls.is_closing():
            self.on_connection_ended()
        else:
            self._hand_over_to_connection(tls)

    def _hand_over_to_connection(self, tls: asyncio.Transport) -> None:
        connection = Connection(self._host, self._listener, self.node_id, self)
        self._connection = connection
        tls.set_protocol(connection)
        connection.connection_made(tls)
        early = memoryview(b"".join(self._early_data))
        self._early_data.clear()
        while early and not tls.is_closing():
            buffer = connection.get_buffer(len(early))
            size = min(len(buffer), len(early))
            buffer[:size] = early[:size]
            early = early[size:]
            connection.buffer_updated(size)

    def _log_close(self, reason: str) -> None:
        self._cluster.counters.closed += 1
        self._host.close_log.log_close(
            self.host, self._port, self._listener.name, reason, self._listener.principal
        )

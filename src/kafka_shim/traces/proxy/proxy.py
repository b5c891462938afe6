"""The proxy: a listener for the bootstrap address, and one for every broker in responses."""

import asyncio
import itertools
import os
import socket
import ssl
from dataclasses import dataclass
from functools import partial

from kafka_shim.client.login import InvalidLoginResponseError
from kafka_shim.shim.config import Limits, ListenerConfig, SecurityProtocol
from kafka_shim.shim.errors import UnavailableError
from kafka_shim.shim.request.session import Session, address_of_peer
from kafka_shim.text.logs import Log
from kafka_shim.traces.connection_observer import TrafficObserver
from kafka_shim.traces.proxy.client_listeners import (
    Address,
    ClientListeners,
    address_text,
)
from kafka_shim.traces.proxy.proxied_connection import ProxiedConnection
from kafka_shim.traces.proxy.response_addresses import is_valid_address
from kafka_shim.traces.proxy.upstream import UpstreamConnector

log = Log("shim.proxy")

BROKERS_MAX = 500
"""More brokers get no listener."""


@dataclass
class _Route:
    """A broker and the proxy's address for it; the broker may move to another address."""

    node_id: int
    broker: Address
    local: Address = ("", 0)


class Proxy:
    """Listens on one host; `start` returns the bootstrap server for clients."""

    def __init__(
        self,
        upstream: Address,
        listen: Address,
        observer: TrafficObserver,
        *,
        name: str = "PROXY",
        brokers: UpstreamConnector | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        """`brokers` opens connections to brokers (default: without TLS); `tls` is for clients."""
        self._name = name
        self._brokers = brokers or UpstreamConnector()
        self._tls = tls
        self._upstream = upstream
        self._listen = listen
        self._observer = observer
        self._bootstrap: Address | None = None
        self._routes: dict[int, _Route] = {}
        self._rejected = 0
        self._listeners = ClientListeners(tls)
        self._numbers = itertools.count(1)

    async def start(self) -> str:
        """Open the bootstrap listener. Raise UnavailableError if that fails."""
        try:
            self._bootstrap = self._listen_for(_Route(-1, self._upstream), self._listen[1])
        except OSError as error:
            raise UnavailableError(
                f"cannot listen on {address_text(self._listen)}: {_connection_error_reason(error)}"
            ) from error
        return address_text(self._bootstrap)

    async def stop(self) -> None:
        """Close listeners, links and the observer."""
        await self._listeners.close()
        self._observer.close()

    def _proxy_address(self, node_id: int, host: str, port: int) -> Address:
        """Return the proxy's address for a broker; there is one listener for each broker id.

        An address that no client can reach, and those of more than BROKERS_MAX brokers, stay as
        they are.
        """
        broker = (host, port)
        if broker == self._upstream and self._bootstrap is not None:
            return self._bootstrap
        route = self._routes.get(node_id)
        if not is_valid_address(host, port) or (route is None and len(self._routes) >= BROKERS_MAX):
            self._warn_about_unproxied_broker(broker)
            return broker
        if route is None:
            route = self._routes[node_id] = _Route(node_id, broker)
            try:
                route.local = self._listen_for(route, 0)
            except OSError as error:
                del self._routes[node_id]
                log.warning(
                    "cannot listen for a broker",
                    broker=broker,
                    reason=_connection_error_reason(error),
                )
                return broker
        route.broker = broker
        return route.local

    def _warn_about_unproxied_broker(self, broker: Address) -> None:
        self._rejected += 1
        if self._rejected == 1:
            log.warning(
                "a broker's address is invalid, or there are too many brokers: clients get the "
                "address unchanged, and the proxy does not record their requests to this broker",
                host=broker[0][:80], port=broker[1], brokers_max=BROKERS_MAX,
            )  # fmt: skip

    def _listen_for(self, route: "_Route", port: int) -> Address:
        return self._listeners.listen(
            (self._listen[0], port), partial(self._proxy_connection, route)
        )

    async def _proxy_connection(
        self,
        route: "_Route",
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        try:
            upstream = await self._brokers.open_authenticated(*route.broker)
        except (OSError, InvalidLoginResponseError) as error:
            log.warning(
                "broker not reached",
                broker=address_text(route.broker),
                reason=_connection_error_reason(error),
            )
            writer.close()
            return
        peer = writer.get_extra_info("peername")
        protocol = SecurityProtocol.PLAINTEXT if self._tls is None else SecurityProtocol.SSL
        listener = ListenerConfig(self._name, protocol, *self._listen)
        reached = str(writer.get_extra_info("sockname")[0])
        session = Session(listener, route.node_id, address_of_peer(peer), peer[1], reached)
        session.number = next(self._numbers)
        session.observed_host = address_of_peer(upstream[1].get_extra_info("sockname"))
        if self._brokers.login is not None:
            session.mechanism = self._brokers.login.mechanism
            session.principal = f"User:{self._brokers.login.username}"

        def reachable_proxy_address(node_id: int, host: str, port: int) -> Address:
            local_host, local_port = self._proxy_address(node_id, host, port)
            return session.advertised_host(local_host), local_port

        connection = ProxiedConnection(
            session,
            self._observer,
            reachable_proxy_address,
            Limits().frame_bytes_max,
        )
        await connection.forward((reader, writer), upstream)


def _connection_error_reason(error: Exception) -> str:
    """Return the system's error text instead of Python's, which has the address in it."""
    has_own_codes = isinstance(error, socket.gaierror | ssl.SSLError)
    if isinstance(error, OSError) and error.errno and not has_own_codes:
        return os.strerror(error.errno)
    return (isinstance(error, OSError) and error.strerror) or str(error)

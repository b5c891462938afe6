"""A broker that responds from a recording: everything but its handlers is that of any broker."""

import asyncio
from collections.abc import Coroutine
from functools import cache, partial
from typing import Any

import msgspec

from kafka_shim.protocol.api_versions import unsupported_version_message
from kafka_shim.protocol.codec.codecs import request_reader
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.errors import ProtocolError, UnsupportedVersionError
from kafka_shim.protocol.headers import RequestHeader
from kafka_shim.protocol.message_frames import write_response_frame
from kafka_shim.shim.apis import APIS_WITH_HANDLER, ServedApi
from kafka_shim.shim.config import Config, ListenerConfig
from kafka_shim.shim.dispatching.dispatcher import Dispatcher
from kafka_shim.shim.dispatching.interceptors import Exchange
from kafka_shim.shim.dispatching.response_cache import ResponseCache
from kafka_shim.shim.errors import CloseConnection
from kafka_shim.shim.network.server import Server
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.request.session import Session
from kafka_shim.shim.state.cluster import Cluster
from kafka_shim.shim.system_clock import SystemClock
from kafka_shim.shim.wait import NoResponse, PendingResponse
from kafka_shim.text.logs import Log
from kafka_shim.traces.cassettes.new_episodes import NewEpisodes
from kafka_shim.traces.cassettes.playback_report import MismatchError
from kafka_shim.traces.cassettes.playback_state import PlaybackState
from kafka_shim.traces.cassettes.player import PlayedConnection
from kafka_shim.traces.proxy.client_listeners import address_text

log = Log("shim.playback")


class PlaybackBroker:
    """Plays a trace to clients, on the listeners of a configuration, with the recorded brokers."""

    def __init__(
        self, state: PlaybackState, config: Config, episodes: NewEpisodes | None = None
    ) -> None:
        """Raise ConfigError if there are too few ports for the recorded brokers."""
        node_ids = sorted(state.index.brokers) or [1]
        listeners = tuple(_with_ports_of_brokers(each, len(node_ids)) for each in config.listeners)
        config = msgspec.structs.replace(config, brokers=len(node_ids), listeners=listeners)
        cluster = Cluster(config, SystemClock())
        self._nodes = cluster.nodes = dict(zip(node_ids, cluster.nodes.values(), strict=True))
        self._dispatcher = _PlaybackDispatcher(cluster, state, episodes)
        self._server = Server(self._dispatcher)
        self.start = self._server.start

    async def stop(self) -> None:
        """Close all listeners and connections."""
        await self._server.stop()
        self._dispatcher.report_cached_responses()

    def bootstrap_servers(self, listener: str) -> str:
        """Return the addresses of all brokers on a listener, as HOST:PORT,HOST:PORT."""
        return ",".join(address_text(node.endpoints[listener]) for node in self._nodes.values())


def _with_ports_of_brokers(listener: ListenerConfig, brokers: int) -> ListenerConfig:
    """Return a listener with the given ports, and any free ones for further brokers, unless
    clients have to know them.
    """
    if listener.ports_of_brokers or listener.advertised is not None:
        return listener
    ports = (listener.port, *(0 for _ in range(brokers - 1)))
    return msgspec.structs.replace(listener, ports_of_brokers=ports)


class _PlaybackDispatcher(Dispatcher):
    """Returns recorded responses, or those of the cluster that new episodes come from."""

    def __init__(
        self, cluster: Cluster, state: PlaybackState, episodes: NewEpisodes | None
    ) -> None:
        super().__init__(cluster)
        self.response_cache = self._cache = ResponseCache(cluster)
        self._state = state
        self._connect = partial(PlayedConnection, state) if episodes is None else episodes.connect
        self._connections: dict[Session, PlayedConnection] = {}

    def report_cached_responses(self) -> None:
        """Add the requests to which the broker's cache has responded to the report."""
        self._state.report.requests += self._cache.hits
        self._state.report.repeated += self._cache.hits

    def _unreadable_error(
        self, what: str, error: ProtocolError, frame: bytes, session: Session
    ) -> CloseConnection:
        if not self._state.index.has_unreadable(frame):
            self._report(session, None, MismatchError("bytes", str(error)), is_closed=True)
        return super()._unreadable_error(what, error, frame, session)

    def on_disconnect(self, session: Session, reason: str) -> None:
        """Note the end of a connection."""
        super().on_disconnect(session, reason)
        if session in self._connections:
            self._connections.pop(session).close()

    def _check_authentication_phase(
        self, frame: bytes, header: RequestHeader, session: Session
    ) -> None:
        """Accept every request, in any phase."""

    def _resolve_api(self, key: int, version: int) -> ServedApi | None:
        """Return an API of any release: what a client may send is in the recording."""
        try:
            return _served_api(key, version)
        except UnsupportedVersionError:
            return None

    def _unsupported_version_response(self, exchange: Exchange) -> bytes:
        header = exchange.header
        raise CloseConnection(
            unsupported_version_message(header.api_key, header.api_version, self.cluster.release)
        )

    def _call_handler(self, exchange: Exchange) -> Any:
        api, context = exchange.api, exchange.context
        connection = self._get_or_connect(context.session)
        try:
            response = connection.response_or_coroutine(context.header, exchange.request)
        except MismatchError as error:
            return self._mismatch_response(api, context, error)
        if not isinstance(response, Coroutine):
            return response
        return _LaterResponse(self._await_played_response(response, api, context))

    async def _await_played_response(
        self, response: Coroutine[None, None, Any], api: ServedApi, context: RequestContext
    ) -> Any:
        try:
            return await response
        except MismatchError as error:
            return self._mismatch_response(api, context, error)

    def _encode_response(self, exchange: Exchange) -> bytes:
        api, context, response = exchange.api, exchange.context, exchange.response
        if response is NoResponse.SILENT:
            return b""
        try:
            frame = write_response_frame(context.header, response)
        except ProtocolError as error:
            mismatch = MismatchError("content", f"no such response in this version: {error}")
            response = self._mismatch_response(api, context, mismatch)
            frame = write_response_frame(context.header, response)
        return len(frame).to_bytes(4, "big") + frame

    def _get_or_connect(self, session: Session) -> PlayedConnection:
        """Return what is known of a client's connection."""
        if session not in self._connections:
            self._connections[session] = self._connect(session, self.cluster)
        return self._connections[session]

    def _mismatch_response(
        self, api: ServedApi, context: RequestContext, error: MismatchError
    ) -> Any:
        """Report a mismatch; return an error response. Raise CloseConnection if there is none."""
        self.cluster.state_version.count_possible_change()  # so that it is not cached
        code = self._state.options.error_for_mismatches
        is_closed = code is None or (api.key == ApiKey.PRODUCE and context.request.acks == 0)
        text = self._report(context.session, context.header, error, is_closed=is_closed)
        if code is None or is_closed:
            raise CloseConnection(f"no recorded response: {error}")
        return api.error_response(context.request, code, text)

    def _report(
        self,
        session: Session,
        header: RequestHeader | None,
        error: MismatchError,
        *,
        is_closed: bool,
    ) -> str:
        """Report a mismatch, and log it if it is new; return its text."""
        mismatch, report = self._get_or_connect(session).describe(header, error), self._state.report
        report.add_mismatch(mismatch)
        if report.mismatches[mismatch] == 1:
            outcome = "the connection is closed" if is_closed else "it gets an error"
            log.warning("no recorded response", mismatch=str(mismatch), outcome=outcome)
        return str(mismatch)


class _LaterResponse(PendingResponse[Any]):
    """The response that a coroutine returns, or the CloseConnection that it raises."""

    def __init__(self, response: Coroutine[None, None, Any]) -> None:
        super().__init__(self._cancel_task)
        self._task = asyncio.create_task(self._complete(response))

    def _cancel_task(self) -> None:
        self._task.cancel()

    async def _complete(self, response: Coroutine[None, None, Any]) -> None:
        outcome: Any = CloseConnection("a bug of the playback")
        try:
            outcome = await response
        except CloseConnection as closing:
            outcome = closing
        finally:
            self.complete(outcome)


@cache
def _served_api(key: int, version: int) -> ServedApi:
    """Return an API in any version. Raise UnsupportedVersionError if there is none."""
    request_reader(key, version)
    if key not in APIS_WITH_HANDLER:
        raise UnsupportedVersionError(f"{ApiKey(key).name} is an API between brokers")
    return ServedApi(ApiKey(key), version)

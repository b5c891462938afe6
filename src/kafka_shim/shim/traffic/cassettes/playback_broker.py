"""A broker that responds from a recording: the sockets are those of any broker."""

import asyncio
import contextlib
from collections.abc import Coroutine
from functools import partial
from typing import NamedTuple

import msgspec

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.request_frames import read_request_frame
from kafka_shim.protocol.response_frames import write_response_frame
from kafka_shim.shim.apis import import_handler
from kafka_shim.shim.client.login import InvalidLoginResponseError
from kafka_shim.shim.config import Config, ListenerConfig
from kafka_shim.shim.dispatching.dispatcher import Dispatcher, PendingExchange
from kafka_shim.shim.errors import CloseConnection
from kafka_shim.shim.logs import Log
from kafka_shim.shim.network.server import Server
from kafka_shim.shim.request.session import AuthenticationPhase, Session
from kafka_shim.shim.state.cluster import Cluster
from kafka_shim.shim.system_clock import SystemClock
from kafka_shim.shim.traffic.cassettes.new_episodes import EpisodeConnection, NewEpisodes
from kafka_shim.shim.traffic.cassettes.playback_report import MismatchError
from kafka_shim.shim.traffic.cassettes.playback_state import PlaybackState
from kafka_shim.shim.traffic.cassettes.player import (
    AwaitedResponse,
    PlayedConnection,
    PlayedResponse,
)
from kafka_shim.shim.traffic.proxy.client_listeners import Address, address_text
from kafka_shim.shim.wait import NoResponse, PendingResponse

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
        self._server = Server(_PlaybackDispatcher(cluster, state, episodes))
        self.start, self.stop = self._server.start, self._server.stop

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

    handles_requests_on_threads = False

    def __init__(
        self, cluster: Cluster, state: PlaybackState, episodes: NewEpisodes | None
    ) -> None:
        super().__init__(cluster)
        self._state = state
        self._episodes = episodes
        self._connections: dict[Session, _Connection] = {}
        self._change = asyncio.Event()
        state.on_change = self._wake_waiting_requests

    def dispatch(self, frame: bytes, session: Session) -> "bytes | PendingExchange | NoResponse":
        """Return the response to a frame, which may wait for other requests, for the recorded time
        or for the cluster. Raise CloseConnection if it gets none.
        """
        connection = self._connections.get(session)
        if connection is None:
            connection = self._connections[session] = self._new_connection(session)
        repeated = connection.played.repeated_response(frame)
        if repeated is not None:
            return repeated
        awaited = None
        if connection.upstream is None:
            try:
                awaited = connection.played.respond(frame)
                response = awaited.if_due()
            except MismatchError as error:
                return _with_size(self._error_response(connection.played, frame, error))
            if response is not None and not self._delay_s(response):
                return _with_size(response.frame) or NoResponse.SILENT
        return _PlayedExchange(self._later_response(connection, frame, awaited))

    def on_disconnect(self, session: Session, reason: str) -> None:  # noqa: ARG002 - the broker's
        """Note the end of a connection."""
        connection = self._connections.pop(session, None)
        if connection is not None and connection.upstream is not None:
            connection.upstream.close()

    def _new_connection(self, session: Session) -> "_Connection":
        session.phase = AuthenticationPhase.READY  # the playback authenticates, not the broker
        address_of = partial(self._address_of, session)
        played = PlayedConnection(self._state, session.node_id, address_of)
        if self._episodes is None:
            return _Connection(played, None)
        return _Connection(played, self._episodes.connection(session, address_of, played))

    def _address_of(self, session: Session, node_id: int, host: str, port: int) -> Address:
        """Return the address of a recorded broker for the clients of a listener."""
        node = self.cluster.nodes.get(node_id)
        if node is None:
            return host, port
        host, port = node.endpoints[session.listener.name]
        return session.advertised_host_or_reached_if_wildcard(host), port

    async def _later_response(
        self, connection: "_Connection", frame: bytes, awaited: AwaitedResponse | None
    ) -> bytes | None:
        played, upstream = connection
        try:
            if upstream is None:
                assert awaited is not None
                return await self._frame_when_due(awaited)
            if upstream.depends_on_new_state(frame):
                return await upstream.forward(frame)
            try:
                return await self._frame_when_due(played.respond(frame))
            except MismatchError as error:
                return await upstream.forward_unrecorded_part(frame, error)
        except MismatchError as error:
            return self._error_response(played, frame, error)
        except (OSError, InvalidLoginResponseError) as error:
            raise CloseConnection(str(error)) from error

    async def _frame_when_due(self, awaited: AwaitedResponse) -> bytes | None:
        loop = asyncio.get_running_loop()
        while (response := awaited.if_due()) is None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(max(0.001, awaited.deadline - loop.time())):
                    await self._change.wait()
        await asyncio.sleep(self._delay_s(response))
        return response.frame

    def _delay_s(self, response: PlayedResponse) -> float:
        speed = self._state.options.speed
        return response.delay_s if speed is None else response.recorded_latency_s / speed

    def _error_response(
        self, played: PlayedConnection, frame: bytes, error: MismatchError
    ) -> bytes:
        """Report a mismatch; return an error response. Raise CloseConnection if there is none."""
        mismatch, report = played.describe(error), self._state.report
        report.add_mismatch(mismatch)
        code = self._state.options.error_for_mismatches
        response = None if code is None else _error_response_frame(frame, code, str(mismatch))
        if report.mismatches[mismatch] == 1:
            outcome = "the connection is closed" if response is None else "it gets an error"
            log.warning("no recorded response", mismatch=str(mismatch), outcome=outcome)
        if response is None:
            raise CloseConnection(f"no recorded response: {error}")
        return response

    def _wake_waiting_requests(self) -> None:
        self._change.set()
        self._change = asyncio.Event()


class _Connection(NamedTuple):
    """A client's connection; `upstream` forwards what was not recorded."""

    played: PlayedConnection
    upstream: EpisodeConnection | None


class _PlayedExchange(PendingExchange):
    """The exchange of a request whose response comes later, already as a frame."""

    def __init__(self, response: Coroutine[None, None, bytes | None]) -> None:
        self.wait = PendingResponse[bytes | CloseConnection](self._cancel_task)
        self._task = asyncio.create_task(self._complete(response))

    def _cancel_task(self) -> None:
        self._task.cancel()

    async def _complete(self, response: Coroutine[None, None, bytes | None]) -> None:
        outcome: bytes | CloseConnection = CloseConnection("a bug of the playback")
        try:
            outcome = _with_size(await response)
        except CloseConnection as closing:
            outcome = closing
        finally:
            self.wait.complete_unless_already_done(outcome)

    def encode_frame_and_end_exchange(self, response: bytes) -> bytes:
        """Return the frame of the response."""
        return response


def _with_size(frame: bytes | None) -> bytes:
    """Return a frame behind its size; nothing if there is no response."""
    return b"" if frame is None else len(frame).to_bytes(4, "big") + frame


def _error_response_frame(frame: bytes, error: ErrorCode, reason: str) -> bytes | None:
    """Return the frame of an error response to a request, with the reason where the API has a
    field for it; None if the request cannot be read or gets no response.
    """
    try:
        header, message = read_request_frame(frame)
    except ProtocolError:
        return None
    if header.api_key == ApiKey.PRODUCE and message.acks == 0:
        return None
    handler = import_handler(ApiKey(header.api_key))
    return write_response_frame(header, handler.error_response(message, error, reason))

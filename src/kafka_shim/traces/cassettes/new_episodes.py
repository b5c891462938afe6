"""Requests that a cassette does not answer: a cluster does, and the cassette gets them, too.

What such a request changes is then in the cluster only, so requests that depend on it are forwarded
as well.
"""

from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import msgspec

from kafka_shim.client.config import ClientConfig, Login
from kafka_shim.client.login import InvalidLoginResponseError
from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.headers import RequestHeader, write_request_header
from kafka_shim.protocol.message_frames import read_response_with_version
from kafka_shim.shim.errors import CloseConnection
from kafka_shim.shim.request.session import Session
from kafka_shim.shim.state.cluster import Cluster
from kafka_shim.shim.wait import NoResponse
from kafka_shim.traces.cassettes.cassette_recording import CassetteBuilder, Upstream
from kafka_shim.traces.cassettes.playback_report import MismatchError
from kafka_shim.traces.cassettes.playback_state import PlaybackState
from kafka_shim.traces.cassettes.played_records import PlayedProduce
from kafka_shim.traces.cassettes.player import PlayedConnection
from kafka_shim.traces.cassettes.request_content import request_fields
from kafka_shim.traces.cassettes.touched_state import TouchedState, touched_state
from kafka_shim.traces.connection_observer import ObservedConnection
from kafka_shim.traces.proxy.client_listeners import Address
from kafka_shim.traces.proxy.upstream import Streams, UpstreamConnector, read_frame

_FORWARDED_KINDS = frozenset({"content", "count"})
"""Kinds of mismatches that a cluster can answer: what was not recorded, or not as often."""


class NewEpisodes:
    """What the cluster answers during a playback; `finish` adds it to the cassette."""

    def __init__(self, cassette: Path, upstream: Upstream, state: PlaybackState) -> None:
        self._cassette = cassette
        self._upstream = upstream
        self._trace = CassetteBuilder(cassette, state.options.masks)
        self.state = state
        self._changed_parts: set[str] = set()
        self.observer = self._trace.observer("new")

    def connect(self, session: Session, cluster: Cluster) -> PlayedConnection:
        """Return a client's connection, which is forwarded if its listener has an address."""
        address = self._upstream.address_for(session.listener.name)
        if address is None:
            return PlayedConnection(self.state, session, cluster)
        brokers = self.state.index.brokers
        if len(brokers) > 1:
            address = brokers.get(session.node_id, address)
        return ForwardingConnection(self, address, session, cluster)

    def client_config(self, session: Session) -> ClientConfig:
        """Return how to connect as a client: as configured, or with its recorded user."""
        config = self._upstream.config
        user = session.principal.removeprefix("User:")
        password = self.state.options.users.get(user)
        if config.login is not None or not session.mechanism or password is None:
            return config
        return msgspec.structs.replace(config, login=Login(session.mechanism, user, password))

    def depends_on_new_state(self, header: RequestHeader, message: Any) -> bool:
        """Return whether a request reads what was changed in the cluster during this playback."""
        touched = self._touched_state(header, message)
        return bool(self._changed_parts & (touched.reads | touched.changes))

    def note_changes(self, header: RequestHeader, message: Any) -> None:
        """Note what a forwarded request changes."""
        self.state.report.recorded_anew += 1
        reads, changes = self._touched_state(header, message)
        # the cluster has the transactional ids of all that was forwarded
        self._changed_parts |= changes | {
            part for part in reads if part.startswith("transactional")
        }

    def finish(self) -> None:
        """Add what was recorded to the cassette."""
        self._trace.finish(self._cassette)

    def _touched_state(self, header: RequestHeader, message: Any) -> TouchedState:
        fields = request_fields(message, header.api_version, self.state.index.topic_names)
        return touched_state(header.api_key, message, fields)


class ForwardingConnection(PlayedConnection):
    """A client's connection to the playback, and one to the cluster, which is opened with the first
    forwarded request.
    """

    def __init__(
        self, episodes: NewEpisodes, address: Address, session: Session, cluster: Cluster
    ) -> None:
        super().__init__(episodes.state, session, cluster)
        self._episodes = episodes
        self._address = address
        self._observed = ObservedConnection(session, episodes.observer)
        self._streams: Streams | None = None

    def response_or_coroutine(
        self, header: RequestHeader, message: Any
    ) -> Any | Coroutine[None, None, Any]:
        """Return a coroutine, as it may have to ask the cluster."""
        return self._respond_or_forward(header, message)

    def close(self) -> None:
        """Close the connection to the cluster."""
        if self._streams is not None:
            self._streams[1].close()
            self._observed.record_close()

    async def _respond_or_forward(self, header: RequestHeader, message: Any) -> Any:
        if self._episodes.depends_on_new_state(header, message):
            return await self._forward(header, message)
        try:
            return await self.await_message(self.respond(header, message))
        except MismatchError as error:
            if error.kind not in _FORWARDED_KINDS:
                raise
            if header.api_key != ApiKey.PRODUCE:
                return await self._forward(header, message)
            if message.transactional_id:  # the cluster does not have what was recorded of it
                raise
            return await self._forward_new_records(header, message)

    async def _forward_new_records(self, header: RequestHeader, message: Any) -> Any:
        """Return the cluster's response to the records that were not recorded, with the recorded
        rows of other partitions.
        """
        expects_response = message.acks != 0
        played = PlayedProduce(self._state, header, self.sender(header), allows_new_records=True)
        response = played.response(message)
        message.acks = message.acks or 1
        for topic in message.topic_data:
            topic.partition_data = [row for row in topic.partition_data if row.records]
        message.topic_data = [topic for topic in message.topic_data if topic.partition_data]
        actual = await self._forward(header, message)
        rows = {
            (topic.name or topic.topic_id, row.index): row
            for topic in actual.responses
            for row in topic.partition_responses
        }
        for topic in response.responses:
            for number, recorded in enumerate(topic.partition_responses):
                row = rows.get((topic.name or topic.topic_id, recorded.index), recorded)
                if row.error_code or recorded.base_offset < 0:
                    topic.partition_responses[number] = row
        return response if expects_response else NoResponse.SILENT

    async def _forward(self, header: RequestHeader, message: Any) -> Any:
        """Return the cluster's response. Raise MismatchError if it cannot be reached, and
        CloseConnection if it closes the connection.
        """
        try:
            return await self._exchange_with_cluster(header, message)
        except EOFError as error:
            raise CloseConnection("the cluster closed the connection") from error
        except (OSError, InvalidLoginResponseError, ProtocolError) as error:
            raise MismatchError("cluster", f"the cluster did not respond: {error}") from error

    async def _exchange_with_cluster(self, header: RequestHeader, message: Any) -> Any:
        principal = self.authentication.principal
        if principal is not None:
            self._session.principal = principal
        if self._streams is None:
            connector = UpstreamConnector(self._episodes.client_config(self._session))
            self._streams = await connector.open_authenticated(*self._address)
        reader, writer = self._streams
        key, version = header.api_key, header.api_version
        frame = write_request_header(header) + codecs.write_request(message, version)
        self._episodes.note_changes(header, message)
        self._observed.observe_request(frame)
        writer.write(len(frame).to_bytes(4, "big") + frame)
        await writer.drain()
        if not self._observed.has_outstanding_responses:
            return NoResponse.SILENT
        response_frame = await read_frame(reader)
        self._observed.observe_response(response_frame)
        response, _ = read_response_with_version(key, version, response_frame)
        return self._adapt_response(header, response)

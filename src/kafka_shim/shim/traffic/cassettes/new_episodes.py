"""Requests that a cassette does not answer: a cluster does, and the cassette gets them, too.

What such a request changes is then in the cluster only, so requests that depend on it are forwarded
as well.
"""

import asyncio
from pathlib import Path

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.request_frames import read_request_frame
from kafka_shim.shim.client.config import ClientConfig, Login
from kafka_shim.shim.errors import CloseConnection
from kafka_shim.shim.request.session import Session
from kafka_shim.shim.traffic.cassettes.cassette_recording import (
    TraceInProgress,
    Upstream,
)
from kafka_shim.shim.traffic.cassettes.playback_report import MismatchError
from kafka_shim.shim.traffic.cassettes.playback_state import PlaybackState
from kafka_shim.shim.traffic.cassettes.played_produces import PlayedProduce
from kafka_shim.shim.traffic.cassettes.player import PlayedConnection
from kafka_shim.shim.traffic.cassettes.request_content import request_fields
from kafka_shim.shim.traffic.cassettes.touched_state import touched_state
from kafka_shim.shim.traffic.proxy.client_listeners import Address
from kafka_shim.shim.traffic.proxy.proxied_connection import readdressed_response
from kafka_shim.shim.traffic.proxy.response_addresses import AddressReplacement
from kafka_shim.shim.traffic.proxy.upstream import Streams, UpstreamConnector, read_frame
from kafka_shim.shim.traffic.traces.connection_observer import ObservedConnection
from kafka_shim.shim.traffic.traces.record_masks import RecordMasks

_FORWARDED_KINDS = frozenset({"content", "count"})
"""Kinds of mismatches that a cluster can answer: what was not recorded, or not as often."""


class NewEpisodes:
    """What the cluster answers during a playback; `finish` adds it to the cassette."""

    def __init__(
        self, cassette: Path, upstream: Upstream, masks: RecordMasks, state: PlaybackState
    ) -> None:
        self._cassette = cassette
        self._upstream = upstream
        self._trace = TraceInProgress(cassette, masks)
        self.state = state
        self._changed_parts: set[str] = set()
        self.observer = self._trace.observer("new")

    def connection(
        self, session: Session, address_of: AddressReplacement, played: PlayedConnection
    ) -> "EpisodeConnection | None":
        """Return a connection to the cluster for a client; None if its listener has no address."""
        address = self._upstream.address_for(session.listener.name)
        if address is None:
            return None
        brokers = self.state.index.brokers
        if len(brokers) > 1:
            address = brokers.get(session.node_id, address)
        return EpisodeConnection(self, session, address, address_of, played)

    def client_config(self, principal: str, mechanism: str) -> ClientConfig:
        """Return how to connect as a client: as configured, or with its recorded user."""
        config = self._upstream.config
        user = principal.removeprefix("User:")
        password = self.state.options.users.get(user)
        if config.login is not None or not mechanism or password is None:
            return config
        return ClientConfig(
            config.protocol, Login(mechanism, user, password), config.trust, config.timeout_s
        )

    def depends_on_new_state(self, frame: bytes) -> bool:
        """Return whether a request reads what was changed in the cluster during this playback."""
        return bool(self._changed_parts and self._parts_of_request(frame)[0] & self._changed_parts)

    def note_changes(self, frame: bytes) -> None:
        """Note what a forwarded request changes."""
        self.state.report.recorded_anew += 1
        reads, changes = self._parts_of_request(frame)
        # the cluster has the transactional ids of all that was forwarded
        self._changed_parts |= changes | {
            part for part in reads if part.startswith("transactional")
        }

    def finish(self) -> None:
        """Add what was recorded to the cassette."""
        self._trace.finish(self._cassette)

    def _parts_of_request(self, frame: bytes) -> tuple[frozenset[str], frozenset[str]]:
        """Return the parts of the state that a request reads, and those that it changes."""
        try:
            header, message = read_request_frame(frame)
        except ProtocolError:
            return frozenset(), frozenset()
        fields = request_fields(message, header.api_version, self.state.index.topic_names)
        touched = touched_state(header.api_key, message, fields)
        return touched.reads | touched.changes, touched.changes


class EpisodeConnection:
    """A client's connection to the cluster, which is opened with the first forwarded request."""

    def __init__(
        self,
        episodes: NewEpisodes,
        session: Session,
        address: Address,
        address_of: AddressReplacement,
        played: PlayedConnection,
    ) -> None:
        self._episodes = episodes
        self._session = session
        self._address = address
        self._address_of = address_of
        self._played = played
        self._observed = ObservedConnection(session, episodes.observer)
        self._streams: Streams | None = None
        self.depends_on_new_state = episodes.depends_on_new_state

    async def forward_unrecorded_part(self, frame: bytes, error: MismatchError) -> bytes | None:
        """Return the cluster's response to a request, of Produce only to the records that were not
        recorded; None if the request gets none.

        Raise the error if it cannot be forwarded, OSError or InvalidLoginResponseError if the
        cluster cannot be reached.
        """
        if error.kind not in _FORWARDED_KINDS:
            raise error
        header, message = read_request_frame(frame)
        if header.api_key != ApiKey.PRODUCE:
            return await self.forward(frame)
        if message.transactional_id:  # the cluster does not have what was recorded of it
            raise error
        state, sender = self._episodes.state, self._played.sender
        produce = PlayedProduce(state, header, message, sender, allows_new_records=True)
        forwarded = await self.forward(produce.new_records_frame())
        return None if forwarded is None else produce.merged_frame(forwarded)

    async def forward(self, frame: bytes) -> bytes | None:
        """Return the cluster's response; None if the request gets none.

        Raise OSError or InvalidLoginResponseError if the cluster cannot be reached.
        """
        authentication = self._played.authentication
        if authentication.principal is not None:
            self._session.set_principal_resetting_identity_and_trace(authentication.principal)
        if self._streams is None:
            principal, mechanism = self._session.principal, authentication.mechanism
            config = self._episodes.client_config(principal, mechanism)
            self._streams = await UpstreamConnector(config).open_authenticated(*self._address)
        reader, writer = self._streams
        self._episodes.note_changes(frame)
        self._observed.observe_request(frame)
        writer.write(len(frame).to_bytes(4, "big") + frame)
        await writer.drain()
        if not self._observed.has_outstanding_responses:
            return None
        try:
            response = await read_frame(reader)
        except asyncio.IncompleteReadError as error:
            raise CloseConnection("the cluster closed the connection") from error
        header = self._observed.observe_response(response)
        if header is None:
            return response
        return await readdressed_response(header, response, self._address_of)

    def close(self) -> None:
        """Close the connection to the cluster."""
        if self._streams is not None:
            self._streams[1].close()
            self._observed.record_close()

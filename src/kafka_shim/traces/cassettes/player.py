"""Responds to requests from a recording: without sockets, one connection after another."""

import asyncio
import contextlib
import time
from collections.abc import Callable, Coroutine
from copy import deepcopy
from functools import partial
from typing import Any, NamedTuple

import msgspec

from kafka_shim.protocol.code_names import api_name_or_key
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.headers import RequestHeader
from kafka_shim.protocol.messages.heartbeat import HeartbeatResponse
from kafka_shim.shim.errors import CloseConnection
from kafka_shim.shim.request.session import Session
from kafka_shim.shim.state.cluster import Cluster
from kafka_shim.shim.wait import NoResponse
from kafka_shim.traces.api_kinds import COUNTED_CHANGES, GROUP_HEARTBEATS, REBALANCES
from kafka_shim.traces.cassettes.interactions import Interaction
from kafka_shim.traces.cassettes.matching import (
    Sender,
    Sent,
    counterparts,
    find_current_interaction,
    require_due_interaction,
)
from kafka_shim.traces.cassettes.playback_report import Mismatch, MismatchError
from kafka_shim.traces.cassettes.playback_state import MatchMode, PlaybackState
from kafka_shim.traces.cassettes.played_authentication import PlayedAuthentication
from kafka_shim.traces.cassettes.played_records import PlayedProduce, fetch_response
from kafka_shim.traces.cassettes.request_content import field_differences, request_fields
from kafka_shim.traces.cassettes.touched_state import group_counts, touched_state
from kafka_shim.traces.cassettes.trace_index import client_without_suffix
from kafka_shim.traces.identities.id_mapping import IdMapping
from kafka_shim.traces.proxy.client_listeners import Address
from kafka_shim.traces.proxy.response_addresses import (
    replace_broker_addresses,
    response_contains_broker_addresses,
)

PATIENCE_S = 1.0
"""How long a read waits for a change that preceded it in the recording."""

REBALANCE_PATIENCE_S = 10.0
"""How long a member waits for the others: programs may start at very different speeds."""
REBALANCE_DELAY_MAX_S = 0.25
"""Of a recorded delay before a rebalance: clients load metadata meanwhile, and need it then."""


class PlayedResponse(NamedTuple):
    """A response, or that there is none, and how long it is held back."""

    message: Any
    delay_s: float = 0.0


class PendingResponse:
    """A response that waits for other requests; `due_response` returns None until then."""

    def __init__(self, attempt: Callable[[bool], PlayedResponse | None], patience_s: float) -> None:
        """`attempt` gets whether it is the last one, so that it must not return None."""
        self._attempt = attempt
        self.deadline = time.monotonic() + patience_s

    def due_response(self) -> PlayedResponse | None:
        """Return the response if it is due by now. Raise MismatchError if there is none."""
        return self._attempt(time.monotonic() >= self.deadline)


class PlayedConnection:
    """A client's connection to the playback."""

    def __init__(self, state: PlaybackState, session: Session, cluster: Cluster) -> None:
        """`cluster` has the addresses of the recorded brokers: other ones are as recorded."""
        self._state = state
        self._index = state.index
        self._session = session
        self._cluster = cluster
        self.authentication = PlayedAuthentication(state, session, cluster)
        self._to_recording = IdMapping()
        self._to_client = IdMapping()

    def response_or_coroutine(
        self, header: RequestHeader, message: Any
    ) -> Any | Coroutine[None, None, Any]:
        """Return the response to a request, or a coroutine that returns it when it is due.

        Both raise MismatchError if the recording has none, and CloseConnection.
        """
        awaited = self.respond(header, message)
        response = awaited.due_response()
        if response is not None and not response.delay_s:
            return response.message
        return self.await_message(awaited)

    async def await_message(self, awaited: PendingResponse) -> Any:
        """Wait for a response."""
        while (response := awaited.due_response()) is None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(max(0.001, awaited.deadline - time.monotonic())):
                    await self._state.next_change.wait()
        await asyncio.sleep(response.delay_s)
        return response.message

    def close(self) -> None:
        """Note that the client has closed the connection."""

    def respond(self, header: RequestHeader, message: Any) -> PendingResponse:
        """Return the response to a request, which may have to wait. Raise MismatchError if the
        recording has none.
        """
        self._state.report.requests += 1
        response: Any
        match header.api_key:
            case ApiKey.FETCH:
                fetch = partial(self._due_fetch_response, header, message)
                return PendingResponse(fetch, message.max_wait_ms / 1000)
            case ApiKey.PRODUCE:
                response = self._produce_response(header, message)
            case ApiKey.SASL_AUTHENTICATE:
                response = PlayedResponse(self.authentication.response(message.auth_bytes))
            case _:
                return self._matched_response(header, message)
        return PendingResponse(lambda _: response, 0)

    def describe(self, header: RequestHeader | None, error: MismatchError) -> Mismatch:
        """Return a mismatch of a request for the report; None is one that cannot be read."""
        return Mismatch(
            request="an unreadable request" if header is None else _request_name(header),
            principal=self.authentication.principal or "unknown",
            client_id="" if header is None else header.client_id or "",
            **error.fields,
        )

    def sender(self, header: RequestHeader) -> Sender:
        client = client_without_suffix(header.client_id)
        return Sender(self.authentication.principal, client, self._session.node_id)

    def _produce_response(self, header: RequestHeader, message: Any) -> PlayedResponse:
        played = PlayedProduce(self._state, header, self.sender(header))
        response = played.response(message)
        if message.acks == 0:
            return PlayedResponse(NoResponse.SILENT)
        delay_s = self._delay_s(played.latency_us)
        return PlayedResponse(self._adapt_response(header, response), delay_s)

    def _due_fetch_response(
        self, header: RequestHeader, message: Any, is_last: bool
    ) -> PlayedResponse | None:
        principal = self.authentication.principal
        response = fetch_response(self._state, message, principal, is_last=is_last)
        return None if response is None else PlayedResponse(self._adapt_response(header, response))

    def _matched_response(self, header: RequestHeader, message: Any) -> PendingResponse:
        if len(self._to_recording):
            message = deepcopy(message)
            self._to_recording.put_target_ids(self, message)
        key = header.api_key
        fields = request_fields(message, header.api_version, self._index.topic_names)
        sent = Sent(_request_name(header), header, self.sender(header), fields, message)
        if key not in COUNTED_CHANGES and not touched_state(key, message, fields).changes:
            return PendingResponse(partial(self._due_read_response, sent), PATIENCE_S)
        interaction = require_due_interaction(self._state, sent)
        self._mark_played(sent, interaction)
        change = partial(self._due_change_response, sent, interaction)
        return PendingResponse(change, REBALANCE_PATIENCE_S)

    def _due_change_response(
        self, sent: Sent, interaction: Interaction, is_last: bool
    ) -> PlayedResponse | None:
        """Return the response to a change; one to a member waits for the changes before it."""
        # a broker does not wait for other members before it rejects one
        is_rejected = bool(getattr(self._index.response(interaction), "error_code", 0))
        waits = sent.header.api_key in REBALANCES and not is_rejected
        if waits and not self._state.has_received_preceding_changes(
            group_counts(interaction.state)
        ):
            if not is_last:
                return None
            if self._state.options.match is MatchMode.STRICT:
                missing = self._state.missing_changes(interaction.state)
                raise MismatchError("waiting", f"waited in vain: {missing}")
            self._count_early_response(sent, interaction)
        return self._recorded_response(sent, interaction)

    def _due_read_response(self, sent: Sent, is_last: bool) -> PlayedResponse | None:
        """Respond to a read from the recorded state that is the nearest to what was played."""
        state, first = self._state, find_current_interaction(self._state, sent)
        try:
            group = counterparts(state, sent) if first is None else [first]
        except MismatchError:
            if sent.header.api_key != ApiKey.HEARTBEAT:
                raise
            return PlayedResponse(HeartbeatResponse())  # the recorded members were faster
        current = [each for each in group if state.has_received(each.state)]
        unplayed = [each for each in current if not each.is_played]
        earlier = [each for each in group if state.has_received_preceding_changes(each.state)]
        chosen = unplayed[:1] or current[-1:] or earlier[-1:] or (group[:1] if is_last else [])
        if not chosen:
            return None
        if not earlier:
            self._count_early_response(sent, chosen[0])
        state.report.repeated += chosen[0].is_played
        self._mark_played(sent, chosen[0])
        return self._recorded_response(sent, chosen[0])

    def _count_early_response(self, sent: Sent, interaction: Interaction) -> None:
        missing = self._state.missing_changes(interaction.state)
        self._state.report.early[f"{sent.name}: {missing}"] += 1

    def _mark_played(self, sent: Sent, interaction: Interaction) -> None:
        """Note that a request was sent, with what it changes and how it differs."""
        report, recorded = self._state.report, self._index.request(interaction)
        key, version = sent.header.api_key, sent.header.api_version
        api = api_name_or_key(key)
        if version != interaction.version:
            report.count_tolerated_difference(f"{api}: version {interaction.version} -> {version}")
        fields = self._index.fields(interaction)
        chooses_member_id = key in GROUP_HEARTBEATS
        if sent.content.exact != interaction.exact:
            for each in field_differences(fields, sent.fields, is_exact=True):
                if not (chooses_member_id and each.field == "member_id"):
                    report.count_tolerated_difference(f"{api}.{each}")
        if chooses_member_id:
            self._to_client.learn(self, None, recorded, sent.message)
            self._to_recording.learn(self, None, sent.message, recorded)
        if not interaction.is_played:
            self._index.table.set_played(interaction)
            self._cluster.state_version.count_possible_change()  # the next response may be another
            self._state.count_changes(touched_state(key, recorded, fields).changes)

    def _recorded_response(self, sent: Sent, interaction: Interaction) -> PlayedResponse:
        """Return the recorded response with the client's ids. Raise CloseConnection if the
        recorded broker closed the connection instead.
        """
        header, response = sent.header, self._index.response(interaction)
        if response is None:
            raise CloseConnection(f"no response to {interaction.name} was recorded")
        if header.api_key == ApiKey.METADATA and interaction.version == 0 < header.api_version:
            # version 0 has no controller; here any broker is one
            controller_id = min(self._index.brokers, default=-1)
            response = msgspec.structs.replace(response, controller_id=controller_id)
        if header.api_key == ApiKey.SASL_HANDSHAKE and not response.error_code:
            self.authentication.begin(header.api_version, sent.message.mechanism)
        delay_s = self._delay_s(interaction.latency_us)
        if header.api_key == ApiKey.JOIN_GROUP and self._state.options.speed is None:
            delay_s = min(interaction.latency_us / 1_000_000, REBALANCE_DELAY_MAX_S)
        return PlayedResponse(self._adapt_response(header, response), delay_s)

    def _delay_s(self, latency_us: int) -> float:
        speed = self._state.options.speed
        return 0 if speed is None else latency_us / 1_000_000 / speed

    def _adapt_response(self, header: RequestHeader, response: Any) -> Any:
        """Return a response with the client's ids and the addresses of the playback."""
        has_addresses = response_contains_broker_addresses(header.api_key)
        if len(self._to_client) or has_addresses:
            response = deepcopy(response)  # recorded ones are cached
            self._to_client.put_target_ids(self, response)
            if has_addresses:
                replace_broker_addresses(header.api_key, response, self._address_of)
        return response

    def _address_of(self, node_id: int, host: str, port: int) -> Address:
        """Return the address of a recorded broker for the clients of this listener."""
        node = self._cluster.nodes.get(node_id)
        if node is None:
            return host, port
        host, port = node.endpoints[self._session.listener.name]
        return self._session.advertised_host(host), port


def _request_name(header: RequestHeader) -> str:
    return f"{api_name_or_key(header.api_key)} v{header.api_version}"

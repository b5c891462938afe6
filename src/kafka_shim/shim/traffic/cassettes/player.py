"""Responds to requests from a recording: without sockets, one connection after another."""

import time
from collections.abc import Callable
from copy import deepcopy
from functools import partial
from typing import Any, NamedTuple

import msgspec

from kafka_shim.protocol.code_names import api_name_or_key
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.headers import RequestHeader
from kafka_shim.protocol.request_frames import read_request_frame
from kafka_shim.protocol.response_frames import write_response_frame
from kafka_shim.shim.errors import CloseConnection
from kafka_shim.shim.traffic.cassettes.interactions import Interaction
from kafka_shim.shim.traffic.cassettes.matching import (
    Sender,
    Sent,
    counterparts,
    due_counterpart,
    next_current_counterpart,
)
from kafka_shim.shim.traffic.cassettes.playback_report import Mismatch, MismatchError
from kafka_shim.shim.traffic.cassettes.playback_state import MatchMode, PlaybackState
from kafka_shim.shim.traffic.cassettes.played_authentication import PlayedAuthentication
from kafka_shim.shim.traffic.cassettes.played_fetches import fetch_response
from kafka_shim.shim.traffic.cassettes.played_produces import PlayedProduce
from kafka_shim.shim.traffic.cassettes.request_content import (
    FieldDifference,
    content_of_fields,
    field_differences,
    request_fields,
)
from kafka_shim.shim.traffic.cassettes.touched_state import (
    COUNTED_CHANGES,
    GROUP_HEARTBEATS,
    groups_only,
    touched_state,
)
from kafka_shim.shim.traffic.cassettes.trace_index import client_without_suffix, frame_content
from kafka_shim.shim.traffic.identities.id_mapping import IdMapping
from kafka_shim.shim.traffic.proxy.response_addresses import (
    AddressReplacement,
    replace_broker_addresses_if_present,
    response_contains_broker_addresses,
)

PATIENCE_S = 1.0
"""How long a read waits for a change that preceded it in the recording."""

REBALANCE_PATIENCE_S = 10.0
"""How long a member waits for the others: programs may start at very different speeds."""
REBALANCE_DELAY_MAX_S = 0.25
"""Of a recorded delay before a rebalance: clients load metadata meanwhile, and need it then."""

REPEATED_MAX = 256
"""Requests of a connection whose responses are kept."""

_WAITING_FOR_MEMBERS = frozenset({ApiKey.JOIN_GROUP, ApiKey.SYNC_GROUP})


class PlayedResponse(NamedTuple):
    """A response's frame, None if there is no response; `delay_s` is kept at any speed."""

    frame: bytes | None
    recorded_latency_s: float = 0.0
    delay_s: float = 0.0


class AwaitedResponse:
    """A response that waits for other requests; `if_due` returns None until then."""

    def __init__(self, attempt: Callable[[bool], PlayedResponse | None], patience_s: float) -> None:
        """`attempt` gets whether it is the last one, so that it must not return None."""
        self._attempt = attempt
        self.deadline = time.monotonic() + patience_s

    def if_due(self) -> PlayedResponse | None:
        """Return the response if it is due by now. Raise MismatchError if there is none."""
        return self._attempt(time.monotonic() >= self.deadline)


class PlayedConnection:
    """A client's connection to the playback."""

    def __init__(self, state: PlaybackState, node_id: int, address_of: AddressReplacement) -> None:
        self._state = state
        self._index = state.index
        self._node_id = node_id
        self._address_of = address_of
        self.authentication = PlayedAuthentication(state)
        self._to_recording = IdMapping()
        self._to_client = IdMapping()
        self._client_id = ""
        self._request_name = "an unreadable request"
        self._repeated: dict[bytes, tuple[bytes, bytes]] = {}
        self._repeated_version = -1

    def repeated_response(self, frame: bytes) -> bytes | None:
        """Return the response to a read that was repeated since the last change, with its size;
        None to any other request.
        """
        state = self._state
        if self._repeated_version != state.version:
            self._repeated_version = state.version
            self._repeated.clear()
        response = self._repeated.get(frame[:4] + frame[8:])
        if response is None:
            return None
        state.report.requests += 1
        state.report.repeated += 1
        return response[0] + frame[4:8] + response[1]

    def _add_repeated_response(self, request: bytes, response: bytes) -> None:
        """Add the response to a request without its correlation id."""
        if len(self._repeated) >= REPEATED_MAX:
            self._repeated.clear()
        self._repeated[request] = len(response).to_bytes(4, "big"), response[4:]

    def respond(self, frame: bytes) -> AwaitedResponse:
        """Return the response to a frame, which may have to wait. Raise MismatchError if the
        recording has none.
        """
        self._state.report.requests += 1
        if self.authentication.expects_token:
            token = self.authentication.respond_to_token(frame)
            return _immediate(PlayedResponse(token))
        try:
            header, message = read_request_frame(frame)
        except ProtocolError as error:
            self._request_name = "an unreadable request"
            if self._index.first("exact=? and response_position is null", frame_content(frame)):
                raise CloseConnection(f"as recorded: {error}") from error
            raise MismatchError("bytes", str(error)) from error
        self._client_id = header.client_id or ""
        self._request_name = f"{api_name_or_key(header.api_key)} v{header.api_version}"
        match header.api_key:
            case ApiKey.PRODUCE:
                played = PlayedProduce(self._state, header, message, self.sender)
                is_expected = message.acks != 0
                return _immediate(
                    self._encoded(header, played.response) if is_expected else PlayedResponse(None)
                )
            case ApiKey.FETCH:
                fetch = partial(self._fetch_response_if_due, header, message)
                return AwaitedResponse(fetch, message.max_wait_ms / 1000)
            case ApiKey.SASL_AUTHENTICATE:
                self._repeated.clear()
                return _immediate(
                    self._encoded(header, self.authentication.respond(message.auth_bytes))
                )
        return self._matched_response(header, message, frame[:4] + frame[8:])

    def describe(self, error: MismatchError) -> Mismatch:
        """Return a mismatch of the latest request for the report."""
        return Mismatch(
            error.kind,
            self._request_name,
            self.authentication.principal or "unknown",
            self._client_id,
            str(error),
            "" if error.nearest is None else str(error.nearest),
            *(error.difference or FieldDifference("", "", "")),
        )

    @property
    def sender(self) -> Sender:
        client = client_without_suffix(self._client_id)
        return Sender(self.authentication.principal, client, self._node_id)

    def _fetch_response_if_due(
        self, header: RequestHeader, message: Any, is_last: bool
    ) -> PlayedResponse | None:
        principal = self.authentication.principal
        response = fetch_response(self._state, message, principal, is_last=is_last)
        return None if response is None else self._encoded(header, response)

    def _matched_response(
        self, header: RequestHeader, message: Any, cache_key: bytes
    ) -> AwaitedResponse:
        self._to_recording.put_target_ids(self, message)
        key = header.api_key
        fields = request_fields(message, header.api_version, self._index.topic_names)
        content = content_of_fields(key, fields)
        sent = Sent(self._request_name, header, self.sender, content, fields, message)
        if key not in COUNTED_CHANGES and not touched_state(key, message, fields).changes:
            return AwaitedResponse(partial(self._read_if_due, sent, cache_key), PATIENCE_S)
        interaction = due_counterpart(self._state, sent)
        self._note_played(sent, interaction)
        return AwaitedResponse(
            partial(self._change_if_due, sent, interaction), REBALANCE_PATIENCE_S
        )

    def _change_if_due(
        self, sent: Sent, interaction: Interaction, is_last: bool
    ) -> PlayedResponse | None:
        """Return the response to a change; one to a member waits for the changes before it."""
        # a broker does not wait for other members before it rejects one
        is_rejected = bool(getattr(self._index.response(interaction), "error_code", 0))
        waits = sent.header.api_key in _WAITING_FOR_MEMBERS and not is_rejected
        if waits and not self._state.has_received_preceding_changes(groups_only(interaction.state)):
            if not is_last:
                return None
            if self._state.options.match is MatchMode.STRICT:
                missing = self._state.missing_changes(interaction.state)
                raise MismatchError("waiting", f"waited in vain: {missing}")
            self._note_early(sent, interaction)
        return self._recorded_response(sent, interaction)

    def _read_if_due(self, sent: Sent, cache_key: bytes, is_last: bool) -> PlayedResponse | None:
        """Respond to a read from the recorded state that is the nearest to what was played."""
        state, first = self._state, next_current_counterpart(self._state, sent)
        group = counterparts(state, sent) if first is None else [first]
        current = [each for each in group if state.is_current(each.state)]
        unplayed = [each for each in current if not each.is_played]
        earlier = [each for each in group if state.has_received_preceding_changes(each.state)]
        chosen = unplayed[:1] or current[-1:] or earlier[-1:] or (group[:1] if is_last else [])
        if not chosen:
            return None
        if not earlier:
            self._note_early(sent, chosen[0])
        is_repeated = chosen[0].is_played
        state.report.repeated += is_repeated
        self._note_played(sent, chosen[0])
        response = self._recorded_response(sent, chosen[0])
        if is_repeated and current and state.options.speed is None:
            assert response.frame is not None
            self._add_repeated_response(cache_key, response.frame)
        return response

    def _note_early(self, sent: Sent, interaction: Interaction) -> None:
        missing = self._state.missing_changes(interaction.state)
        self._state.report.early[f"{sent.name}: {missing}"] += 1

    def _note_played(self, sent: Sent, interaction: Interaction) -> None:
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
            self._repeated.clear()
            self._to_client.learn(self, None, recorded, sent.message)
            self._to_recording.learn(self, None, sent.message, recorded)
        if not interaction.is_played:
            self._index.set_played(interaction)
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
        if header.api_key == ApiKey.SASL_HANDSHAKE:
            self.authentication.begin(header.api_version, sent.message, response)
        latency_s = self._index.latency_s(interaction)
        is_join = header.api_key == ApiKey.JOIN_GROUP
        delay_s = min(latency_s, REBALANCE_DELAY_MAX_S) if is_join else 0.0
        return self._encoded(header, response)._replace(
            recorded_latency_s=latency_s, delay_s=delay_s
        )

    def _encoded(self, header: RequestHeader, response: Any) -> PlayedResponse:
        """Return a response with the client's ids and the addresses of the playback."""
        has_addresses = response_contains_broker_addresses(header.api_key)
        if len(self._to_client) or has_addresses:
            response = deepcopy(response)  # recorded ones are cached
            self._to_client.put_target_ids(self, response)
            if has_addresses:
                replace_broker_addresses_if_present(header.api_key, response, self._address_of)
        try:
            return PlayedResponse(write_response_frame(header, response))
        except ProtocolError as error:
            reason = f"no such response in this version: {error}"
            raise MismatchError("content", reason) from error


def _immediate(response: PlayedResponse) -> AwaitedResponse:
    return AwaitedResponse(lambda _: response, 0)

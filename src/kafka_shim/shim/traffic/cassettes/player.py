"""Responds to requests from a recording: without sockets, one connection after another."""

import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import msgspec

from kafka_shim.protocol.code_names import api_name_or_key
from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.headers import RequestHeader, read_request_header
from kafka_shim.protocol.response_frames import write_response_frame
from kafka_shim.shim.traffic.cassettes.new_records import NewRecords
from kafka_shim.shim.traffic.cassettes.playback_report import Mismatch
from kafka_shim.shim.traffic.cassettes.playback_state import MatchMode, PlaybackState
from kafka_shim.shim.traffic.cassettes.played_authentication import (
    PlayedAuthentication,
    UnplayableAuthenticationError,
)
from kafka_shim.shim.traffic.cassettes.played_partitions import (
    PartitionMismatchError,
    PlayedConsumer,
    PlayedProducer,
)
from kafka_shim.shim.traffic.cassettes.request_content import (
    BEFORE_AUTHENTICATION,
    CHANGES,
    GROUP_HEARTBEATS,
    Content,
    request_content,
    touched_state,
)
from kafka_shim.shim.traffic.cassettes.request_differences import (
    exact_content_differences,
    loose_content_differences,
)
from kafka_shim.shim.traffic.cassettes.trace_index import Interaction
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

NEAREST_MAX = 200
CACHED_RESPONSES_MAX = 256

_WAITING_FOR_MEMBERS = frozenset({ApiKey.JOIN_GROUP, ApiKey.SYNC_GROUP})
_OWN_MEMBER_IDS = GROUP_HEARTBEATS
"""Clients choose the ids of members in these."""


class Answer(NamedTuple):
    """A response's frame, None if there is no response; `delay_s` is kept at any speed."""

    frame: bytes | None
    recorded_latency_s: float = 0.0
    delay_s: float = 0.0


class MismatchError(Exception):
    """The recording has no response to a request."""

    def __init__(self, mismatch: Mismatch) -> None:
        super().__init__(str(mismatch))
        self.mismatch = mismatch


class PendingAnswer:
    """A request whose response waits for others; `attempt` returns None until it is due."""

    def __init__(self, attempt: Callable[[bool], Answer | None], patience_s: float) -> None:
        self._attempt = attempt
        self.deadline = time.monotonic() + patience_s

    def attempt(self) -> Answer | None:
        """Return the answer if it is due by now. Raise MismatchError if there is none."""
        return self._attempt(time.monotonic() >= self.deadline)


class _SentRequest(NamedTuple):
    """A client's request: `message` has the recorded ids instead of the client's."""

    header: RequestHeader
    message: Any
    content: Content

    cache_key: bytes
    """The frame without its correlation id."""

    is_change: bool
    """Whether it changes something, and so has its own recorded response."""


class PlayedConnection:
    """A client's connection to the playback."""

    def __init__(self, state: PlaybackState, node_id: int, address_of: AddressReplacement) -> None:
        self._state = state
        self._index = state.index
        self._node_id = node_id
        self._address_of = address_of
        self._authentication = PlayedAuthentication(state)
        self._to_recording = IdMapping()
        self._to_client = IdMapping()
        self._client_id = ""
        self._repeated_responses: dict[bytes, tuple[int, int, bytes]] = {}
        """Responses to reads without their correlation ids, with the state they belong to."""

    @property
    def principal(self) -> str | None:
        """The client's principal, None if it may be any of the recorded ones."""
        return self._authentication.principal

    @property
    def mechanism(self) -> str:
        """The SASL mechanism that the client chose, empty without SASL."""
        return self._authentication.mechanism

    @property
    def expects_sasl_token(self) -> bool:
        """Return whether the next frame is a SASL message without a header."""
        return self._authentication.expects_token

    def repeated_response(self, frame: bytes) -> bytes | None:
        """Return the response to a read that was sent before and would get the same one.

        None if it has to be matched.
        """
        cached = self._repeated_responses.get(frame[:4] + frame[8:])
        if cached is None or cached[:2] != (self._state.version, len(self._to_client)):
            return None
        self._state.report.requests += 1
        self._state.report.repeated += 1
        return frame[4:8] + cached[2]

    def respond(self, frame: bytes) -> PendingAnswer:
        """Return the answer to a frame, which may have to wait."""
        self._state.report.requests += 1
        if self.expects_sasl_token:
            token = self._authentication.respond_to_token(frame)
            return PendingAnswer(lambda _: Answer(token), 0)
        try:
            header, at = read_request_header(frame)
            self._client_id = header.client_id or ""
            message = codecs.read_request(header.api_key, header.api_version, frame, at)
        except ProtocolError as error:
            raise self._mismatch_error("bytes", "an unreadable request", str(error)) from error
        if header.api_key == ApiKey.PRODUCE:
            answer = self._respond_to_produce(header, message)
            return PendingAnswer(lambda _: answer, 0)
        if header.api_key == ApiKey.FETCH:
            return PendingAnswer(
                lambda is_last: self._respond_to_fetch(header, message, is_last=is_last),
                message.max_wait_ms / 1000,
            )
        if header.api_key == ApiKey.SASL_AUTHENTICATE:
            answer = self._authenticate(header, message)
            return PendingAnswer(lambda _: answer, 0)
        self._to_recording.put_target_ids(self, message)
        content = request_content(message, self._index.topic_names)
        changes = touched_state(header.api_key, message, self._index.topic_names).changes
        is_change = header.api_key in CHANGES or bool(changes)
        return self._match_to_recording_for_pending_answer(
            _SentRequest(header, message, content, frame[:4] + frame[8:], is_change)
        )

    def _respond_to_produce(self, header: RequestHeader, message: Any) -> Answer:
        try:
            response = PlayedProducer(self._state).respond(message, self.principal)
        except PartitionMismatchError as error:
            raise self._partition_mismatch_error(header, error) from error
        return (
            Answer(None)
            if message.acks == 0
            else self._encode_answer_with_replaced_ids_and_addresses(header, response)
        )

    def new_records(self, header: RequestHeader, frame: bytes, at: int) -> NewRecords | None:
        """Return the records of a Produce request that were not recorded; the others are played.

        None if they cannot be read, or belong to a transaction, which cannot be extended.
        """
        try:
            message = codecs.read_request(header.api_key, header.api_version, frame, at)
            if message.transactional_id:
                return None
            return NewRecords(PlayedProducer(self._state), header, message, self.principal)
        except ProtocolError:
            return None

    def _respond_to_fetch(
        self, header: RequestHeader, message: Any, *, is_last: bool
    ) -> Answer | None:
        try:
            response = PlayedConsumer(self._state).respond(message, self.principal, is_last=is_last)
        except PartitionMismatchError as error:
            raise self._partition_mismatch_error(header, error) from error
        return (
            None
            if response is None
            else self._encode_answer_with_replaced_ids_and_addresses(header, response)
        )

    def _partition_mismatch_error(
        self, header: RequestHeader, error: PartitionMismatchError
    ) -> MismatchError:
        difference = error.difference
        return self._mismatch_error(
            error.kind,
            _request_name(header),
            str(error),
            nearest="" if error.nearest is None else _interaction_text(error.nearest),
            field="" if difference is None else difference.field,
            recorded="" if difference is None else difference.recorded,
            sent="" if difference is None else difference.sent,
        )

    def _authenticate(self, header: RequestHeader, message: Any) -> Answer:
        self._repeated_responses.clear()
        try:
            response = self._authentication.respond(message)
        except UnplayableAuthenticationError as error:
            raise self._mismatch_error(
                "authentication", _request_name(header), str(error)
            ) from error
        return self._encode_answer_with_replaced_ids_and_addresses(header, response)

    def _match_to_recording_for_pending_answer(self, request: _SentRequest) -> PendingAnswer:
        waits_for_members = request.header.api_key in _WAITING_FOR_MEMBERS
        patience_s = REBALANCE_PATIENCE_S if waits_for_members else PATIENCE_S
        if not request.is_change:
            group = next(self._candidates(request), None)
            if group is None:
                raise self._content_mismatch_error(request)
            # a client that left did not wait for its last responses
            group = [each for each in group if each.response_position is not None] or group
            return PendingAnswer(
                lambda is_last: self._answer_read_from_nearest_state(
                    request, group, is_last=is_last
                ),
                patience_s,
            )
        interaction = self._take_change(request)
        response = self._index.response(interaction)
        # a broker does not wait for other members before it rejects one
        waits_for_members = waits_for_members and not getattr(response, "error_code", 0)

        def attempt_change(is_last: bool) -> Answer | None:
            if not waits_for_members or self._state.has_received_preceding_changes(
                interaction.state
            ):
                return self._recorded_answer_or_abort_connection(request, interaction)
            if not is_last:
                return None
            if self._state.options.match is not MatchMode.STRICT:
                self._note_early(request, interaction)
                return self._recorded_answer_or_abort_connection(request, interaction)
            missing = self._state.missing_changes(interaction)
            raise self._mismatch_error(
                "waiting", _request_name(request.header), f"waited in vain: {missing}"
            )

        return PendingAnswer(attempt_change, patience_s)

    def _candidates(self, request: _SentRequest) -> Iterator[list[Interaction]]:
        """Yield the recorded interactions that match in recorded order, the best matches first.

        Those with the same ids and settings come before those with the same meaning, and those of
        the same version before others.
        """
        for is_exact in (True, False):
            content = request.content.exact if is_exact else request.content.loose
            first_id = self._state.first_unplayed(content)
            rows = self._index.with_content(request.content, first_id, is_exact=is_exact)
            self._state.skip_played(content, (each.id for each in rows), is_record=False)
            matches = [
                interaction
                for interaction in rows
                if self.principal in (None, interaction.principal)
                or request.header.api_key in BEFORE_AUTHENTICATION
            ]
            version = request.header.api_version
            for has_version in (True, False):
                group = [each for each in matches if (each.version == version) is has_version]
                if group:
                    yield group
            if self._state.options.match is MatchMode.STRICT:
                return

    def _take_change(self, request: _SentRequest) -> Interaction:
        """Return the recorded counterpart of a change, which is then played."""
        played: Interaction | None = None
        for group in self._candidates(request):
            unplayed = [each for each in group if not self._state.is_played(each.id)]
            if unplayed:
                interaction = min(unplayed, key=self._sort_key_by_client_broker_and_order)
                if self._state.options.match is not MatchMode.CONTENT:
                    self._check_order(request, interaction)
                self._mark_played_and_report_differences(request, interaction)
                return interaction
            played = played or group[-1]
        if played is None:
            raise self._content_mismatch_error(request)
        if request.header.api_key in GROUP_HEARTBEATS:
            return played
        raise self._mismatch_error(
            "count", _request_name(request.header), "it was sent more often than recorded"
        )

    def _sort_key_by_client_broker_and_order(
        self, interaction: Interaction
    ) -> tuple[bool, bool, int]:
        """Return a key that prefers the same client id and broker, and then the recorded order."""
        return (
            _without_trailing_hex_suffix(interaction.client_id)
            != _without_trailing_hex_suffix(self._client_id),
            interaction.node_id != self._node_id,
            interaction.id,
        )

    def _check_order(self, request: _SentRequest, interaction: Interaction) -> None:
        """Raise MismatchError if the change before it on its connection was not sent so far."""
        earlier = next(self._index.earlier_changes_except_produce(interaction), None)
        if earlier is None or self._state.is_played(earlier.id):
            return
        raise self._mismatch_error(
            "order",
            _request_name(request.header),
            "it was recorded after another change, which was not sent so far",
            nearest=_interaction_text(earlier),
        )

    def _answer_read_from_nearest_state(
        self, request: _SentRequest, group: list[Interaction], *, is_last: bool
    ) -> Answer | None:
        """Answer a read from the recorded state that is the nearest to what was played."""
        current = [each for each in group if self._state.is_current(each.state)]
        unplayed = (each for each in current if not self._state.is_played(each.id))
        chosen = next(unplayed, None) or next(reversed(current), None)
        if chosen is None:
            chosen = next(
                (
                    each
                    for each in reversed(group)
                    if self._state.has_received_preceding_changes(each.state)
                ),
                None,
            )
        if chosen is None and is_last:
            chosen = group[0]
            self._note_early(request, chosen)
        if chosen is None:
            return None
        is_repeated = self._state.is_played(chosen.id)
        self._state.report.repeated += is_repeated
        self._mark_played_and_report_differences(request, chosen)
        answer = self._recorded_answer_or_abort_connection(request, chosen)
        if is_repeated and chosen in current and self._state.options.speed is None:
            self._cache_repeated_response(request, answer)
        return answer

    def _cache_repeated_response(self, request: _SentRequest, answer: Answer) -> None:
        """Keep a response, which stays the same until the state or the known ids change."""
        assert answer.frame is not None
        if len(self._repeated_responses) >= CACHED_RESPONSES_MAX:
            self._repeated_responses.clear()
        self._repeated_responses[request.cache_key] = (
            *(self._state.version, len(self._to_client), answer.frame[4:]),
        )

    def _note_early(self, request: _SentRequest, interaction: Interaction) -> None:
        missing = self._state.missing_changes(interaction)
        self._state.report.early[f"{_request_name(request.header)}: {missing}"] += 1

    def _mark_played_and_report_differences(
        self, request: _SentRequest, interaction: Interaction
    ) -> None:
        recorded = self._index.request(interaction)
        key = request.header.api_key
        if request.header.api_version != interaction.version:
            api = api_name_or_key(key)
            versions = f"{api}: version {interaction.version} -> {request.header.api_version}"
            self._state.report.count_tolerated_difference(versions)
        if request.content.exact != interaction.exact:
            for difference in exact_content_differences(
                recorded, request.message, self._index.topic_names
            ):
                self._state.report.count_tolerated_difference(
                    f"{api_name_or_key(key)}.{difference}"
                )
        if key in _OWN_MEMBER_IDS:
            self._to_client.learn(self, None, recorded, request.message)
            self._to_recording.learn(self, None, request.message, recorded)
        touched = touched_state(key, recorded, self._index.topic_names)
        changes = {} if self._state.is_played(interaction.id) else touched.changes
        self._state.mark_played_and_count_changes(interaction.id, changes)

    def _recorded_answer_or_abort_connection(
        self, request: _SentRequest, interaction: Interaction
    ) -> Answer:
        """Return the recorded response with the client's ids. Raise ConnectionAbortedError if the
        recorded broker closed the connection instead.
        """
        response = self._index.response(interaction)
        if response is None:
            raise ConnectionAbortedError(f"no response to {interaction.name} was recorded")
        latency_s = 0.0
        if interaction.response_position is not None:
            latency_s = (
                self._index.time_us(interaction.response_position)
                - self._index.time_us(interaction.request_position)
            ) / 1_000_000
        delay_s = 0.0
        if request.header.api_key == ApiKey.JOIN_GROUP:
            delay_s = min(latency_s, REBALANCE_DELAY_MAX_S)
        if request.header.api_key == ApiKey.SASL_HANDSHAKE:
            self._authentication.begin(request.header.api_version, request.message, response)
        return self._encode_answer_with_replaced_ids_and_addresses(
            request.header, response, latency_s, delay_s
        )

    def _encode_answer_with_replaced_ids_and_addresses(
        self, header: RequestHeader, response: Any, latency_s: float = 0.0, delay_s: float = 0.0
    ) -> Answer:
        if len(self._to_client) or response_contains_broker_addresses(header.api_key):
            response = _copy(response)
            self._to_client.put_target_ids(self, response)
            if response_contains_broker_addresses(header.api_key):
                replace_broker_addresses_if_present(header.api_key, response, self._address_of)
        try:
            frame = write_response_frame(header, response)
        except ProtocolError as error:
            raise self._mismatch_error(
                "content", _request_name(header), f"no such response in this version: {error}"
            ) from error
        return Answer(frame, latency_s, delay_s)

    def _content_mismatch_error(self, request: _SentRequest) -> MismatchError:
        """Return the mismatch with the recorded request that differs in the fewest fields."""
        name = _request_name(request.header)
        best: tuple[tuple[int, bool], Interaction, Any] | None = None
        for interaction in self._index.of_api(request.header.api_key, NEAREST_MAX):
            recorded = self._index.request(interaction)
            found = list(
                loose_content_differences(recorded, request.message, self._index.topic_names)
            )
            rank = len(found), self._state.is_played(interaction.id)
            if best is None or rank < best[0]:
                best = rank, interaction, found
        if best is None:
            return self._mismatch_error("content", name, "no request of this API was recorded")
        _, interaction, differences = best
        nearest = _interaction_text(interaction)
        if not differences:
            return self._mismatch_error(
                "content",
                name,
                "it was recorded for another principal",
                nearest=nearest,
                field="principal",
                recorded=interaction.principal,
                sent=self.principal or "unknown",
            )
        field, recorded_text, sent_text = differences[0]
        return self._mismatch_error(
            "content",
            name,
            "it was not recorded",
            nearest=nearest,
            field=field,
            recorded=recorded_text,
            sent=sent_text,
        )

    def _mismatch_error(
        self, kind: str, request: str, reason: str, **details: str
    ) -> MismatchError:
        return MismatchError(
            Mismatch(kind, request, self.principal or "unknown", self._client_id, reason, **details)
        )


def _request_name(header: RequestHeader) -> str:
    return f"{api_name_or_key(header.api_key)} v{header.api_version}"


def _interaction_text(interaction: Interaction) -> str:
    return (
        f"request {interaction.id} of the recording ({interaction.name} of"
        f" {interaction.principal}, connection {interaction.connection})"
    )


def _without_trailing_hex_suffix(client_id: str) -> str:
    """Return a client id without the number or the random part that its program appends."""
    return client_id.rstrip("0123456789abcdef-_")


def _copy(message: Any) -> Any:
    """Return a deep copy of a message: recorded ones are cached."""
    if isinstance(message, msgspec.Struct):
        changes = {name: _copy(getattr(message, name)) for name in message.__struct_fields__}
        return type(message)(**changes)
    if isinstance(message, list):
        return [_copy(element) for element in message]
    return message

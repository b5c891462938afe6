"""Finds the recorded counterpart of a request or record, or why there is none."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.headers import RequestHeader
from kafka_shim.protocol.messages.metadata import MetadataRequest
from kafka_shim.traces.api_kinds import (
    BEFORE_AUTHENTICATION,
    GROUP_HEARTBEATS,
    REBALANCES,
)
from kafka_shim.traces.cassettes.interactions import Interaction
from kafka_shim.traces.cassettes.playback_report import MismatchError
from kafka_shim.traces.cassettes.playback_state import MatchMode, PlaybackState
from kafka_shim.traces.cassettes.request_content import (
    Content,
    ContentField,
    FieldDifference,
    RecordContent,
    content_of_fields,
    field_differences,
)

PLAYED_MAX = 50
UNPLAYED_MAX = 150
"""How many requests with the same content are considered."""
NEAREST_MAX = 200
NEAREST_RECORDS_MAX = 1_000

Principal = str | None
"""None if the client is unknown, and may be any of the recorded ones."""


class Sender(NamedTuple):
    """A client's connection; `client` is its client id without a suffix."""

    principal: Principal
    client: str
    node_id: int


@dataclass
class Sent:
    """A request of a client, with the ids of the recording, or one of its records, which has
    `record`.
    """

    name: str
    header: RequestHeader
    sender: Sender
    fields: list[ContentField]
    message: Any = None
    record: RecordContent | None = None

    @cached_property
    def content(self) -> Content:
        """What identifies it."""
        return content_of_fields(self.header.api_key, self.fields)

    @property
    def principal(self) -> Principal:
        """The principal of recorded counterparts; None if the response is the same for all."""
        if self.header.api_key in BEFORE_AUTHENTICATION or self._requests_only_brokers:
            return None
        return self.sender.principal

    @property
    def _requests_only_brokers(self) -> bool:
        """Clients send such a request if they connect before they know a topic: a race."""
        message = self.message
        return (
            isinstance(message, MetadataRequest)
            and message.topics == []
            and self.header.api_version > 0  # in version 0, no topics are all topics
            and not message.include_cluster_authorized_operations
        )


def require_due_interaction(state: PlaybackState, sent: Sent) -> Interaction:
    """Return the recorded counterpart of a change or record: the first that was not sent before,
    one with the same version, client id and broker if there is any.

    Raise MismatchError if there is none, or if another one is due.
    """
    version, client, node_id = sent.header.api_version, sent.sender.client, sent.sender.node_id
    for column, content in _iter_content_keys(state, sent):
        due = min(
            _select_by_content(state, sent, column, content, is_played=False),
            key=lambda row: (row.version != version, row.client != client, row.node_id != node_id),
            default=None,
        )
        if due is not None:
            if due.client != client:
                state.report.count_tolerated_difference(f"client id: {due.client} -> {client}")
            if state.options.match is not MatchMode.CONTENT:
                _check_order(state, sent, due)
            return due
    return _require_repetition(state, sent, counterparts(state, sent))


def _require_repetition(state: PlaybackState, sent: Sent, played: list[Interaction]) -> Interaction:
    """Return the last one, which a member of a group may send more often than recorded: how often
    a group rebalances depends on time. Raise MismatchError for other changes.
    """
    reason, key = f"{sent.name} was sent more often than recorded", sent.header.api_key
    if key in GROUP_HEARTBEATS:
        return played[-1]
    member_id = sent.message.member_id if key in REBALANCES else ""
    for each in reversed(played):
        if member_id and state.index.request(each).member_id == member_id:
            state.report.count_tolerated_difference(reason)
            return each
    raise MismatchError("count", reason)


def find_current_interaction(state: PlaybackState, sent: Sent) -> Interaction | None:
    """Return the first counterpart of a read that was not sent before, or else the last one, if it
    was recorded in the current state: no other one has to be considered then.
    """
    same = "exact=? and principal=coalesce(?, principal) and version=?"
    values = sent.content.exact, sent.principal, sent.header.api_version
    for order in "is_played=0 order by id", "is_played=1 order by id desc":
        row = state.index.table.first(
            f"{same} and response_position is not null and {order}", *values
        )
        if row is not None:
            return row if state.has_received(row.state) else None
    return None


def counterparts(state: PlaybackState, sent: Sent) -> list[Interaction]:
    """Return the recorded counterparts of a request in recorded order, those of the same version
    if there are any. Raise MismatchError if there are none.
    """
    for column, content in _iter_content_keys(state, sent):
        matches = sorted(
            row
            for is_played in (True, False)
            for row in _select_by_content(state, sent, column, content, is_played=is_played)
        )
        group = [each for each in matches if each.version == sent.header.api_version] or matches
        if group:
            # a client that left did not wait for its last responses
            return [each for each in group if each.response_position is not None] or group
    raise _content_mismatch(state, sent)


def _select_by_content(
    state: PlaybackState, sent: Sent, column: str, content: bytes, *, is_played: bool
) -> Iterator[Interaction]:
    """Yield the last played counterparts with a content, or the first others."""
    end = f"desc limit {PLAYED_MAX}" if is_played else f"limit {UNPLAYED_MAX}"
    same = f"{column}=? and is_played=? and principal=coalesce(?, principal)"
    return state.index.table.select(f"{same} order by id {end}", content, is_played, sent.principal)


def _iter_content_keys(state: PlaybackState, sent: Sent) -> Iterator[tuple[str, bytes]]:
    """Yield the contents by which counterparts are found, with the column of each."""
    yield "exact", sent.content.exact
    if not _must_match_exactly(state, sent):
        yield "loose", sent.content.loose


def _must_match_exactly(state: PlaybackState, sent: Sent) -> bool:
    """Return whether all fields must be equal. A producer chooses the partition of a record without
    a key, so it may be another one.
    """
    if sent.record is not None:
        return sent.record.key is not None
    return state.options.match is MatchMode.STRICT


def _check_order(state: PlaybackState, sent: Sent, recorded: Interaction) -> None:
    """Raise MismatchError if the change before it on its connection was not sent so far."""
    place = recorded.connection, recorded.sequence, recorded.id
    preceding = "connection=? and sequence=? and id<? order by id desc"
    earlier = state.index.table.first(preceding, *place)
    if earlier is None or earlier.is_played:
        return
    difference = FieldDifference("", "", "")
    if sent.record is not None:
        texts = state.index.record(earlier).text, sent.record.text
        difference = FieldDifference(f"record of {earlier.sequence}", *texts)
    what = "change" if sent.record is None else "record of its partition"
    reason = f"{sent.name} was recorded after another {what}, which was not sent so far"
    raise MismatchError("order", reason, earlier, difference)


def _content_mismatch(state: PlaybackState, sent: Sent) -> MismatchError:
    """Return the mismatch with the recorded counterpart that differs in the fewest fields."""
    best: tuple[tuple[int, bool, bool], Interaction, list[FieldDifference]] | None = None
    is_exact = _must_match_exactly(state, sent)
    for each in _nearest_candidates(state, sent):
        recorded = state.index.fields(each)
        differences = [*field_differences(recorded, sent.fields, is_exact=is_exact)]
        is_of_other = each.principal != (sent.principal or each.principal)
        distance = len(differences), is_of_other, each.is_played
        if best is None or distance < best[0]:
            best = distance, each, differences
    if best is None:
        return MismatchError("content", "no request of this API was recorded")
    _, nearest, differences = best
    if differences:
        is_extra = nearest.is_played and nearest.sequence is not None
        note = ", and the nearest one was already sent" if is_extra else ""
        reason = f"{sent.name} was not recorded{note}"
        return MismatchError("content", reason, nearest, differences[0])
    principals = nearest.principal, sent.sender.principal or "unknown"
    reason = f"{sent.name} was recorded for another principal"
    return MismatchError("content", reason, nearest, FieldDifference("principal", *principals))


def _nearest_candidates(state: PlaybackState, sent: Sent) -> Iterator[Interaction]:
    """Yield what is compared with a request or record: the same of others, and then the first ones
    of the API or of the topic; of any topic if it has none.
    """
    select = state.index.table.select
    yield from select("loose=? order by id limit 1", sent.content.loose)
    if sent.record is None:
        of_api = "api_key=? and topic is null order by id limit ?"
        yield from select(of_api, sent.header.api_key, NEAREST_MAX)
        return
    records, topic = "api_key=? and topic is not null", sent.record.topic
    if state.index.table.first("api_key=? and topic=?", ApiKey.PRODUCE, topic):
        records = "api_key=? and +topic=?"  # in the order of ids: no index of topics
    values = (ApiKey.PRODUCE, topic)[: records.count("?")]
    yield from select(f"{records} order by id limit {NEAREST_RECORDS_MAX}", *values)

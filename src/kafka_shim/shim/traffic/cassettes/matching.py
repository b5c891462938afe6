"""Finds the recorded counterpart of a request or record, or why there is none."""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import NamedTuple

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.shim.traffic.cassettes.index_tables import Interaction
from kafka_shim.shim.traffic.cassettes.mismatches import MismatchError
from kafka_shim.shim.traffic.cassettes.playback_state import MatchMode, PlaybackState
from kafka_shim.shim.traffic.cassettes.record_content import RecordContent
from kafka_shim.shim.traffic.cassettes.request_content import (
    Content,
    ContentField,
    FieldDifference,
    field_differences,
)
from kafka_shim.shim.traffic.cassettes.touched_state import BEFORE_AUTHENTICATION, GROUP_HEARTBEATS

EARLIER_MAX = 50
LATER_MAX = 150
"""How many requests with the same content are considered, before and after the first unplayed."""
NEAREST_MAX = 200
NEAREST_RECORDS_MAX = 1_000

Principal = str | None
"""None if the client is unknown, and may be any of the recorded ones."""


class Sender(NamedTuple):
    """A client's connection."""

    principal: Principal
    client_id: str
    node_id: int


class Sent(NamedTuple):
    """A request of a client, or one of its records, which has `record`."""

    name: str
    api_key: int
    version: int
    sender: Sender
    content: Content
    fields: list[ContentField]
    record: RecordContent | None = None

    def is_by(self, interaction: Interaction) -> bool:
        """Return whether it can be of the same principal as a recorded one."""
        is_anonymous = self.sender.principal is None or self.api_key in BEFORE_AUTHENTICATION
        return is_anonymous or self.sender.principal == interaction.principal


def sent_record(record: RecordContent, number: int, version: int, sender: Sender) -> Sent:
    """Return a record of a Produce request, and its number in its partition there."""
    name = f"record {number} of {record.topic}-{record.partition}"
    content, fields = record.content, record.fields
    return Sent(name, ApiKey.PRODUCE, version, sender, content, fields, record)


def due_counterpart(state: PlaybackState, sent: Sent) -> Interaction:
    """Return the recorded counterpart of a change or record.

    Raise MismatchError if there is none that was not sent before, or if another one is due.
    """
    for content, is_exact in _measures(state, sent):
        first_id = state.first_unplayed.get(content, 0)
        rows = state.index.with_content(content, first_id, is_exact=is_exact)
        unplayed = islice(_unplayed_noting_first(state, content, rows), LATER_MAX)
        due = _lowest(filter(sent.is_by, unplayed), lambda each: _rank(sent, each))
        if due is not None:
            if state.options.match is not MatchMode.CONTENT:
                _check_order(state, sent, due)
            return due
    played = counterparts(state, sent)[-1]
    if sent.api_key in GROUP_HEARTBEATS:
        return played
    raise MismatchError("count", f"{sent.name} was sent more often than recorded")


def counterparts(state: PlaybackState, sent: Sent) -> list[Interaction]:
    """Return the recorded counterparts of a request in recorded order, those of the same version
    if there are any. Raise MismatchError if there are none.
    """
    for content, is_exact in _measures(state, sent):
        first_id = state.first_unplayed.get(content, 0)
        found = state.index.with_content(content, first_id, is_exact=is_exact, earlier=EARLIER_MAX)
        rows = [*islice(found, EARLIER_MAX + LATER_MAX)]
        next(_unplayed_noting_first(state, content, rows), None)
        matches = [*filter(sent.is_by, rows)]
        group = [each for each in matches if each.version == sent.version] or matches
        if group:
            # a client that left did not wait for its last responses
            return [each for each in group if each.response_position is not None] or group
    raise _content_mismatch(state, sent)


def _measures(state: PlaybackState, sent: Sent) -> Iterator[tuple[bytes, bool]]:
    """Yield the contents by which counterparts are found, and whether they are exact.

    A producer chooses the partition of a record without a key, so another one matches loosely.
    """
    yield sent.content.exact, True
    allows_loose_matches = state.options.match is not MatchMode.STRICT
    if sent.record is not None:
        allows_loose_matches = sent.record.key is None
    if allows_loose_matches:
        yield sent.content.loose, False


def _unplayed_noting_first(
    state: PlaybackState, content: bytes, rows: Iterable[Interaction]
) -> Iterator[Interaction]:
    """Yield what was not sent so far, and note where that begins."""
    all_played = True
    for row in rows:
        if not state.is_played(row.id):
            all_played = False
            yield row
        elif all_played and row.id >= state.first_unplayed.get(content, 0):
            state.first_unplayed[content] = row.id + 1


def _rank(sent: Sent, recorded: Interaction) -> tuple[bool, bool, bool]:
    """Prefer the same version, client id and broker."""
    sender = sent.sender
    client_ids = map(_without_trailing_hex_suffix, (recorded.client_id, sender.client_id))
    is_other_client = len({*client_ids}) > 1
    return recorded.version != sent.version, is_other_client, recorded.node_id != sender.node_id


def _lowest(
    rows: Iterable[Interaction], rank: Callable[[Interaction], tuple[bool, ...]]
) -> Interaction | None:
    """Return the first of those with the lowest rank."""
    best: tuple[tuple[bool, ...], Interaction] | None = None
    for row in rows:
        row_rank = rank(row)
        if best is None or row_rank < best[0]:
            best = row_rank, row
            if not any(row_rank):
                break
    return None if best is None else best[1]


def _check_order(state: PlaybackState, sent: Sent, recorded: Interaction) -> None:
    """Raise MismatchError if the change before it on its connection was not sent so far."""
    earlier = state.index.preceding_in_sequence(recorded)
    if earlier is None or state.is_played(earlier.id):
        return
    difference = None
    if sent.record is not None:
        texts = state.index.record(earlier).text, sent.record.text
        difference = FieldDifference(f"record of {earlier.sequence}", *texts)
    what = "change" if sent.record is None else "record of its partition"
    reason = f"{sent.name} was recorded after another {what}, which was not sent so far"
    raise MismatchError("order", reason, earlier, difference)


def _content_mismatch(state: PlaybackState, sent: Sent) -> MismatchError:
    """Return the mismatch with the recorded counterpart that differs in the fewest fields."""
    same = state.index.with_content(sent.content.loose, 0, is_exact=False)
    if sent.record is None:
        others = state.index.of_api(sent.api_key, NEAREST_MAX)
    else:
        others = state.index.records(sent.record.topic, NEAREST_RECORDS_MAX)
    best: tuple[tuple[int, bool], Interaction, list[FieldDifference]] | None = None
    for each in chain(islice(same, 1), others):
        fields = state.index.fields(each)
        differences = [*field_differences(fields, sent.fields, is_exact=False)]
        distance = len(differences), state.is_played(each.id)
        if best is None or distance < best[0]:
            best = distance, each, differences
    if best is None:
        return MismatchError("content", "no request of this API was recorded")
    _, nearest, differences = best
    if differences:
        return MismatchError("content", f"{sent.name} was not recorded", nearest, differences[0])
    principals = nearest.principal, sent.sender.principal or "unknown"
    reason = f"{sent.name} was recorded for another principal"
    return MismatchError("content", reason, nearest, FieldDifference("principal", *principals))


def _without_trailing_hex_suffix(client_id: str) -> str:
    """Return a client id without the number or the random part that its program appends."""
    return client_id.rstrip("0123456789abcdef-_")

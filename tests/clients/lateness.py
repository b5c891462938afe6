"""Explains differences from a real broker by the rows under Timing in
docs/explanation/differences.md.

A real broker applies a change a moment after the response to it, the shim at once. This explains a
difference only if a change of the same name was requested a moment before, and if the response
without the change is that of the real broker.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.headers import read_request_header
from kafka_shim.trace_format.entries import Request
from kafka_shim.traces.replay.compare import MISSING, Difference
from kafka_shim.traces.replay.events import Recording
from kafka_shim.traces.replay.report import RequestId

MOMENT_US = 2_000_000
ANY_NAME = ""
"""The name of a change that has none, such as a filter for all ACLs."""
_NOT_KNOWN = (MISSING, 3)  # UNKNOWN_TOPIC_OR_PARTITION
_COORDINATOR_TOPICS = ("__consumer_offsets", "__transaction_state", "__share_group_state")


class Late(NamedTuple):
    """An entry of the page: requests with a late effect, and the response fields that show it."""

    row: str
    changes: ApiKey
    fields: tuple[str, ...]
    adds: bool = True


_ACLS = "ACL changes apply immediately"
_ACL_FIELDS = (
    "DescribeAcls.resources[]",
    "DescribeAcls.resources[].acls[]",
    "DeleteAcls.filter_results[].matching_acls[]",
)
_TOPIC = "A new topic is in Metadata as soon as CreateTopics is answered"
_TOPIC_FIELDS = (
    "Metadata.topics[]",
    "Metadata.topics[].error_code",
    "Metadata.topics[].partitions[]",
)
_COORDINATOR = "A coordinator is available at the first request"
LATE = (
    Late(_ACLS, ApiKey.CREATE_ACLS, _ACL_FIELDS),
    Late(_ACLS, ApiKey.DELETE_ACLS, _ACL_FIELDS, adds=False),
    Late(_TOPIC, ApiKey.CREATE_TOPICS, _TOPIC_FIELDS),
    Late(_COORDINATOR, ApiKey.FIND_COORDINATOR, ("Metadata.topics[]",)),
    # the request that creates the topic got a temporary error, so the replay leaves it out
    Late(_COORDINATOR, ApiKey.FIND_COORDINATOR, ("Metadata.topics[]",), adds=False),
)


class Change(NamedTuple):
    """A request that changes the cluster, and the names in it."""

    api: int
    time_us: int
    names: tuple[str, ...]


class Lateness:
    """The changes of a recording, made on the real broker if `real_is_recorded`, else the shim."""

    def __init__(self, recording: Recording, *, real_is_recorded: bool) -> None:
        self._real_is_recorded = real_is_recorded
        self._asked: dict[tuple[str, int, int], Request] = {}
        self._changes: list[Change] = []
        for event in recording.events:
            if isinstance(event.entry, Request):
                self._asked[*event.connection_id, event.entry.sequence] = event.entry
                self._changes += _change(event.entry)

    def explains(self, place: RequestId, found: Difference) -> str | None:
        """Return the row of the page that explains a difference, None if no row does."""
        asked = self._asked[place.writer, place.connection, place.sequence]
        real, own = found.recorded, found.actual
        if not self._real_is_recorded:
            real, own = own, real
        for late in LATE:
            behind = real in _NOT_KNOWN if late.adds else own in _NOT_KNOWN
            if f"{place.api}.{found.field}" not in late.fields or not behind:
                continue
            said = asked.frame + f"{real}{own}".encode()
            recent = self._recent(late.changes, asked.time_us)
            if any(name.encode() in said for change in recent for name in change.names):
                return late.row
        return None

    def _recent(self, api: int, time_us: int) -> Iterator[Change]:
        for change in self._changes:
            if change.api == api and 0 <= time_us - change.time_us <= MOMENT_US:
                yield change


def _change(entry: Request) -> Iterator[Change]:
    try:
        header, at = read_request_header(entry.frame)
        if header.api_key not in {late.changes for late in LATE}:
            return
        message = codecs.read_request(header.api_key, header.api_version, entry.frame, at)
    except ProtocolError:
        return
    yield Change(header.api_key, entry.time_us, tuple(_names(header.api_key, message)))


def _names(api: int, message: Any) -> Iterator[str]:
    if api == ApiKey.CREATE_TOPICS:
        yield from (topic.name for topic in message.topics)
    elif api == ApiKey.CREATE_ACLS:
        yield from (creation.resource_name for creation in message.creations)
    elif api == ApiKey.DELETE_ACLS:
        yield from (acl_filter.resource_name_filter or ANY_NAME for acl_filter in message.filters)
    else:
        yield from _COORDINATOR_TOPICS

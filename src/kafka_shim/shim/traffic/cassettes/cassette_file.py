"""A cassette: a trace in one file, without repetitions that only took time."""

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.request_frames import read_request_frame
from kafka_shim.protocol.trace.entries import Request, Response
from kafka_shim.protocol.trace.segments import TraceStorage
from kafka_shim.shim.traffic.cassettes.request_content import content_of_fields, request_fields
from kafka_shim.shim.traffic.cassettes.touched_state import GROUP_HEARTBEATS
from kafka_shim.shim.traffic.replay.events import ConnectionId, Event, TraceEvents
from kafka_shim.shim.traffic.traces.record_masks import record_masks_named_in_trace
from kafka_shim.shim.traffic.traces.trace_writer import TraceWriter

SUFFIX = ".ktrace"
_FOLDED_APIS = GROUP_HEARTBEATS | {ApiKey.FETCH, ApiKey.HEARTBEAT, ApiKey.METADATA}
_UNLIMITED = 1 << 62
_RequestKey = tuple[ConnectionId, int]


def write_cassette(sources: Sequence[Path], cassette: Path) -> None:
    """Write the traces one after the other into one file, which replaces an existing one."""
    events = [TraceEvents(source) for source in sources]
    masks = dict.fromkeys(
        mask for source in sources for mask in record_masks_named_in_trace(source)
    )
    with tempfile.TemporaryDirectory(prefix=f".{cassette.name}-", dir=cassette.parent) as folder:
        storage = TraceStorage("zlib", segment_bytes=_UNLIMITED)
        writer = TraceWriter(Path(folder), "cassette", storage=storage, masks=[*masks])
        for number, each in enumerate(events):
            _write_events(writer, number, each, {*_repeated_requests(each)})
        writer.close()
        for segment in Path(folder).glob(f"*{SUFFIX}"):
            segment.replace(cassette)


def _write_events(
    writer: TraceWriter, source: int, events: Iterable[Event], folded: set[_RequestKey]
) -> None:
    for event in events:
        if (event.connection_id, event.entry.sequence) in folded:
            continue
        assert event.connection is not None
        connection = msgspec.structs.replace(
            event.connection,
            number=0,
            writer_connection=writer.connection_number_for_key((source, event.connection_id)),
        )
        index = writer.connection_index_in_block(connection)
        writer.add(msgspec.structs.replace(event.entry, connection=index))


def _repeated_requests(events: Iterable[Event]) -> Iterator[_RequestKey]:
    """Yield the polls and heartbeats whose request and response equal those before them."""
    contents: dict[_RequestKey, bytes] = {}
    latest: dict[tuple[ConnectionId, int], tuple[bytes, bytes]] = {}
    for event in events:
        key = event.connection_id, event.entry.sequence
        match event.entry:
            case Request() as request if request.api_key in _FOLDED_APIS:
                content = _foldable_content(request)
                if content is not None:
                    contents[key] = content
            case Response() as response if key in contents:
                exchange = contents.pop(key), response.frame[4:]
                api = event.connection_id, response.api_key
                if latest.get(api) == exchange:
                    yield key
                latest[api] = exchange


def _foldable_content(request: Request) -> bytes | None:
    """Return the content of a poll or heartbeat; None if it changes something."""
    try:
        header, message = read_request_frame(request.frame)
    except ProtocolError:
        return None
    if header.api_key in GROUP_HEARTBEATS and message.member_epoch <= 0:
        return None
    return content_of_fields(header.api_key, request_fields(message, header.api_version, {})).exact

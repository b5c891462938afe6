"""Recording of a cassette: proxies to a cluster, one for each listener, and what they recorded in
one file, without repetitions that only took time.
"""

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from kafka_shim.client.config import ClientConfig
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.message_frames import read_request_frame
from kafka_shim.shim.config import Config
from kafka_shim.shim.observing.trace_recorder import TraceRecorder
from kafka_shim.shim.system_clock import SystemClock
from kafka_shim.shim.tls.context import build_server_context
from kafka_shim.trace_format.entries import DERIVED, Request, Response
from kafka_shim.trace_format.segments import TraceStorage
from kafka_shim.traces.api_kinds import GROUP_HEARTBEATS
from kafka_shim.traces.cassettes.request_content import content_of_fields, request_fields
from kafka_shim.traces.proxy.client_listeners import Address
from kafka_shim.traces.proxy.proxy import Proxy
from kafka_shim.traces.proxy.upstream import UpstreamConnector
from kafka_shim.traces.record_masks import MaskingObserver, RecordMasks, record_masks_named_in_trace
from kafka_shim.traces.replay.events import ConnectionId, Event, TraceEvents
from kafka_shim.traces.trace_writer import TraceWriter

SUFFIX = ".ktrace"
_FOLDED_APIS = GROUP_HEARTBEATS | {ApiKey.FETCH, ApiKey.HEARTBEAT, ApiKey.METADATA}
_UNLIMITED = 1 << 62
_RequestKey = tuple[ConnectionId, int]


class Upstream(msgspec.Struct, frozen=True):
    """The cluster that is recorded: addresses by listener, `default` for the others."""

    default: Address | None
    by_listener: Mapping[str, Address]
    config: ClientConfig

    def address_for(self, listener: str) -> Address | None:
        """Return the address for the clients of a listener."""
        return self.by_listener.get(listener, self.default)


class CassetteBuilder:
    """A folder next to a cassette in which it is recorded; `finish` makes the cassette of it."""

    def __init__(self, cassette: Path, masks: RecordMasks) -> None:
        self._cassette = cassette
        self._masks = masks
        self._temporary = tempfile.TemporaryDirectory(
            prefix=f".{cassette.name}-", dir=cassette.parent
        )
        self._folder = Path(self._temporary.name)
        self._recorders: list[TraceRecorder] = []

    def observer(self, writer: str) -> MaskingObserver:
        """Return an observer that records with this name of a writer."""
        recorder = TraceRecorder(
            self._folder, SystemClock(), writer=writer, accesses_source=DERIVED
        )
        recorder.masks = self._masks.texts
        self._recorders.append(recorder)
        return MaskingObserver(recorder, self._masks)

    def finish(self, *earlier: Path) -> bool:
        """Write the cassette with what was recorded, after earlier traces; remove the folder.

        Return False, without writing, if nothing was recorded. Raise OSError if not all could be
        written.
        """
        try:
            for recorder in self._recorders:
                recorder.close()
                if recorder.failure is not None:
                    raise recorder.failure
            has_entries = any(recorder.entries_written for recorder in self._recorders)
            if has_entries:
                write_cassette([*earlier, self._folder], self._cassette)
            return has_entries
        finally:
            self._temporary.cleanup()


class CassetteRecording:
    """Forwards clients to a cluster while it runs, and then writes the cassette."""

    def __init__(
        self, cassette: Path, config: Config, upstream: Upstream, masks: RecordMasks
    ) -> None:
        self._trace = CassetteBuilder(cassette, masks)
        self.is_written = False
        self._proxies: dict[str, Proxy] = {}
        self._addresses: dict[str, str] = {}
        for listener in config.listeners:
            name, tls = listener.name, None
            address = upstream.address_for(name)
            if address is None:
                continue
            if listener.protocol.uses_tls:
                tls = build_server_context(config.properties, name, listener.host)
            self._proxies[name] = Proxy(
                address,
                (listener.host, listener.port),
                self._trace.observer(name),
                name=name,
                brokers=UpstreamConnector(upstream.config),
                tls=tls,
            )

    def bootstrap_servers(self, listener: str) -> str:
        """Return the address of a listener; empty if the cluster has no address for it."""
        return self._addresses.get(listener, "")

    async def start(self) -> None:
        """Open all listeners. Raise UnavailableError if an address is in use."""
        for name, proxy in self._proxies.items():
            self._addresses[name] = await proxy.start()

    async def stop(self) -> None:
        """Close all listeners and write the cassette."""
        for proxy in self._proxies.values():
            await proxy.stop()
        self.is_written = self._trace.finish()


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

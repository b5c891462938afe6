"""Proxies between a client and a real cluster, which show its requests to the suite."""

from collections.abc import Iterable, Sequence

from kafka_shim.conformance.frames import FrameListener, HistoryWithResponses
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.headers import RequestHeader
from kafka_shim.protocol.message_frames import read_response_with_version
from kafka_shim.shim.observing.request_history import HistoryEntry
from kafka_shim.shim.request.access import AccessRecord
from kafka_shim.shim.request.session import Session
from kafka_shim.shim.system_clock import SystemClock
from kafka_shim.traces.proxy.proxy import Proxy

_ANY_LOCAL_PORT = ("127.0.0.1", 0)


class RecordingProxies:
    """Has a proxy for each address of a cluster; all of them keep their frames in one place."""

    def __init__(self, on_frame: FrameListener | None = None) -> None:
        self.frames = HistoryWithResponses(on_frame)
        self._on_frame = on_frame
        self._proxies: dict[str, Proxy] = {}
        self._proxy_addresses: dict[str, str] = {}

    async def start(self, servers: Iterable[str]) -> None:
        """Open proxies for these addresses."""
        for server in servers:
            if server not in self._proxy_addresses:
                host, _, port = server.rpartition(":")
                proxy = Proxy(
                    (host.strip("[]"), int(port)), _ANY_LOCAL_PORT, _FrameRecorder(self.frames)
                )
                self._proxy_addresses[server] = await proxy.start()
                self._proxies[server] = proxy

    def proxy_address(self, server: str) -> str:
        """Return the proxy's address in place of the cluster's."""
        return self._proxy_addresses[server]

    def begin_case(self, title: str) -> None:
        """Drop the frames of the case before; report the title of the next one."""
        self.frames.drop_requests_keeping_totals()
        if self._on_frame is not None:
            self._on_frame(title)

    async def stop(self) -> None:
        for proxy in self._proxies.values():
            await proxy.stop()


class _FrameRecorder:
    """Passes what a proxy observes to the frames."""

    def __init__(self, frames: HistoryWithResponses) -> None:
        self._frames = frames
        self._open_requests: dict[tuple[Session, int], HistoryEntry] = {}
        self._clock = SystemClock()

    def record_request(self, session: Session, header: RequestHeader, frame: bytes) -> int:
        entry = self._frames.add_request(session, header, frame, self._clock.now_us())
        self._open_requests[session, entry.number] = entry
        return entry.number

    def record_outcome(
        self,
        session: Session,
        sequence: int,
        header: RequestHeader,
        access_records: Sequence[AccessRecord],
        frame: bytes | None,
    ) -> None:
        del access_records  # a proxy does not know them
        entry = self._open_requests.pop((session, sequence), None)
        if entry is None or frame is None:
            return
        try:
            response, _ = read_response_with_version(header.api_key, header.api_version, frame)
        except ProtocolError:
            return
        self._frames.add_response(entry, response, self._clock.now_us())

    def flush_events(self) -> None:
        """Return; nothing is put off."""

    def record_close(self, session: Session, reason: str) -> None:
        """Forget the requests that got no answer."""
        del reason
        self._open_requests = {
            at: entry for at, entry in self._open_requests.items() if at[0] is not session
        }

    def close(self) -> None:
        """Return; the frames are kept."""

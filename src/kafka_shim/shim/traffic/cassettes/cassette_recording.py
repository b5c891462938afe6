"""Recording of a cassette: proxies to a cluster, one for each listener."""

import shutil
import ssl
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from kafka_shim.protocol.trace.entries import DERIVED
from kafka_shim.shim.client.config import ClientConfig
from kafka_shim.shim.config import ListenerConfig
from kafka_shim.shim.observing.trace_recorder import TraceRecorder
from kafka_shim.shim.system_clock import SystemClock
from kafka_shim.shim.traffic.cassettes.cassette_file import write_cassette
from kafka_shim.shim.traffic.proxy.client_listeners import Address
from kafka_shim.shim.traffic.proxy.proxy import Proxy
from kafka_shim.shim.traffic.proxy.upstream import UpstreamConnector
from kafka_shim.shim.traffic.traces.masking_observer import MaskingObserver
from kafka_shim.shim.traffic.traces.record_masks import RecordMasks


class PlaybackListener(NamedTuple):
    """A listener of the playback, which has a port for each recorded broker."""

    config: ListenerConfig
    tls: ssl.SSLContext | None = None

    def advertised(self, bound: Address, *, is_first_broker: bool) -> Address:
        """Return the address that clients get for a broker."""
        host, port = self.config.advertised or bound
        return host, port if is_first_broker and port else bound[1]


class Upstream(msgspec.Struct, frozen=True):
    """The cluster that is recorded: addresses by listener, `default` for the others."""

    default: Address | None
    by_listener: Mapping[str, Address]
    config: ClientConfig

    def address_for(self, listener: str) -> Address | None:
        """Return the address for the clients of a listener."""
        return self.by_listener.get(listener, self.default)


class TraceInProgress:
    """A folder next to a cassette in which it is recorded; `finish` makes the cassette of it."""

    def __init__(self, cassette: Path, masks: RecordMasks) -> None:
        self._cassette = cassette
        self._masks = masks
        self._folder = Path(tempfile.mkdtemp(prefix=f".{cassette.name}-", dir=cassette.parent))
        self._recorders: list[TraceRecorder] = []

    def observer(self, writer: str) -> MaskingObserver:
        """Return an observer that records with this name of a writer."""
        recorder = TraceRecorder(
            self._folder,
            SystemClock(),
            writer=writer,
            accesses_source=DERIVED,
        )
        recorder.masks = self._masks.texts
        self._recorders.append(recorder)
        return MaskingObserver(recorder, self._masks)

    def finish(self, *earlier: Path) -> None:
        """Write the cassette with what was recorded, after earlier traces; remove the folder.

        Nothing is written if nothing was recorded. Raise OSError if not all could be written.
        """
        try:
            for recorder in self._recorders:
                recorder.close()
                if recorder.failure is not None:
                    raise recorder.failure
            if any(recorder.entries_written for recorder in self._recorders):
                write_cassette([*earlier, self._folder], self._cassette)
        finally:
            shutil.rmtree(self._folder)


class CassetteRecording:
    """Forwards clients to a cluster while it runs, and then writes the cassette."""

    def __init__(
        self,
        cassette: Path,
        listeners: Sequence[PlaybackListener],
        upstream: Upstream,
        masks: RecordMasks,
    ) -> None:
        self._trace = TraceInProgress(cassette, masks)
        self._proxies: dict[str, Proxy] = {}
        self._addresses: dict[str, str] = {}
        for listener in listeners:
            name = listener.config.name
            address = upstream.address_for(name)
            if address is not None:
                self._proxies[name] = Proxy(
                    address,
                    (listener.config.host, listener.config.port),
                    self._trace.observer(name),
                    name=name,
                    brokers=UpstreamConnector(upstream.config),
                    tls=listener.tls,
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
        self._trace.finish()

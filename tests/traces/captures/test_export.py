"""Traces are exported as captures; importing them restores the trace, and tshark reads them."""

import asyncio
import io
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from kafka_shim.protocol.api_versions import RELEASES, advertised_versions
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.api_versions import ApiVersionsRequest
from kafka_shim.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from kafka_shim.protocol.messages.metadata import MetadataRequest
from kafka_shim.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from kafka_shim.protocol.messages.sasl_handshake import SaslHandshakeRequest
from kafka_shim.trace_format.entries import (
    BlockBody,
    Connection,
    ConnectionClosed,
    Entry,
    Request,
    Response,
)
from kafka_shim.trace_format.segments import SegmentWriter
from kafka_shim.traces.captures.capture_export import export_capture
from kafka_shim.traces.captures.capture_files import TIME_MAX_US, read_packets
from kafka_shim.traces.captures.capture_import import import_capture
from tests.shim.observing.test_recorder import entries
from tests.shim.wire import connected, serving
from tests.support.acl_filters import ANY_ACL
from tests.traces.captures.live import capturing, needs_capturing
from tests.traces.captures.wires import heartbeat, heartbeat_result


async def talk(broker: Any) -> None:
    """Send some requests in the highest versions of the release, on two listeners."""
    highest = {key: high for key, (_, high) in advertised_versions(broker.cluster.release).items()}
    for listener in ("PLAINTEXT", "SASL_PLAINTEXT"):
        async with connected(broker, listener) as wire:
            version = highest[ApiKey.API_VERSIONS]
            await wire.ask(ApiKey.API_VERSIONS, version, ApiVersionsRequest("test", "1"))
            if listener == "SASL_PLAINTEXT":
                handshake = SaslHandshakeRequest(mechanism="PLAIN")
                await wire.ask(ApiKey.SASL_HANDSHAKE, 1, handshake)
                token = SaslAuthenticateRequest(auth_bytes=b"\0alice\0alice-secret")
                await wire.ask(ApiKey.SASL_AUTHENTICATE, highest[ApiKey.SASL_AUTHENTICATE], token)
            topics = [CreatableTopic(f"topic-{n}", 3, 1) for n in range(50)]
            for api, request in (
                (ApiKey.METADATA, MetadataRequest(topics=None)),
                (ApiKey.CREATE_TOPICS, CreateTopicsRequest(topics, 1000)),
                (ApiKey.METADATA, MetadataRequest(topics=None)),
                (ApiKey.DESCRIBE_ACLS, ANY_ACL),
            ):
                await wire.ask(api, highest[api], request)
    await asyncio.sleep(0.05)


async def recorded(folder: Path, release: str) -> Path:
    async with serving(release=release) as broker:
        broker.start_recording(folder)
        await talk(broker)
    return folder


def told(folder: Path) -> list[tuple[str, int, object]]:
    """Return what a capture contains of a trace: clients, frames and ends of connections."""
    return [
        (who.host, who.port, getattr(entry, "frame", type(entry)))
        for who, entry in entries(folder)[0]
        if isinstance(entry, Request | Response | ConnectionClosed)
    ]


@pytest.mark.asyncio
async def test_an_exported_trace_is_imported_unchanged(tmp_path: Path) -> None:
    trace = await recorded(tmp_path / "trace", RELEASES[-1])
    file = io.BytesIO()
    report = export_capture(trace, file)
    assert report.connections == 2
    file.seek(0)
    found = import_capture(file, tmp_path / "again")
    assert found.troubles == []
    assert told(tmp_path / "again") == told(trace)


def test_frames_larger_than_a_packet_are_exported_over_ipv6(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kafka_shim.traces.captures.capture_export.SEGMENT_BYTES_MAX", 1000)
    who = Connection(0, 1, 2, "PLAINTEXT", "0:0:0:0:0:0:0:1", 50_000, "User:x")
    large = heartbeat(3, 30_000)
    rows: list[Entry] = [Request(0, 0, 10, large), Response(0, 0, 20, 12, 4, heartbeat_result(3))]
    writer = SegmentWriter(tmp_path / "trace", "w")
    writer.write_block(BlockBody([who], rows))
    writer.close()
    file = io.BytesIO()
    export_capture(tmp_path / "trace", file)
    file.seek(0)
    import_capture(file, tmp_path / "again")
    assert told(tmp_path / "again") == told(tmp_path / "trace")


@pytest.mark.parametrize("time_us", [-1, 253_402_000_000_000_000])
def test_a_time_outside_the_range_of_pcap_becomes_the_nearest(time_us: int, tmp_path: Path) -> None:
    who = Connection(0, 1, 2, "PLAINTEXT", "127.0.0.1", 50_000, "User:x")
    writer = SegmentWriter(tmp_path, "w")
    writer.write_block(BlockBody([who], [Request(0, 0, time_us, heartbeat(3, 10))]))
    writer.close()
    file = io.BytesIO()
    export_capture(tmp_path, file)
    file.seek(0)
    assert {packet.time_us for packet in read_packets(file)} <= {0, TIME_MAX_US}


needs_tshark = pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")


def dissected(capture: Path, what: str) -> list[str]:
    """Return the summaries of frames that match a display filter of tshark."""
    done = subprocess.run(
        ["tshark", "-r", str(capture), "-Y", what],
        capture_output=True, text=True, timeout=50, check=True,
    )  # fmt: skip
    return done.stdout.splitlines()


FAULTS_OF_TSHARK = (
    "[Unsupported API version]",  # tshark does not know the version
    "SaslAuthenticate",  # tshark reports missing bytes, also in captures of tcpdump
)


@needs_tshark
@pytest.mark.asyncio
@pytest.mark.parametrize("release", ["2.3", RELEASES[-1]])
async def test_tshark_dissects_every_frame(tmp_path: Path, release: str) -> None:
    trace = await recorded(tmp_path / "trace", release)
    capture = tmp_path / "out.pcap"
    with capture.open("wb") as file:
        export_capture(trace, file)
    frames = [entry for _, entry in entries(trace)[0] if isinstance(entry, Request | Response)]
    assert len(dissected(capture, "kafka")) == len(frames)
    assert dissected(capture, "tcp.analysis.flags") == []
    malformed = [
        line
        for line in dissected(capture, "_ws.malformed")
        if not any(fault in line for fault in FAULTS_OF_TSHARK)
    ]
    assert malformed == []


@needs_capturing
@pytest.mark.asyncio
async def test_a_capture_of_tcpdump_is_imported_as_the_broker_recorded_it(tmp_path: Path) -> None:
    capture = tmp_path / "lo.pcap"
    async with serving() as broker:
        broker.start_recording(tmp_path / "trace")
        ports = [address.rpartition(":")[2] for _, address in broker.listener_addresses()]
        with capturing(capture, ports):
            await talk(broker)
    with capture.open("rb") as file:
        report = import_capture(file, tmp_path / "imported")
    assert sorted(report.ports) == sorted(map(int, ports))
    assert told(tmp_path / "imported") == told(tmp_path / "trace")
    principals = {who.principal for who, _ in entries(tmp_path / "imported")[0]}
    assert principals == {"User:ANONYMOUS", "User:alice"}

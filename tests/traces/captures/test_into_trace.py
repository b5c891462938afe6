"""Captures are imported as traces: shuffled, repeated, incomplete, truncated, of any link type."""

import contextlib
import io
import random
import struct
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings, strategies as st

from kafka_shim.protocol.api_versions import RELEASES, advertised_versions
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.headers import RequestHeader, write_request_header
from kafka_shim.trace_format.entries import ConnectionClosed, Request, Response
from kafka_shim.traces.captures.capture_files import CaptureError, read_packets
from kafka_shim.traces.captures.capture_import import CaptureReport, import_capture
from kafka_shim.traces.captures.tcp_stream import Segment
from tests.shim.observing.test_recorder import entries
from tests.support.frames import sized
from tests.traces.captures.wires import (
    CLIENT,
    SERVER,
    capture_of,
    connection,
    conversation,
    cooked,
    ethernet,
    heartbeat,
    heartbeat_result,
    ip4,
    loopback,
    pcap,
    pcapng,
)

COUNT = 8
REQUESTS = [heartbeat(number, 30) for number in range(COUNT)]
ANSWERS = [heartbeat_result(number) for number in range(COUNT)]


def imported(
    file: io.BytesIO, folder: Path, ports: frozenset[int] = frozenset()
) -> tuple[list[bytes], list[bytes], CaptureReport]:
    report = import_capture(file, folder, ports)
    found, damage = entries(folder)
    assert damage == []
    times = [entry.time_us for _, entry in found]
    assert times == sorted(times)
    requests = [entry.frame for _, entry in found if isinstance(entry, Request)]
    responses = [entry.frame for _, entry in found if isinstance(entry, Response)]
    return requests, responses, report


def test_requests_and_responses_are_imported_with_times_and_ends(tmp_path: Path) -> None:
    segments = conversation(COUNT)
    requests, responses, report = imported(capture_of(segments), tmp_path)
    assert (requests, responses) == (REQUESTS, ANSWERS)
    assert (report.connections, report.ports, report.troubles) == (1, [SERVER[1]], [])
    assert (report.requests, report.responses, report.damage) == (COUNT, COUNT, "")
    found, _ = entries(tmp_path)
    who, first = found[0]
    assert (who.host, who.port, who.listener) == (*CLIENT, "10.0.0.9:9092")
    last_of_first = next(
        segment for segment in segments if segment.data and segment.source != CLIENT
    ).time_us
    assert first.time_us == last_of_first - 1000
    assert isinstance(found[-1][1], ConnectionClosed)


def test_a_connection_may_begin_with_an_unknown_version_of_api_versions(tmp_path: Path) -> None:
    """Clients newer than their broker begin like this; the response is in version 0 (KIP-511)."""
    _, newest = advertised_versions(RELEASES[-1])[ApiKey.API_VERSIONS]
    head = write_request_header(RequestHeader(ApiKey.API_VERSIONS, newest, 0, "kgo"))
    newer = head[:2] + (newest + 1).to_bytes(2, "big") + head[4:] + b"\4kgo\0021\0\0"
    refused = bytes(4) + (35).to_bytes(2, "big") + bytes(4)
    pieces = [(0, sized(newer)), (1, sized(refused))]
    pieces += [(0, sized(REQUESTS[1])), (1, sized(ANSWERS[1]))]
    requests, responses, report = imported(capture_of(connection(pieces)), tmp_path)
    assert requests == [newer, REQUESTS[1]]
    assert responses == [refused, ANSWERS[1]]
    assert report.passed_over == {}


@settings(max_examples=40, deadline=None)
@given(st.randoms(use_true_random=False))
def test_segments_may_be_shuffled_and_repeated_within_a_second(
    tmp_path_factory: pytest.TempPathFactory, rng: random.Random
) -> None:
    segments = conversation(COUNT)
    mixed = sorted(
        segments + rng.choices([segment for segment in segments if segment.data], k=20),
        key=lambda segment: segment.time_us + rng.randrange(30_000),
    )
    requests, responses, report = imported(
        capture_of(mixed), tmp_path_factory.mktemp("t"), frozenset({9092})
    )
    assert (requests, responses) == (REQUESTS, ANSWERS)
    assert report.responses_without_request == 0
    (troubles,) = report.troubles
    assert troubles.retransmitted > 0
    assert (troubles.lost_bytes, troubles.skipped_bytes) == (0, 0)


@settings(max_examples=60, deadline=None)
@given(st.randoms(use_true_random=False))
def test_a_lost_segment_costs_its_frames_and_is_reported(
    tmp_path_factory: pytest.TempPathFactory, rng: random.Random
) -> None:
    segments = conversation(COUNT, segment_bytes=1000)  # one frame in each segment
    lost = {n for n, segment in enumerate(segments) if segment.data and rng.random() < 0.2}
    kept = [segment for number, segment in enumerate(segments) if number not in lost]
    folder = tmp_path_factory.mktemp("t")
    requests, responses, report = imported(capture_of(kept), folder, frozenset({9092}))
    gone = {segments[number].data[4:] for number in lost}
    assert requests == [request for request in REQUESTS if request not in gone]
    assert responses == [
        response
        for request, response in zip(REQUESTS, ANSWERS, strict=True)
        if response not in gone and request not in gone
    ]
    told = sum(trouble.lost_bytes for trouble in report.troubles)
    assert told == sum(len(segments[number].data) for number in lost)


def test_a_connection_that_began_before_the_capture_is_imported(tmp_path: Path) -> None:
    segments = conversation(COUNT, segment_bytes=1000)[
        6:
    ]  # the capture begins within the second exchange
    requests, responses, report = imported(capture_of(segments), tmp_path)
    assert (requests, responses) == (REQUESTS[2:], ANSWERS[2:])
    (troubles,) = report.troubles
    assert troubles.began_before


def test_reused_ports_are_different_connections(tmp_path: Path) -> None:
    segments: list[Segment] = []
    for number in range(20):
        segments += conversation(
            2, client=("10.0.0.1", 40_000 + number % 10), first_sequence=number
        )
    late = [
        msgspec.structs.replace(segment, time_us=segment.time_us + index * 1000)
        for index, segment in enumerate(segments)
    ]
    requests, responses, report = imported(capture_of(late), tmp_path)
    assert report.connections == 20
    assert len(requests) == len(responses) == 40
    found, _ = entries(tmp_path)
    assert len({who.writer_connection for who, _ in found}) == 20
    assert len([entry for _, entry in found if isinstance(entry, ConnectionClosed)]) == 20


def test_other_protocols_and_ports_are_ignored(tmp_path: Path) -> None:
    def other(segment: Segment) -> Segment:
        ends = {CLIENT: CLIENT, SERVER: ("10.0.0.9", 80)}
        return msgspec.structs.replace(
            segment,
            source=ends[segment.source],
            target=ends[segment.target],
            data=b"\0\0\0\x05hello"[: len(segment.data)],
        )

    foreign = [other(segment) for segment in conversation(2)]
    both = conversation(COUNT) + foreign
    requests, _, report = imported(capture_of(both), tmp_path / "found")
    assert requests == REQUESTS
    assert report.passed_over == {"connections of other protocols": 1}
    requests, _, report = imported(capture_of(both), tmp_path / "told", frozenset({9092}))
    assert requests == REQUESTS
    assert report.passed_over == {"segments of other ports": len(foreign)}
    with pytest.raises(CaptureError, match="neither pcap nor pcapng"):
        import_capture(io.BytesIO(b"no capture at all, but long enough"), tmp_path / "none")


def test_encrypted_connections_are_reported(tmp_path: Path) -> None:
    hello = b"\x16\x03\x01" + bytes(17)
    segments = [
        msgspec.structs.replace(segment, data=hello[: len(segment.data)])
        for segment in conversation(1)
    ]
    requests, _, report = imported(capture_of(segments), tmp_path, frozenset({9092}))
    assert requests == []
    assert report.troubles[0].is_tls


@pytest.mark.parametrize(
    ("link_type", "wrap"), [(1, ethernet), (101, ip4), (113, cooked), (0, loopback)]
)
def test_all_link_types_and_time_resolutions_are_read(
    tmp_path: Path, link_type: int, wrap: object
) -> None:
    assert callable(wrap)
    rows = [(segment.time_us, wrap(segment)) for segment in conversation(COUNT)]
    for number, nano in enumerate((False, True)):
        file = io.BytesIO(pcap(rows, link_type, nano=nano))
        requests, responses, _ = imported(file, tmp_path / str(number))
        assert (requests, responses) == (REQUESTS, ANSWERS)


@pytest.mark.parametrize("order", ["<", ">"])
def test_pcapng_files_may_have_interfaces_of_different_link_types(
    tmp_path: Path, order: str
) -> None:
    rows = [
        (n % 2, segment.time_us, (ethernet if n % 2 == 0 else ip4)(segment))
        for n, segment in enumerate(conversation(COUNT))
    ]
    data = pcapng(rows, (1, 101), order)
    assert [packet.time_us for packet in read_packets(io.BytesIO(data))] == [row[1] for row in rows]
    requests, responses, report = imported(io.BytesIO(data), tmp_path)
    assert (requests, responses) == (REQUESTS, ANSWERS)
    assert report.passed_over == {}


def test_an_impossible_time_is_damage(tmp_path: Path) -> None:
    rows = [(0, segment.time_us, ethernet(segment)) for segment in conversation(COUNT)]
    rows[20] = (0, 1 << 60, rows[20][2])
    _, _, report = imported(io.BytesIO(pcapng(rows, (1,), "<")), tmp_path)
    assert report.packets == 20
    assert report.damage == f"a packet claims to be of {(1 << 60) // 1_000_000} seconds after 1970"


def test_a_truncated_file_is_read_to_its_end(tmp_path: Path) -> None:
    segments = conversation(COUNT)
    rows = [(segment.time_us, ethernet(segment)) for segment in segments]
    classic = pcap(rows)
    blocks = pcapng([(0, *row) for row in rows], (1,), "<")
    rng = random.Random(5)
    for data in (classic, blocks):
        for number in range(15):
            end = rng.randrange(500, len(data))
            folder = tmp_path / f"{len(data)}-{number}"
            requests, responses, report = imported(io.BytesIO(data[:end]), folder)
            assert requests == REQUESTS[: len(requests)]
            assert responses == ANSWERS[: len(responses)]
            assert report.packets <= len(segments)
            assert "cut off" in report.damage or report.damage == ""


def test_random_bytes_are_an_error_or_damage(tmp_path: Path) -> None:
    rng = random.Random(3)
    rows = [(segment.time_us, ethernet(segment)) for segment in conversation(COUNT)]
    files = (pcap(rows), pcapng([(0, *row) for row in rows], (1,), "<"))
    for number in range(120):
        spoiled = bytearray(files[number % 2])
        for _ in range(rng.randrange(1, 30)):
            spoiled[rng.randrange(24, len(spoiled))] = rng.randrange(256)
        with contextlib.suppress(CaptureError):
            import_capture(io.BytesIO(bytes(spoiled)), tmp_path / str(number))


HOUR_US = 3_600_000_000


def exchanges(count: int = 2) -> list[Segment]:
    """Return a connection with each request and response in one packet, after its handshake."""
    return conversation(count, segment_bytes=1000)[3:]


def later(segments: list[Segment], us: int, port: int = CLIENT[1]) -> list[Segment]:
    """Return the segments at a later time, of a client with this port."""
    ends = {CLIENT: (CLIENT[0], port), SERVER: SERVER}
    return [
        msgspec.structs.replace(
            segment,
            time_us=segment.time_us + us,
            source=ends[segment.source],
            target=ends[segment.target],
        )
        for segment in segments
    ]


def swapped(segments: list[Segment]) -> list[Segment]:
    """Return each response before its request in the file; the times stay."""
    return [segments[i ^ 1] if i < 4 else segments[i] for i in range(len(segments))]


MIDSTREAM = {
    "nothing follows": exchanges(),
    "without its end": exchanges()[:4],
    "another connection begins an hour later": [
        *exchanges()[:4],
        *later(conversation(1, segment_bytes=1000), HOUR_US, 41_000),
    ],
    "it goes on an hour later": [*exchanges()[:2], *later(exchanges()[2:4], HOUR_US)],
    "another one began before, too": [
        *exchanges()[:4],
        *later(exchanges()[:4], HOUR_US, 41_000),
    ],
    "others are busy at the same time": sorted(
        [*exchanges(8), *later(conversation(8, segment_bytes=1000), 500, 41_000)],
        key=lambda segment: segment.time_us,
    ),
    "the response is captured before its request": swapped(exchanges()),
    "a packet of another protocol comes an hour later": [
        *exchanges()[:4],
        *later([msgspec.structs.replace(exchanges()[0], data=b"")], HOUR_US, 42_000),
    ],
}


@pytest.mark.parametrize("case", MIDSTREAM)
def test_frames_have_the_time_of_their_own_packets(case: str, tmp_path: Path) -> None:
    segments = MIDSTREAM[case]
    import_capture(capture_of(segments), tmp_path, frozenset({SERVER[1]}))
    found, _ = entries(tmp_path)
    frames = [(who, entry) for who, entry in found if isinstance(entry, Request | Response)]
    assert len(frames) == len([segment for segment in segments if segment.data])
    for who, entry in frames:
        ends = {(who.host, who.port), SERVER} if isinstance(entry, Request) else {SERVER}
        [packet_us] = [
            segment.time_us
            for segment in segments
            if segment.data[4:] == entry.frame
            and segment.source in ends
            and {segment.source, segment.target} == {(who.host, who.port), SERVER}
            and abs(segment.time_us - entry.time_us) < HOUR_US // 2
        ]
        late_us = 1000 if case.startswith("the response") else 0  # then both have the later time
        assert 0 <= entry.time_us - packet_us <= late_us


def test_the_end_of_a_connection_that_began_before_has_its_time(tmp_path: Path) -> None:
    segments = [*exchanges(), *later(conversation(1, segment_bytes=1000), HOUR_US, 41_000)]
    import_capture(capture_of(segments), tmp_path)
    found, _ = entries(tmp_path)
    ends = [entry.time_us for _, entry in found if isinstance(entry, ConnectionClosed)]
    last_us = {segment.time_us for segment in (exchanges()[-1], segments[-1])}
    assert set(ends) <= last_us | {time - 1000 for time in last_us}
    assert len(ends) == 2


def test_few_bytes_are_kept_until_no_earlier_ones_can_come(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kafka_shim.traces.captures.capture_import.DELAYED_BYTES_MAX", 0)
    requests, responses, _ = imported(capture_of(conversation(COUNT)), tmp_path)
    assert (requests, responses) == (REQUESTS, ANSWERS)


def test_a_packet_without_a_time_is_reported(tmp_path: Path) -> None:
    """A Simple Packet Block of pcapng has no time; 1970 would be wrong."""
    packets = [(0, segment.time_us, ethernet(segment)) for segment in conversation(COUNT)]
    data = ethernet(conversation(COUNT)[0])
    body = struct.pack("<I", len(data)) + data + bytes(-len(data) % 4)
    size = struct.pack("<I", len(body) + 12)
    simple = struct.pack("<I", 3) + size + body + size
    requests, _, report = imported(io.BytesIO(pcapng(packets, [1], "<") + simple), tmp_path)
    assert requests == REQUESTS
    assert "has no time (a Simple Packet Block of pcapng)" in report.damage
    with pytest.raises(CaptureError, match="has no time"):
        import_capture(io.BytesIO(pcapng([], [1], "<") + simple), tmp_path / "none")

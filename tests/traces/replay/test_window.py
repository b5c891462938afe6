"""A replay sends requests before earlier responses arrive, but only a limited number."""

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator

import pytest

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from kafka_shim.trace_format.entries import Request, Response
from kafka_shim.traces.replay.events import Event, Recording
from kafka_shim.traces.replay.replayer import Replayer
from kafka_shim.traces.replay.target import Target
from tests.support.frames import request_frame, response_frame, sized

VERSION = 3
COUNT = 1_000
AHEAD = 25


def exchange(number: int, asked_bytes: int, responded_bytes: int) -> tuple[bytes, bytes]:
    """Return a request and its response, padded by this number of bytes."""
    asked = ApiVersionsRequest("x" * asked_bytes, "1")
    response = ApiVersionsResponse(unknown_tags=((9, bytes(responded_bytes)),))
    return (
        request_frame(ApiKey.API_VERSIONS, VERSION, asked, number),
        response_frame(ApiKey.API_VERSIONS, VERSION, response, number),
    )


def recording(exchanges: list[tuple[bytes, bytes]]) -> Recording:
    events: list[Event] = []
    for number, (asked, responded) in enumerate(exchanges):
        entries = (
            Request(0, number, number, asked),
            Response(0, number, number, ApiKey.API_VERSIONS, VERSION, responded),
        )
        events += (Event(("w", 1), "User:ANONYMOUS", 1, "PLAINTEXT", entry) for entry in entries)
    return Recording(events, [])


@contextlib.contextmanager
def answering(serve: Callable[[socket.socket], None]) -> Iterator[tuple[str, int]]:
    """Start a target with the smallest possible buffers, for one connection."""
    with socket.socket() as listener:
        for size in (socket.SO_RCVBUF, socket.SO_SNDBUF):
            listener.setsockopt(socket.SOL_SOCKET, size, 4096)
        listener.bind(("127.0.0.1", 0))
        listener.listen()

        def accept() -> None:
            listener.accept()[0].close()  # it asks for versions
            peer, _ = listener.accept()
            with peer, contextlib.suppress(OSError):
                serve(peer)

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        yield listener.getsockname()
        thread.join(10)


@pytest.mark.parametrize("asked_bytes", [10, 1_500])
def test_the_target_gets_further_requests_before_it_answers(asked_bytes: int) -> None:
    """The target answers a request once it has received `AHEAD` further ones."""
    exchanges = [exchange(number, asked_bytes, 0) for number in range(COUNT)]

    def serve(peer: socket.socket) -> None:
        with peer.makefile("rb") as requests:
            for number in range(COUNT + AHEAD):
                if number < COUNT:
                    assert requests.read(int.from_bytes(requests.read(4), "big"))
                if number >= AHEAD:
                    peer.sendall(sized(exchanges[number - AHEAD][1]))

    with answering(serve) as address:
        report = Replayer(recording(exchanges), Target(address, timeout_s=10)).replay()
    assert (report.responses, report.matches_recording) == (COUNT, True)


def test_neither_side_blocks_on_writing() -> None:
    """The target does not read while it writes, and its responses exceed its buffers."""
    exchanges = [exchange(number, 1_500, 10_000) for number in range(200)]

    def serve(peer: socket.socket) -> None:
        for _, responded in exchanges:
            left = int.from_bytes(peer.recv(4, socket.MSG_WAITALL), "big")
            assert peer.recv(left, socket.MSG_WAITALL)
            peer.sendall(sized(responded))

    with answering(serve) as address:
        report = Replayer(recording(exchanges), Target(address, timeout_s=10)).replay()
    assert (report.responses, report.matches_recording) == (len(exchanges), True)


@pytest.mark.parametrize("responded", [0, 1])
def test_responses_that_the_recording_lacks_do_not_fill_the_window(responded: int) -> None:
    """There are more such requests than fit into the window, by number and by bytes."""
    exchanges = [exchange(number, number % 1_500, 0) for number in range(COUNT)]
    events = recording(exchanges).events
    kept = [
        event
        for event in events
        if isinstance(event.entry, Request) or event.entry.sequence < responded
    ]

    def serve(peer: socket.socket) -> None:
        for _, frame in exchanges:
            left = int.from_bytes(peer.recv(4, socket.MSG_WAITALL), "big")
            assert peer.recv(left, socket.MSG_WAITALL)
            peer.sendall(sized(frame))

    with answering(serve) as address:
        report = Replayer(Recording(kept, []), Target(address, timeout_s=3)).replay()
    assert (report.requests, report.responses, report.unreplayable_requests) == (
        COUNT,
        responded,
        [],
    )
    assert report.unrecorded_responses > COUNT / 2

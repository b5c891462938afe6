"""Conversations of eleven clients with real brokers of three releases play as they were recorded.

`recorded/` is made by `python -m tests.clients.cassettes --release RELEASE --keep DIR`, which also
plays the cassettes to the clients. `librdkafka-consumer-protocol` has two consumers of one group
with `group.protocol=consumer`, recorded by `kafka-shim run --playback-mode all` of a script. Here,
the recorded requests are sent again, in their order.
"""

from collections import defaultdict, deque
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.message_frames import read_request_frame, read_response_with_version
from kafka_shim.protocol.responses import error_codes_by_name
from kafka_shim.trace_format.entries import Request, Response
from kafka_shim.traces.cassettes.playback_report import MismatchError
from kafka_shim.traces.cassettes.playback_state import MatchMode, PlaybackOptions, PlaybackState
from kafka_shim.traces.cassettes.player import PendingResponse, PlayedConnection
from kafka_shim.traces.cassettes.trace_index import TraceIndex
from kafka_shim.traces.identities.message_fields import NOT_READY_ERRORS
from kafka_shim.traces.replay.events import ConnectionId, Event, TraceEvents
from tests.clients.suite_drivers import COMMANDS
from tests.traces.cassettes.kit import played_connection

CASSETTES = sorted((Path(__file__).parent / "recorded").glob("*/*.ktrace"))
PASSWORD = "alice-secret"


@pytest.mark.parametrize("match", [MatchMode.ORDER, MatchMode.STRICT], ids=lambda mode: mode.value)
@pytest.mark.parametrize("cassette", CASSETTES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_recorded_requests_get_their_recorded_errors(cassette: Path, match: MatchMode) -> None:
    options = PlaybackOptions(users={"alice": PASSWORD}, match=match)
    played = _Playback(PlaybackState(TraceIndex(cassette), options), TraceEvents(cassette))
    compared = [*played.compared_responses()]
    assert len(compared) > 50
    differing = [
        (name, recorded, sent)
        for name, recorded, sent in compared
        if recorded != sent and not _is_temporary(recorded)
    ]
    assert differing == []
    report = played.state.finished_report()
    assert (report.unsent, report.changes, report.early) == ([], {}, {})
    assert report.failures == []


def test_there_are_cassettes_of_all_clients_with_all_releases() -> None:
    clients = {"librdkafka" if name == "confluent-kafka" else name for name in COMMANDS}
    for release in ("2.8.2", "3.9.1", "4.4.0"):
        assert clients <= {path.stem for path in CASSETTES if path.parent.name == release}


@pytest.mark.parametrize("cassette", CASSETTES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_no_cassette_is_of_a_client_that_gave_up(cassette: Path) -> None:
    """A client that gives up has not produced or consumed; members of a crowd only consume."""
    apis = {
        event.entry.api_key for event in TraceEvents(cassette) if isinstance(event.entry, Request)
    }
    if (cassette.parent.name, cassette.stem) == ("2.8.2", "platformatic"):
        assert ApiKey.PRODUCE not in apis  # it sends Metadata v11 that cannot be decoded
        return
    assert apis & {ApiKey.JOIN_GROUP, ApiKey.CONSUMER_GROUP_HEARTBEAT}
    assert ApiKey.FETCH in apis
    assert ApiKey.PRODUCE in apis or cassette.stem.endswith(("-crowd", "-relay"))


class _Playback:
    """Sends the requests of a cassette to its playback, each on its own connection."""

    def __init__(self, state: PlaybackState, events: TraceEvents) -> None:
        self.state = state
        self._events = events
        self._connections: dict[ConnectionId, PlayedConnection] = {}
        self._failed_log_ins = {
            (event.connection_id, event.entry.sequence)
            for event in events
            if isinstance(event.entry, Response)
            and event.entry.api_key == ApiKey.SASL_AUTHENTICATE
            and _decoded(event.entry, event.entry.frame).error_code
        }

    def compared_responses(self) -> Iterator[tuple[str, object, object]]:
        """Yield the API, and the errors of the recorded and of the played response.

        As in a playback, a request waits for the responses to those before it on its connection.
        """
        requests: dict[ConnectionId, deque[tuple[Event, Request]]] = defaultdict(deque)
        sent: dict[ConnectionId, PendingResponse | None] = {}
        for event in self._events:
            connection = event.connection_id
            if isinstance(event.entry, Request):
                requests[connection].append((event, event.entry))
            elif isinstance(event.entry, Response):
                waiting = sent.pop(connection)
                assert waiting is not None
                waiting.deadline = 0
                response = waiting.due_response()
                assert response is not None
                recorded = _decoded(event.entry, event.entry.frame)
                yield ApiKey(event.entry.api_key).name, *_errors(recorded, response.message)
            if connection not in sent and requests[connection]:
                sent[connection] = self._send(*requests[connection].popleft())
                if sent[connection] is None:  # if there was a response, the assertion above fails
                    yield "closed", None, None

    def _send(self, event: Event, request: Request) -> PendingResponse | None:
        """Send a request; return None if the connection is closed instead of a response."""
        connection = self._connections.get(event.connection_id)
        if connection is None:
            connection = self._connections[event.connection_id] = played_connection(
                self.state, event.node_id
            )
        try:
            header, message = read_request_frame(request.frame)
        except ProtocolError:
            assert self.state.index.has_unreadable(request.frame)
            return None
        if header.api_key == ApiKey.SASL_AUTHENTICATE:  # a trace has no passwords
            is_wrong = (event.connection_id, request.sequence) in self._failed_log_ins
            message.auth_bytes = f"\0alice\0{'wrong' if is_wrong else PASSWORD}".encode()
        try:
            return connection.respond(header, message)
        except MismatchError as error:
            raise AssertionError(str(connection.describe(header, error))) from error


def _is_temporary(errors: object) -> bool:
    """Return whether the only error is that of a coordinator that was not ready."""
    codes = {*chain(*errors.values())} if isinstance(errors, dict) else set()
    return bool(codes) and codes <= NOT_READY_ERRORS


def _decoded(entry: Response, frame: bytes) -> Any:
    return read_response_with_version(entry.api_key, entry.api_version, frame)[0]


def _errors(recorded: Any, played: Any) -> tuple[object, object]:
    """Return the errors by name; a Fetch response may leave out topics without new records."""
    both = error_codes_by_name(recorded), error_codes_by_name(played)
    if hasattr(recorded, "session_id"):
        return {name: both[0][name] for name in both[0] if name in both[1]}, {
            name: both[1][name] for name in both[1] if name in both[0]
        }
    return both

"""Sends the requests of a recording to a target, in recorded order, and compares the responses.

A request is sent after the target has sent every response that precedes the request in the
recording. So causes precede effects at any speed. Consecutive requests of a connection are sent
together, as the target answers them in order.
"""

import time
from collections.abc import Callable, Iterator

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.headers import RequestHeader, read_request_header
from kafka_shim.protocol.trace.entries import Closed, Request, Response
from kafka_shim.protocol.trace.redaction import BLANK
from kafka_shim.shim.traffic.replay.acl_changes import ACL_CHANGES, AclChange, acl_change_of
from kafka_shim.shim.traffic.replay.compare import Difference, compare
from kafka_shim.shim.traffic.replay.counterparts import REQUESTS_WITH_OFFSETS, Counterparts
from kafka_shim.shim.traffic.replay.error_codes import error_code, is_before_join, is_not_ready
from kafka_shim.shim.traffic.replay.events import (
    LOGIN,
    ConnectionId,
    Event,
    Recording,
    RecordingFacts,
)
from kafka_shim.shim.traffic.replay.fields import COORDINATED
from kafka_shim.shim.traffic.replay.ids import contains_ids, id_kinds
from kafka_shim.shim.traffic.replay.replay_recorder import ReplayRecorder
from kafka_shim.shim.traffic.replay.report import Place, Report, request_id_of
from kafka_shim.shim.traffic.replay.target import MissError, OnMiss, Target
from kafka_shim.shim.traffic.replay.target_connection import (
    WINDOW_BYTES,
    ConnectionLostError,
    InFlightRequest,
    NoPasswordError,
    ReplayConnection,
    TargetConnection,
    authenticate,
    login_for_recorded_user,
)

LATE_S = 0.01
"""A replay that is later than this does not catch up: pauses would be shorter than recorded."""


class ReplayPace:
    """Waits before each event; without a speed it does not wait.

    Pauses matter to a broker: members that join a new group within a delay are in one generation.
    So if the target is slower than the recorded broker, all later events are delayed.
    """

    def __init__(
        self,
        speed: float | None,
        first_us: int,
        now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._speed = speed
        self._first_us = first_us
        self._now = now
        self._sleep = sleep
        self._began = now()

    def wait(self, time_us: int) -> None:
        """Wait until an event recorded at this time is due."""
        if self._speed is None:
            return
        due = self._began + (time_us - self._first_us) / 1_000_000 / self._speed
        late_s = self._now() - due
        if late_s < 0:
            self._sleep(-late_s)
        elif late_s > LATE_S:
            self._began += late_s


_PROGRESS_EVENTS = 256

RETRY_S = 0.1
"""Before a target that is not ready yet is asked again."""

_SECRET = frozenset(
    {
        ApiKey.ALTER_USER_SCRAM_CREDENTIALS,
        ApiKey.RENEW_DELEGATION_TOKEN,
        ApiKey.EXPIRE_DELEGATION_TOKEN,
    }
)


class Replayer:
    """A replay."""

    def __init__(
        self, recording: Recording, target: Target, recording_facts: RecordingFacts | None = None
    ) -> None:
        self._recording = recording
        self._target = target
        self._recording_facts = recording_facts or RecordingFacts(recording.events)
        self._connections: dict[ConnectionId, ReplayConnection] = {}
        self._current: ReplayConnection | None = None
        self._learned = Counterparts()
        self._recorder = None if target.record is None else ReplayRecorder(target.record)
        self.report = Report(ignored=target.ignored)

    def replay(self, progress: Callable[[int], None] = lambda _: None) -> Report:
        """Replay everything; MissError at the first miss if the target is configured so.

        `progress` is regularly called with the number of replayed events.
        """
        began = time.monotonic()
        replay_pace = ReplayPace(self._target.speed, self._recording_facts.first_us)
        try:
            for number, event in enumerate(self._recording.events):
                if number % _PROGRESS_EVENTS == 0 or self._target.speed is not None:
                    progress(number)
                replay_pace.wait(event.entry.time_us)
                self._replay_event(event)
            if self._current is not None:
                self._receive_due_responses(self._current)
            for connection in self._connections.values():
                self._end(connection, "the replay is over")
        finally:
            for connection in self._connections.values():
                connection.close_with_reason("the replay is over")
            if self._recorder is not None:
                self._recorder.close()
            self.report.seconds = time.monotonic() - began
        return self.report

    def _replay_event(self, event: Event) -> None:
        known = self._connections.get(event.connection_id)
        if self._current is not None and known is not self._current:
            self._receive_due_responses(self._current)
        connection = self._current = known or self._connect(event)
        match event.entry:
            case Request():
                self._request(event, event.entry, connection)
            case Response():
                self._response(event, event.entry, connection)
            case Closed():
                self._receive_due_responses(connection)
                self._end(connection, "the recorded client had left")
                if self._recorder is not None:
                    self._recorder.closed(event, event.entry.reason)

    def _connect(self, event: Event) -> ReplayConnection:
        host, port = self._address(event)
        try:
            connection = ReplayConnection(TargetConnection(host, port, self._target.timeout_s), "")
        except ConnectionLostError as error:
            connection = ReplayConnection(None, str(error))
        self._connections[event.connection_id] = connection
        return connection

    def _address(self, event: Event) -> tuple[str, int]:
        """Return the address from a route, else the one that the target
        advertises for this broker.
        """
        routes = self._target.routes
        named = routes.get(event.listener) or routes.get(str(event.node_id))
        return named or self._learned.address(event) or self._target.address

    def _end(self, connection: ReplayConnection, why: str) -> None:
        """Stop sending; outstanding responses are added to a trace of the replay."""
        if self._recorder is not None:
            self._receive_unrecorded(connection)
        connection.close_with_reason(why)

    def _receive_unrecorded(self, connection: ReplayConnection, until: int | None = None) -> None:
        """Receive responses that the recording does not have, up to `until`."""
        try:
            for sent, frame in connection.unrecorded(until):
                self.report.unrecorded += 1
                if self._recorder is not None:
                    self._recorder.response(sent, frame)
        except ConnectionLostError as error:
            if until is not None:
                raise
            connection.close_with_reason(f"the connection failed earlier: {error}")

    def _request(self, event: Event, entry: Request, connection: ReplayConnection) -> None:
        try:
            header, at = read_request_header(entry.frame)
        except ProtocolError as error:
            self._report_miss(request_id_of(event), str(error))
            return
        key = header.api_key
        if (event.connection_id, entry.sequence) in self._recording_facts.not_ready_requests:
            self.report.left_out += 1
        elif connection.peer is None:
            self._report_miss(request_id_of(event), connection.failure)
        elif key in LOGIN:
            self._receive_due_responses(connection)
            self._replay_authentication(event, header, entry, at, connection)
        elif key in _SECRET or (entry.redacted and BLANK.encode() in entry.frame):
            self._report_miss(request_id_of(event), "it has secrets, which are not in a trace")
        else:
            self._send(event, header, entry, at, connection)

    def _send(
        self,
        event: Event,
        header: RequestHeader,
        entry: Request,
        at: int,
        connection: ReplayConnection,
    ) -> None:
        frame = entry.frame
        key, version = header.api_key, header.api_version
        takes_offsets = key in REQUESTS_WITH_OFFSETS
        if takes_offsets or id_kinds(key, version, "Request"):
            # due responses may contain the ids that it needs
            waits = takes_offsets and connection.due_contain_offsets
            has_ids = contains_ids(frame[at:], key, version)
            if waits or (connection.due_contain_ids and has_ids):
                self._receive_due_responses(connection)
            if self._learned.differs and (takes_offsets or has_ids):
                frame = self._learned.rewritten(event.connection_id, header, frame, at)
        if len(frame) > WINDOW_BYTES:
            self._receive_due_responses(connection)
        elif connection.is_full:
            self._receive_due_responses(connection, until_writable=True)
        if connection.has_many_unrecorded:
            self._receive_due_responses(connection)
            self._receive_unrecorded(connection)
        if connection.peer is None:
            self._report_miss(request_id_of(event), connection.failure)
            return
        sent = InFlightRequest(event, frame, entry.frame)
        connection.put(sent, entry.sequence)
        if self._recorder is not None:
            self._recorder.request(sent)
        self.report.requests += 1
        if self._target.speed is not None or connection.should_flush:
            self._flush(event, connection)

    def _replay_authentication(
        self,
        event: Event,
        header: RequestHeader,
        entry: Request,
        at: int,
        connection: ReplayConnection,
    ) -> None:
        if not self._target.logs_in:
            return
        if self._recorder is not None:
            self._recorder.recorded(event, entry)
        response = self._recording_facts.logins.get((event.connection_id, entry.sequence))
        if response is None:  # the client left before its log-in was answered
            self.report.left_out += 1
            connection.close_with_reason("its log-in was not answered in the recording")
            return
        was_refused = error_code(response) != 0
        name = self._recording_facts.principals[event.connection_id].partition(":")[2]
        users = self._target.users
        try:
            authenticate(
                connection,
                header,
                entry.frame,
                at,
                lambda mechanism: login_for_recorded_user(
                    name, mechanism, users, was_refused=was_refused
                ),
            )
        except (ConnectionLostError, NoPasswordError) as error:
            self._give_up_connection(event, connection, str(error))

    def _response(self, event: Event, entry: Response, connection: ReplayConnection) -> None:
        if entry.api_key in LOGIN:
            self._compare_authentication(event, entry, connection)
            return
        if entry.sequence not in connection.sent or connection.peer is None:
            return  # reported when the request was missed
        connection.expect(event, entry)
        is_awaited = entry.api_key in COORDINATED or entry.api_key in ACL_CHANGES
        if self._target.speed is not None or is_awaited:
            self._receive_due_responses(connection)
        elif connection.is_full:
            self._receive_due_responses(connection, until_writable=True)

    def _flush(self, event: Event, connection: ReplayConnection) -> None:
        try:
            connection.flush()
        except ConnectionLostError as error:
            self._give_up_connection(event, connection, str(error))

    def _receive_due_responses(
        self, connection: ReplayConnection, *, until_writable: bool = False
    ) -> None:
        """Send queued requests and receive due responses; or only some, to be able to send more."""
        if not connection.due:
            try:
                connection.flush()
            except ConnectionLostError as error:
                connection.close_with_reason(f"the connection failed earlier: {error}")
            return
        self._flush(connection.due[0][0], connection)
        while (
            connection.due
            and connection.peer is not None
            and not (until_writable and connection.can_send_more)
        ):
            event, entry = connection.due[0]
            try:
                self._receive_unrecorded(connection, entry.sequence)
                sent = connection.responded(entry.sequence)
                frame = self._receive_response(connection, connection.peer, sent.frame, entry)
                if entry.api_key in ACL_CHANGES and not connection.sent:
                    self._wait_for_acl_change(event, acl_change_of(sent.frame, frame))
            except ConnectionLostError as error:
                self._give_up_connection(event, connection, str(error))
                return
            connection.take()
            self.report.responses += 1
            if self._recorder is not None:
                self._recorder.response(sent, frame)
            found = compare(self._learned, event, sent.recorded, entry, frame)
            if found:
                self.report.differ(request_id_of(event), found)

    def _receive_response(
        self, connection: ReplayConnection, peer: TargetConnection, request: bytes, entry: Response
    ) -> bytes:
        """Return the target's response; retry while it is not ready, as a client would."""
        deadline = time.monotonic() + self._target.timeout_s
        while True:
            frame = peer.receive()
            if connection.sent or time.monotonic() > deadline:
                return frame
            if not is_not_ready(entry, frame) and not is_before_join(
                request, entry, frame, self._frames_in_flight()
            ):
                return frame
            time.sleep(RETRY_S)
            peer.send(request)

    def _frames_in_flight(self) -> Iterator[bytes]:
        for connection in self._connections.values():
            yield from (sent.frame for sent in connection.sent.values())

    def _wait_for_acl_change(self, event: Event, change: AclChange | None) -> None:
        """Wait until the brokers with connections of this user have applied a change of ACLs."""
        if change is None:
            return
        principals = self._recording_facts.principals
        peers = {
            connection.peer.address: connection.peer
            for connection_id, connection in self._connections.items()
            if connection.peer is not None
            and not connection.sent
            and principals[connection_id] == principals[event.connection_id]
        }
        change.wait(peers.values(), self._target.timeout_s)

    def _compare_authentication(
        self, event: Event, entry: Response, connection: ReplayConnection
    ) -> None:
        """Compare only the error code of a log-in; its messages always differ."""
        actual = connection.login_error
        if self._recorder is not None and self._target.logs_in:
            self._recorder.recorded(event, entry)
        if entry.api_key != ApiKey.SASL_AUTHENTICATE or actual is None:
            return
        recorded = error_code(entry)
        self.report.responses += 1
        if recorded != actual:
            self.report.differ(request_id_of(event), [Difference("error_code", recorded, actual)])

    def _give_up_connection(self, event: Event, connection: ReplayConnection, why: str) -> None:
        """Give up a connection; its outstanding responses are missed too."""
        lost = connection.close_with_reason(f"the connection failed earlier: {why}")
        for missed in lost or [event]:
            self._report_miss(request_id_of(missed), why if missed is event else connection.failure)

    def _report_miss(self, place: Place, why: str) -> None:
        self.report.miss(place, why)
        if self._target.on_miss is OnMiss.FAIL:
            raise MissError(
                f"connection {place.connection}, request {place.sequence}: {place.api}"
                f" v{place.version}: {why}; --on-miss skip continues without it"
            )

"""Sends the requests of a recording to a target, in recorded order, and compares the responses.

A request is sent after the target has sent every response that precedes the request in the
recording. So causes precede effects at any speed. Consecutive requests of a connection are sent
together, as the target responds to them in order.
"""

import time
from collections.abc import Callable, Iterator

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.headers import RequestHeader, read_request_header
from kafka_shim.trace_format.entries import ConnectionClosed, Request, Response
from kafka_shim.trace_format.redaction import BLANK
from kafka_shim.traces.identities.id_mapping import (
    mapped_kinds_of_message,
    request_has_mapped_values,
)
from kafka_shim.traces.identities.message_fields import COORDINATOR_APIS
from kafka_shim.traces.replay.acl_changes import (
    ACL_CHANGES,
    ReplayedAclChange,
    successful_acl_change,
)
from kafka_shim.traces.replay.compare import Difference, compare_and_learn
from kafka_shim.traces.replay.error_codes import (
    is_coordinator_elsewhere,
    overall_error_code,
    target_responded_before_rebalance,
)
from kafka_shim.traces.replay.events import (
    AUTHENTICATION_APIS,
    ConnectionId,
    Event,
    FactsNeededBeforeReplay,
    Recording,
)
from kafka_shim.traces.replay.recorded_to_target_mapping import (
    REQUESTS_WITH_OFFSETS,
    RecordedToTargetMapping,
)
from kafka_shim.traces.replay.report import (
    ReplayRecorder,
    ReplayReport,
    RequestId,
    request_id_of_event,
)
from kafka_shim.traces.replay.target import (
    OnUnreplayableRequest,
    Target,
    UnreplayableRequestError,
)
from kafka_shim.traces.replay.target_connection import (
    WINDOW_BYTES,
    ConnectionLostError,
    InFlightRequest,
    MissingPasswordError,
    ReplayConnection,
    TargetConnection,
    authenticate_replayed,
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
        self._start = now()

    def sleep_until_due(self, time_us: int) -> None:
        """Wait until an event recorded at this time is due."""
        if self._speed is None:
            return
        due = self._start + (time_us - self._first_us) / 1_000_000 / self._speed
        late_s = self._now() - due
        if late_s < 0:
            self._sleep(-late_s)
        elif late_s > LATE_S:
            self._start += late_s


_PROGRESS_EVENTS = 256

RETRY_S = 0.1
"""Before a target that is not ready yet is asked again."""

_APIS_WITH_SECRETS = frozenset(
    {
        ApiKey.ALTER_USER_SCRAM_CREDENTIALS,
        ApiKey.RENEW_DELEGATION_TOKEN,
        ApiKey.EXPIRE_DELEGATION_TOKEN,
    }
)


class Replayer:
    """Replays a recording at a target, and reports the differing responses."""

    def __init__(
        self,
        recording: Recording,
        target: Target,
        recording_facts: FactsNeededBeforeReplay | None = None,
    ) -> None:
        self._recording = recording
        self._target = target
        self._recording_facts = recording_facts or FactsNeededBeforeReplay(recording.events)
        self._connections: dict[ConnectionId, ReplayConnection] = {}
        self._current_connection: ReplayConnection | None = None
        self._mapping = RecordedToTargetMapping()
        self._recorder = None if target.record is None else ReplayRecorder(target.record)
        self.report = ReplayReport(ignored=target.ignored)

    def replay(self, progress: Callable[[int], None] = lambda _: None) -> ReplayReport:
        """Replay everything. Raise UnreplayableRequestError if the target's `on_miss` is FAIL.

        `progress` is regularly called with the number of replayed events.
        """
        start = time.monotonic()
        replay_pace = ReplayPace(self._target.speed, self._recording_facts.first_us)
        try:
            for number, event in enumerate(self._recording.events):
                if number % _PROGRESS_EVENTS == 0 or self._target.speed is not None:
                    progress(number)
                replay_pace.sleep_until_due(event.entry.time_us)
                self._replay_event(event)
            if self._current_connection is not None:
                self._exchange_due(self._current_connection)
            for connection in self._connections.values():
                self._close_connection(connection, "the replay is over")
        finally:
            for connection in self._connections.values():
                connection.close("the replay is over")
            if self._recorder is not None:
                self._recorder.close()
            self.report.seconds = time.monotonic() - start
        return self.report

    def _replay_event(self, event: Event) -> None:
        known_connection = self._connections.get(event.connection_id)
        if (
            self._current_connection is not None
            and known_connection is not self._current_connection
        ):
            self._exchange_due(self._current_connection)
        connection = self._current_connection = known_connection or self._connect(event)
        match event.entry:
            case Request():
                self._replay_request(event, event.entry, connection)
            case Response():
                self._handle_response_event(event, event.entry, connection)
            case ConnectionClosed():
                self._exchange_due(connection)
                self._close_connection(connection, "the recorded client had left")
                if self._recorder is not None:
                    self._recorder.record_close(event, event.entry.reason)

    def _connect(self, event: Event) -> ReplayConnection:
        host, port = self._address_for_event(event)
        try:
            connection = ReplayConnection(TargetConnection(host, port, self._target.timeout_s), "")
        except ConnectionLostError as error:
            connection = ReplayConnection(None, str(error))
        self._connections[event.connection_id] = connection
        return connection

    def _address_for_event(self, event: Event) -> tuple[str, int]:
        """Return the address from a route, else the one that the target
        advertises for this broker.
        """
        routes = self._target.routes
        routed_address = routes.get(event.listener) or routes.get(str(event.node_id))
        return (
            routed_address
            or self._mapping.target_address_advertised_for(event)
            or self._target.address
        )

    def _close_connection(self, connection: ReplayConnection, reason: str) -> None:
        """Stop sending; outstanding responses are added to a trace of the replay."""
        if self._recorder is not None:
            self._receive_unrecorded_responses(connection)
        connection.close(reason)

    def _receive_unrecorded_responses(
        self, connection: ReplayConnection, until: int | None = None
    ) -> None:
        """Receive responses that the recording does not have, up to `until`."""
        try:
            for in_flight_request, frame in connection.receive_unrecorded_responses(until):
                self.report.unrecorded_responses += 1
                if self._recorder is not None:
                    self._recorder.record_response(in_flight_request, frame)
        except ConnectionLostError as error:
            if until is not None:
                raise
            connection.close(f"the connection failed earlier: {error}")

    def _replay_request(self, event: Event, entry: Request, connection: ReplayConnection) -> None:
        try:
            header, at = read_request_header(entry.frame)
        except ProtocolError as error:
            self._report_unreplayable(request_id_of_event(event), str(error))
            return
        key = header.api_key
        if (event.connection_id, entry.sequence) in self._recording_facts.not_ready_requests:
            self.report.skipped_requests += 1
        elif connection.target_connection is None:
            self._report_unreplayable(request_id_of_event(event), connection.failure)
        elif key in AUTHENTICATION_APIS:
            self._exchange_due(connection)
            self._replay_authentication(event, header, entry, at, connection)
        elif key in _APIS_WITH_SECRETS or (entry.redacted and BLANK.encode() in entry.frame):
            self._report_unreplayable(
                request_id_of_event(event), "it has secrets, which are not in a trace"
            )
        else:
            self._queue_request(event, header, entry, at, connection)

    def _queue_request(
        self,
        event: Event,
        header: RequestHeader,
        entry: Request,
        at: int,
        connection: ReplayConnection,
    ) -> None:
        frame = entry.frame
        key, version = header.api_key, header.api_version
        has_offsets = key in REQUESTS_WITH_OFFSETS
        if has_offsets or mapped_kinds_of_message(key, version, "Request"):
            # due responses may contain the ids that it needs
            waits_for_offsets = has_offsets and connection.due_responses_contain_offsets
            has_ids = request_has_mapped_values(frame[at:], key, version)
            if waits_for_offsets or (connection.due_responses_contain_ids and has_ids):
                self._exchange_due(connection)
            if self._mapping.requests_need_rewriting and (has_offsets or has_ids):
                frame = self._mapping.request_with_target_values(
                    event.connection_id, header, frame, at
                )
        if len(frame) > WINDOW_BYTES:
            self._exchange_due(connection)
        elif connection.must_receive_before_sending:
            self._exchange_due(connection, until_can_send_more=True)
        if connection.has_many_unrecorded:
            self._exchange_due(connection)
            self._receive_unrecorded_responses(connection)
        if connection.target_connection is None:
            self._report_unreplayable(request_id_of_event(event), connection.failure)
            return
        in_flight_request = InFlightRequest(event, frame, entry.frame)
        connection.queue_request(in_flight_request, entry.sequence)
        if self._recorder is not None:
            self._recorder.record_request(in_flight_request)
        self.report.requests += 1
        if self._target.speed is not None or connection.should_flush:
            self._flush_connection(event, connection)

    def _replay_authentication(
        self,
        event: Event,
        header: RequestHeader,
        entry: Request,
        at: int,
        connection: ReplayConnection,
    ) -> None:
        if not self._target.replays_authentication:
            return
        if self._recorder is not None:
            self._recorder.record_authentication(event, entry)
        response = self._recording_facts.authentication_responses.get(
            (event.connection_id, entry.sequence)
        )
        if response is None:  # the client left before its authentication was answered
            self.report.skipped_requests += 1
            connection.close("its authentication was not answered in the recording")
            return
        was_rejected = overall_error_code(response) != 0
        name = self._recording_facts.principals[event.connection_id].partition(":")[2]
        users = self._target.users
        try:
            authenticate_replayed(
                connection,
                header,
                entry.frame,
                at,
                lambda mechanism: login_for_recorded_user(
                    name, mechanism, users, was_rejected=was_rejected
                ),
            )
        except (ConnectionLostError, MissingPasswordError) as error:
            self._give_up_connection(event, connection, str(error))

    def _handle_response_event(
        self, event: Event, entry: Response, connection: ReplayConnection
    ) -> None:
        if entry.api_key in AUTHENTICATION_APIS:
            self._compare_authentication(event, entry, connection)
            return
        if (
            entry.sequence not in connection.in_flight_requests
            or connection.target_connection is None
        ):
            return  # reported when the request was missed
        connection.mark_response_due(event, entry)
        is_awaited = entry.api_key in COORDINATOR_APIS or entry.api_key in ACL_CHANGES
        if self._target.speed is not None or is_awaited:
            self._exchange_due(connection)
        elif connection.must_receive_before_sending:
            self._exchange_due(connection, until_can_send_more=True)

    def _flush_connection(self, event: Event, connection: ReplayConnection) -> None:
        try:
            connection.flush()
        except ConnectionLostError as error:
            self._give_up_connection(event, connection, str(error))

    def _exchange_due(
        self, connection: ReplayConnection, *, until_can_send_more: bool = False
    ) -> None:
        """Send queued requests; receive and compare due responses, until more can be sent."""
        if not connection.due_responses:
            try:
                connection.flush()
            except ConnectionLostError as error:
                connection.close(f"the connection failed earlier: {error}")
            return
        self._flush_connection(connection.due_responses[0][0], connection)
        while (
            connection.due_responses
            and connection.target_connection is not None
            and not (until_can_send_more and connection.is_sendable)
        ):
            event, entry = connection.due_responses[0]
            try:
                self._receive_unrecorded_responses(connection, entry.sequence)
                in_flight_request = connection.remove_in_flight_request(entry.sequence)
                frame = self._receive_response_with_retries(
                    connection, connection.target_connection, in_flight_request.frame, entry
                )
                if entry.api_key in ACL_CHANGES and not connection.in_flight_requests:
                    self._await_acl_change(
                        event, successful_acl_change(in_flight_request.frame, frame)
                    )
            except ConnectionLostError as error:
                self._give_up_connection(event, connection, str(error))
                return
            connection.mark_first_due_response_received()
            self.report.responses += 1
            if self._recorder is not None:
                self._recorder.record_response(in_flight_request, frame)
            differences = compare_and_learn(
                self._mapping, event, in_flight_request.recorded_frame, entry, frame
            )
            if differences:
                self.report.add_differences(request_id_of_event(event), differences)

    def _receive_response_with_retries(
        self,
        connection: ReplayConnection,
        target_connection: TargetConnection,
        request: bytes,
        entry: Response,
    ) -> bytes:
        """Return the target's response; retry while it is not ready, as a client would."""
        deadline = time.monotonic() + self._target.timeout_s
        while True:
            frame = target_connection.receive()
            if connection.in_flight_requests or time.monotonic() > deadline:
                return frame
            if not is_coordinator_elsewhere(entry, frame) and not target_responded_before_rebalance(
                request, entry, frame, self._frames_in_flight()
            ):
                return frame
            time.sleep(RETRY_S)
            target_connection.send(request)

    def _frames_in_flight(self) -> Iterator[bytes]:
        for connection in self._connections.values():
            yield from (
                in_flight_request.frame
                for in_flight_request in connection.in_flight_requests.values()
            )

    def _await_acl_change(self, event: Event, change: ReplayedAclChange | None) -> None:
        """Wait until the brokers with connections of this user have applied a change of ACLs."""
        if change is None:
            return
        principals = self._recording_facts.principals
        target_connections = {
            connection.target_connection.address: connection.target_connection
            for connection_id, connection in self._connections.items()
            if connection.target_connection is not None
            and not connection.in_flight_requests
            and principals[connection_id] == principals[event.connection_id]
        }
        change.await_application(target_connections.values(), self._target.timeout_s)

    def _compare_authentication(
        self, event: Event, entry: Response, connection: ReplayConnection
    ) -> None:
        """Compare only the error code of an authentication; its messages always differ."""
        actual = connection.login_error
        if self._recorder is not None and self._target.replays_authentication:
            self._recorder.record_authentication(event, entry)
        if entry.api_key != ApiKey.SASL_AUTHENTICATE or actual is None:
            return
        recorded_code = overall_error_code(entry)
        self.report.responses += 1
        if recorded_code != actual:
            self.report.add_differences(
                request_id_of_event(event),
                [Difference("error_code", recorded_code, actual)],
            )

    def _give_up_connection(self, event: Event, connection: ReplayConnection, reason: str) -> None:
        """Give up a connection; its outstanding responses are missed too."""
        lost_events = connection.close(f"the connection failed earlier: {reason}")
        for missed_event in lost_events or [event]:
            self._report_unreplayable(
                request_id_of_event(missed_event),
                reason if missed_event is event else connection.failure,
            )

    def _report_unreplayable(self, request_id: RequestId, reason: str) -> None:
        self.report.add_unreplayable_request(request_id, reason)
        if self._target.on_miss is OnUnreplayableRequest.FAIL:
            raise UnreplayableRequestError(
                f"connection {request_id.connection}, request {request_id.sequence}:"
                f" {request_id.api} v{request_id.version}: {reason};"
                " --on-miss skip continues without it"
            )

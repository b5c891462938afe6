"""Sends the requests of a recording to a target, in recorded order, and compares the responses.

A request is sent after the target has sent every response that precedes the request in the
recording. So causes precede effects at any speed. Consecutive requests of a connection are sent
together, as the target responds to them in order.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.headers import RequestHeader, read_request_header
from kafka_shim.trace_format.entries import (
    ConnectionClosed,
    Request,
    Response,
    decode_request,
    decode_response_entry,
)
from kafka_shim.trace_format.redaction import BLANK
from kafka_shim.traces.connection_observer import request_expects_response
from kafka_shim.traces.identities.id_mapping import (
    mapped_kinds_of_message,
    request_has_mapped_values,
)
from kafka_shim.traces.identities.message_fields import COORDINATOR_APIS
from kafka_shim.traces.replay.acl_changes import ACL_CHANGES, parse_acl_change
from kafka_shim.traces.replay.error_codes import target_responded_before_rebalance
from kafka_shim.traces.replay.events import (
    AUTHENTICATION_APIS,
    ConnectionId,
    Event,
    Recording,
)
from kafka_shim.traces.replay.offset_mapping import COMMITS, REQUESTS_WITH_OFFSETS
from kafka_shim.traces.replay.older_transactions import OlderTransactions, needs_explicit_requests
from kafka_shim.traces.replay.pace import ReplayPace
from kafka_shim.traces.replay.recorded_facts import RecordedFacts
from kafka_shim.traces.replay.replay_connection import (
    InFlightRequest,
    ReplayConnection,
)
from kafka_shim.traces.replay.replay_recorder import ReplayRecorder
from kafka_shim.traces.replay.replay_state import restore_state, write_state
from kafka_shim.traces.replay.report import ReplayReport, request_id_of_event
from kafka_shim.traces.replay.response_comparison import ResponseMatcher
from kafka_shim.traces.replay.routing import Parts
from kafka_shim.traces.replay.target import (
    OnUnreplayableRequest,
    Target,
    UnreplayableRequestError,
)
from kafka_shim.traces.replay.target_cluster import TargetCluster
from kafka_shim.traces.replay.target_connection import (
    WINDOW_BYTES,
    ConnectionClosedError,
    ConnectionLostError,
    UnreachableError,
)
from kafka_shim.traces.replay.target_versions import TargetVersions, UntranslatableRequestError
from kafka_shim.traces.replay.user_logins import UserLogins

_PROGRESS_EVENTS = 256

_RETRY_S = 0.1
"""Before a member's request is sent again that overtook another member's."""

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
        recording_facts: RecordedFacts | None = None,
    ) -> None:
        self._recording = recording
        self._target = target
        self._facts = recording_facts or RecordedFacts(recording.events)
        self._connections: dict[ConnectionId, ReplayConnection] = {}
        self._current_connection: ReplayConnection | None = None
        self._recorder = None if target.record is None else ReplayRecorder(target.record)
        self.report = ReplayReport(ignored=target.ignored, trace_requests=self._facts.requests)
        self._cluster = TargetCluster(target)
        self._logins = UserLogins(
            target, self._facts, self._cluster.topology, self.report, self._cluster.connector
        )
        self._comparison = ResponseMatcher(self._cluster, self._facts, self.report)
        self._mapping = self._comparison.mapping
        self._transactions = OlderTransactions(self._cluster, self._mapping.ids)
        self._versions = TargetVersions(self._cluster.topology, self._mapping.offsets)
        self._resumed_events = 0
        self._current_event: Event | None = None
        self.replayed_events = 0
        """How many events were replayed so far."""

    def replay(self, progress: Callable[[int], None] = lambda _: None) -> ReplayReport:
        """Replay everything. Raise UnreplayableRequestError if the target's `on_miss` is FAIL.

        `progress` is regularly called with the number of replayed events. If the replay ends with
        an exception, the report is complete for what was replayed before.
        """
        start = time.monotonic()
        if self._recording.damage:
            incomplete = self._facts.incomplete_connections
            self._comparison.missing.add_damaged(self._recording.events, incomplete)
        self._cluster.learn_versions()
        replay_pace = ReplayPace(self._target.speed, self._facts.first_us)
        try:
            for number, event in enumerate(self._recording.events):
                self.replayed_events, self._current_event = number, event
                if number < self._resumed_events:
                    self._skip_replayed_event(event)
                    continue
                if number % _PROGRESS_EVENTS == 0 or self._target.speed is not None:
                    progress(number)
                self.report.recorded_seconds = (event.entry.time_us - self._facts.first_us) / 1e6
                replay_pace.wait(event.entry.time_us)
                self._logins.advance()
                self._replay_event(event)
                self.replayed_events, self._current_event = number + 1, None
            if self._current_connection is not None:
                self._process_due_responses(self._current_connection)
            for connection in self._connections.values():
                self._close_connection(connection, "the replay is over")
            self._logins.finish()
        finally:
            for connection in self._connections.values():
                self._count_interrupted(connection)
                connection.close("the replay is over")
            self._logins.close()
            if self._recorder is not None:
                self._recorder.close()
            self._comparison.finish()
            self.report.seconds = time.monotonic() - start
        return self.report

    def resume(self, path: Path) -> None:
        """Go on behind the events that an earlier replay has replayed, with what it has learned.

        Raise ConfigError if the file cannot be read.
        """
        self._resumed_events = restore_state(path, self._mapping, self._cluster)
        self._cluster.is_resumed = True

    def write_state(self, path: Path) -> None:
        """Write what `resume` needs. Raise OSError if that fails."""
        write_state(path, self.replayed_events, self._mapping, self._cluster)

    def _skip_replayed_event(self, event: Event) -> None:
        """Note an event that an earlier replay has replayed."""
        if not isinstance(event.entry, Request):
            return
        self.report.skip_request("replayed before")
        if event.entry.api_key == ApiKey.FETCH:
            header, at = read_request_header(event.entry.frame)
            self._cluster.without_session(event, header, event.entry.frame, at)

    def _count_interrupted(self, connection: ReplayConnection) -> None:
        """Count the requests whose responses are not awaited any more."""
        with suppress(ConnectionLostError):
            connection.flush()
        for request in connection.in_flight_requests.values():
            if request.event is self._current_event:
                self.replayed_events += 1  # it must not be sent again
            if self._facts.is_unanswered(request.event):
                self.report.unanswered_requests += 1
            else:
                self.report.skip_request("in flight at the end")

    def _replay_event(self, event: Event) -> None:
        known_connection = self._connections.get(event.connection_id)
        if (
            self._current_connection is not None
            and known_connection is not self._current_connection
        ):
            self._process_due_responses(self._current_connection)
        connection = self._current_connection = known_connection or self._add_connection(event)
        match event.entry:
            case Request():
                self._replay_request(event, event.entry, connection)
            case Response():
                self._handle_response_event(event, event.entry, connection)
            case ConnectionClosed():
                self._process_due_responses(connection)
                self._logins.finish_connection(event.connection_id)
                self._close_connection(connection, "the recorded client had left")
                if self._recorder is not None:
                    self._recorder.record_close(event, event.entry.reason)

    def _add_connection(self, event: Event) -> ReplayConnection:
        connection = ReplayConnection(
            lambda address: self._logins.open_connection(event.connection_id, address)
        )
        self._connections[event.connection_id] = connection
        self._logins.add_connection(event)
        return connection

    def _close_connection(self, connection: ReplayConnection, reason: str) -> None:
        """Stop sending; outstanding responses are added to a trace of the replay."""
        if self._recorder is not None:
            self._receive_unrecorded_responses(connection)
        self.report.unanswered_requests += len(connection.in_flight_requests)
        connection.close(reason)

    def _receive_unrecorded_responses(
        self, connection: ReplayConnection, until: int | None = None
    ) -> None:
        """Receive responses that the recording does not have, up to `until`."""
        before = len(connection.in_flight_requests)
        try:
            for in_flight_request, frames in connection.receive_unrecorded_responses(until):
                self.report.unrecorded_responses += 1
                if self._recorder is not None:
                    frame = self._cluster.merge_response(in_flight_request, frames)
                    self._recorder.record_response(in_flight_request, frame)
            self.report.unanswered_requests += before - len(connection.in_flight_requests)
        except ConnectionLostError as error:
            if until is not None:
                raise
            self.report.unanswered_requests += before
            connection.close(f"the connection failed earlier: {error}")

    def _replay_request(self, event: Event, entry: Request, connection: ReplayConnection) -> None:
        try:
            header, at = read_request_header(entry.frame)
        except ProtocolError as error:
            self._report_unreplayable(event, str(error))
            return
        key = header.api_key
        if key in AUTHENTICATION_APIS and not self._target.replays_authentication:
            self.report.logins += 1
        elif self._facts.is_skipped(event, key):
            self.report.skip_request("the recorded broker was not ready")
        elif key == ApiKey.API_VERSIONS and self._take_accepted_version(connection, event):
            self.report.skip_request("the target had accepted the version before")
        elif not connection.is_usable:
            self._report_unreplayable(event, connection.failure)
        elif key in AUTHENTICATION_APIS:
            self._process_due_responses(connection)
            self._replay_authentication(event, header, entry, at, connection)
        elif key in _APIS_WITH_SECRETS or (entry.redacted and BLANK.encode() in entry.frame):
            self._report_unreplayable(event, "it has secrets, which are not in a trace")
        else:
            self._queue_translated(event, header, entry.frame, at, connection)

    def _queue_translated(
        self,
        event: Event,
        header: RequestHeader,
        frame: bytes,
        at: int,
        connection: ReplayConnection,
    ) -> None:
        """Queue a request in a version of the target, if there is one."""
        key, recorded_version = header.api_key, header.api_version
        version = self._versions.nearest(key, recorded_version)
        if version != recorded_version and self._facts.is_rejected_version(event):
            version = recorded_version  # it is the target's turn to reject it
        if version is None:
            self.report.add_missing_api(request_id_of_event(event))
            self._comparison.missing.add(frame)
            return
        if version > recorded_version:
            self.report.add_removed_version(request_id_of_event(event), version)
        if version != recorded_version:
            if connection.due_responses_contain_ids:
                self._process_due_responses(connection)  # they may have the names of topic ids
            try:
                header, frame, at = self._versions.translate_request(header, frame, at, version)
            except UntranslatableRequestError as error:
                self._report_unreplayable(event, str(error))
                return
            if needs_explicit_requests(key, recorded_version, version) and key != ApiKey.END_TXN:
                self._process_due_responses(connection)
                try:
                    self._logins.prepare(event.connection_id, connection, set())
                    self._transactions.prepare(connection, event, decode_request(frame)[1])
                except ConnectionLostError as error:
                    self._give_up_connection(event, connection, str(error))
                    return
        self._queue_request(event, header, frame, at, recorded_version, connection)

    def _take_accepted_version(self, connection: ReplayConnection, event: Event) -> bool:
        """Return whether a client asks for a lower version, which the target has not requested."""
        if event.connection_id not in self._facts.rejected_versions:
            return False
        self._process_due_responses(connection)
        return self._comparison.take_accepted_version(event.connection_id)

    def _queue_request(
        self,
        event: Event,
        header: RequestHeader,
        recorded_frame: bytes,
        at: int,
        recorded_version: int,
        connection: ReplayConnection,
    ) -> None:
        frame = recorded_frame
        key, version = header.api_key, header.api_version
        has_offsets = key in REQUESTS_WITH_OFFSETS
        has_epochs = key == ApiKey.LIST_OFFSETS and self._mapping.leader_epochs_differ
        if has_offsets or has_epochs or mapped_kinds_of_message(key, version, "Request"):
            # due responses may contain the ids that it needs
            waits_for_offsets = has_offsets and connection.due_responses_contain_offsets
            has_ids = request_has_mapped_values(frame[at:], key, version)
            if waits_for_offsets or (connection.due_responses_contain_ids and has_ids):
                self._process_due_responses(connection)
            frame = self._cluster.without_session(event, header, frame, at)
            is_rewritten = self._mapping.requests_need_rewriting and (has_offsets or has_ids)
            if is_rewritten or has_epochs or key in COMMITS:
                frame = self._mapping.request_with_target_values(
                    event.connection_id, header, frame, at
                )
        frame = self._cluster.reduce_replication_factors(header, frame, at, self.report)
        if len(frame) > WINDOW_BYTES:
            self._process_due_responses(connection)
        elif connection.is_window_full:
            self._process_due_responses(connection, until_can_send_more=True)
        if connection.has_many_unrecorded:
            self._process_due_responses(connection)
            self._receive_unrecorded_responses(connection)
        parts = self._cluster.parts(event, header, frame, at)
        if connection.must_await_other_brokers({address for address, _ in parts}):
            self._process_due_responses(connection)
        if not connection.is_usable:
            self._report_unreplayable(event, connection.failure)
            return
        # what the recording has a response to expects one: only the others need be decoded
        is_unconfirmed = key == ApiKey.PRODUCE and self._facts.is_unanswered(event)
        expects = not is_unconfirmed or request_expects_response(header, recorded_frame, at)
        versions = recorded_version, version
        in_flight_request = InFlightRequest(
            event, frame, recorded_frame, versions, expects_response=expects
        )
        try:
            self._send_parts(in_flight_request, header, frame, at, parts, connection)
        except (ConnectionClosedError, UnreachableError) as error:
            self._report_unreplayable(event, str(error))
            return
        except ConnectionLostError as error:
            self._give_up_connection(event, connection, str(error))
            return
        if self._recorder is not None:
            self._recorder.record_request(in_flight_request)
        self.report.requests += 1
        if key in COMMITS:
            self._facts.races.begin_commit(event, recorded_frame)
        if is_unconfirmed:
            self._mapping.note_unconfirmed(recorded_frame)
        if self._target.speed is not None or connection.should_flush:
            self._flush_connection(event, connection)

    def _send_parts(
        self,
        request: InFlightRequest,
        header: RequestHeader,
        frame: bytes,
        at: int,
        parts: Parts,
        connection: ReplayConnection,
    ) -> None:
        """Queue the parts of a request, again if the leaders change since a broker has ended.

        Raise ConnectionLostError if its brokers do not come back.
        """
        event, attempts = request.event, None
        while True:
            try:
                self._logins.prepare(event.connection_id, connection, {*dict(parts)})
                connection.queue_request(request, event.entry.sequence, parts)
            except ConnectionLostError as error:
                if attempts is None:
                    message = decode_request(frame)[1]
                    attempts = self._cluster.attempts(connection, event, header, message)
                attempts.wait(error)
                parts = self._cluster.parts(event, header, frame, at)
            else:
                return

    def _replay_authentication(
        self,
        event: Event,
        header: RequestHeader,
        entry: Request,
        at: int,
        connection: ReplayConnection,
    ) -> None:
        if self._recorder is not None:
            self._recorder.record_authentication(event, entry)
        try:
            reason = self._authenticate(event, header, entry.frame, at, connection)
        except ConnectionLostError as error:
            reason = str(error)
        if reason:
            self._give_up_connection(event, connection, reason)

    def _authenticate(
        self,
        event: Event,
        header: RequestHeader,
        frame: bytes,
        at: int,
        connection: ReplayConnection,
    ) -> str:
        """Return why an authentication cannot be replayed, or "".

        Raise ConnectionLostError if the broker does not come back.
        """
        attempts = self._cluster.attempts(connection, event, header, None)
        while True:
            address = self._cluster.default_address(event)
            try:
                return self._logins.replay(event, header, frame, at, connection, address)
            except ConnectionLostError as error:
                attempts.wait(error)

    def _handle_response_event(
        self, event: Event, entry: Response, connection: ReplayConnection
    ) -> None:
        if entry.api_key in AUTHENTICATION_APIS:
            if self._recorder is not None and self._target.replays_authentication:
                self._recorder.record_authentication(event, entry)
            return  # compared when the target has answered it
        if entry.sequence not in connection.in_flight_requests or not connection.is_usable:
            return  # reported when the request was missed
        request, recorded = connection.in_flight_requests[entry.sequence], entry
        if request.version != entry.api_version:
            entry = self._versions.translate_response(entry, request.version)
        connection.mark_response_due(event, entry)
        is_awaited = entry.api_key in COORDINATOR_APIS or entry.api_key in ACL_CHANGES
        if self._target.speed is not None or is_awaited:
            self._process_due_responses(connection)
            if needs_explicit_requests(entry.api_key, request.recorded_version, request.version):
                self._renew_epoch(event, request, recorded, connection)
        elif connection.is_window_full:
            self._process_due_responses(connection, until_can_send_more=True)

    def _renew_epoch(
        self,
        event: Event,
        request: InFlightRequest,
        recorded: Response,
        connection: ReplayConnection,
    ) -> None:
        """Get the epoch that the recorded broker gave at the end of a transaction."""
        if recorded.api_key != ApiKey.END_TXN or not connection.is_usable:
            return
        message = decode_request(request.recorded_frame)[1]
        try:
            end = decode_response_entry(recorded)
            self._transactions.renew_epoch(connection, event, message, end)
        except ConnectionLostError as error:
            self._give_up_connection(None, connection, str(error))

    def _flush_connection(self, event: Event | None, connection: ReplayConnection) -> None:
        try:
            connection.flush()
        except ConnectionLostError as error:
            self._give_up_connection(event, connection, str(error))

    def _process_due_responses(
        self, connection: ReplayConnection, *, until_can_send_more: bool = False
    ) -> None:
        """Send queued requests; receive and compare due responses, until more can be sent."""
        due = connection.due_responses
        self._flush_connection(due[0][0] if due else None, connection)
        while (
            connection.due_responses
            and connection.is_usable
            and not (until_can_send_more and connection.has_window_space)
        ):
            event, entry = connection.due_responses[0]
            try:
                self._receive_unrecorded_responses(connection, entry.sequence)
                in_flight_request = connection.in_flight_requests[entry.sequence]
                frame = self._receive_response(connection, in_flight_request, entry)
            except (ConnectionClosedError, UnreachableError) as error:
                connection.remove_in_flight_request(entry.sequence)
                connection.mark_first_due_response_received()
                self._report_unreplayable(event, str(error))
                continue
            except ConnectionLostError as error:
                self._give_up_connection(event, connection, str(error))
                return
            connection.remove_in_flight_request(entry.sequence)
            connection.mark_first_due_response_received()
            if self._recorder is not None:
                self._recorder.record_response(in_flight_request, frame)
            try:
                self._comparison.compare(connection, event, in_flight_request, entry, frame)
            except ConnectionLostError as error:
                self._give_up_connection(None, connection, str(error))
                return

    def _receive_response(
        self, connection: ReplayConnection, request: InFlightRequest, entry: Response
    ) -> bytes:
        """Return the target's response; retry while it is not ready, as a client would."""
        frames = self._cluster.receive_parts(connection, request)
        frame = self._cluster.complete_response(connection, request, entry, frames)
        self._mapping.leader_epochs_differ |= self._cluster.limits.leader_epochs_differ
        deadline = time.monotonic() + self._target.timeout_s
        while (
            len(connection.in_flight_requests) == 1
            and len(request.parts) == 1
            and time.monotonic() < deadline
            and target_responded_before_rebalance(
                request.frame, entry, frame, self._iter_other_frames(request)
            )
        ):
            time.sleep(_RETRY_S)
            frame = request.parts[0][0].exchange(request.frame)
        if entry.api_key in ACL_CHANGES:
            change = parse_acl_change(request.frame, frame)
            if change is not None:
                self._cluster.await_acl_change(connection, request.event, change)
        return frame

    def _iter_other_frames(self, own: InFlightRequest) -> Iterator[bytes]:
        for connection in self._connections.values():
            for request in connection.in_flight_requests.values():
                if request is not own:
                    yield request.frame

    def _give_up_connection(
        self, event: Event | None, connection: ReplayConnection, reason: str
    ) -> None:
        """Give up a connection; its outstanding requests are missed too.

        `event` is the one at which it was lost, None if its request has a response.
        """
        requests = [request.event for request in connection.in_flight_requests.values()]
        connection.close(f"the connection failed earlier: {reason}")
        lost = {missed.entry.sequence: missed for missed in requests}
        if event is not None:
            lost[event.entry.sequence] = event
        for missed_event in lost.values():
            if self._facts.is_unanswered(missed_event):
                self.report.unanswered_requests += 1
                continue
            is_first = event is not None and missed_event is event
            self._report_unreplayable(missed_event, reason if is_first else connection.failure)

    def _report_unreplayable(self, event: Event, reason: str) -> None:
        request_id = request_id_of_event(event)
        self.report.add_unreplayable_request(request_id, reason)
        if isinstance(event.entry, Request):
            self._comparison.missing.add(event.entry.frame)
        if self._target.on_miss is OnUnreplayableRequest.FAIL:
            raise UnreplayableRequestError(
                f"connection {request_id.connection}, request {request_id.sequence}:"
                f" {request_id.api} v{request_id.version}: {reason};"
                " --on-miss skip continues without it"
            )

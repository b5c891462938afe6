"""Compares a response of the target with the recorded one, asking again what may be late."""

import time
from collections import Counter
from typing import Any

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.trace_format.entries import (
    Response,
    decode_request,
    decode_response,
    decode_response_entry,
)
from kafka_shim.traces.api_kinds import GROUP_HEARTBEATS
from kafka_shim.traces.replay.asking_again import TEMPORARY_ERRORS, error_codes
from kafka_shim.traces.replay.compare import Difference, compare_and_learn, difference_cause
from kafka_shim.traces.replay.error_codes import overall_error_code
from kafka_shim.traces.replay.events import ConnectionId, Event
from kafka_shim.traces.replay.fetch_sessions import FINAL_EPOCH
from kafka_shim.traces.replay.missing_requests import MissingRequests
from kafka_shim.traces.replay.offset_mapping import COMMITS
from kafka_shim.traces.replay.read_comparison import (
    READ_APIS,
    FetchReading,
    ReadComparison,
    count_share_records,
)
from kafka_shim.traces.replay.recorded_facts import RecordedFacts
from kafka_shim.traces.replay.recorded_to_target_mapping import RecordedToTargetMapping
from kafka_shim.traces.replay.replay_connection import InFlightRequest, ReplayConnection
from kafka_shim.traces.replay.report import ReplayReport, RequestId, request_id_of_event
from kafka_shim.traces.replay.target_cluster import TargetCluster

READ_S = 3.0
"""How long records and offsets are asked for again that the target should have."""
PERSISTENT_S = 0.3
"""The same, for a kind of difference that has lasted once."""
RETRY_S = 0.05

_ASKED_AGAIN = frozenset(
    {
        ApiKey.METADATA, ApiKey.DESCRIBE_ACLS, ApiKey.DESCRIBE_CONFIGS, ApiKey.DESCRIBE_CLUSTER,
        ApiKey.DESCRIBE_CLIENT_QUOTAS, ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS,
        ApiKey.DESCRIBE_TOPIC_PARTITIONS, ApiKey.LIST_PARTITION_REASSIGNMENTS,
        ApiKey.DESCRIBE_TRANSACTIONS, ApiKey.LIST_TRANSACTIONS, ApiKey.DESCRIBE_PRODUCERS,
        ApiKey.LIST_OFFSETS, ApiKey.OFFSET_FETCH, ApiKey.LIST_GROUPS, ApiKey.DESCRIBE_GROUPS,
        ApiKey.CONSUMER_GROUP_DESCRIBE, ApiKey.SHARE_GROUP_DESCRIBE,
    }
)  # fmt: skip
"""Requests that change nothing, and can be sent again while changes take effect."""
_NOT_APPLIED_YET = frozenset({3, 5})
"""UNKNOWN_TOPIC_OR_PARTITION and LEADER_NOT_AVAILABLE in Metadata, of a topic that is created."""


class ResponseMatcher:
    """Compares responses, and learns the target's ids and offsets from them."""

    def __init__(self, cluster: TargetCluster, facts: RecordedFacts, report: ReplayReport) -> None:
        self.mapping = RecordedToTargetMapping()
        self._reads = ReadComparison(self.mapping)
        self.missing = MissingRequests()
        self.missing.note_topic_names(self.mapping.offsets.topic_names)
        self._cluster = cluster
        self._facts = facts
        self._report = report
        self._accepted_versions: set[ConnectionId] = set()
        self._equal_reads: dict[tuple[ConnectionId, int], tuple[object, ...]] = {}
        """The last responses without differences: equal ones need not be decoded again."""
        self._persistent: set[tuple[str, str]] = set()
        self._early_assignments: set[ConnectionId] = set()
        """The connections of members that got an assignment earlier than recorded."""

    def compare(
        self,
        connection: ReplayConnection,
        event: Event,
        request: InFlightRequest,
        entry: Response,
        frame: bytes,
    ) -> None:
        """Compare a response of the target. Raise ConnectionLostError if a connection ends."""
        if entry.api_key == ApiKey.API_VERSIONS:
            self._note_accepted_version(event, entry, frame)
        if entry.api_key == ApiKey.PRODUCE:
            self._learn_written(request, entry, frame)
        elif entry.api_key in COMMITS:
            self._facts.races.end_commit(event)
        differences = self._differences(connection, event, request, entry, frame)
        if entry.api_key in GROUP_HEARTBEATS:
            differences = self._drop_early_assignment(event, differences)
        if not differences:
            self._report.responses += 1
            return
        request_id = request_id_of_event(event)
        # a later request of the connection, such as leaving the group, has been answered already
        is_last = not connection.in_flight_requests
        if entry.api_key in _ASKED_AGAIN or (
            is_last and _awaits_assignment(entry.api_key, differences)
        ):
            differences = self._retry_while_settling(connection, event, request, entry, differences)
        if differences:
            reason, differences = self._explain_differences(event, request, entry, differences)
            if not differences:
                self._report.put_aside[reason] += 1
                return
        self._report.responses += 1
        causes = {difference_cause(request_id.api, difference) for difference in differences}
        if differences and self.missing.may_affect(
            request.recorded_frame, is_about_permissions="permission" in causes
        ):
            self._report.add_consequence(request_id, differences)
        elif differences:
            self._report.add_differences(request_id, differences)
            if any(each.actual == ErrorCode.UNSUPPORTED_VERSION for each in differences):
                self.missing.add(request.recorded_frame)

    def take_accepted_version(self, connection_id: ConnectionId) -> bool:
        """Return whether the target has accepted a version of ApiVersions that the recorded broker
        rejected: its client then sends no other one, and a broker may close the connection.
        """
        if connection_id not in self._accepted_versions:
            return False
        self._accepted_versions.discard(connection_id)
        return True

    def _drop_early_assignment(
        self, event: Event, differences: list[Difference]
    ) -> list[Difference]:
        """Return the differences without an assignment that the recorded member got later, and
        that the target does not give again then.
        """
        kept = []
        for difference in differences:
            if difference.field == "assignment" and difference.recorded is None:
                self._early_assignments.add(event.connection_id)
                self._reads.count_uncompared("assignments came with a later heartbeat", 1)
            elif (
                difference.field == "assignment"
                and difference.actual is None
                and (event.connection_id in self._early_assignments)
            ):
                self._early_assignments.discard(event.connection_id)
            else:
                kept.append(difference)
        return kept

    def _note_accepted_version(self, event: Event, entry: Response, frame: bytes) -> None:
        if overall_error_code(entry) and not overall_error_code(entry, frame):
            self._accepted_versions.add(event.connection_id)

    def finish(self) -> None:
        """Report what is known only at the end."""
        for difference in self._reads.final_differences():
            request_id = RequestId(0, 0, "Fetch", 0, "")
            self._report.add_differences(request_id, [difference], is_response=False)
        self._report.compared_records = self._reads.compared_records
        self._report.uncompared = self._reads.uncompared
        self._report.asked_again = self._cluster.retries.counts

    def _learn_written(self, request: InFlightRequest, entry: Response, frame: bytes) -> None:
        recorded = decode_response_entry(entry)
        actual = recorded if frame == entry.frame else _decode(entry, frame)
        if recorded is not None and actual is not None:
            self.mapping.learn_written(request.recorded_frame, recorded, actual)

    def _differences(
        self,
        connection: ReplayConnection,
        event: Event,
        request: InFlightRequest,
        entry: Response,
        frame: bytes,
    ) -> list[Difference]:
        differences = compare_and_learn(
            self.mapping,
            event,
            request.recorded_frame,
            entry,
            frame,
            recorded_version=request.recorded_version,
        )
        if entry.api_key == ApiKey.SHARE_FETCH:
            return [*differences, *self._share_differences(connection, request, entry, frame)]
        if entry.api_key not in READ_APIS:
            return differences
        key = event.connection_id, entry.api_key
        state = (
            *(self.mapping.change_count, self._reads.uncompared.total()),
            *(request.frame[8:], entry.frame[4:], frame[4:]),
        )
        if self._equal_reads.get(key) == state:
            return differences
        recorded, actual = decode_response_entry(entry), _decode(entry, frame)
        _, message = decode_request(request.frame)
        if recorded is None or actual is None or message is None:
            return differences
        if entry.api_key == ApiKey.FETCH:
            reading = self._read_records(connection, event, request, recorded, actual)
            return [*differences, *self._reads.fetch_differences(reading, recorded, actual)]
        _, recorded_request = decode_request(request.recorded_frame)
        found = self._reads.offset_differences(entry.api_key, recorded_request, recorded, actual)
        all_differences = [*differences, *found]
        if not all_differences:
            self._equal_reads[key] = state
        return all_differences

    def _share_differences(
        self,
        connection: ReplayConnection,
        request: InFlightRequest,
        entry: Response,
        frame: bytes,
    ) -> list[Difference]:
        """Return the differences of records that members of a share group got from both brokers.

        The target is asked again until it has given the member as many records as recorded.
        """
        recorded, actual = decode_response_entry(entry), _decode(entry, frame)
        if recorded is None or actual is None:
            return []
        reading = self._reads.fetch_reading(recorded)
        reading.add_target(self.mapping, recorded, actual)
        count, wanted = count_share_records(actual), count_share_records(recorded)
        deadline = time.monotonic() + READ_S
        while count < wanted and not actual.error_code and time.monotonic() < deadline:
            time.sleep(RETRY_S)
            actual = _decode(entry, self._cluster.send_again(connection, request, entry))
            if actual is None:
                break
            count += count_share_records(actual)
            reading.add_target(self.mapping, recorded, actual)
        return [*self._reads.share_differences(reading)]

    def _read_records(
        self,
        connection: ReplayConnection,
        event: Event,
        request: InFlightRequest,
        recorded: Any,
        actual: Any,
    ) -> FetchReading:
        """Return what a Fetch request reads; the target is asked again for records that lack."""
        reading = self._reads.fetch_reading(recorded)
        reading.add_target(self.mapping, recorded, actual)
        missing = reading.missing_offsets()
        if not missing:
            return reading
        header, message = decode_request(request.frame)
        kind = ("Fetch", "records")
        deadline = time.monotonic() + (PERSISTENT_S if kind in self._persistent else READ_S)
        while missing:
            again = self._cluster.fetch_again(
                connection, event, header, message, self._offsets_by_target_topic(missing)
            )
            if again is None:
                break
            reading.add_target(self.mapping, recorded, again)
            still_missing = reading.missing_offsets()
            is_over = time.monotonic() > deadline
            for key, offset in still_missing.items():
                if missing.get(key) == offset and (is_over or reading.has_passed(key, offset)):
                    self._persistent.add(kind)
            missing = {
                key: offset
                for key, offset in still_missing.items()
                if not is_over and not reading.has_passed(key, offset)
            }
            if missing:
                time.sleep(RETRY_S)
        return reading

    def _offsets_by_target_topic(
        self, missing: dict[tuple[str | bytes, int], int]
    ) -> dict[tuple[str | bytes, int], int]:
        """Return the offsets by name or by the target's topic id, whichever is known."""
        topics = self.mapping.ids.corresponding_ids.topics
        return {
            (topics.get(key, key) if isinstance(key, bytes) else key, number): offset
            for (key, number), offset in missing.items()
        }

    def _retry_while_settling(
        self,
        connection: ReplayConnection,
        event: Event,
        request: InFlightRequest,
        entry: Response,
        differences: list[Difference],
    ) -> list[Difference]:
        """Return the differences that last while changes take effect at the target."""
        is_read = entry.api_key in READ_APIS or entry.api_key in GROUP_HEARTBEATS
        ends = self._cluster.limits.settles_until
        if is_read:
            ends = max(ends, time.monotonic() + READ_S)
        kinds = {(request_id_of_event(event).api, each.field) for each in differences}
        if kinds <= self._persistent:
            ends = min(ends, time.monotonic() + PERSISTENT_S)
        counted = self._reads.uncompared
        while differences and time.monotonic() < ends:
            time.sleep(RETRY_S)
            frame = self._cluster.send_again(connection, request, entry)
            self._reads.uncompared = Counter()  # it was counted the first time
            differences = self._differences(connection, event, request, entry, frame)
            self._cluster.retries.counts["changes that take effect late"] += 1
        self._reads.uncompared = counted
        self._persistent |= {(request_id_of_event(event).api, each.field) for each in differences}
        return differences

    def _explain_differences(
        self,
        event: Event,
        request: InFlightRequest,
        entry: Response,
        differences: list[Difference],
    ) -> tuple[str, list[Difference]]:
        """Return why differences say nothing about the target, and those that do."""
        if self._is_temporary(event, request, entry):
            return "with a temporary error in the recording", []
        request_us = request.event.entry.time_us
        if self._facts.late_acls.explain(event, request_us, entry.api_key, differences):
            return "while ACLs changed", []
        recorded, message = decode_response_entry(entry), decode_request(request.recorded_frame)[1]
        if recorded is None or message is None:
            return "", differences
        if _ends_share_session(message) and all(
            each.actual == ErrorCode.SHARE_SESSION_NOT_FOUND for each in differences
        ):
            return "at the end of a share session", []  # another connection has ended it
        races = self._facts.races
        reason, others = races.explain(event, request_us, message, recorded, differences)
        if request.is_repeated:
            reason, others = "sent again after its connection was lost", []
        if reason and entry.api_key == ApiKey.PRODUCE:
            self.mapping.note_unconfirmed(request.recorded_frame)
        return reason, others

    def _is_temporary(self, event: Event, request: InFlightRequest, entry: Response) -> bool:
        """Return whether the recorded response has an error after which clients ask again."""
        recorded = decode_response_entry(entry)
        _, message = decode_request(request.recorded_frame)
        if recorded is None or message is None:
            return False
        if entry.api_key == ApiKey.METADATA:
            creates = bool(message.topics) and message.allow_auto_topic_creation
            return (creates or self._facts.is_topic_just_created(event)) and any(
                topic.error_code in _NOT_APPLIED_YET for topic in recorded.topics
            )
        codes = {*error_codes(entry.api_key, message, recorded).values()}
        codes.add(getattr(recorded, "error_code", 0))
        return not codes.isdisjoint(TEMPORARY_ERRORS)


def _awaits_assignment(api_key: int, differences: list[Difference]) -> bool:
    """Return whether a member waits for its partitions, which come with one of its heartbeats."""
    return api_key in GROUP_HEARTBEATS and any(
        difference.field == "assignment" and difference.actual is None for difference in differences
    )


def _ends_share_session(message: Any) -> bool:
    return getattr(message, "share_session_epoch", 0) == FINAL_EPOCH


def _decode(entry: Response, frame: bytes) -> Any:
    return decode_response(entry.api_key, entry.api_version, frame)

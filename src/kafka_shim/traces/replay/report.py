"""The report of a replay: counts, differences, and requests that could not be replayed.

As text, five lines say whether it agrees; then follows what differs.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from struct import Struct
from typing import Any, NamedTuple

import msgspec

from kafka_shim.protocol.code_names import api_name_or_key
from kafka_shim.trace_format.entries import Request, Response
from kafka_shim.traces.replay.compare import CAUSES, MISSING, Difference, causes_of
from kafka_shim.traces.replay.events import Event

_API = Struct(">hh")


EXAMPLES_KEPT_MAX = 10_000
"""Differences of one kind that are kept singly; a million would fill the memory."""


class RequestId(msgspec.Struct, frozen=True):
    """A request of the trace: connection, sequence, API and version, and principal.

    A connection's number is unique for its writer.
    """

    connection: int
    sequence: int
    api: str
    version: int
    principal: str
    writer: str = ""


class DifferenceKind(NamedTuple):
    """Differences that are counted together."""

    api: str
    field: str
    cause: str


class ReplayReport(msgspec.Struct):
    """Counts, differences by API and field, and requests that could not be replayed.

    Each request of the trace is counted once: its response was compared or put aside (the recording
    has a temporary error), it belongs to an authentication, the recording has no response, or it
    was skipped, missed, or not reached. `requests` are those that were sent. `recorded_seconds` is
    how much time of the recording was replayed.

    The first EXAMPLES_KEPT_MAX of each kind are kept; `counts_by_kind` (responses)
    and `unreplayable_count` count all.
    """

    requests: int = 0
    trace_requests: int = 0
    responses: int = 0
    differing_responses: int = 0
    log_differences: int = 0
    consequences: int = 0
    consequence_examples: list[tuple[RequestId, Difference]] = []
    put_aside: Counter[str] = msgspec.field(default_factory=Counter)
    logins: int = 0
    renewed_sessions: int = 0
    unanswered_requests: int = 0
    unrecorded_responses: int = 0
    reduced_topics: int = 0
    removed_versions: int = 0
    compared_records: int = 0
    uncompared: Counter[str] = msgspec.field(default_factory=Counter)
    asked_again: Counter[str] = msgspec.field(default_factory=Counter)
    skipped: Counter[str] = msgspec.field(default_factory=Counter)
    ignored: frozenset[str] = frozenset()
    seconds: float = 0.0
    recorded_seconds: float = 0.0
    differences_by_kind: dict[DifferenceKind, list[tuple[RequestId, Difference]]] = {}
    counts_by_kind: Counter[DifferenceKind] = msgspec.field(default_factory=Counter)
    counts_by_cause: Counter[str] = msgspec.field(default_factory=Counter)
    unreplayable_requests: list[tuple[RequestId, str]] = []
    unreplayable_count: int = 0

    @property
    def matches_recording(self) -> bool:
        """Return whether every response was compared and none differs."""
        return not self.differences_by_kind and not self.unreplayable_requests

    @property
    def skipped_requests(self) -> int:
        return self.skipped.total()

    @property
    def unreached_requests(self) -> int:
        """Return how many requests of the trace were not reached before the replay ended."""
        reached = (
            *(self.responses, self.put_aside.total(), self.logins, self.unanswered_requests),
            *(self.skipped_requests, self.unreplayable_count),
        )
        return max(0, self.trace_requests - sum(reached))

    def add_missing_api(self, request_id: RequestId) -> None:
        """Count a request that is not sent, since the target lacks its API."""
        self.skip_request("the target lacks the API")
        self._add_kinds(request_id, [Difference("api", f"v{request_id.version}", MISSING)])

    def add_removed_version(self, request_id: RequestId, oldest: int) -> None:
        """Count a request that is sent in the target's oldest version of the API, since it is of an
        older one, which its client would send to the target, too.
        """
        self.removed_versions += 1
        there = f"v{oldest} and later"
        self._add_kinds(request_id, [Difference("version", f"v{request_id.version}", there)])

    def skip_request(self, reason: str) -> None:
        self.skipped[reason] += 1

    def add_differences(
        self, request_id: RequestId, differences: list[Difference], *, is_response: bool = True
    ) -> None:
        """Count the differences of a response, or of a log, except those in `ignored`."""
        if request_id.api in self.ignored:
            return
        differences = [d for d in differences if f"{request_id.api}.{d.field}" not in self.ignored]
        if is_response:
            self.differing_responses += bool(differences)
        else:
            self.log_differences += len(differences)
        self._add_kinds(request_id, differences)

    def _add_kinds(self, request_id: RequestId, differences: list[Difference]) -> None:
        kinds: dict[DifferenceKind, Difference] = {}
        for difference, cause in zip(
            differences, causes_of(request_id.api, differences), strict=True
        ):
            kinds.setdefault(DifferenceKind(request_id.api, difference.field, cause), difference)
        for kind, difference in kinds.items():
            self.counts_by_kind[kind] += 1
            examples = self.differences_by_kind.setdefault(kind, [])
            if len(examples) < EXAMPLES_KEPT_MAX:
                examples.append((request_id, difference))
        causes = {kind.cause for kind in kinds}
        self.counts_by_cause.update(cause for cause in CAUSES if cause in causes)

    def add_consequence(self, request_id: RequestId, differences: list[Difference]) -> None:
        """Count a response whose differences follow from requests that are missing."""
        self.consequences += 1
        if len(self.consequence_examples) < EXAMPLES_KEPT_MAX:
            self.consequence_examples.append((request_id, differences[0]))

    def add_unreplayable_request(self, request_id: RequestId, reason: str) -> None:
        self.unreplayable_count += 1
        if len(self.unreplayable_requests) < EXAMPLES_KEPT_MAX:
            self.unreplayable_requests.append((request_id, reason))

    def json_fields(self) -> dict[str, Any]:
        """Return everything, for JSON."""
        return {
            "trace_requests": self.trace_requests,
            "requests": self.requests,
            "responses": self.responses,
            "differing_responses": self.differing_responses,
            "consequences": self.consequences,
            "log_differences": self.log_differences,
            "put_aside": dict(self.put_aside),
            "logins": self.logins,
            "renewed_sessions": self.renewed_sessions,
            "unanswered": self.unanswered_requests,
            "left_out": self.skipped_requests,
            "not_reached": self.unreached_requests,
            "unrecorded": self.unrecorded_responses,
            "compared_records": self.compared_records,
            "not_compared": dict(self.uncompared),
            "asked_again": dict(self.asked_again),
            "reduced_topics": self.reduced_topics,
            "removed_versions": self.removed_versions,
            "seconds": round(self.seconds, 3),
            "recorded_seconds": round(self.recorded_seconds, 3),
            "differences": [
                kind._asdict()
                | {
                    "count": self.counts_by_kind[kind],
                    "examples": [
                        msgspec.to_builtins(request_id)
                        | {"recorded": difference.recorded, "actual": difference.actual}
                        for request_id, difference in rows[:5]
                    ],
                }
                for kind, rows in sorted(self.differences_by_kind.items())
            ],
            "misses": self.unreplayable_count,
            "missed": [
                msgspec.to_builtins(request_id) | {"why": reason}
                for request_id, reason in self.unreplayable_requests
            ],
        }


def request_id_of_event(event: Event) -> RequestId:
    """Return the id of an event's request; its API is `?` if unknown."""
    api, version = "?", 0
    match event.entry:
        case Request(frame=frame) if len(frame) >= _API.size:
            api_key, version = _API.unpack_from(frame)
            api = api_name_or_key(api_key)
        case Response(api_key=api_key, api_version=version):
            api = api_name_or_key(api_key)
    writer, connection = event.connection_id
    return RequestId(connection, event.entry.sequence, api, version, event.principal, writer)


_VALUE_CHARS_MAX = 60
_CONSEQUENCES_SHOWN = 10
_CAUSE_TITLES = {
    "permission": "permission: allowed at one of them, denied at the other",
    "data": "data: records, offsets, and what exists",
    "release": "release: APIs and versions",
    "settings": "settings of topics and brokers",
    "ids": "ids",
    "other": "other",
}


def report_lines(report: ReplayReport) -> Iterator[str]:
    """Yield five lines about the whole, and then the differences by their causes."""
    yield _verdict(report)
    yield f"requests:     {_request_counts(report)}"
    yield f"data:         {report.compared_records:,} records compared{_uncompared_text(report)}"
    yield f"asked again:  {_retries_text(report)}"
    times = f"{report.seconds:.2f} s, for {report.recorded_seconds:.2f} s of the recording"
    yield f"time:         {times}{_notes_text(report)}"
    for cause in CAUSES:
        yield from _cause_lines(report, cause)
    yield from _consequence_lines(report)
    if report.unreplayable_requests:
        yield from ("", "not replayed, or without a response:")
    for request_id, reason in report.unreplayable_requests:
        yield (
            f"  connection {request_id.connection}, request {request_id.sequence}:"
            f" {request_id.api} v{request_id.version} of {request_id.principal}: {reason}"
        )


def _verdict(report: ReplayReport) -> str:
    compared = f"{report.responses:,} compared responses"
    causes = _format_counts({cause: report.counts_by_cause[cause] for cause in CAUSES})
    if report.differing_responses:
        text = f"{report.differing_responses:,} of {compared} differ ({causes})"
    else:
        text = f"none of {compared} differs"
    if report.removed_versions:
        text += f", {report.removed_versions:,} requests in versions that the target lacks"
    if report.log_differences:
        text += f", {report.log_differences:,} differences of logs"
    if report.consequences:
        text += f", {report.consequences:,} follow from requests that are missing"
    missed = f", {report.unreplayable_count:,} missed" if report.unreplayable_count else ""
    if report.unreached_requests:
        return f"interrupted: so far, {text}{missed}"
    agrees = "answers" if report.matches_recording else "does not answer"
    return f"the target {agrees} as the recording: {text}{missed}"


def _request_counts(report: ReplayReport) -> str:
    counts = {
        "compared": report.responses,
        "of authentications": report.logins,
        **{f"put aside ({reason})": count for reason, count in report.put_aside.items()},
        "without a recorded response": report.unanswered_requests,
        **{f"skipped ({reason})": count for reason, count in report.skipped.items()},
        "missed": report.unreplayable_count,
        "not sent": report.unreached_requests,
    }
    return f"{report.trace_requests:,} in the trace: {_format_counts(counts)}"


def _uncompared_text(report: ReplayReport) -> str:
    parts = "".join(f"; {count:,} {what}" for what, count in report.uncompared.items())
    return f"; not compared{parts.replace(';', ':', 1)}" if parts else ""


def _retries_text(report: ReplayReport) -> str:
    if not report.asked_again:
        return "never"
    return f"{report.asked_again.total():,} times: {_format_counts(report.asked_again, after=True)}"


def _notes_text(report: ReplayReport) -> str:
    notes = {
        "sessions renewed": report.renewed_sessions,
        "topics created with fewer replicas": report.reduced_topics,
        "responses that the recording lacks": report.unrecorded_responses,
    }
    text = _format_counts(notes)
    return f"; {text}" if text else ""


def _consequence_lines(report: ReplayReport) -> Iterator[str]:
    """Yield the first differences that follow from others; they do not count."""
    if report.consequence_examples:
        yield from ("", "follow from requests that are missing, and do not count:")
    for request_id, difference in report.consequence_examples[:_CONSEQUENCES_SHOWN]:
        yield (
            f"  connection {request_id.connection}, request {request_id.sequence}:"
            f" {request_id.api} v{request_id.version} {difference.field}:"
            f" {_shortened_value(difference.recorded)} -> {_shortened_value(difference.actual)}"
        )


def _cause_lines(report: ReplayReport, cause: str) -> Iterator[str]:
    """Yield a table with one example of each kind of difference; ApiVersions is one line."""
    rows: dict[tuple[str, str], tuple[int, RequestId, Difference]] = {}
    for kind, examples in sorted(report.differences_by_kind.items()):
        if kind.cause == cause:
            field = "versions and features" if kind.api == "ApiVersions" else kind.field
            count, request_id, example = rows.get((kind.api, field), (0, *examples[0]))
            counted = report.counts_by_kind[kind]
            counted = max(count, counted) if kind.api == "ApiVersions" else counted
            rows[kind.api, field] = counted, request_id, example
    if not rows:
        return
    yield from ("", _CAUSE_TITLES[cause])
    yield f"{'count':>6}  {'api':<24} {'field':<40} example: recorded -> actual"
    for (api, field), (count, request_id, difference) in rows.items():
        versioned_api = f"{api} v{request_id.version}" if request_id.connection else api
        place = (
            f"  (connection {request_id.connection}, request {request_id.sequence},"
            f" {request_id.principal})"
        )
        yield (
            f"{count:>6}  {versioned_api:<24} {field:<40}"
            f" {_shortened_value(difference.recorded)} -> {_shortened_value(difference.actual)}"
            f"{place if request_id.connection else ''}"
        )


def _format_counts(counts: Mapping[str, int] | Counter[str], *, after: bool = False) -> str:
    """Return the counts above 0, each before what it counts."""
    return ", ".join(
        f"{what} {count:,}" if after else f"{count:,} {what}"
        for what, count in counts.items()
        if count
    )


def _shortened_value(value: Any) -> str:
    text = str(value)
    return text if len(text) <= _VALUE_CHARS_MAX else f"{text[: _VALUE_CHARS_MAX - 3]}..."

"""The report of a replay as text: five lines that say whether it agrees, then what differs."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from kafka_shim.traces.replay.compare import Difference
from kafka_shim.traces.replay.difference_causes import CAUSES
from kafka_shim.traces.replay.report import ReplayReport, RequestId

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

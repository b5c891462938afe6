"""The results of vectors as text, JSON and JUnit XML."""

from collections import Counter
from collections.abc import Callable

import msgspec
from msgspec.structs import replace

from kafka_shim.conformance.vectors.runner import VectorOutcome, VectorResult
from kafka_shim.text.junit_xml import JunitCase, junit_report

EXAMPLES_MAX = 20


class VectorReport(msgspec.Struct, frozen=True):
    """The results on a broker; `broker` is its address."""

    broker: str
    results: tuple[VectorResult, ...]

    @property
    def has_passed(self) -> bool:
        """Return whether no vector differs, and at least one is equal."""
        return self.counts[VectorOutcome.EQUAL] > 0 == self.counts[VectorOutcome.DIFFERENT]

    @property
    def counts(self) -> Counter[VectorOutcome]:
        return Counter(each.outcome for each in self.results)

    def results_with_outcome(self, outcome: VectorOutcome) -> list[VectorResult]:
        return [each for each in self.results if each.outcome is outcome]


def as_text(report: VectorReport) -> str:
    """Return the totals, the APIs of what differs, and the first differences."""
    totals = ", ".join(f"{report.counts[each]} {each.value}" for each in VectorOutcome)
    lines = [f"{report.broker}: {len(report.results)} vectors: {totals}"]
    differences = report.results_with_outcome(VectorOutcome.DIFFERENT)
    apis = Counter(each.vector.when.api for each in differences)
    lines += [f"  {api}: {count} different" for api, count in apis.most_common()]
    for result in sorted(differences, key=_request_length)[:EXAMPLES_MAX]:
        when = result.vector.when
        lines += ["", f"{result.vector.id}: {when.user} sends {when.api} v{when.version}"]
        lines += [f"  {msgspec.json.encode(when.request).decode()}", f"  {result.reason}"]
        lines += [f"  checked: {', '.join(result.vector.why)}"] if result.vector.why else []
    if len(differences) > EXAMPLES_MAX:
        lines += ["", f"and {len(differences) - EXAMPLES_MAX} more; --format json has all"]
    for outcome in (VectorOutcome.NOT_SERVED, VectorOutcome.NOT_SET_UP):
        reasons = Counter(each.reason for each in report.results_with_outcome(outcome))
        lines += ["", f"{outcome.value}, by the reason:"] if reasons else []
        lines += [f"  {reason}: {count}" for reason, count in reasons.most_common(EXAMPLES_MAX)]
    return "\n".join(lines) + "\n"


def _request_length(result: VectorResult) -> int:
    return len(result.vector.when.body)


def as_json(report: VectorReport) -> str:
    """Return the totals, and a row for each vector that is not equal."""
    rows = [
        {
            "id": each.vector.id,
            "outcome": each.outcome.value,
            "reason": each.reason,
            "when": each.vector.when,
            "then": each.vector.then,
            "why": each.vector.why,
        }
        for each in report.results
        if each.outcome is not VectorOutcome.EQUAL
    ]
    totals = {outcome.value: report.counts[outcome] for outcome in VectorOutcome}
    content = {"broker": report.broker, "totals": totals, "results": rows}
    return msgspec.json.format(msgspec.json.encode(content)).decode() + "\n"


def as_junit(report: VectorReport) -> str:
    """Return JUnit XML: what differs has failed, and what could not be compared is skipped."""
    return junit_report(report.broker, map(_junit_case, report.results))


def _junit_case(result: VectorResult) -> JunitCase:
    group, _, _ = result.vector.id.rpartition("/")
    case = JunitCase(classname=group, name=result.vector.id)
    if result.outcome is VectorOutcome.DIFFERENT:
        return replace(case, failure=result.reason)
    if result.outcome is VectorOutcome.EQUAL:
        return case
    return replace(case, skipped=f"{result.outcome.value}: {result.reason}")


FORMS: dict[str, Callable[[VectorReport], str]] = {
    "text": as_text,
    "json": as_json,
    "junit": as_junit,
}

"""The results of vectors as text, JSON and JUnit XML."""

from collections import Counter
from collections.abc import Callable

import msgspec
from msgspec.structs import replace

from kafka_shim.conformance.vectors.broken_rules import broken_rules, response_mistakes
from kafka_shim.conformance.vectors.runner import VectorOutcome, VectorResult
from kafka_shim.text.junit_xml import JunitCase, junit_report
from kafka_shim.text.message_text import count_with_noun

EXAMPLES_MAX = 20


class VectorReport(msgspec.Struct, frozen=True):
    """The results on a broker; `broker` is its address.

    `setting_differences` are settings of the broker that differ from those of the files.
    """

    broker: str
    results: tuple[VectorResult, ...]
    setting_differences: tuple[str, ...] = ()

    @property
    def has_passed(self) -> bool:
        """Return whether all vectors were set up, none differs, and at least one is equal."""
        failed = self.counts[VectorOutcome.DIFFERENT] + self.counts[VectorOutcome.NOT_SET_UP]
        return self.counts[VectorOutcome.EQUAL] > 0 == failed

    @property
    def counts(self) -> Counter[VectorOutcome]:
        return Counter(each.outcome for each in self.results)

    def results_with_outcome(self, outcome: VectorOutcome) -> list[VectorResult]:
        return [each for each in self.results if each.outcome is outcome]


def as_text(report: VectorReport) -> str:
    """Return the totals, the mistakes of the broker, and the first differences."""
    totals = ", ".join(f"{report.counts[each]} {each.value}" for each in VectorOutcome)
    lines = [f"{report.broker}: {len(report.results)} vectors: {totals}"]
    lines += [f"  the broker has {each}" for each in report.setting_differences]
    differences = report.results_with_outcome(VectorOutcome.DIFFERENT)
    for title, found in (
        ("broken rules", broken_rules(report.results)),
        ("mistakes in responses", response_mistakes(report.results)),
    ):
        lines += ["", f"{title}:"] if found else []
        lines += [f"  {each.mistake}: {count_with_noun(each.count, 'vector')}" for each in found]
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
    content = {
        "broker": report.broker,
        "totals": totals,
        "brokenRules": broken_rules(report.results),
        "responseMistakes": response_mistakes(report.results),
        "settingDifferences": report.setting_differences,
        "results": rows,
    }
    return msgspec.json.format(msgspec.json.encode(content)).decode() + "\n"


def as_junit(report: VectorReport) -> str:
    """Return JUnit XML: what differs or is not set up has failed, and the rest is skipped."""
    return junit_report(report.broker, map(_junit_case, report.results))


def _junit_case(result: VectorResult) -> JunitCase:
    group, _, _ = result.vector.id.rpartition("/")
    case = JunitCase(classname=group, name=result.vector.id)
    if result.outcome in (VectorOutcome.DIFFERENT, VectorOutcome.NOT_SET_UP):
        rule = f"{result.rule}: " if result.rule else ""
        return replace(case, failure=f"{rule}{result.reason}")
    if result.outcome is VectorOutcome.EQUAL:
        return case
    return replace(case, skipped=f"{result.outcome.value}: {result.reason}")


FORMS: dict[str, Callable[[VectorReport], str]] = {
    "text": as_text,
    "json": as_json,
    "junit": as_junit,
}

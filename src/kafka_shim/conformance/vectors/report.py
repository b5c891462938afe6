"""The results of vectors as text, JSON and JUnit XML, with the mistakes that they show."""

from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Sequence
from typing import Final

import msgspec
from msgspec.structs import replace

from kafka_shim.conformance.vectors.runner import VectorOutcome, VectorResult
from kafka_shim.text.junit_xml import JunitCase, junit_report
from kafka_shim.text.message_text import count_with_noun

_CHANGES: Final = frozenset({"CreateAcls", "DeleteAcls"})
"""APIs that prepare the requests of other APIs in a case."""
_RULES_OF_A_LIE: Final = 5
"""An API whose responses alone differ in the cases of so many rules does not obey any."""
_CASES_MAX: Final = 3


class Mistake(msgspec.Struct, frozen=True):
    """A mistake in words, and the number of vectors that differ because of it."""

    mistake: str
    count: int


def broken_rules(results: Iterable[VectorResult]) -> list[Mistake]:
    """Return the rules that a broker does not follow, with the cases if others are right."""
    cases: dict[tuple[str, str], list[VectorResult]] = defaultdict(list)
    for result in results:
        if result.rule and result.outcome in (VectorOutcome.EQUAL, VectorOutcome.DIFFERENT):
            cases[result.rule, result.case].append(result)
    alone = {
        (api, rule)
        for (rule, _), case in cases.items()
        if len(_apis(case)) > 1
        for api in _single_deviating_api(case)
    }
    rule_counts = Counter(api for api, _ in alone)
    lying = {api for api, count in rule_counts.items() if count >= _RULES_OF_A_LIE}
    rules: dict[str, dict[str, int]] = defaultdict(dict)
    whole: dict[str, list[VectorResult]] = defaultdict(list)
    for (rule, _), case in cases.items():
        whole[rule] += case
    for (rule, name), case in cases.items():
        is_broken = _is_broken(case, lying) or _is_broken_as_whole(whole[rule])
        rules[rule][name] = len(_deviating_vectors(case)) if is_broken else 0
    found = []
    for rule, counts in rules.items():
        broken = [name for name, count in counts.items() if count]
        if broken:
            some = "" if len(broken) == len(counts) else f" ({_cases_text(broken)})"
            found.append(Mistake(f"{rule}{some}", sum(counts.values())))
    return _most_frequent_first(found)


def _cases_text(cases: Sequence[str]) -> str:
    more = f"; and {len(cases) - _CASES_MAX} more" if len(cases) > _CASES_MAX else ""
    return "; ".join(cases[:_CASES_MAX]) + more


def _is_broken(case: Sequence[VectorResult], lying: Container[str]) -> bool:
    """Return whether the rule is broken in a case, and not only the responses of one API.

    `lying` are the APIs whose responses alone differ in cases with several APIs.
    """
    different = _deviating_vectors(case)
    if len(different) * 4 >= len(case) * 3 and len(case) > 1:
        return True
    if len(different) * 3 < len(case):
        return False
    return len(_apis(different)) > 1 or (
        len(_apis(case)) == 1 and not any(api in lying for api in _apis(different))
    )


def _is_broken_as_whole(results: Sequence[VectorResult]) -> bool:
    """Return whether the responses of several APIs differ, if not in the same cases."""
    different = _deviating_vectors(results)
    return len(_apis(different)) > 1 and len(different) * 5 >= len(results)


def _single_deviating_api(case: Sequence[VectorResult]) -> frozenset[str]:
    """Return the API of all vectors that differ, if it is only one."""
    apis = _apis(_deviating_vectors(case))
    return apis if len(apis) == 1 else frozenset()


def _deviating_vectors(case: Iterable[VectorResult]) -> list[VectorResult]:
    """Return the vectors whose decision may be wrong."""
    return [each for each in case if each.outcome is VectorOutcome.DIFFERENT and each.is_decision]


def _apis(case: Iterable[VectorResult]) -> frozenset[str]:
    """Return the APIs of vectors, without those that only change ACLs."""
    apis = frozenset(each.vector.when.api for each in case)
    return apis - _CHANGES or apis


def response_mistakes(results: Iterable[VectorResult]) -> list[Mistake]:
    """Return what is wrong in the responses of an API, such as records beside an error."""
    counts = Counter(each.mistake for each in results if each.mistake)
    return _most_frequent_first([Mistake(text, count) for text, count in counts.items()])


def _most_frequent_first(mistakes: list[Mistake]) -> list[Mistake]:
    return sorted(mistakes, key=lambda each: -each.count)


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

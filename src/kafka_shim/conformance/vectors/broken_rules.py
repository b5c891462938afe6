"""The mistakes of a broker, from the vectors that differ: broken rules, and wrong responses."""

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Sequence
from typing import Final

import msgspec

from kafka_shim.conformance.vectors.runner import VectorOutcome, VectorResult

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

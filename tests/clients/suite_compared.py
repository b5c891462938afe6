"""Compares a client's requests and results in the same cases on a real broker and on the shim."""

import asyncio
from collections.abc import Iterator, Sequence

from kafka_shim.conformance.case import CaseResult
from kafka_shim.conformance.runner import run_cases

JOBS = 4


def differences(words: Sequence[str], release: str, real: Sequence[CaseResult]) -> Iterator[str]:
    """Play the cases of these results on the shim; yield a line for each difference."""
    by_case = {result.case.id: result for result in real}
    played: list[CaseResult] = []
    asyncio.run(run_cases(words, [each.case for each in real], release, played.append, jobs=JOBS))
    for own in played:
        other = by_case[own.case.id]
        if _kind(own) != _kind(other):
            yield f"{own.case.id}: real: {_shown(other)}; shim: {_shown(own)}"
        if other.distinct_responses and own.distinct_responses != other.distinct_responses:
            yield f"{own.case.id}: responses of one only: {_differing(own, other)}"


def _differing(own: CaseResult, other: CaseResult) -> str:
    sides = {
        "real": other.distinct_responses - own.distinct_responses,
        "shim": own.distinct_responses - other.distinct_responses,
    }
    return " | ".join(f"{side}: {each}" for side, found in sides.items() for each in sorted(found))


def _kind(result: CaseResult) -> tuple[str, str]:
    """Return the outcome, and class and code of the error that the client reported last."""
    is_ok = result.last_response.startswith("ok ")
    return result.outcome.value, "ok" if is_ok else result.last_response.partition(":")[0]


def _shown(result: CaseResult) -> str:
    return f"{result.outcome.value}, {result.last_response}"

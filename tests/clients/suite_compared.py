"""Compares a client's requests and results in the same cases on a real broker and on the shim."""

import asyncio
from collections.abc import Iterator, Sequence

from kafka_shim.shim.conformance.case import Result
from kafka_shim.shim.conformance.runner import run_cases

JOBS = 4


def differences(words: Sequence[str], release: str, real: Sequence[Result]) -> Iterator[str]:
    """Play the cases of these results on the shim; yield a line for each difference."""
    by_case = {result.case.id: result for result in real}
    played: list[Result] = []
    asyncio.run(run_cases(words, [each.case for each in real], release, played.append, jobs=JOBS))
    for own in played:
        other = by_case[own.case.id]
        if _kind(own) != _kind(other):
            yield f"{own.case.id}: real: {_shown(other)}; shim: {_shown(own)}"
        if other.responses and own.responses != other.responses:
            yield f"{own.case.id}: responses of one only: {_differing(own, other)}"


def _differing(own: Result, other: Result) -> str:
    sides = {"real": other.responses - own.responses, "shim": own.responses - other.responses}
    return " | ".join(f"{side}: {each}" for side, found in sides.items() for each in sorted(found))


def _kind(result: Result) -> tuple[str, str]:
    """Return the outcome, and class and code of the error that the client reported last."""
    is_ok = result.said.startswith("ok ")
    return result.outcome.value, "ok" if is_ok else result.said.partition(":")[0]


def _shown(result: Result) -> str:
    return f"{result.outcome.value}, {result.said}"

"""The result of mutation testing as text and as JSON."""

from collections.abc import Iterator
from typing import Any

from kafka_shim.authorizer.acl_mutants import KINDS
from kafka_shim.policy.formats.yaml_rules import acl_line
from kafka_shim.testing.mutation.mutation_test import MutantResult, MutationResult, Outcome
from kafka_shim.text.message_text import count_with_noun

_SHOWN_TESTS = 2
_TEXTS = {
    Outcome.UNNOTICED: "by none",
    Outcome.NOT_REQUESTED: "by none: no test requests what would change",
    Outcome.EQUIVALENT: "not counted: no decision changes",
    Outcome.UNKNOWN: "not counted: the ACL was not there again; does its name differ in each run?",
}


def report_lines(result: MutationResult) -> Iterator[str]:
    """Yield the table: an ACL, its mutants, and which tests notice each."""
    unused = set(result.unused_acls)
    last = None
    width = max(len(kind.text) for kind in KINDS.values())
    for each in result.results:
        acl = each.mutant.acl
        if acl in unused:
            continue
        if acl != last:
            yield acl_line(acl)
            last = acl
        yield f"    {KINDS[each.mutant.kind].text:{width}}  {_noticed_text(each)}"
    if unused:
        yield "no test uses:"
        yield from (f"    {acl_line(acl)}" for acl in result.unused_acls)
    if result.random_failures:
        yield "fails at random, also without mutants:"
        yield from (f"    {name}" for name in result.random_failures)
    noticed = f"{result.noticed_count} of {count_with_noun(result.counted, 'mutant')} noticed"
    yield f"score: {result.score:.2f} ({noticed})"


def report_object(result: MutationResult) -> dict[str, Any]:
    """Return the result as plain values."""
    return {
        "score": round(result.score, 4),
        "noticed": result.noticed_count,
        "mutants": result.counted,
        "suite_seconds": round(result.suite_seconds, 3),
        "runs": result.runs,
        "results": [
            {
                "acl": acl_line(each.mutant.acl),
                "mutant": each.mutant.kind,
                "outcome": each.outcome.value,
                "noticed_by": list(each.noticed_by),
            }
            for each in result.results
        ],
        "unused_acls": [acl_line(acl) for acl in result.unused_acls],
        "random_failures": list(result.random_failures),
    }


def _noticed_text(result: MutantResult) -> str:
    if result.outcome is not Outcome.NOTICED:
        return _TEXTS[result.outcome]
    shown, rest = result.noticed_by[:_SHOWN_TESTS], len(result.noticed_by) - _SHOWN_TESTS
    more = f" and {rest} more" if rest > 0 else ""
    return f"{', '.join(shown)}{more}"

"""Test a command that runs tests, print the result, and return the exit code."""

import json
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from kafka_shim.authorizer.acl_mutants import KINDS
from kafka_shim.policy.formats.yaml_rules import acl_line
from kafka_shim.testing.mutation.mutation_test import (
    MutantResult,
    MutationResult,
    MutationTest,
    Outcome,
    SuiteError,
)
from kafka_shim.testing.mutation.suite_run import Suite
from kafka_shim.text.message_text import count_with_noun, sanitize_result_lines

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


EXIT_FAILURE: Final = 1
EXIT_BELOW_MINIMUM: Final = 3


class MutationOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of `run --mutate-acls`."""

    min_score: float = 0.0
    jobs: int | None = None
    timeout_s: float | None = None
    prints_json: bool = False


def run_mutation_test(
    command: Sequence[str], options: MutationOptions, write: Callable[[str], object] = print
) -> int:
    """Run the command with mutated ACLs and write which tests notice; return the exit code: 0, 1 if
    the suite cannot be tested, 3 below the minimal score.
    """
    with tempfile.TemporaryDirectory(prefix="kafka-shim-") as folder:
        suite = Suite(command, Path(folder))
        jobs = options.jobs or os.cpu_count() or 1
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # end the runs, too
        try:
            result = MutationTest(suite, jobs, _print_step, options.timeout_s).run()
        except SuiteError as error:
            _print_step(str(error))
            return EXIT_FAILURE
    if options.prints_json:
        write(json.dumps(report_object(result), indent=2))
    else:
        write(sanitize_result_lines(report_lines(result)))
    if result.score < options.min_score:
        _print_step(f"the score {result.score:.2f} is below {options.min_score:g}")
        return EXIT_BELOW_MINIMUM
    return 0


def _print_step(text: str) -> None:
    sys.stderr.write(f"kafka-shim: {text}\n")

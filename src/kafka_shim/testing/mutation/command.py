"""Test a command that runs tests, print the result, and return the exit code."""

import json
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import msgspec

from kafka_shim.testing.mutation.mutation_report import report_lines, report_object
from kafka_shim.testing.mutation.mutation_test import MutationTest, SuiteError
from kafka_shim.testing.mutation.suite_run import Suite
from kafka_shim.text.message_text import sanitize_result_lines

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

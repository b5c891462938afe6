"""Test the tests: run a suite with one wrong ACL after the other, and see which tests notice."""

import enum
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

import msgspec

from kafka_shim.authorizer.acl_mutants import AclMutant
from kafka_shim.authorizer.model import Acl
from kafka_shim.testing.mutation.changed_decisions import (
    OUTSIDE_TESTS,
    can_reverse_mutants,
    is_equivalent,
    uses_of_mutants,
)
from kafka_shim.testing.mutation.suite_run import Suite, SuiteRun
from kafka_shim.text.message_text import count_with_noun

BASE_RUNS = 2
"""Runs without mutants at first, and again at last: a test that fails in one fails at random."""
TIMEOUT_FACTOR = 3
TIMEOUT_MIN_S = 20.0
"""A run with mutants may take so long, and the factor times as long as without."""

_Argument = TypeVar("_Argument")
_Result = TypeVar("_Result")


class SuiteError(Exception):
    """The suite cannot be tested; the text says why."""


class Outcome(enum.Enum):
    """What became of a mutant."""

    NOTICED = "noticed"
    UNNOTICED = "unnoticed"
    NOT_REQUESTED = "not requested"
    """No request of the suite is decided otherwise with the mutant, so no test can notice it."""
    EQUIVALENT = "equivalent"
    """No request of any client is decided otherwise."""
    UNKNOWN = "unknown"
    """The ACL was not there in the run, as if its name was generated."""


class MutantResult(msgspec.Struct, frozen=True):
    """A mutant, and what noticed it: tests, or the command's exit code or time-out."""

    mutant: AclMutant
    outcome: Outcome
    noticed_by: tuple[str, ...] = ()


class MutationResult(msgspec.Struct, frozen=True):
    """The results of all mutants, and the ACLs of which no mutant changes any decision.

    `random_failures` are tests that also failed without mutants, and therefore notice nothing.
    """

    results: tuple[MutantResult, ...]
    unused_acls: tuple[Acl, ...]
    random_failures: tuple[str, ...]
    suite_seconds: float
    runs: int

    @property
    def noticed_count(self) -> int:
        return sum(each.outcome is Outcome.NOTICED for each in self.results)

    @property
    def counted(self) -> int:
        """The mutants that a test could notice, and about which something is known."""
        left_out = (Outcome.EQUIVALENT, Outcome.UNKNOWN)
        return sum(each.outcome not in left_out for each in self.results)

    @property
    def score(self) -> float:
        """The share of mutants that was noticed; 1 if there is none to notice."""
        return self.noticed_count / self.counted if self.counted else 1.0


class MutationTest:
    """Runs a suite with mutants. `report` gets a line for each step."""

    def __init__(
        self,
        suite: Suite,
        jobs: int,
        report: Callable[[str], None],
        timeout_s: float | None = None,
    ) -> None:
        self._suite, self._report = suite, report
        self._timeout_s = timeout_s
        self._pool = ThreadPoolExecutor(jobs)
        self._base: Sequence[SuiteRun] = ()
        self._results: dict[AclMutant, MutantResult] = {}
        self._random_failures: set[str] = set()
        self._runs = 0

    def run(self) -> MutationResult:
        """Return what noticed each mutant. Raise SuiteError if the suite fails without mutants, or
        uses no ACLs.
        """
        try:
            return self._run()
        finally:
            self._suite.stop()
            self._pool.shutdown(cancel_futures=True)

    def _run(self) -> MutationResult:
        self._base = self._run_parallel(lambda _: self._suite.run(), range(BASE_RUNS))
        for run in self._base:
            _require_passing(run)
        tests_by_run = [uses_of_mutants(run.situations) for run in self._base]
        tests = {
            mutant: set[str]().union(*(each.get(mutant, set()) for each in tests_by_run))
            for mutant in dict.fromkeys(mutant for each in tests_by_run for mutant in each)
        }
        if not tests:
            raise SuiteError(
                "no broker of the suite had ACLs: let the tests use the broker of this command"
                " ($KAFKA_BOOTSTRAP_SERVERS), or one that kafka-shim's packages start"
            )
        lasting = set(tests_by_run[0]).intersection(*tests_by_run)
        used = {mutant.acl for mutant, names in tests.items() if names}
        acls = dict.fromkeys(mutant.acl for mutant in tests)
        seconds = max(run.seconds for run in self._base)
        self._report(
            f"the suite passes in {seconds:.1f} s, and {len(used)} of"
            f" {count_with_noun(len(acls), 'ACL')} decide"
        )
        situations = self._base[0].situations
        to_run = {}
        for mutant, names in tests.items():
            if mutant not in lasting:
                self._set_result(mutant, Outcome.UNKNOWN)
            elif names:
                to_run[mutant] = names
            else:
                is_visible = not is_equivalent(mutant, situations)
                outcome = Outcome.NOT_REQUESTED if is_visible else Outcome.EQUIVALENT
                self._set_result(mutant, outcome)
        self._run_mutants(to_run)
        self._discount_random_failures(to_run)
        results = tuple(self._results[mutant] for mutant in tests)
        unused = tuple(acl for acl in acls if acl not in used)
        random_failures = tuple(sorted(self._random_failures))
        return MutationResult(results, unused, random_failures, seconds, self._runs)

    def _run_mutants(self, tests_by_mutant: dict[AclMutant, set[str]]) -> None:
        """Run the tests that a mutant concerns, and the whole suite for all that is not noticed.

        A test may fail later because of what an earlier one could not do, so only the whole suite
        shows that nobody notices. Mutants that only take access away, or only give access, are
        tried together there: if the suite passes, it notices none of them.
        """
        known = {test for run in self._base for test in run.seconds_by_test}
        selected = {
            mutant: frozenset(tests)
            for mutant, tests in tests_by_mutant.items()
            if OUTSIDE_TESTS not in tests and tests <= known and tests != known
        }
        total = count_with_noun(len(tests_by_mutant), "mutant")
        self._report(f"{total} would change a decision; running the tests with each")
        unnoticed = self._run_selected(selected)
        rest = [mutant for mutant in tests_by_mutant if mutant not in selected]
        groups = [
            [mutant for mutant in mutants if mutant.restricts is restricts]
            for mutants in (rest, unnoticed)
            for restricts in (True, False)
        ]
        if any(can_reverse_mutants(run.situations) for run in self._base):
            groups = [[mutant] for group in groups for mutant in group]
        self._run_whole_suite([group for group in groups if group])

    def _run_selected(self, tests_by_mutant: dict[AclMutant, frozenset[str]]) -> list[AclMutant]:
        """Run selected tests with each mutant; return the mutants that they do not notice.

        A selection that fails is run without the mutant, too: it may lack what other tests do.
        """
        runs = self._run_parallel(self._run_selection, tests_by_mutant.items())
        failing = {
            mutant: run
            for mutant, run in zip(tests_by_mutant, runs, strict=True)
            if not run.passed and run.has_changed_decision
        }
        selections = list(dict.fromkeys(tests_by_mutant[mutant] for mutant in failing))
        controls = dict(
            zip(
                selections,
                self._run_parallel(lambda tests: self._run_tests((), tests), selections),
                strict=True,
            )
        )
        for mutant, run in failing.items():
            failures = self._failures(run, controls[tests_by_mutant[mutant]])
            if failures:
                self._set_result(mutant, Outcome.NOTICED, failures)
        return [mutant for mutant in tests_by_mutant if mutant not in self._results]

    def _run_selection(self, item: tuple[AclMutant, frozenset[str]]) -> SuiteRun:
        mutant, tests = item
        return self._run_tests((mutant,), tests)

    def _run_tests(self, mutants: Sequence[AclMutant], tests: Collection[str]) -> SuiteRun:
        seconds_by_test = self._base[0].seconds_by_test
        seconds = sum(seconds_by_test.get(test, 0) for test in tests)
        return self._suite.run(mutants, tests, self._timeout(seconds))

    def _run_whole_suite(self, groups: list[list[AclMutant]]) -> None:
        """Run all tests with each group of mutants; divide those groups that are noticed.

        Most tests notice missing access, so these mutants then run alone.
        """
        timeout_s = self._timeout(max(run.seconds for run in self._base))
        while groups:
            runs = self._run_parallel(partial(self._suite.run, timeout_s=timeout_s), groups)
            parts = []
            for group, run in zip(groups, runs, strict=True):
                failures = self._failures(run, self._base[0]) if run.has_changed_decision else ()
                if failures and len(group) > 1:
                    size = 1 if group[0].restricts else (len(group) + 1) // 2
                    parts += [group[at : at + size] for at in range(0, len(group), size)]
                    continue
                outcome = Outcome.NOTICED if failures else Outcome.UNNOTICED
                if not run.has_mutant:
                    outcome = Outcome.UNKNOWN
                for mutant in group:
                    self._set_result(mutant, outcome, failures)
            groups = parts

    def _discount_random_failures(self, tests_by_mutant: dict[AclMutant, set[str]]) -> None:
        """Run the suite again without mutants, and let what fails now have noticed nothing.

        A test in which no decision changed must fail again with the mutant, too.
        """
        noticed = [each for each in self._results.values() if each.outcome is Outcome.NOTICED]
        if not noticed:
            return
        tests = self._base[0].seconds_by_test.keys()
        indirect = [
            each
            for each in noticed
            if tests_by_mutant[each.mutant].isdisjoint((OUTSIDE_TESTS, *each.noticed_by))
            and tests >= set(each.noticed_by)
        ]
        timeout_s = self._timeout(max(run.seconds for run in self._base))
        groups = [*([()] * BASE_RUNS), *([each.mutant] for each in indirect)]
        runs = self._run_parallel(partial(self._suite.run, timeout_s=timeout_s), groups)
        failures = [set(run.failures_besides(self._base[0])) for run in runs]
        self._random_failures.update(*failures[:BASE_RUNS])
        for each, again in zip(indirect, failures[BASE_RUNS:], strict=True):
            self._random_failures.update(set(each.noticed_by) - again)
        unnoticed = []
        for each in noticed:
            left = tuple(name for name in each.noticed_by if name not in self._random_failures)
            self._set_result(each.mutant, Outcome.NOTICED, left)
            if not left:
                unnoticed.append([each.mutant])
        self._run_whole_suite(unnoticed)

    def _failures(self, run: SuiteRun, control: SuiteRun) -> tuple[str, ...]:
        failures = run.failures_besides(control)
        return tuple(name for name in failures if name not in self._random_failures)

    def _timeout(self, seconds: float) -> float:
        return self._timeout_s or TIMEOUT_MIN_S + TIMEOUT_FACTOR * seconds

    def _set_result(
        self, mutant: AclMutant, outcome: Outcome, noticed_by: tuple[str, ...] = ()
    ) -> None:
        self._results[mutant] = MutantResult(mutant, outcome, noticed_by)

    def _run_parallel(
        self, function: Callable[[_Argument], _Result], arguments: Iterable[_Argument]
    ) -> list[_Result]:
        """Run in parallel; report how many are done from time to time."""
        todo = list(arguments)
        self._runs += len(todo)
        results = []
        for result in self._pool.map(function, todo):
            results.append(result)
            if len(results) % 10 == 0:
                self._report(f"{len(results)} of {count_with_noun(len(todo), 'run')}")
        return results


def _require_passing(run: SuiteRun) -> None:
    if run.passed:
        return
    failed = ", ".join(sorted(run.failed)) or f"exit code {run.exit_code}"
    raise SuiteError(f"the suite fails without mutants ({failed}):\n{run.output.strip()}")

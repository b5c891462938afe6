"""The steps of mutation testing, with suites that are functions: what runs, and what it proves."""

from collections.abc import Callable, Collection, Sequence
from pathlib import Path

import pytest

from kafka_shim.authorizer.acl_mutants import AclMutant, mutants_of
from kafka_shim.authorizer.model import Acl, Actor
from kafka_shim.protocol.enums import Operation, Permission, ResourceType
from kafka_shim.shim.observing.mutation_run import AccessNote, AclsNote, BrokerNote
from kafka_shim.testing.mutation.changed_decisions import situations_of_notes
from kafka_shim.testing.mutation.mutation_test import (
    MutationResult,
    MutationTest,
    Outcome,
    SuiteError,
)
from kafka_shim.testing.mutation.suite_run import Suite, SuiteRun
from tests.support.acls import make_acl

BROKER = BrokerNote("4.4", (), allow_everyone=False)
ORDERS = make_acl(Operation.WRITE, "orders")
OLD = make_acl(Operation.WRITE, "old", permission=Permission.DENY)
PREFIX = make_acl(Operation.WRITE, "new")
TESTS = ("writes", "is_denied", "reads_what_was_written")
Fails = Callable[[Sequence[AclMutant], Collection[str], int], Collection[str]]


class FakeSuite(Suite):
    """A suite in which tests write to a topic, and fail as a function says.

    `accesses` are pairs of a test and a topic; the function gets the mutants, the tests that run,
    and the number of the run.
    """

    def __init__(
        self,
        fails: Fails,
        accesses: Sequence[tuple[str, str]] = (("writes", "orders"), ("is_denied", "old")),
        acls: Callable[[int], Sequence[Acl]] = lambda _: (ORDERS, OLD),
        exit_code: int | None = 1,
    ) -> None:
        super().__init__((), Path())
        self._fails, self._accesses, self._acls = fails, accesses, acls
        self._exit_code = exit_code
        self.runs: list[tuple[tuple[AclMutant, ...], tuple[str, ...] | None]] = []

    def run(
        self,
        mutants: Sequence[AclMutant] = (),
        tests: Collection[str] | None = None,
        timeout_s: float | None = None,
    ) -> SuiteRun:
        number = len(self.runs)
        self.runs.append((tuple(mutants), None if tests is None else tuple(sorted(tests))))
        running = TESTS if tests is None else [test for test in TESTS if test in tests]
        failed = frozenset(self._fails(mutants, running, number))
        acls = self._acls(number)
        alice, kind = Actor("User:alice", "127.0.0.1"), ResourceType.TOPIC
        notes = [
            AccessNote(alice, Operation.WRITE, kind, topic, (test,) if test else ())
            for test, topic in self._accesses
        ]
        return SuiteRun(
            self._exit_code if failed else 0,
            seconds=1.0,
            failed=failed - {"command"},
            seconds_by_test=dict.fromkeys(running, 0.1),
            situations=situations_of_notes([[BROKER, AclsNote(tuple(acls)), *notes]]),
            has_mutant=any(mutant.acl in acls for mutant in mutants),
            has_changed_decision=any(mutant.acl in acls for mutant in mutants),
            output="the output",
        )


def result_of(suite: FakeSuite) -> MutationResult:
    return MutationTest(suite, 1, lambda _: None).run()


def outcomes(result: MutationResult) -> dict[tuple[str, str], tuple[Outcome, tuple[str, ...]]]:
    return {
        (each.mutant.acl.resource_name, each.mutant.kind): (each.outcome, each.noticed_by)
        for each in result.results
    }


def kinds(mutants: Sequence[AclMutant]) -> set[tuple[str, str]]:
    return {(mutant.acl.resource_name, mutant.kind) for mutant in mutants}


def attentive(mutants: Sequence[AclMutant], tests: Collection[str], _: int) -> Collection[str]:
    """Fail in the test that a missing ACL concerns."""
    about = {("orders", "missing"): "writes", ("old", "missing"): "is_denied"}
    return {about[key] for key in kinds(mutants) if key in about} & set(tests)


def test_only_the_tests_with_a_changed_decision_run_again() -> None:
    """A DENY that is missing changes nothing here: no ACL allows alice to write to `old`."""
    suite = FakeSuite(attentive)
    result = result_of(suite)
    found = outcomes(result)
    assert found["orders", "missing"] == (Outcome.NOTICED, ("writes",))
    assert found["orders", "any-suffix"] == (Outcome.NOT_REQUESTED, ())
    assert found["old", "missing"] == (Outcome.EQUIVALENT, ())
    assert result.unused_acls == (OLD,)
    missing, whole = ((AclMutant(ORDERS, "missing"),), ("writes",)), ((), None)
    assert suite.runs == [whole, whole, missing, ((), ("writes",)), whole, whole]
    assert (result.noticed_count, result.counted, result.score) == (1, 4, 0.25)


def test_a_failure_without_the_mutant_is_not_noticing() -> None:
    """A test that fails when it is run alone says nothing; the whole suite decides."""

    def fails(mutants: Sequence[AclMutant], tests: Collection[str], _: int) -> Collection[str]:
        return {"writes"} if len(tests) == 1 else ()

    suite = FakeSuite(fails)
    assert outcomes(result_of(suite))["orders", "missing"] == (Outcome.UNNOTICED, ())
    assert suite.runs[-1] == ((AclMutant(ORDERS, "missing"),), None)


def test_a_later_test_may_notice() -> None:
    def fails(mutants: Sequence[AclMutant], tests: Collection[str], _: int) -> Collection[str]:
        return {"reads_what_was_written"} & set(tests) if mutants else ()

    found = outcomes(result_of(FakeSuite(fails)))
    assert found["orders", "missing"] == (Outcome.NOTICED, ("reads_what_was_written",))


def test_what_happens_outside_of_tests_concerns_all_of_them() -> None:
    suite = FakeSuite(attentive, accesses=[("", "orders")])
    assert outcomes(result_of(suite))["orders", "missing"] == (Outcome.NOTICED, ("writes",))
    assert suite.runs[2:3] == [((AclMutant(ORDERS, "missing"),), None)]


def fails_once(test: str, *numbers: int) -> Fails:
    """Let a test fail in its first run with mutants, and in the runs with these numbers."""
    mutated: list[int] = []

    def fails(mutants: Sequence[AclMutant], tests: Collection[str], number: int) -> Collection[str]:
        if mutants and test in tests:
            mutated.append(number)
        return {test} & set(tests) if number in (*mutated[:1], *numbers) else ()

    return fails


@pytest.mark.parametrize("number", [3, 4, 5])
def test_a_test_that_fails_without_mutants_has_noticed_nothing(number: int) -> None:
    """Run 3 is that of the same tests without the mutant, 4 and 5 are those of the whole suite."""
    result = result_of(FakeSuite(fails_once("writes", number)))
    assert outcomes(result)["orders", "missing"] == (Outcome.UNNOTICED, ())
    assert result.random_failures == (("writes",) if number > 3 else ())


def test_a_test_in_which_no_decision_changed_must_fail_twice() -> None:
    later = "reads_what_was_written"
    result = result_of(FakeSuite(fails_once(later)))
    assert outcomes(result)["orders", "missing"] == (Outcome.UNNOTICED, ())
    assert result.random_failures == (later,)


ALLOWED_TOO_MUCH = ("orders", "any-suffix")


def test_mutants_that_widen_run_together_until_one_is_noticed() -> None:
    acls = [ORDERS, PREFIX, *(make_acl(Operation.READ, name) for name in ("old", "other"))]
    accesses = [("", name) for name in ("orders", "orders-2", "new-2", "old", "other")]

    def fails(mutants: Sequence[AclMutant], _: Collection[str], __: int) -> Collection[str]:
        return {"is_denied"} if ALLOWED_TOO_MUCH in kinds(mutants) else ()

    suite = FakeSuite(fails, accesses, lambda _: acls)
    found = outcomes(result_of(suite))
    widening = [mutants for mutants, _ in suite.runs if mutants and not mutants[0].restricts]
    assert kinds(widening[0]) == {
        *(("orders", "any-suffix"), ("new", "any-suffix")),
        *(("old", "any-operation"), ("other", "any-operation")),
    }
    assert [len(mutants) for mutants in widening] == [4, 2, 2, 1, 1]
    assert [key for key, (outcome, _) in found.items() if outcome is Outcome.NOTICED] == [
        ALLOWED_TOO_MUCH
    ]


def test_a_suite_that_notices_nothing_has_the_score_0_in_few_runs() -> None:
    acls = [make_acl(Operation.WRITE, f"topic-{number}") for number in range(30)]
    accesses = [("", acl.resource_name) for acl in acls]
    suite = FakeSuite(lambda *_: (), accesses, lambda _: acls)
    assert result_of(suite).score == 0
    assert len(suite.runs) == 3  # twice as it is, and once without any of the ACLs


def test_an_acl_whose_name_is_generated_is_unknown_and_not_counted() -> None:
    names = iter(range(1000))
    suite = FakeSuite(attentive, acls=lambda _: [make_acl(Operation.WRITE, f"t-{next(names)}")])
    result = result_of(suite)
    assert {each.outcome for each in result.results} == {Outcome.UNKNOWN}
    assert (result.counted, result.score) == (0, 1.0)


@pytest.mark.parametrize(
    ("failing", "exit_code", "noticed_by"),
    [
        ("command", 2, ("exit code 2",)),
        ("command", None, ("time-out",)),
        ("writes", None, ("writes", "time-out")),
    ],
)
def test_a_command_notices_by_its_exit_code_and_by_its_time(
    failing: str, exit_code: int | None, noticed_by: tuple[str, ...]
) -> None:
    suite = FakeSuite(
        lambda mutants, *_: {failing} if mutants else (), [("", "orders")], exit_code=exit_code
    )
    assert outcomes(result_of(suite))["orders", "missing"] == (Outcome.NOTICED, noticed_by)


@pytest.mark.parametrize("failing_run", [0, 1])
def test_a_suite_that_fails_without_mutants_is_refused(failing_run: int) -> None:
    suite = FakeSuite(lambda _, __, number: {"writes"} if number == failing_run else ())
    with pytest.raises(SuiteError, match=r"fails without mutants \(writes\):\nthe output"):
        result_of(suite)
    assert len(suite.runs) == 2


def test_a_suite_without_acls_is_refused() -> None:
    with pytest.raises(SuiteError, match="no broker of the suite had ACLs"):
        result_of(FakeSuite(lambda *_: (), acls=lambda _: ()))


def test_each_kind_of_mutant_has_one_direction() -> None:
    directions = {
        (acl.permission, mutant.kind): mutant.restricts
        for acl in (ORDERS, OLD)
        for mutant in mutants_of(acl)
    }
    assert {key for key, restricts in directions.items() if restricts} == {
        (Permission.ALLOW, "missing"),
        *((Permission.DENY, kind) for kind in ("any-operation", "any-suffix", "any-principal")),
    }

"""Expectations of files with their verdicts and exceptions, and what of the ACLs they cover."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date

import msgspec

from kafka_shim.authorizer.model import Acl
from kafka_shim.policy.expectation_check import ExpectationChecker, Verdict
from kafka_shim.policy.expectation_files import ExpectationFile, LocatedExpectation
from kafka_shim.policy.formats.yaml_rules import acl_line
from kafka_shim.policy.policy import Policy
from kafka_shim.text.input_files import place_text
from kafka_shim.text.message_text import count_with_noun

SHOWN_MAX = 20
"""ACLs and expectations that the report names."""


class PolicyCoverage(msgspec.Struct):
    """The ACLs, those that an expectation is about, and the expectations that none applies to."""

    acls: dict[Acl, None]
    acls_with_expectation: set[Acl]
    expectations: list[LocatedExpectation]
    expectations_without_acl: list[LocatedExpectation]

    def add_expectation(self, located: LocatedExpectation, checker: ExpectationChecker) -> None:
        applying = checker.find_applying_acls(located.expectation)
        self.acls_with_expectation |= applying
        self.expectations.append(located)
        if not applying:
            self.expectations_without_acl.append(located)

    def report_lines(self) -> Iterator[str]:
        """Yield both counts, each with what is missing."""
        untouched = [acl for acl in self.acls if acl not in self.acls_with_expectation]
        total = count_with_noun(len(self.acls), "ACL")
        yield f"coverage: an expectation is about {len(self.acls) - len(untouched)} of {total}"
        yield from _first_lines([f"no expectation: {acl_line(acl)}" for acl in untouched])
        decided = len(self.expectations) - len(self.expectations_without_acl)
        total = count_with_noun(len(self.expectations), "expectation")
        yield f"coverage: an ACL applies to {decided} of {total}"
        yield from _first_lines(
            [
                f"no ACL: {place_text(each.path, each.line)}: {each.expectation.description}"
                for each in self.expectations_without_acl
            ]
        )


def empty_coverage() -> PolicyCoverage:
    return PolicyCoverage({}, set(), [], [])


def _first_lines(lines: Sequence[str]) -> Iterator[str]:
    yield from (f"    {line}" for line in lines[:SHOWN_MAX])
    if len(lines) > SHOWN_MAX:
        yield f"    and {len(lines) - SHOWN_MAX} more"


class JudgedExpectation(msgspec.Struct, frozen=True):
    """An expectation with its place and its verdict."""

    located: LocatedExpectation
    verdict: Verdict

    @property
    def exception_text(self) -> str:
        """Return the owner, reason and last day of the exception; empty if there is none."""
        return self.located.exception.text if self.located.exception else ""

    @property
    def has_expired_exception(self) -> bool:
        exception = self.located.exception
        return exception is not None and exception.has_expired(date.today())  # noqa: DTZ011 - the day where the user is

    @property
    def has_valid_exception(self) -> bool:
        """Return whether the expectation does not hold, which is accepted until a day."""
        is_accepted = self.located.exception is not None and not self.has_expired_exception
        return not self.verdict.holds and is_accepted

    @property
    def is_failure(self) -> bool:
        """Return whether the expectation fails, or has an expired exception."""
        return self.has_expired_exception or not (self.verdict.holds or self.has_valid_exception)

    @property
    def place_text(self) -> str:
        return place_text(self.located.path, self.located.line)


def failed_expectations(judged: Iterable[JudgedExpectation]) -> list[JudgedExpectation]:
    return [each for each in judged if each.is_failure]


def judge_expectations(
    files: Sequence[tuple[ExpectationFile, Policy]],
    coverage: PolicyCoverage | None = None,
    report_count: Callable[[int], object] = int,
) -> list[JudgedExpectation]:
    """Check the expectations of each file by its policy, and add them to the coverage.

    Raise InexactReleaseError for a release whose decisions cannot be computed for all names.
    """
    judged: list[JudgedExpectation] = []
    for file, policy in files:
        checkers: dict[str, ExpectationChecker] = {}
        if coverage is not None:
            coverage.acls |= dict.fromkeys(policy.acls)
        for located in file.expectations:
            release = located.expectation.release
            if release not in checkers:
                own = msgspec.structs.replace(policy, release=release)
                checkers[release] = ExpectationChecker(own.authorizer())
            verdict = checkers[release].check_expectation(located.expectation)
            judged.append(JudgedExpectation(located, verdict))
            if coverage is not None:
                coverage.add_expectation(located, checkers[release])
            report_count(len(judged))
    return judged

"""Which ACLs no expectation is about, and which expectations hold without any ACL."""

from collections.abc import Iterator, Sequence

import msgspec

from kafka_shim.authorizer.model import Acl
from kafka_shim.policy.expectation_check import ExpectationChecker
from kafka_shim.policy.expectation_files import LocatedExpectation
from kafka_shim.policy.formats.yaml_rules import acl_line
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

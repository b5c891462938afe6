"""All rules of the authorizer, as scenarios that real brokers are asked about."""

from collections.abc import Iterator
from itertools import chain, count

from tests.recordings.conformance.rules.acl_request_rules import acl_request_rules
from tests.recordings.conformance.rules.any_resource_rules import (
    any_resource_rules,
    later_any_resource_rules,
)
from tests.recordings.conformance.rules.change_rules import change_rules, later_change_rules
from tests.recordings.conformance.rules.content_rules import (
    content_rules,
    effect_rules,
    later_content_rules,
)
from tests.recordings.conformance.rules.decision_rules import decision_rules, later_decision_rules
from tests.recordings.conformance.rules.rule import Rule
from tests.recordings.conformance.scenario import Scenario


def all_rules() -> Iterator[Rule]:
    """Yield the rules of all releases."""
    parts = (
        decision_rules,
        any_resource_rules,
        acl_request_rules,
        change_rules,
        content_rules,
        effect_rules,
        later_decision_rules,
        later_change_rules,
        later_content_rules,
        later_any_resource_rules,
    )
    return chain.from_iterable(part() for part in parts)


def rule_scenarios(release: str) -> Iterator[Scenario]:
    """Yield the scenarios of a release; a rule has the same prefix in each release."""
    for number, rule in zip(count(1), all_rules(), strict=False):
        if rule.exists_in(release):
            yield rule.scenario(f"r{number}", release)

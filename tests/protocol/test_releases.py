"""The lists of changes from release to release."""

from typing import Any, get_type_hints

import msgspec
import pytest

from kafka_shim.authorizer import acl_rules, acl_tool_releases
from kafka_shim.protocol import releases
from kafka_shim.protocol.releases.change import Change, release_sort_key
from kafka_shim.protocol.releases.facts import Facts, facts_of_release

CHAINS: dict[str, tuple[Any, tuple[Change, ...]]] = {
    "acls": (acl_rules.AclRules(), acl_rules.CHANGES),
    "acl tool": (acl_tool_releases.AclToolOutput(), acl_tool_releases.CHANGES),
    **{
        part: (field_type(), getattr(releases, part).CHANGES)
        for part, field_type in get_type_hints(Facts).items()
    },
}


@pytest.mark.parametrize("name", CHAINS)
def test_changes_follow_each_other_in_the_order_of_releases(name: str) -> None:
    order = [release_sort_key(change.release) for change in CHAINS[name][1]]
    assert order == sorted(order)


@pytest.mark.parametrize("name", CHAINS)
def test_each_change_alters_the_facts_that_it_names(name: str) -> None:
    facts, changes = CHAINS[name]
    for change in changes:
        for fact, value in change.facts.items():
            assert getattr(facts, fact) != value, (change.release, fact)
        facts = msgspec.structs.replace(facts, **change.facts)


def test_a_minor_release_has_the_facts_of_its_last_patch() -> None:
    empty = {
        release: facts_of_release(release).groups.failed_offset_fetch_v1_is_empty
        for release in ("3.8.1", "3.9", "3.9.0", "3.9.1", "3.9.2", "3.9.10", "3", "4.0.0")
    }
    assert [release for release, is_empty in empty.items() if is_empty] == [
        "3.8.1",
        "3.9.0",
        "3.9.1",
    ]

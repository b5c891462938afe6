"""The chains of changes that tell releases apart."""

from typing import Any

import msgspec
import pytest

from authorizer import acl_releases, acl_tool_releases
from protocol import (
    config_releases,
    group_releases,
    record_releases,
    releases,
    topic_releases,
)
from protocol.api_versions import release_index

CHAINS: dict[str, tuple[Any, tuple[releases.Change, ...]]] = {
    "acls": (acl_releases.OLDEST_RULES, acl_releases.CHANGES),
    "acl tool": (acl_tool_releases.OLDEST_TOOL, acl_tool_releases.CHANGES),
    "common": (releases.OLDEST, releases.CHANGES),
    "configs": (config_releases.OLDEST, config_releases.CHANGES),
    "groups": (group_releases.OLDEST, group_releases.CHANGES),
    "records": (record_releases.OLDEST, record_releases.CHANGES),
    "topics": (topic_releases.OLDEST, topic_releases.CHANGES),
}


@pytest.mark.parametrize("name", CHAINS)
def test_changes_follow_each_other_in_the_order_of_releases(name: str) -> None:
    order = [release_index(change.release) for change in CHAINS[name][1]]
    assert order == sorted(order)


@pytest.mark.parametrize("name", CHAINS)
def test_a_change_alters_what_it_names(name: str) -> None:
    facts, changes = CHAINS[name]
    for change in changes:
        for fact, value in change.facts.items():
            assert getattr(facts, fact) != value, (change.release, fact)
        facts = msgspec.structs.replace(facts, **change.facts)

"""DeleteAcls with filters for a single ACL, as real brokers from 0.11.0.3 to 2.4.1 handle it."""

from typing import Any

import pytest
from msgspec.structs import replace

from kafka_shim.authorizer.acl_rules import acl_rules_of_release
from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import AclFilter, Actor
from kafka_shim.authorizer.store import AclStore
from kafka_shim.protocol.enums import Operation, PatternType
from tests.support.acls import make_acl

ADMIN = Actor("User:admin", "127.0.0.1")
LITERAL = make_acl(Operation.READ, "orders", principal="User:bob")
PREFIXED = replace(LITERAL, pattern_type=PatternType.PREFIXED)
NO_ANY = "the pattern type of a filter that names one ACL must not be ANY"
NO_COLON = "the principal `bob` must have the form `Type:name`, as in `User:alice`"


def any_of(**fields: Any) -> AclFilter:
    return replace(LITERAL.to_exact_filter(), pattern_type=PatternType.ANY, **fields)


MALFORMED = replace(LITERAL.to_exact_filter(), principal="bob")
EVERYBODYS = replace(LITERAL.to_exact_filter(), principal=None)


def deleted(release: str, *filters: AclFilter) -> list[int | str | None]:
    """Return for each filter the number of deleted ACLs, or the error message."""
    store = AclStore([LITERAL, PREFIXED])
    authorizer = StandardAuthorizer(rules=acl_rules_of_release(release), store=store)
    results = authorizer.delete_acls(ADMIN, filters)
    return [len(each.matches) if each.error is None else each.message for each in results]


@pytest.mark.parametrize("release", ["2.0.1", "2.3.1"])
@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ([any_of()], [NO_ANY]),
        ([LITERAL.to_exact_filter(), any_of()], [1, NO_ANY]),
        ([any_of(), EVERYBODYS], [1, 1]),
        ([replace(any_of(), pattern_type=PatternType.MATCH)], [2]),
        ([any_of(principal=None)], [2]),
        ([any_of(host=None)], [2]),
        ([any_of(operation=Operation.ANY)], [2]),
        ([any_of(resource_name="no")], [NO_ANY]),
        ([any_of(principal="bob")], [NO_COLON]),
        ([MALFORMED], [NO_COLON]),
        ([MALFORMED, EVERYBODYS], [0, 1]),
    ],
)
def test_pattern_type_any_is_rejected_if_each_filter_names_one_acl(
    release: str, filters: list[AclFilter], found: list[int | str]
) -> None:
    assert deleted(release, *filters) == found


@pytest.mark.parametrize("release", ["0.11.0.3", "1.1.1"])
def test_before_patterns_a_malformed_principal_is_refused(release: str) -> None:
    assert deleted(release, MALFORMED) == [NO_COLON]
    assert deleted(release, MALFORMED, EVERYBODYS)[0] == 0


def test_later_releases_search_all_acls() -> None:
    assert deleted("2.4.1", any_of()) == [2]
    assert deleted("2.4.1", MALFORMED) == [0]

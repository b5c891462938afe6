"""THE place where Kafka releases differ in behaviour: a chain of changes, folded into named facts.

Version ranges are in `api_versions.py`, required permissions in `authorizer/requirements`, ACL
rules in `authorizer/acl_releases.py` (same form). A handler asks `context.behaviour.<fact>`, never
for a release number. To add a difference: a field in `Behaviour` (its comment says what True
means), its first value in OLDEST, and a Change at the release that altered it.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any, TypeVar

import msgspec

from protocol.api_versions import parse_release, release_index

Facts = TypeVar("Facts", bound=msgspec.Struct)


class Behaviour(msgspec.Struct, frozen=True, kw_only=True):
    """What the emulated release does, by name."""

    # authorization
    hides_denied_topics: bool  # without DESCRIBE a topic is 3, and existence comes before the rest
    unasked_operations: int  # authorized operations that nobody asked for
    audit_names_rule: bool  # the audit line ends in the deciding rule
    kraft: bool  # metadata is kept by controllers, admin requests are forwarded to them
    authorizer_class: str  # the authorizer that a release brings, as its configuration names it
    # the ACL APIs
    acl_success_message: str | None  # error message of an ACL answer without an error
    # topics
    internal_topics: tuple[str, ...]  # those that only coordinators write
    auto_create_error: int  # code of a topic that Metadata has just created


OLDEST = Behaviour(
    hides_denied_topics=True,
    unasked_operations=0,
    audit_names_rule=False,
    kraft=False,
    authorizer_class="kafka.security.auth.SimpleAclAuthorizer",
    acl_success_message=None,
    internal_topics=("__consumer_offsets", "__transaction_state"),
    auto_create_error=5,
)
"""As 0.11 has it."""


class Change:
    """What one release altered, and why (KIP, KAFKA-id, or the scenario that showed it)."""

    __slots__ = ("facts", "release", "why")

    def __init__(self, release: str, why: str, **facts: Any) -> None:
        self.release = release
        self.why = why
        self.facts = facts


CHANGES: tuple[Change, ...] = (
    Change("1.0", "denied topics are 29 everywhere", hides_denied_topics=False),
    Change(
        "2.4",
        "KIP-504: the authorizer in Java's interface",
        authorizer_class="kafka.security.authorizer.AclAuthorizer",
    ),
    Change("2.5", "KAFKA-9386: not asked is Int32.MIN", unasked_operations=-(2**31)),
    Change("2.8", "KAFKA-9751: creation goes through the controller", auto_create_error=3),
    Change(
        "3.0",
        "KRaft brokers run the StandardAuthorizer",
        kraft=True,
        audit_names_rule=True,
        authorizer_class="org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    ),
    Change("3.0", "KRaft answers an empty text instead of none", acl_success_message=""),
    Change(
        "3.9",
        "KIP-932: the state of share groups",
        internal_topics=("__consumer_offsets", "__transaction_state", "__share_group_state"),
    ),
)


def fold(oldest: Facts, changes: Sequence[Change], release: str) -> Facts:
    """The facts of a release: the oldest ones with every change up to it applied."""
    at = release_index(parse_release(release))
    facts = oldest
    for change in changes:
        if release_index(change.release) <= at:
            facts = msgspec.structs.replace(facts, **change.facts)
    return facts


@cache
def behaviour_of(release: str) -> Behaviour:
    """The behaviour of a release such as `2.8` or `4.3.1`; ValueError lists the known ones."""
    return fold(OLDEST, CHANGES, release)

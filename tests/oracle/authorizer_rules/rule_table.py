"""The rules of an authorizer by name: what each one says, and which recorded mistakes break it."""

import re
from typing import Final, NamedTuple

from tests.recordings.conformance.rules.rule import Rule


class NamedRule(NamedTuple):
    """A rule; `mistakes` is a pattern for the mistakes of recorded rules that break it."""

    name: str
    text: str
    source: str
    mistakes: str = ""


NAMED_RULES: Final = (
    NamedRule(
        "acl-filters",
        "acls and deleteAcls select by type, name, pattern, principal, host, operation and "
        "permission, and MATCH by the name that ACLs apply to",
        "KIP-140, KIP-290",
        "filters of ACLs",
    ),
    NamedRule(
        "any-resource-scope",
        "authorizeByResourceType looks at ACLs of the principal, the host, the type and the "
        "operation only",
        "KIP-679",
        "any resource: (.*principals? |User:|DENY of User|.*hosts? |hosts|groups|.*super user"
        "|DENY of another (operation|type)|ALLOW of (READ|another operation)|DENY on the cluster"
        "|IDEMPOTENT_WRITE)",
    ),
    NamedRule(
        "any-resource-changes",
        "authorizeByResourceType follows created and deleted ACLs",
        "KIP-679",
        "any resource: a change",
    ),
    NamedRule(
        "any-resource-deny",
        "authorizeByResourceType counts an ALLOW unless a DENY covers all of it: on `*`, on the "
        "name, or on a prefix of it",
        "KIP-679",
        "any resource: (DENY|one DENY)",
    ),
    NamedRule(
        "any-resource-allow",
        "authorizeByResourceType is allowed by an ALLOW on any name, prefix or `*`",
        "KIP-679",
        "any resource: ",
    ),
    NamedRule(
        "deny-first",
        "A DENY outweighs each ALLOW, whatever their patterns, principals, hosts and operations",
        "KIP-11, KIP-290",
        r"DENY (on|of|from) .* is ignored|ALLOW on a (more|less) specific pattern wins"
        "|DENY of (All|ALL) leaves|DENY of DESCRIBE leaves",
    ),
    NamedRule(
        "deny-exact",
        "A DENY of one operation leaves all others: nothing is implied by DENY",
        "KIP-140, KIP-430",
        "DENY of .* also denies|DENY covers other operations|DENY of another operation",
    ),
    NamedRule(
        "describe-implied",
        "ALLOW of READ, WRITE, DELETE or ALTER implies DESCRIBE, and ALTER_CONFIGS implies "
        "DESCRIBE_CONFIGS",
        "KIP-133, KIP-140",
        "ALLOW of .* does not imply",
    ),
    NamedRule(
        "operation-exact",
        "ALLOW of an operation implies no other operation but these, and that of ALL implies each",
        "KIP-133, KIP-140",
        "ALLOW of .* implies DESCRIBE|ALLOW covers other operations",
    ),
    NamedRule(
        "all-acls-count",
        "All ACLs that match a name count, not only those on the most specific pattern",
        "KIP-290",
        "an ACL on a more specific pattern hides",
    ),
    NamedRule(
        "denied-by-default",
        "Without an ACL that applies, access is denied",
        "KIP-11",
        "without ACLs everything|an ACL of another principal",
    ),
    NamedRule(
        "wildcard-name",
        "A literal `*` matches all names, and a prefix `*` only names that begin with it",
        "KIP-290",
        r"(a prefix )?(with )?`\*` |a name that begins with `\*`",
    ),
    NamedRule(
        "prefixes",
        "A prefix of any length matches names that begin with exactly these characters",
        "KIP-290",
        "a (short |long )?prefix|prefixes|only the first letters",
    ),
    NamedRule(
        "literal-names",
        "A literal name matches this name only: all characters and their case count",
        "KIP-11",
        "names are|a literal name|spaces in names|dots and",
    ),
    NamedRule(
        "super-users",
        "Super users are allowed everything, and are named exactly in super.users",
        "KIP-11",
        ".*super user",
    ),
    NamedRule(
        "principals",
        "A principal matches by type and name, exactly; only User:* matches all",
        "KIP-11",
        ".*principal|ACLs of User",
    ),
    NamedRule(
        "networks",
        "The host of an ACL can be a network, in CIDR notation",
        "KIP-1276",
        "networks are ignored|a network",
    ),
    NamedRule(
        "hosts",
        "The host of an ACL is `*` or the client's address",
        "KIP-11",
        r"hosts? |a host |ACLs of a host|ACLs from `\*`",
    ),
    NamedRule(
        "resource-types",
        "An ACL applies to its type of resource only",
        "KIP-11",
        "ACLs (of one type|on the cluster|on other types)",
    ),
    NamedRule(
        "decisions-apart",
        "Each access is decided by itself: no decision is reused for another",
        "recorded",
        "a decision is used",
    ),
    NamedRule(
        "acl-results",
        "createAcls and deleteAcls return a result for each binding and filter, in order, with the "
        "deleted ACLs",
        "KIP-504",
        "DeleteAcls deletes other|results of ACLs",
    ),
    NamedRule(
        "acl-storage",
        "acls returns what was created, once for each ACL",
        "KIP-140",
        "ACLs are stored",
    ),
    NamedRule(
        "acl-changes",
        "The first decision after createAcls or deleteAcls follows the change",
        "KIP-504",
        "a (new|deleted) (DENY|ALLOW) is (not|still) applied$",
    ),
    # asked of Kafka's classes only
    NamedRule(
        "addresses",
        "A host matches a client's address in each notation that Java reads",
        "KIP-11, KIP-1276",
    ),
    NamedRule(
        "everyone-allowed",
        "allow.everyone.if.no.acl.found allows a resource until any ACL matches its name",
        "KIP-11",
    ),
    NamedRule(
        "super-user-list",
        "super.users is a list with semicolons; spaces around a principal do not count",
        "KIP-11",
    ),
    NamedRule("acl-count", "aclCount returns the number of stored ACLs", "KIP-801"),
    NamedRule(
        "invalid-acls",
        "createAcls rejects each invalid binding and creates the others",
        "KIP-504",
    ),
    NamedRule(
        "batches",
        "authorize returns a result for each action, in order, also for equal actions and for none",
        "KIP-504",
    ),
    NamedRule(
        "audit-flags",
        "A decision does not depend on logIfAllowed, logIfDenied and resourceReferenceCount",
        "KIP-504",
    ),
    NamedRule(
        "request-context",
        "A decision depends on principal and address, not on listener, client id or request",
        "KIP-504",
    ),
    NamedRule(
        "principal-classes",
        "A principal of another class, or of a delegation token, counts by type and name",
        "KIP-48, KIP-189",
    ),
    NamedRule(
        "threads",
        "Decisions are the same if several threads ask at the same time",
        "KIP-504",
    ),
    NamedRule("random-accesses", "All rules together: random ACLs and accesses", "random"),
    NamedRule("random-changes", "All rules together: random changes and lists of ACLs", "random"),
)
NEEDS_BROKER: Final = re.compile(
    r"a denied element carries|a list has what|tokens of others|what (is|super users are) "
    r"|.*in open fetch sessions"
)
"""Mistakes in the responses of a broker, which no authorizer can make."""


def named_rule(rule: Rule) -> NamedRule | None:
    """Return the rule that a recorded one belongs to; None if it is about a broker."""
    if NEEDS_BROKER.match(rule.mistake):
        return None
    return next(
        each for each in NAMED_RULES if each.mistakes and re.match(each.mistakes, rule.mistake)
    )

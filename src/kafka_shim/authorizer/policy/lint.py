"""Find probable mistakes in the ACLs of files, alone and together."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import msgspec

from kafka_shim.authorizer.acl_names import camel_case
from kafka_shim.authorizer.acl_releases import rules_of
from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import ANY_USER, WILDCARD, Acl, Because, Decision
from kafka_shim.authorizer.networks import as_clients_have_it
from kafka_shim.authorizer.policy.effect import Effects
from kafka_shim.authorizer.policy.questions import asked_operations
from kafka_shim.authorizer.policy.shadow import shadow_of
from kafka_shim.authorizer.rules import AclRules
from kafka_shim.authorizer.validate import check_acl
from kafka_shim.protocol.enums import Operation, PatternType, Permission, ResourceType

KINDS: Final = {
    "duplicate": "the same ACL is written twice",
    "release": "the release cannot express the ACL",
    "operation": "the operation does not exist for resources of this type",
    "name": "no resource, principal or host can have this name",
    "everybody": "the ACL allows everybody",
    "prefix": "the prefix ends in the middle of a word",
    "shadowed": "one broader ACL already covers it",
    "redundant": "other ACLs for the same resource, or several together, already cover it",
    "ineffective": "a DENY overrules it, or it denies what nothing allows",
}
"""What is found, by name."""

_TOPIC = re.compile(r"[a-zA-Z0-9._-]{1,249}")


class Written(msgspec.Struct, frozen=True):
    """An ACL with its place in a file."""

    acl: Acl
    path: str
    line: int


class Finding(msgspec.Struct, frozen=True):
    """A finding in words, with the ACLs that cause it."""

    kind: str
    written: Written
    said: str
    because: tuple[Written, ...] = ()


def lint(
    written: Sequence[Written], authorizer: StandardAuthorizer, release: str
) -> Iterator[Finding]:
    """Return all findings, in the order of the ACLs, which are added to the empty authorizer.

    If one shadowed, redundant or ineffective ACL is removed, no decision changes.
    Raise OverlookingError for a release whose decisions cannot be computed for all names.
    """
    first: dict[Acl, Written] = {}
    refused: dict[Acl, str] = {}
    for each in written:
        refusal = check_acl(each.acl, rules_of(release))
        if refusal is None:
            authorizer.store.add(each.acl)
        else:
            refused[each.acl] = refusal.message or refusal.error.name
        first.setdefault(each.acl, each)
    among = _Among(authorizer, release, first)
    for each in written:
        if first[each.acl] is not each:
            yield Finding("duplicate", each, "written before", (first[each.acl],))
        elif each.acl in refused:
            yield Finding("release", each, f"Kafka {release} refuses it: {refused[each.acl]}")
        else:
            alone = list(_alone(each, release))
            yield from alone
            if not any(finding.kind in ("operation", "name") for finding in alone):
                yield from among.findings(each)


def _alone(written: Written, release: str) -> Iterator[Finding]:
    """Yield findings that do not depend on other ACLs."""
    acl = written.acl
    known = asked_operations(release).get(acl.resource_type, ())
    if acl.operation is not Operation.ALL and acl.operation not in known:
        names = ", ".join(camel_case(operation) for operation in known)
        kind = camel_case(acl.resource_type)
        yield Finding("operation", written, f"{kind} has no such operation; it has {names}")
    for said in (_odd_name(acl), _odd_principal(acl), _odd_host(acl, rules_of(release))):
        if said:
            yield Finding("name", written, said)
    if acl.principal == ANY_USER and acl.permission is Permission.ALLOW:
        yield Finding("everybody", written, "everybody is allowed")
    if acl.pattern_type is PatternType.PREFIXED and acl.resource_name[-1:].isalnum():
        stem = acl.resource_name
        said = f"the prefix ends within a word: it also covers `{stem}x`"
        yield Finding("prefix", written, said)


def _odd_name(acl: Acl) -> str | None:
    name = acl.resource_name
    if acl.pattern_type is PatternType.LITERAL:
        if name.endswith(WILDCARD) and name != WILDCARD:
            return f"only `{name}` itself matches; did you mean the prefix `{name[:-1]}`?"
        if acl.resource_type is ResourceType.TOPIC and name != WILDCARD and not _is_topic(name):
            return f"no topic can have the name `{name}`"
    elif acl.resource_type is ResourceType.TOPIC and name and not _is_topic(name):
        return f"no topic's name can begin with `{name}`"
    return None


def _is_topic(name: str) -> bool:
    return _TOPIC.fullmatch(name) is not None and name not in (".", "..")


def _odd_principal(acl: Acl) -> str | None:
    if acl.principal.endswith(WILDCARD) and acl.principal != ANY_USER:
        return f"only `{acl.principal}` itself matches: principals have no patterns"
    return None


def _odd_host(acl: Acl, rules: AclRules) -> str | None:
    host = acl.host
    if host == WILDCARD or "%" in host or ("/" in host and rules.host_networks):
        return None
    written = as_clients_have_it(host)
    if written is None:
        networks = "" if rules.host_networks or "/" not in host else " (networks came with 4.4)"
        return f"no client's host is `{host}`: brokers compare addresses{networks}"
    if written == host:
        return None
    return f"brokers write this host as `{written}`, and compare hosts as text"


def _as_kafka_acls_writes(acl: Acl, other: Acl) -> bool:
    """Return whether it is Describe beside Read or Write, as
    `--producer` and `--consumer` add it.
    """
    return (
        acl.resource_type in (ResourceType.TOPIC, ResourceType.TRANSACTIONAL_ID)
        and acl.operation is Operation.DESCRIBE
        and other.operation in (Operation.READ, Operation.WRITE)
        and msgspec.structs.replace(other, operation=acl.operation) == acl
    )


class _Among:
    """Findings that depend on the other ACLs."""

    def __init__(
        self, authorizer: StandardAuthorizer, release: str, places: dict[Acl, Written]
    ) -> None:
        self._authorizer, self._release, self._places = authorizer, release, places
        self._effects = Effects(authorizer, release)

    def findings(self, written: Written) -> Iterator[Finding]:
        acl = written.acl
        other = shadow_of(acl, self._authorizer.store, self._release)
        if other is not None:
            if not _as_kafka_acls_writes(acl, other):
                yield self._shadowed(written, other)
            return
        decisions = self._effects.decisions_without(acl)
        if decisions is not None:
            yield self._without_effect(written, decisions)

    def _shadowed(self, written: Written, other: Acl) -> Finding:
        acl, because = written.acl, (self._places[other],)
        if other.permission is not acl.permission:
            return Finding("ineffective", written, "a DENY overrules it", because)
        if msgspec.structs.replace(other, operation=acl.operation) == acl:
            return Finding("redundant", written, "another operation includes it", because)
        return Finding("shadowed", written, "a broader ACL covers it", because)

    def _without_effect(self, written: Written, decisions: Iterable[Decision]) -> Finding:
        """Return why no decision changes without the ACL."""
        reasons = {decision.because for decision in decisions}
        acls = [decision.acl for decision in decisions if decision.acl is not None]
        because = tuple(self._places[acl] for acl in dict.fromkeys(acls))
        is_allow = written.acl.permission is Permission.ALLOW
        if reasons == {Because.SUPER_USER}:
            return Finding("ineffective", written, "the principal is a super user")
        if is_allow and all(acl.permission is Permission.DENY for acl in acls):
            return Finding("ineffective", written, "DENYs overrule it", because)
        if not is_allow and not acls:
            return Finding("ineffective", written, "nothing that it denies is allowed")
        return Finding("redundant", written, "other ACLs together already cover it", because)

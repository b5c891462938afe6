"""Authorizers with one wrong rule each, and the mistake that a report must name.

`mistake` is a regular expression that must match the report; tests know no names of classes.
"""

import fnmatch
import ipaddress
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from kafka_shim.authorizer.authorizer import AclCreateResult, AclDeleteResult
from kafka_shim.authorizer.model import Acl, AclFilter, Action, Actor, Decision
from kafka_shim.protocol.enums import Operation, PatternType, Permission, ResourceType
from tests.mutants.plain_authorizer import PlainAuthorizer


def is_prefixed(acl: Acl) -> bool:
    return acl.pattern_type is PatternType.PREFIXED


def is_wildcard(acl: Acl) -> bool:
    return acl.pattern_type is PatternType.LITERAL and acl.resource_name == "*"


def is_deny(acl: Acl) -> bool:
    return acl.permission is Permission.DENY


class _DeniesSelected(PlainAuthorizer):
    """Ignores DENY of some ACLs."""

    def denies(self, acl: Acl) -> bool:
        return True

    def deny_covers(self, acl: Acl, operation: Operation) -> bool:
        return super().deny_covers(acl, operation) and self.denies(acl)


class PrefixedDenyIgnored(_DeniesSelected):
    mistake = "DENY on a prefix is ignored"

    def denies(self, acl: Acl) -> bool:
        return not is_prefixed(acl)


class LiteralDenyIgnored(_DeniesSelected):
    mistake = "DENY on a name is ignored"

    def denies(self, acl: Acl) -> bool:
        return is_prefixed(acl) or is_wildcard(acl)


class WildcardDenyIgnored(_DeniesSelected):
    mistake = r"DENY on `\*` is ignored"

    def denies(self, acl: Acl) -> bool:
        return not is_wildcard(acl)


class DenyOfAnyUserIgnored(_DeniesSelected):
    mistake = r"DENY of User:\* is ignored"

    def denies(self, acl: Acl) -> bool:
        return acl.principal != "User:*"


class DenyOfUserIgnored(_DeniesSelected):
    mistake = "DENY of User:bob is ignored"

    def denies(self, acl: Acl) -> bool:
        return acl.principal == "User:*"


class DenyOfHostIgnored(_DeniesSelected):
    mistake = r"DENY from 127\.0\.0\.1 is ignored"

    def denies(self, acl: Acl) -> bool:
        return acl.host == "*"


class DenyOfAllIgnored(_DeniesSelected):
    mistake = "DENY of All is ignored"

    def denies(self, acl: Acl) -> bool:
        return acl.operation is not Operation.ALL


class DenyOfOperationIgnored(_DeniesSelected):
    mistake = "DENY of an operation is ignored"

    def denies(self, acl: Acl) -> bool:
        return acl.operation is Operation.ALL


class DenyOfAllLeavesDescribe(PlainAuthorizer):
    mistake = "DENY of All leaves DESCRIBE"

    def deny_covers(self, acl: Acl, operation: Operation) -> bool:
        leaves = acl.operation is Operation.ALL and operation is Operation.DESCRIBE
        return super().deny_covers(acl, operation) and not leaves


class LiteralAllowWins(PlainAuthorizer):
    mistake = r"DENY on a prefix is ignored \(beside ALLOW on a name\)"

    def decide(self, allowing: Sequence[Acl], denying: Sequence[Acl]) -> bool:
        is_literal = any(not is_prefixed(acl) and not is_wildcard(acl) for acl in allowing)
        return super().decide(
            allowing, [acl for acl in denying if not (is_literal and is_prefixed(acl))]
        )


class AllowWins(PlainAuthorizer):
    mistake = "DENY on a name is ignored"

    def decide(self, allowing: Sequence[Acl], denying: Sequence[Acl]) -> bool:
        return bool(allowing)


class MoreSpecificWins(PlainAuthorizer):
    mistake = "ALLOW on a more specific pattern wins"

    def decide(self, allowing: Sequence[Acl], denying: Sequence[Acl]) -> bool:
        lengths = [
            max((_specificity(acl) for acl in part), default=(-1, 0))
            for part in (allowing, denying)
        ]
        return bool(allowing) and lengths[0] > lengths[1]


def _specificity(acl: Acl) -> tuple[int, int]:
    if is_wildcard(acl):
        return 0, 0
    return (1, len(acl.resource_name)) if is_prefixed(acl) else (2, 0)


class OnlyMostSpecific(PlainAuthorizer):
    mistake = "an ACL on a more specific pattern hides the others"

    def allows(self, actor: Actor, action: Action) -> bool:
        if self.is_super_user(actor.principal):
            return True
        every = [acl for acl in self.stored.acls(AclFilter()) if self.is_about(acl, action)]
        best = max(map(_specificity, every), default=None)
        entries = [acl for acl in self.entries(actor) if acl in every and _specificity(acl) == best]
        return self.decide(
            [acl for acl in entries if self.allow_covers(acl, action.operation)],
            [acl for acl in entries if self.deny_covers(acl, action.operation)],
        )


class AllowedWithoutAcls(PlainAuthorizer):
    mistake = "without ACLs everything is allowed"

    def decide(self, allowing: Sequence[Acl], denying: Sequence[Acl]) -> bool:
        return not denying


class DenyImplies(PlainAuthorizer):
    mistake = "DENY of (READ|WRITE|DELETE|ALTER) also denies DESCRIBE"

    def deny_covers(self, acl: Acl, operation: Operation) -> bool:
        is_implied = is_deny(acl) and operation in self.implied_by(acl.operation)
        return super().deny_covers(acl, operation) or is_implied


class DenyOfDescribeLeavesImplied(PlainAuthorizer):
    mistake = "DENY of DESCRIBE leaves what is implied"

    def decide(self, allowing: Sequence[Acl], denying: Sequence[Acl]) -> bool:
        denies_only_describe = all(acl.operation is Operation.DESCRIBE for acl in denying)
        is_implied = any(
            acl.operation not in (Operation.DESCRIBE, Operation.ALL) for acl in allowing
        )
        return bool(allowing) and (not denying or (denies_only_describe and is_implied))


class DenyOfDescribeDeniesMore(PlainAuthorizer):
    mistake = "DENY of DESCRIBE also denies what implies it"

    def deny_covers(self, acl: Acl, operation: Operation) -> bool:
        is_more = is_deny(acl) and acl.operation in self.implied_by(operation)
        return super().deny_covers(acl, operation) or is_more


class _OtherImplication(PlainAuthorizer):
    """Implies more, or less."""

    missing: tuple[Operation, Operation] | None = None
    additional: tuple[Operation, Operation] | None = None

    def implied_by(self, operation: Operation) -> Sequence[Operation]:
        implied = list(super().implied_by(operation))
        if self.missing is not None and self.missing[0] is operation:
            implied.remove(self.missing[1])
        if self.additional is not None and self.additional[0] is operation:
            implied.append(self.additional[1])
        return implied


class ReadDoesNotImply(_OtherImplication):
    mistake = "ALLOW of READ does not imply DESCRIBE"

    missing = (Operation.READ, Operation.DESCRIBE)


class WriteDoesNotImply(_OtherImplication):
    mistake = "ALLOW of WRITE does not imply DESCRIBE"

    missing = (Operation.WRITE, Operation.DESCRIBE)


class DeleteDoesNotImply(_OtherImplication):
    mistake = "ALLOW of DELETE does not imply DESCRIBE"

    missing = (Operation.DELETE, Operation.DESCRIBE)


class AlterDoesNotImply(_OtherImplication):
    mistake = "ALLOW of ALTER does not imply DESCRIBE"

    missing = (Operation.ALTER, Operation.DESCRIBE)


class AlterConfigsDoesNotImply(_OtherImplication):
    mistake = "ALLOW of ALTER_CONFIGS does not imply DESCRIBE_CONFIGS"

    missing = (Operation.ALTER_CONFIGS, Operation.DESCRIBE_CONFIGS)


class CreateImplies(_OtherImplication):
    mistake = "ALLOW of CREATE implies DESCRIBE"

    additional = (Operation.CREATE, Operation.DESCRIBE)


class DescribeConfigsImplies(_OtherImplication):
    mistake = "ALLOW of DESCRIBE_CONFIGS implies DESCRIBE"

    additional = (Operation.DESCRIBE_CONFIGS, Operation.DESCRIBE)


class ClusterActionImplies(_OtherImplication):
    mistake = "ALLOW of CLUSTER_ACTION implies DESCRIBE"

    additional = (Operation.CLUSTER_ACTION, Operation.DESCRIBE)


class DescribeCoversRead(_OtherImplication):
    mistake = r"ALLOW covers other operations \(DESCRIBE\)"

    additional = (Operation.DESCRIBE, Operation.READ)


class NamesWithoutCase(PlainAuthorizer):
    mistake = "names are compared without case"

    def has_literal(self, literal: str, name: str) -> bool:
        return super().has_literal(literal.lower(), name.lower())


class LiteralIsPrefix(PlainAuthorizer):
    mistake = "a literal name covers names that begin with it"

    def has_literal(self, literal: str, name: str) -> bool:
        return super().has_literal(literal, name) or name.startswith(literal)


class LiteralIsGlob(PlainAuthorizer):
    mistake = "a literal name is read as a pattern"

    def has_literal(self, literal: str, name: str) -> bool:
        return super().has_literal(literal, name) or (
            literal != "*" and fnmatch.fnmatchcase(name, literal)
        )


class PrefixesWithoutCase(PlainAuthorizer):
    mistake = "prefixes are compared without case"

    def has_prefix(self, prefix: str, name: str) -> bool:
        return super().has_prefix(prefix.lower(), name.lower())


class PrefixAnywhere(PlainAuthorizer):
    mistake = "a prefix covers names that contain it"

    def has_prefix(self, prefix: str, name: str) -> bool:
        return prefix in name


class PrefixIgnored(PlainAuthorizer):
    mistake = r"a prefix is ignored( \(ALLOW\))?"

    def has_prefix(self, prefix: str, name: str) -> bool:
        return False


class EqualPrefixIgnored(PlainAuthorizer):
    mistake = "a prefix that equals the name is ignored"

    def has_prefix(self, prefix: str, name: str) -> bool:
        return super().has_prefix(prefix, name) and prefix != name


class ShortPrefixesOnly(PlainAuthorizer):
    mistake = "a long prefix is ignored"

    def has_prefix(self, prefix: str, name: str) -> bool:
        return super().has_prefix(prefix, name) and len(prefix) < 32


class FirstLettersOfPrefix(PlainAuthorizer):
    mistake = "only the first letters of a prefix count"

    def has_prefix(self, prefix: str, name: str) -> bool:
        return super().has_prefix(prefix[:8], name)


class PrefixedStarCoversAll(PlainAuthorizer):
    mistake = r"a prefix `\*` covers all names"

    def has_prefix(self, prefix: str, name: str) -> bool:
        return super().has_prefix(prefix, name) or prefix == "*"


class WildcardIgnored(PlainAuthorizer):
    mistake = r"`\*` is ignored"

    def has_literal(self, literal: str, name: str) -> bool:
        return literal == name


class WildcardCoversStarredNames(PlainAuthorizer):
    mistake = r"`\*` covers names that begin with `\*`"

    def has_literal(self, literal: str, name: str) -> bool:
        return literal in (name, "*")


class PrincipalsWithoutCase(PlainAuthorizer):
    mistake = "principals are compared without case"

    def has_principal(self, acl: Acl, principal: str) -> bool:
        return (
            super().has_principal(replace(acl, principal=acl.principal.lower()), principal.lower())
            or acl.principal == "User:*"
        )


class PrincipalIsPrefix(PlainAuthorizer):
    mistake = "a principal covers names that begin with it"

    def has_principal(self, acl: Acl, principal: str) -> bool:
        return super().has_principal(acl, principal) or principal.startswith(acl.principal)


class PrincipalWithStar(PlainAuthorizer):
    mistake = "a principal's name is read as a pattern"

    def has_principal(self, acl: Acl, principal: str) -> bool:
        is_pattern = acl.principal.endswith("*") and principal.startswith(acl.principal[:-1])
        return super().has_principal(acl, principal) or is_pattern


class PrincipalTypeIgnored(PlainAuthorizer):
    mistake = "a principal's type is ignored"

    def has_principal(self, acl: Acl, principal: str) -> bool:
        return acl.principal.partition(":")[2] in ("*", principal.partition(":")[2])


class AnyUserIgnored(PlainAuthorizer):
    mistake = r"ACLs of User:\* are ignored"

    def has_principal(self, acl: Acl, principal: str) -> bool:
        return acl.principal == principal


class HostsIgnored(PlainAuthorizer):
    mistake = "hosts are ignored"

    def has_host(self, acl: Acl, host: str) -> bool:
        return True


class HostsAsPrefixes(PlainAuthorizer):
    mistake = "hosts are compared as prefixes"

    def has_host(self, acl: Acl, host: str) -> bool:
        return super().has_host(acl, host) or acl.host.startswith(host)


class HostIgnored(PlainAuthorizer):
    mistake = "ACLs of a host are ignored"

    def has_host(self, acl: Acl, host: str) -> bool:
        return acl.host == "*"


class NetworksIgnored(PlainAuthorizer):
    mistake = "networks are ignored"

    def is_in_network(self, network: str, host: str) -> bool:
        return False


class NetworksTooLarge(PlainAuthorizer):
    mistake = "a network covers addresses outside"

    def is_in_network(self, network: str, host: str) -> bool:
        address = network.partition("/")[0]
        return ":" not in address and super().is_in_network(f"{address}/8", host)


class NetworksOfBothVersions(PlainAuthorizer):
    mistake = "a network of IPv6 covers IPv4"

    def is_in_network(self, network: str, host: str) -> bool:
        found = ipaddress.ip_network(network, strict=False)
        return super().is_in_network(network, host) or found.prefixlen == 0


class TypesIgnored(PlainAuthorizer):
    mistake = "ACLs of one type apply to another"

    def has_type(self, acl: Acl, resource_type: ResourceType) -> bool:
        return ResourceType.CLUSTER not in (acl.resource_type, resource_type) or super().has_type(
            acl, resource_type
        )


class GroupsAsTopics(PlainAuthorizer):
    mistake = "ACLs of one type apply to another"

    def has_type(self, acl: Acl, resource_type: ResourceType) -> bool:
        kinds = {ResourceType.TOPIC, ResourceType.GROUP}
        return super().has_type(acl, resource_type) or {acl.resource_type, resource_type} == kinds


class SuperUsersWithoutCase(PlainAuthorizer):
    mistake = "super users are compared without case"

    def is_super_user(self, principal: str) -> bool:
        return principal.lower() in [each.lower() for each in self.super_users]


class SuperUserIsPrefix(PlainAuthorizer):
    mistake = "a super user's name is a prefix"

    def is_super_user(self, principal: str) -> bool:
        return principal.startswith(self.super_users)


class SuperUserTypeIgnored(PlainAuthorizer):
    mistake = "a super user's type is ignored"

    def is_super_user(self, principal: str) -> bool:
        names = [each.partition(":")[2] for each in self.super_users]
        return principal.partition(":")[2] in names


class SuperUserOfAllUsers(PlainAuthorizer):
    mistake = r"User:\* is a super user"

    def is_super_user(self, principal: str) -> bool:
        return super().is_super_user(principal) or "User:*" in self.super_users


class SuperUsersObeyDeny(PlainAuthorizer):
    mistake = r"super users need ACLs \(beside DENY"

    def allows(self, actor: Actor, action: Action) -> bool:
        denying = [
            acl
            for acl in self.entries(actor)
            if self.is_about(acl, action) and self.deny_covers(acl, action.operation)
        ]
        return super().allows(actor, action) and not denying


class AnyResourceAlwaysAllowed(PlainAuthorizer):
    mistake = "any resource: without ACLs it is allowed"

    def allows_any(self, entries: Sequence[Acl]) -> bool:
        return True


class AnyResourceWithoutDeny(PlainAuthorizer):
    mistake = "any resource: DENY on the name is ignored"

    def denies_all_of(self, deny: Acl, allow: Acl) -> bool:
        return False


class AnyResourceWithoutPrefixedDeny(PlainAuthorizer):
    mistake = "any resource: DENY on a prefix of the name is ignored"

    def denies_all_of(self, deny: Acl, allow: Acl) -> bool:
        return super().denies_all_of(deny, allow) and not is_prefixed(deny)


class AnyResourceDenyOfNameCoversPrefix(PlainAuthorizer):
    mistake = "any resource: DENY on a name covers a prefix"

    def is_literal(self, acl: Acl) -> bool:
        return True


class AnyResourceDenyOfLongerPrefix(PlainAuthorizer):
    mistake = "any resource: DENY on a longer prefix covers all"

    def denies_all_of(self, deny: Acl, allow: Acl) -> bool:
        is_longer = is_prefixed(deny) and deny.resource_name.startswith(allow.resource_name)
        return super().denies_all_of(deny, allow) or (is_longer and is_prefixed(allow))


class AnyResourceWithOtherOperations(PlainAuthorizer):
    mistake = "any resource: ALLOW of READ counts"

    def counts_for_any(self, acl: Acl, operation: Operation) -> bool:
        return True


class OneDecisionOfResources(PlainAuthorizer):
    mistake = "a decision is used for another resource"

    def __init__(self) -> None:
        super().__init__()
        self.decisions: dict[object, Decision] = {}
        self.held: list[Acl] = []

    def key(self, actor: Actor, action: Action) -> object:
        return actor, action.operation, action.resource_type

    def authorize(self, actor: Actor, action: Action) -> Decision:
        if self.held != (held := list(self.stored.acls(AclFilter()))):
            self.decisions.clear()
            self.held = held
        key = self.key(actor, action)
        return self.decisions.setdefault(key, super().authorize(actor, action))


class OneDecisionOfUsers(OneDecisionOfResources):
    mistake = "a decision is used for another user"

    def key(self, actor: Actor, action: Action) -> object:
        is_super = self.is_super_user(actor.principal)
        return is_super, action.operation, action.resource_type, action.resource_name


class OneDecisionOfOperations(OneDecisionOfResources):
    mistake = "a decision is used for another operation"

    def key(self, actor: Actor, action: Action) -> object:
        return actor, action.resource_type, action.resource_name


class DecisionsKept(OneDecisionOfResources):
    mistake = "a new DENY is not applied"

    def key(self, actor: Actor, action: Action) -> object:
        return actor, action

    def authorize(self, actor: Actor, action: Action) -> Decision:
        key = self.key(actor, action)
        return self.decisions.setdefault(key, PlainAuthorizer.authorize(self, actor, action))


class AnyResourceDecisionsKept(PlainAuthorizer):
    mistake = "any resource: a change is not applied"

    def __init__(self) -> None:
        super().__init__()
        self.decisions: dict[object, Decision] = {}

    def authorize_by_resource_type(
        self, actor: Actor, operation: Operation, resource_type: ResourceType
    ) -> Decision:
        if not list(self.stored.acls(AclFilter())):
            self.decisions.clear()
        found = super().authorize_by_resource_type(actor, operation, resource_type)
        return self.decisions.setdefault((actor, operation, resource_type), found)


class MatchSelectsLiterals(PlainAuthorizer):
    mistake = "filters of ACLs by the pattern type MATCH"

    def acls(self, acl_filter: AclFilter) -> Iterable[Acl]:
        if acl_filter.pattern_type is PatternType.MATCH:
            acl_filter = replace(acl_filter, pattern_type=PatternType.LITERAL)
        return super().acls(acl_filter)


class PrincipalFilterIgnored(PlainAuthorizer):
    mistake = "filters of ACLs by the principal"

    def acls(self, acl_filter: AclFilter) -> Iterable[Acl]:
        return super().acls(replace(acl_filter, principal=None))


class HostFilterIgnored(PlainAuthorizer):
    mistake = "filters of ACLs by the host"

    def acls(self, acl_filter: AclFilter) -> Iterable[Acl]:
        return super().acls(replace(acl_filter, host=None))


class DeletesBothPatterns(PlainAuthorizer):
    mistake = "DeleteAcls returns more elements of matchingAcls"

    def delete_acls(self, actor: Actor, filters: Sequence[AclFilter]) -> list[AclDeleteResult]:
        both = [replace(each, pattern_type=PatternType.ANY) for each in filters]
        return super().delete_acls(actor, both)


class DeletionsReversed(PlainAuthorizer):
    mistake = "DeleteAcls returns filterResults in another order"

    def delete_acls(self, actor: Actor, filters: Sequence[AclFilter]) -> list[AclDeleteResult]:
        return super().delete_acls(actor, filters)[::-1]


class HostsNotStored(PlainAuthorizer):
    mistake = r"does not hold the ACL .*, host: 127\.0\.0\.1} but {(?!.*host)"

    def create_acls(self, actor: Actor, acls: Sequence[Acl]) -> list[AclCreateResult]:
        return super().create_acls(actor, [replace(acl, host="*") for acl in acls])


class NothingDeleted(PlainAuthorizer):
    mistake = "still holds the ACL"

    def delete_acls(self, actor: Actor, filters: Sequence[AclFilter]) -> list[AclDeleteResult]:
        return [AclDeleteResult() for _ in filters]


class DeniesNotStored(PlainAuthorizer):
    mistake = "does not hold the ACL .*permissionType=DENY"

    def create_acls(self, actor: Actor, acls: Sequence[Acl]) -> list[AclCreateResult]:
        super().create_acls(actor, [acl for acl in acls if not is_deny(acl)])
        return [AclCreateResult() for _ in acls]


WRONG_AUTHORIZERS = tuple(
    each
    for each in list(globals().values())
    if isinstance(each, type)
    and issubclass(each, PlainAuthorizer)
    and each is not PlainAuthorizer
    and not each.__name__.startswith("_")
)

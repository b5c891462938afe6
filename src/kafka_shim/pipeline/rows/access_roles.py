"""The role of an access in its request: needed, one of several alternatives, or only a lookup.

A broker stops checking when a requirement is met, so the accesses of a request depend on the ACLs
at that time. To decide with another ACL set, the alternatives must be known.
"""

from collections.abc import Collection, Sequence
from functools import cache
from typing import Final

import msgspec

from kafka_shim.authorizer.acl_rules import NEWEST_RULES, supported_operations
from kafka_shim.authorizer.decide import PROBED_NAME as PROBE_NAME
from kafka_shim.authorizer.model import WILDCARD
from kafka_shim.authorizer.requirement import WITHOUT_ERROR, DenialEffect
from kafka_shim.authorizer.requirements import (
    DESCRIBE_CLUSTER_OPERATIONS,
    METADATA_CLUSTER_OPERATIONS,
    TABLE,
    bound_requirements,
)
from kafka_shim.pipeline.rows.access_row import resource_type_of
from kafka_shim.protocol.codec.resource_names import ResourceNames
from kafka_shim.protocol.enums import CLUSTER_NAME, ApiKey, Operation, ResourceType
from kafka_shim.trace_format.entries import Access

REQUIRED = "required"
EITHER = "either"
"""One of several accesses of which any suffices; the last that was asked."""
REFUSED = "refused"
"""Another denial fails the request or this resource in it, so this decision may change nothing."""
PASSED = "passed"
"""Allowed before another denial failed the request; its denial would have been another error."""
TRIED = "tried"
"""One of several that was denied, whereupon the next was asked."""
LISTED = "listed"
"""A denial leaves a name or a field out of the response and refuses nothing."""
UNSHOWN = "unshown"
"""As `LISTED`, but the response may lack the name for another reason, such as a filter."""
LISTS = (LISTED, UNSHOWN)
PROBE = "probe"
"""Asked to fill a field of authorized operations (KIP-430)."""
POSSIBLE = "possible"
"""Derived: asked in some states of the broker only, such as whether a topic exists."""
UNNAMED = "unnamed"
"""Derived: the request does not tell the name, such as a topic id that nothing explains."""

UNLOGGED = "unlogged"
"""Denied by the log, but for a made-up name: whether an ACL on any resource allows it, the log does
not show (KIP-679)."""

UNATTRIBUTED = "unattributed"
"""The log does not name the request, or not whether it asked for a list, so what a denial means is
unknown; an allowed one was used.
"""
UNIDENTIFIED = "unidentified"
"""Of a client whose principal the trace does not show, so no ACL can be judged by it."""
_LEFT_OUT_OF_LISTS = "a denial only leaves a name or a field out of a response; --lists counts them"
LEFT_OUT: Final = {
    UNIDENTIFIED: "the trace does not show whose they are: it lacks the authentication",
    PROBE: "they only fill a field of authorized operations",
    TRIED: "the broker then checked an alternative, which decided the request",
    LISTED: _LEFT_OUT_OF_LISTS,
    UNSHOWN: _LEFT_OUT_OF_LISTS,
    POSSIBLE: "they depend on the state of the broker",
    UNNAMED: "the trace does not show the name of the resource",
    UNLOGGED: "an authorizer's log does not show whether ACLs on any resource allowed them",
}
"""Why jobs about ACLs leave out accesses of a role."""
UNKNOWN_DECISION: Final = "the trace does not show whether they were allowed"
WITHOUT_CERTAIN_EFFECT: Final = (REFUSED, UNSHOWN, UNLOGGED)
"""Roles of accesses after whose opposite decision the response may be the same."""

ApiOperationAndType = tuple[int, int, int]
"""API key, operation, resource type."""

_RULES = (NEWEST_RULES, msgspec.structs.replace(NEWEST_RULES, has_group_config_operations=False))
_LISTING = {
    ApiKey.METADATA,
    ApiKey.DESCRIBE_CLUSTER,
    ApiKey.DESCRIBE_GROUPS,
    ApiKey.CONSUMER_GROUP_DESCRIBE,
    ApiKey.SHARE_GROUP_DESCRIBE,
    ApiKey.STREAMS_GROUP_DESCRIBE,
}
"""APIs whose responses can have authorized operations."""
CLUSTER_OPERATIONS: Final = (METADATA_CLUSTER_OPERATIONS, DESCRIBE_CLUSTER_OPERATIONS)
"""Requirements whose denial only empties the authorized operations on the cluster."""


class Alternative(msgspec.Struct, frozen=True):
    """Another way to meet the same requirement; `on_any_resource`: on any resource of the type."""

    operation: Operation
    resource_type: ResourceType
    on_any_resource: bool


@cache
def accesses_to_any_resource() -> frozenset[ApiOperationAndType]:
    """Return the accesses to any resource of a type, which a trace records with the name `*`."""
    return frozenset(
        (row.api, need.operation, need.resource_type)
        for row in TABLE
        for need in row.any_of
        if need.any_name
    )


@cache
def _accesses_for_cluster_operations() -> frozenset[ApiOperationAndType]:
    return frozenset(
        (row.api, need.operation, need.resource_type)
        for row in CLUSTER_OPERATIONS
        for need in row.any_of
    )


@cache
def _denial_effects_by_access() -> dict[ApiOperationAndType, set[bool]]:
    """Return by access whether its denial is without an error, over all requirements."""
    found: dict[ApiOperationAndType, set[bool]] = {}
    for row in TABLE:
        is_harmless = {denial.effect for denial in row.denied} <= WITHOUT_ERROR
        for need in row.any_of:
            key = (row.api, need.operation, need.resource_type)
            found.setdefault(key, set()).add(is_harmless)
    return found


@cache
def _denial_effects_in_release(
    access: ApiOperationAndType,
    version: int | None,
    level: str,
    release: str,
    effects: frozenset[DenialEffect] = WITHOUT_ERROR,
) -> set[bool]:
    """Return whether a denial has one of these effects, over all requirements of a release.

    `version` is that of the request, None if it is unknown. `level` is that of a denial in an
    authorizer's log: TRACE for checks that Kafka makes with `logIfDenied` false.
    """
    found = {
        (
            {denial.effect for denial in bound.denials}
            if version is None
            else {bound.effect_in_version(version)}
        )
        <= effects
        for row, bound in bound_requirements(release).items()
        if version is None or bound.is_checked_in_version(version)
        for need in bound.needs
        if (row.api, need.operation, need.resource_type) == access
        and (not level or need.log_if_denied == (level != "TRACE"))
    }
    return found or _denial_effects_by_access()[access]


@cache
def apis_whose_roles_need_request_names(release: str) -> frozenset[int]:
    """Return the APIs for which roles depend on the names in the request."""
    listing = {key[0] for key, effects in _denial_effects_by_access().items() if len(effects) > 1}
    return frozenset(listing | {key for key, _, _ in alternatives_by_access(release)})


@cache
def alternatives_by_access(release: str) -> dict[ApiOperationAndType, frozenset[Alternative]]:
    """Return by access its alternatives in this release."""
    found: dict[ApiOperationAndType, frozenset[Alternative]] = {}
    for row, bound in bound_requirements(release).items():
        ways = {Alternative(n.operation, n.resource_type, n.any_name) for n in bound.needs}
        for way in ways if len(ways) > 1 else ():
            key = (row.api, way.operation, way.resource_type)
            found[key] = found.get(key, frozenset()) | (ways - {way})
    return found


@cache
def _fallback_accesses(release: str) -> frozenset[tuple[ApiOperationAndType, ...]]:
    """Return pairs of accesses: if the first is denied, the same request asks for the second."""
    found = set[tuple[ApiOperationAndType, ...]]()
    for row, bound in bound_requirements(release).items():
        ways = [(int(row.api), int(n.operation), int(n.resource_type)) for n in bound.needs]
        found.update(
            (way, other) for at, way in enumerate(ways) for other in ways[at + 1 :] if way != other
        )
    return frozenset(found)


def is_fallback(earlier: Access, later: Access, release: str) -> bool:
    """Return whether `later` is an alternative that a request asks for if `earlier` is denied."""
    keys = tuple(
        (each.api_key, int(each.operation), int(each.resource_type)) for each in (earlier, later)
    )
    return not earlier.allowed and keys in _fallback_accesses(release)


def has_probed_name(access: Access) -> bool:
    """Return whether it has the name with which a check of any resource of a type begins."""
    key = (access.api_key, access.operation, access.resource_type)
    return access.resource_name == PROBE_NAME and key in accesses_to_any_resource()


def access_roles(
    accesses: Sequence[Access],
    names: ResourceNames,
    release: str,
    *,
    is_logged: bool = False,
    listed_positions: Collection[int] = (),
) -> list[str]:
    """Return the role of each access of a request; accesses are in the order of the checks.

    `names` are those in the request; topics without one are of a list of all topics, as are the
    accesses at `listed_positions`. `is_logged`: the accesses are from an authorizer's log, which
    does not show the names.
    """
    found: list[str] = []
    while len(found) < len(accesses):
        at = len(found)
        run = _authorized_operations_count(accesses, at)
        if run:
            found += [PROBE] * run
        else:
            of_request = ResourceNames() if at in listed_positions else names
            found.append(_access_role(accesses, at, of_request, release, is_logged=is_logged))
    return found


def mark_refused_roles(accesses: Sequence[Access], roles: list[str], release: str) -> list[str]:
    """Return the roles with `REFUSED` or `PASSED` for what another denial of the request or of the
    resource made vain.
    """
    denied = {
        _action_key(access): _fails_request(access, release)
        for access, role in zip(accesses, roles, strict=True)
        if not access.allowed and role in _DECIDING
    }
    if not denied:
        return roles
    first_failure = next((action for action, fails in denied.items() if fails), None)
    found = []
    for access, role in zip(accesses, roles, strict=True):
        action = _action_key(access)
        if first_failure == action:
            first_failure = None
        if role not in _DECIDING or not any(
            other != action and (fails or other[1:] == action[1:])
            for other, fails in denied.items()
        ):
            found.append(role)
        elif (
            first_failure is not None
            and first_failure[1] != access.resource_type
            and _fails_request(access, release)
        ):
            found.append(PASSED)
        else:
            found.append(REFUSED)
    return found


_DECIDING = (REQUIRED, EITHER)
_OF_THE_WHOLE = frozenset({DenialEffect.TOP, DenialEffect.BOTH})


def _action_key(access: Access) -> tuple[int, int, str]:
    return access.operation, access.resource_type, access.resource_name


def _fails_request(access: Access, release: str) -> bool:
    """Return whether the denial of this access, if it fails something, fails the whole request."""
    key = (access.api_key, access.operation, access.resource_type)
    return True in _denial_effects_in_release(key, access.api_version, "", release, _OF_THE_WHOLE)


def _access_role(
    accesses: Sequence[Access],
    position: int,
    names: ResourceNames,
    release: str,
    *,
    is_logged: bool,
) -> str:
    access = accesses[position]
    key = (access.api_key, access.operation, access.resource_type)
    if access.api_key < 0:
        return UNATTRIBUTED
    if key not in _denial_effects_by_access() or key in _accesses_for_cluster_operations():
        return PROBE
    others = alternatives_by_access(release).get(key, ())
    later = {(follower.operation, follower.resource_type) for follower in accesses[position + 1 :]}
    if not access.allowed and any((each.operation, each.resource_type) in later for each in others):
        return TRIED
    level = "" if access.allowed else access.log_level
    version = None if is_logged else access.api_version
    without_error = _denial_effects_in_release(key, version, level, release)
    if is_logged and len(without_error) > 1:
        return UNATTRIBUTED
    if without_error == {True} or (len(without_error) > 1 and not _is_named(access, names)):
        return LISTED
    return EITHER if others else REQUIRED


def _is_named(access: Access, names: ResourceNames) -> bool:
    """Return whether the request names the resource, as OffsetFetch may for some groups only."""
    if names.topic_ids or access.resource_type != ResourceType.TOPIC:
        return bool(names.topics or names.topic_ids)
    return access.resource_name in names.topics


def _authorized_operations_count(accesses: Sequence[Access], position: int) -> int:
    """Return the number of accesses from here for a resource's authorized operations; 0: none."""
    first = accesses[position]
    if first.api_key not in _LISTING:
        return 0
    for rules in _RULES:
        wanted = supported_operations(resource_type_of(first.resource_type), rules)
        run = accesses[position : position + len(wanted)]
        if len(wanted) > 1 and tuple(access.operation for access in run) == wanted:
            same = (first.resource_type, first.resource_name)
            if all((access.resource_type, access.resource_name) == same for access in run):
                return len(wanted)
    return 0


def format_alternatives_of_access(access: Access, topics: Sequence[str], release: str) -> list[str]:
    """Return the accesses that, if all are allowed, meet the requirement instead of this one.

    The result is empty if they concern names that are only in the response, such as the
    tokens of DescribeDelegationToken.
    """
    key = (access.api_key, access.operation, access.resource_type)
    found: set[str] = set()
    for other in alternatives_by_access(release).get(key, ()):
        names: Sequence[str] = ()
        if other.resource_type is ResourceType.CLUSTER:
            names = (CLUSTER_NAME,)
        elif other.on_any_resource:
            names = (WILDCARD,)
        elif other.resource_type is ResourceType.TOPIC:
            names = topics
        found.update(
            format_alternative(other.operation, other.resource_type, name) for name in names
        )
    return sorted(found)


def format_alternative(operation: Operation, resource_type: ResourceType, name: str) -> str:
    """Return an entry of the column `instead`, such as `CREATE|TOPIC|orders`."""
    return f"{operation.name}|{resource_type.name}|{name}"


def split_alternative(text: str) -> tuple[str, str, str]:
    """Return operation, type and name in an entry of the column `instead`."""
    operation, resource_type, name = text.split("|", 2)
    return operation, resource_type, name

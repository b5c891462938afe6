"""ACL requests: KIP-140 (filters, partial failures) and KIP-290 (pattern types, both ways)."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from kafka_shim.authorizer.acl_releases import rules_of
from kafka_shim.protocol.api_versions import served_versions
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.shim.conformance.case import Family, Level
from kafka_shim.shim.conformance.case_context import (
    EVERYTHING,
    CaseContext,
    UnmetError,
    expect_error,
)
from kafka_shim.shim.conformance.denial import supports_api
from kafka_shim.shim.conformance.driver import Response

Acl = Mapping[str, Any]

_KIPS = Family("kips")
_ACLS = ApiKey.CREATE_ACLS
_HAS_PATTERNS = supports_api(_ACLS, 1)
ACL: Acl = {
    "resource_type": "TOPIC",
    "name": "orders",
    "pattern_type": "LITERAL",
    "principal": "User:bob",
    "host": "*",
    "operation": "READ",
    "permission": "ALLOW",
}
ANY: Acl = {
    "resource_type": "ANY",
    "name": None,
    "pattern_type": "ANY",
    "principal": None,
    "host": None,
    "operation": "ANY",
    "permission": "ANY",
}
LITERAL = ACL
PREFIXED = {**ACL, "name": "ord", "pattern_type": "PREFIXED"}
WILDCARD = {**ACL, "name": "*"}
OF_GROUP = {**ACL, "resource_type": "GROUP", "name": "workers"}
OTHER = {
    **ACL,
    "name": "payments",
    "principal": "User:carol",
    "host": "10.0.0.1",
    "operation": "WRITE",
    "permission": "DENY",
}


def _only_v0(release: str) -> bool:
    return served_versions(release)[_ACLS] == (0, 0)


def _deletes_any(release: str) -> bool:
    """Whether the broker deletes by a filter with pattern type ANY and all else set."""
    return _HAS_PATTERNS(release) and not rules_of(release).exact_deletions


async def stored(context: CaseContext) -> list[Acl]:
    """Return the ACLs of all principals except the user, in the form of the contract."""
    return [
        {
            "resource_type": acl.resource_type.name,
            "name": acl.resource_name,
            "pattern_type": acl.pattern_type.name,
            "principal": acl.principal,
            "host": acl.host,
            "operation": acl.operation.name,
            "permission": acl.permission.name,
        }
        for acl in await context.acls_of_other_users()
    ]


def _names(acls: Any) -> list[str]:
    return sorted(f"{acl['pattern_type']} {acl['resource_type']} {acl['name']}" for acl in acls)


def _expect_same(wanted: list[Acl], found: list[Acl]) -> None:
    if sorted(map(str, map(_sorted, wanted))) != sorted(map(str, map(_sorted, found))):
        raise UnmetError(f"these ACLs: {_names(wanted)}", f"there are {_names(found)}: {found}")


def _sorted(acl: Acl) -> list[tuple[str, Any]]:
    return sorted(acl.items())


async def _prepare(context: CaseContext, *acls: Acl) -> None:
    await context.grant(*EVERYTHING)
    for acl in acls:
        await context.grant(
            {
                "principal": acl["principal"],
                acl["permission"].lower(): [acl["operation"]],
                acl["resource_type"].lower(): acl["name"],
                "pattern": acl["pattern_type"].lower(),
                "host": acl["host"],
            }
        )
    await context.open()


async def creates(acl: Acl, context: CaseContext) -> None:
    await _prepare(context)
    await context.done("create_acls", acls=[acl])
    _expect_same([acl], await stored(context))


for _name, _acl, _what in (
    ("literal", LITERAL, "a literal ACL"),
    ("prefixed", PREFIXED, "a prefixed ACL"),
    ("deny", OTHER, "a DENY ACL for one host"),
    ("wildcard", WILDCARD, "an ACL on all topics"),
    ("distinguished-name", {**ACL, "principal": "User:CN=bob,OU=shop,C=DE"}, "an ACL for a DN"),
    ("dotted-prefix", {**PREFIXED, "name": "shop.orders-"}, "a prefix with dot and hyphen"),
):
    _KIPS.add(
        f"acls.create-{_name}",
        f"create_acls creates {_what} exactly as given",
        partial(creates, _acl),
        origin="KIP-290" if _acl["pattern_type"] == "PREFIXED" else "KIP-140",
        response="ok",
        wire="the ACL in CreateAcls is the one of the command",
        commands="create_acls",
        capabilities="prefixed-acls" if _acl["pattern_type"] == "PREFIXED" else "",
        possible=_HAS_PATTERNS if _acl["pattern_type"] == "PREFIXED" else supports_api(_ACLS),
        is_real=True,
    )

_FILTERS: tuple[tuple[str, Acl, tuple[Acl, ...], str], ...] = (
    (
        "any",
        ANY,
        (LITERAL, PREFIXED, WILDCARD, OF_GROUP, OTHER),
        "pattern type ANY, without a name: finds all ACLs",
    ),
    (
        "match",
        {**ACL, "pattern_type": "MATCH"},
        (LITERAL, PREFIXED, WILDCARD),
        "pattern type MATCH: finds all ACLs that apply to the name",
    ),
    (
        "any-pattern",
        {**ACL, "pattern_type": "ANY"},
        (LITERAL,),
        "pattern type ANY: finds ACLs with the name, of both pattern types",
    ),
    (
        "literal",
        {**ANY, "pattern_type": "LITERAL"},
        (LITERAL, WILDCARD, OF_GROUP, OTHER),
        "pattern type LITERAL: finds only literal ACLs",
    ),
    (
        "prefixed",
        {**ANY, "pattern_type": "PREFIXED"},
        (PREFIXED,),
        "pattern type PREFIXED: finds only prefixed ACLs",
    ),
    ("resource-type", {**ANY, "resource_type": "GROUP"}, (OF_GROUP,), "resource type"),
    ("principal", {**ANY, "principal": "User:carol"}, (OTHER,), "principal"),
    ("host", {**ANY, "host": "10.0.0.1"}, (OTHER,), "host"),
    ("operation", {**ANY, "operation": "WRITE", "principal": "User:carol"}, (OTHER,), "operation"),
    ("permission", {**ANY, "permission": "DENY"}, (OTHER,), "permission"),
)
_ALL_ACLS = (LITERAL, PREFIXED, WILDCARD, OF_GROUP, OTHER)


def _without_own(acls: list[Acl]) -> list[Acl]:
    return [acl for acl in acls if acl["principal"] != "User:alice"]


async def describes(wanted: Acl, found: tuple[Acl, ...], context: CaseContext) -> None:
    await _prepare(context, *_ALL_ACLS)
    response = await context.done("describe_acls", filter=wanted)
    _expect_same(list(found), _without_own(response["acls"]))


async def deletes(wanted: Acl, gone: tuple[Acl, ...], context: CaseContext) -> None:
    await _prepare(context, *_ALL_ACLS)
    response = await context.ask("delete_acls", filters=[wanted])
    item = response.item("0")
    if item.ok is None:
        raise UnmetError("delete_acls succeeds", f"the client reported {item}")
    _expect_same(list(gone), _without_own(item.ok["acls"]))
    _expect_same([acl for acl in _ALL_ACLS if acl not in gone], await stored(context))


for _name, _filter, _found, _what in _FILTERS:
    for _verb, _body in (("describe", describes), ("delete", deletes)):
        if _verb == "delete" and _name not in ("any-pattern", "match", "prefixed", "host"):
            continue  # with the same filter, only these differ when ACLs are deleted
        _KIPS.add(
            f"acls.{_verb}-{_name}",
            f"{_verb}_acls by {_what}",
            partial(_body, _filter, _found),
            origin="KIP-290"
            if _filter["pattern_type"] != "ANY" or _name == "any-pattern"
            else "KIP-140",
            response=f"these ACLs: {', '.join(_names(_found))}",
            commands=f"{_verb}_acls",
            capabilities="prefixed-acls",
            possible=_deletes_any if (_verb, _name) == ("delete", "any-pattern") else _HAS_PATTERNS,
            is_real=True,
        )

_UNKNOWN = 77


async def unknown(field: str, name: str, context: CaseContext) -> None:
    await _prepare(context, LITERAL)
    context.inject_error("DescribeAcls", set={field: _UNKNOWN}, times=0)
    response = await context.ask("describe_acls", filter=ANY)
    if response.ok is None:
        raise UnmetError("the ACLs, one with UNKNOWN", f"the client reported {response}")
    reported = {acl[name] for acl in response.ok["acls"]}
    if reported != {"UNKNOWN"}:
        raise UnmetError(f"{name} UNKNOWN", f"the client reported {sorted(reported)}")


for _field, _name in (
    ("resources.*.pattern_type", "pattern_type"),
    ("resources.*.resource_type", "resource_type"),
    ("resources.*.acls.*.operation", "operation"),
    ("resources.*.acls.*.permission_type", "permission"),
):
    _KIPS.add(
        f"acls.unknown-{_name.replace('_', '-')}",
        f"describe_acls reports an unknown {_name.replace('_', ' ')} as UNKNOWN",
        partial(unknown, _field, _name),
        origin="KIP-290" if _name == "pattern_type" else "KIP-140",
        response=f"an ACL with {_name} UNKNOWN",
        commands="describe_acls",
        possible=_HAS_PATTERNS,
        level=Level.SHOULD,
    )


@_KIPS.case(
    "acls.old-broker-literal",
    "create_acls creates a literal ACL on a broker without prefixed ACLs",
    origin="KIP-290",
    response="ok",
    wire="CreateAcls v0",
    commands="create_acls",
    possible=_only_v0,
    is_real=True,
)
async def old_literal(context: CaseContext) -> None:
    await creates(LITERAL, context)


@_KIPS.case(
    "acls.old-broker-prefixed",
    "create_acls rejects a prefixed ACL for a broker without them, and does not send a literal one",
    origin="KIP-290",
    response="an error",
    wire="no CreateAcls that would make a literal ACL",
    commands="create_acls",
    possible=_only_v0,
    is_real=True,
)
async def old_prefixed(context: CaseContext) -> None:
    await _prepare(context)
    response = await context.ask("create_acls", acls=[PREFIXED])
    if made := await stored(context):
        raise UnmetError("no ACL", f"there is {_names(made)}")
    if response.ok is not None and response.item("0").ok is not None:
        raise UnmetError("an error", f"the client reported {response}")


@_KIPS.case(
    "acls.old-broker-match",
    "describe_acls with pattern type MATCH fails for a broker that has only literal ACLs",
    origin="KIP-290",
    response="an error",
    commands="describe_acls",
    possible=_only_v0,
    is_real=True,
)
async def old_match(context: CaseContext) -> None:
    await _prepare(context, LITERAL)
    response = await context.ask("describe_acls", filter={**ACL, "pattern_type": "MATCH"})
    expect_error(response)


@_KIPS.case(
    "acls.old-broker-any",
    "describe_acls with pattern type ANY works on a broker that has only literal ACLs",
    origin="KIP-290",
    response="the literal ACLs",
    commands="describe_acls",
    possible=_only_v0,
    is_real=True,
)
async def old_any(context: CaseContext) -> None:
    await _prepare(context, LITERAL, OTHER)
    response = await context.done("describe_acls", filter=ANY)
    _expect_same([LITERAL, OTHER], _without_own(response["acls"]))


def _expect_second_refused(response: Response) -> None:
    first, second = response.item("0"), response.item("1")
    if first.ok is None:
        raise UnmetError("the first succeeds", f"the client reported {first}")
    if second.error is None or second.error.code != 42:
        raise UnmetError("INVALID_REQUEST (42) for the second", f"the client reported {second}")


@_KIPS.case(
    "acls.create-partly",
    "create_acls with two ACLs reports which one the broker refuses",
    origin="KIP-140",
    response="ok for the first, INVALID_REQUEST (42) for the second",
    wire="an ACL for a cluster by another name than kafka-cluster is refused",
    commands="create_acls",
    is_real=True,
)
async def create_partly(context: CaseContext) -> None:
    await _prepare(context)
    other = {**ACL, "resource_type": "CLUSTER", "name": "other", "operation": "ALTER"}
    _expect_second_refused(await context.ask("create_acls", acls=[ACL, other]))


@_KIPS.case(
    "acls.delete-partly",
    "delete_acls with two filters reports which one the broker refuses",
    origin="KIP-140",
    response="ok for the first, INVALID_REQUEST (42) for the second",
    commands="delete_acls",
)
async def delete_partly(context: CaseContext) -> None:
    await _prepare(context, LITERAL)
    context.inject_error("DeleteAcls", set={"filter_results.1.error_code": 42}, times=0)
    filters = [ACL, {**ANY, "principal": "User:bob"}]
    _expect_second_refused(await context.ask("delete_acls", filters=filters))


@_KIPS.case(
    "acls.delete-match-fails",
    "delete_acls reports an ACL that matched but could not be deleted",
    origin="KIP-140",
    response="an error",
    commands="delete_acls",
    level=Level.SHOULD,
)
async def delete_match_fails(context: CaseContext) -> None:
    await _prepare(context, LITERAL)
    field = "filter_results.*.matching_acls.*.error_code"
    context.inject_error("DeleteAcls", set={field: -1}, times=0)
    response = await context.ask("delete_acls", filters=[ACL])
    item = response.item("0")
    if item.error is None and (item.ok or {}).get("acls"):
        raise UnmetError("an error, or no deleted ACL", f"the client reported {item}")


CASES = _KIPS.cases

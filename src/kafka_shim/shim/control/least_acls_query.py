"""The fewest ACLs for everything that a principal or a client tried, for the control API."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby, product
from operator import itemgetter
from typing import Any

import msgspec

from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.authorizer.authorizer import Authorizer, StandardAuthorizer
from kafka_shim.authorizer.model import WILDCARD, Acl, Action, Actor, acls_to_objects
from kafka_shim.authorizer.remedy import (
    CheckedAction,
    RequiredAccess,
    is_allowed,
    required_access_for_need,
    steps_to_allow,
)
from kafka_shim.authorizer.requirements import (
    TABLE,
    bound_requirements_by_id,
)
from kafka_shim.authorizer.store import AclStore
from kafka_shim.policy.formats import FORMATS, format_acls_losslessly
from kafka_shim.policy.least.least_acls import least_acls
from kafka_shim.protocol.enums import ResourceType
from kafka_shim.shim.control.control_error import (
    ControlError,
    authorizer_of,
    query_principal,
)
from kafka_shim.shim.observing.request_history import History, HistoryEntry
from kafka_shim.shim.observing.request_remedy import checked_requirements
from kafka_shim.shim.state.cluster import Cluster


class _AccessUsage(msgspec.Struct):
    """The requests that needed an access."""

    apis: set[str] = set()
    requests: set[int] = set()

    def add_request(self, number: int, api: str) -> None:
        self.requests.add(number)
        self.apis.add(api)


def least_acls_response(
    cluster: Cluster, history: History, query: Mapping[str, str]
) -> dict[str, Any]:
    """Return the fewest ACLs for the requests of a principal or a client that are kept.

    They allow all checks whose denial is an error. Checks after a denial were not made; of these,
    the ACLs have what the requests show (see `request_remedy`).
    """
    authorizer = authorizer_of(cluster)
    principal, client_id = query_principal(query), query.get("client_id")
    if principal is None and client_id is None:
        raise ControlError(400, "expected principal or client_id")
    uses: dict[RequiredAccess, _AccessUsage] = {}
    request_count = left_out = 0
    bound_rows = bound_requirements_by_id(cluster.policy.release)
    for entry in history:
        if principal not in (None, entry.principal) or client_id not in (None, entry.client_id):
            continue
        request_count += 1
        left_out += entry.left_out_decisions
        for access in _find_needed_accesses(entry, bound_rows):
            uses.setdefault(access, _AccessUsage()).add_request(entry.number, entry.api.wire_name)
    acls = least_acls(uses)
    return {
        "requests": request_count,
        "decisions_left_out": left_out,
        "acls": [
            _acl_row(acl, uses, exists=any(authorizer.acls(acl.to_exact_filter()))) for acl in acls
        ],
        "remove": acls_to_objects(_deny_acls_to_remove(authorizer, uses)),
        **_formatted_acls(query.get("format", "commands"), acls),
    }


def least_acls_of_recording(
    rows: Iterable[Mapping[str, Any]], query: Mapping[str, str]
) -> dict[str, Any]:
    """Return the fewest ACLs for the decisions of a recording, which does not tell which exist.

    What no release reports as an error only leaves something out of a response: it is not needed.
    """
    principal, client_id = query_principal(query), query.get("client_id")
    uses: dict[RequiredAccess, _AccessUsage] = {}
    asked = [
        row
        for row in rows
        if principal in (None, row["principal"]) and client_id in (None, row["client_id"])
    ]
    for number, decisions in groupby(asked, itemgetter("number")):
        of_request = list(decisions)
        for access in _find_recorded_accesses(of_request):
            uses.setdefault(access, _AccessUsage()).add_request(number, of_request[0]["api"])
    acls = least_acls(uses)
    return {
        "requests": len({row["number"] for row in asked}),
        "decisions_left_out": 0,
        "acls": [_acl_row(acl, uses, exists=None) for acl in acls],
        "remove": [],
        **_formatted_acls(query.get("format", "commands"), acls),
    }


def _find_recorded_accesses(rows: list[Mapping[str, Any]]) -> Iterator[RequiredAccess]:
    """Yield what the decisions of one request show to be needed, from any host."""
    actor = Actor(rows[0]["principal"], WILDCARD)
    for requirement in TABLE:
        if requirement.api.wire_name != rows[0]["api"] or not requirement.can_be_error:
            continue
        shared: list[tuple[CheckedAction, bool]] = []  # of no name of the request
        named: list[tuple[CheckedAction, bool]] = []
        for row, need in product(rows, requirement.any_of):
            names = need.operation.name, need.resource_type.name
            if names == (row["operation"], row["resource_type"]):
                action = Action(need.operation, need.resource_type, row["resource_name"])
                is_shared = need.any_name or need.resource_type is ResourceType.CLUSTER
                check = CheckedAction(action, any_name=need.any_name)
                (shared if is_shared else named).append((check, row["allowed"]))
        allowed = [(check,) for check, was_allowed in shared if was_allowed]
        if allowed or not named:
            ways = allowed[:1] or [(check,) for check, _ in shared]
            yield from [RequiredAccess(actor, tuple(ways))] if ways else []
            continue
        for check, was_allowed in named:
            others = [] if was_allowed else [(other,) for other, _ in shared]
            yield RequiredAccess(actor, (*others, (check,)))


def _find_needed_accesses(
    entry: HistoryEntry, bound_rows: Mapping[str, Any]
) -> Iterator[RequiredAccess]:
    """Yield what a request needs, from any host."""
    actor = Actor(entry.principal, WILDCARD)
    for need in dict.fromkeys(checked_requirements(entry.records)):
        if bound_rows[need.requirement_id].denial_is_error_in_some_version:
            yield required_access_for_need(actor, need)
    if entry.denied_request is not None:
        for need in entry.denied_request.needs.alternatives:
            yield required_access_for_need(actor, need)


def _acl_row(
    acl: Acl, uses: Mapping[RequiredAccess, _AccessUsage], *, exists: bool | None
) -> dict[str, Any]:
    """Return an ACL with the APIs that need it, and whether it exists, if that is known."""
    alone = StandardAuthorizer(store=AclStore([acl]))
    served = [use for access, use in uses.items() if is_allowed(alone, access)]
    [acl_object] = acls_to_objects([acl])
    return {
        "acl": acl_object,
        "apis": sorted({api for use in served for api in use.apis}),
        "requests": len({number for use in served for number in use.requests}),
        "exists": exists,
    }


def _deny_acls_to_remove(authorizer: Authorizer, accesses: Iterable[RequiredAccess]) -> list[Acl]:
    """Return the DENY ACLs that must be removed, too."""
    steps = steps_to_allow(authorizer, accesses)
    return [step.acl for step in steps if not step.is_addition]


def _formatted_acls(acl_format: str, acls: list[Acl]) -> dict[str, str]:
    if acl_format not in FORMATS:
        expected = ", ".join(FORMATS)
        raise ControlError(400, f"unknown format `{acl_format}`; expected one of {expected}")
    try:
        return {"format": acl_format, "text": format_acls_losslessly(acls, acl_format)}
    except AclTextError as error:
        raise ControlError(400, f"the ACLs cannot be written as {acl_format}: {error}") from error

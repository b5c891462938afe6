"""The fewest ACLs for everything that a principal or a client tried, for the control API."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.authorizer.acl_objects import acls_to_objects
from kafka_shim.authorizer.authorizer import Authorizer, StandardAuthorizer
from kafka_shim.authorizer.model import WILDCARD, Acl, Actor
from kafka_shim.authorizer.remedy import (
    RequiredAccess,
    is_allowed,
    required_access_for_need,
    steps_to_allow,
)
from kafka_shim.authorizer.requirements import all_requirements_bound_to_release_by_id
from kafka_shim.authorizer.store import AclStore
from kafka_shim.policy.formats import FORMATS, format_acls_losslessly
from kafka_shim.policy.least.least_acls import least_acls
from kafka_shim.shim.control.control_error import ControlError, authorizer_or_409
from kafka_shim.shim.observing.request_history import History, HistoryEntry
from kafka_shim.shim.observing.request_remedy import checked_requirements
from kafka_shim.shim.state.cluster import Cluster


class _Use(msgspec.Struct):
    """The requests that needed an access."""

    apis: set[str] = set()
    requests: set[int] = set()


def least_acls_response(
    cluster: Cluster, history: History, query: Mapping[str, str]
) -> dict[str, Any]:
    """Return the fewest ACLs for the requests of a principal or a client that are kept.

    They allow all checks whose denial is an error. Checks after a denial were not made; of these,
    the ACLs have what the requests show (see `request_remedy`).
    """
    authorizer = authorizer_or_409(cluster)
    principal, client_id = query.get("principal"), query.get("client_id")
    if principal is None and client_id is None:
        raise ControlError(400, "expected principal or client_id")
    uses: dict[RequiredAccess, _Use] = {}
    request_count = left_out = 0
    bound_rows = all_requirements_bound_to_release_by_id(cluster.policy.release)
    for entry in history:
        if principal not in (None, entry.principal) or client_id not in (None, entry.client_id):
            continue
        request_count += 1
        left_out += entry.left_out_decisions
        for access in _accesses_needed_to_avoid_errors(entry, bound_rows):
            use = uses.setdefault(access, _Use())
            use.apis.add(entry.api.wire_name)
            use.requests.add(entry.number)
    acls = least_acls(uses)
    return {
        "requests": request_count,
        "decisions_left_out": left_out,
        "acls": [_acl_row(authorizer, acl, uses) for acl in acls],
        "remove": acls_to_objects(_hindering_acls(authorizer, uses)),
        **_formatted_acls(query.get("format", "commands"), acls),
    }


def _accesses_needed_to_avoid_errors(
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
    authorizer: Authorizer, acl: Acl, uses: Mapping[RequiredAccess, _Use]
) -> dict[str, Any]:
    """Return an ACL with the APIs that need it, and whether it exists."""
    alone = StandardAuthorizer(store=AclStore([acl]))
    served = [use for access, use in uses.items() if is_allowed(alone, access)]
    [acl_object] = acls_to_objects([acl])
    return {
        "acl": acl_object,
        "apis": sorted({api for use in served for api in use.apis}),
        "requests": len({number for use in served for number in use.requests}),
        "exists": any(authorizer.acls(acl.to_exact_filter())),
    }


def _hindering_acls(authorizer: Authorizer, accesses: Iterable[RequiredAccess]) -> list[Acl]:
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

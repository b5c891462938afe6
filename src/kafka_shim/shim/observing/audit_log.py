"""Write the audit log: a line per decision, in the words of a release's `kafka.authorizer.logger`.

The first denied line of a request also has `to_allow`, the smallest change that would allow it.

Denied with log_if_denied: info; allowed with log_if_allowed: debug; the rest is Kafka's trace level
and is not written. DEVIATION: 0.11 has denials at debug, KRaft's 3.2 has no audit line at all.
"""

import asyncio
import logging

from kafka_shim.authorizer.decide import PROBED_NAME
from kafka_shim.authorizer.model import WILDCARD, Decision, DecisionReason
from kafka_shim.protocol.enums import ApiKey, PatternType
from kafka_shim.shim.request.access import AccessRecord
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.text.logs import CopyableText, Log

LOGGER_NAME = "kafka.authorizer.logger"
LINES_MAX = 200
"""How many decisions of a request have lines of their own; one more line counts the others."""

log = Log(LOGGER_NAME)
logger = logging.getLogger(LOGGER_NAME)


def log_decisions(context: RequestContext, api: ApiKey) -> None:
    """Log the decisions of a request according to the log level. In an event loop, the lines are
    written after the response, since what would allow a denied request takes long to compute.
    """
    if not logger.isEnabledFor(logging.INFO):
        return
    if context.access.has_loggable_denials:
        from kafka_shim.shim.observing.request_remedy import denied_request  # noqa: PLC0415 - to log alone

        denied_request(context)  # of the ACLs of this moment
    try:
        asyncio.get_running_loop().call_soon(_write_lines, context, api)
    except RuntimeError:  # a cluster without a loop, as in tests of handlers
        _write_lines(context, api)


def _write_lines(context: RequestContext, api: ApiKey) -> None:
    access, debug = context.access, logger.isEnabledFor(logging.DEBUG)
    lines, unwritten = 0, dict(access.unrecorded_counts or {})
    is_first_denial = True
    for record in access.records:
        allowed = record.decision.allowed
        if not (debug and record.log_if_allowed if allowed else record.log_if_denied):
            continue
        if _is_any_resource_check(record, context) and not _allows_probed_name(record.decision):
            continue
        lines += 1
        if lines > LINES_MAX:
            unwritten[allowed] = unwritten.get(allowed, 0) + 1
        elif allowed:
            log.debug(decision_line(record, context, api))
        else:
            remedy = {"to_allow": CopyableText(_remedy_text(context))} if is_first_denial else {}
            log.info(decision_line(record, context, api), **remedy)
            is_first_denial = False
    if not debug:
        unwritten.pop(True, None)
    if unwritten:
        _log_unlogged_counts(unwritten, context, api)


def _log_unlogged_counts(
    unlogged_counts_by_allowed: dict[bool, int], context: RequestContext, api: ApiKey
) -> None:
    """Log the number of other decisions. DEVIATION: Kafka logs every decision."""
    log.info(
        "further decisions of this request are not logged",
        denied=unlogged_counts_by_allowed.get(False, 0),
        allowed=unlogged_counts_by_allowed.get(True, 0),
        request=api.wire_name,
        principal=context.access.actor.principal,
    )


def _remedy_text(context: RequestContext) -> str:
    """Return what would allow the request, which Kafka's line does not have; empty if unknown."""
    from kafka_shim.shim.observing import request_remedy  # noqa: PLC0415 - to log alone

    remedy = request_remedy.remedy_json(request_remedy.denied_request(context).remedy)
    return "" if remedy is None else request_remedy.remedy_text(remedy)


def decision_line(record: AccessRecord, context: RequestContext, api: ApiKey) -> str:
    """Return the line of a decision."""
    action, actor, facts = record.action, context.access.actor, context.facts.access
    name, count = action.resource_name, record.count
    if _is_any_resource_check(record, context):
        name, count = PROBED_NAME, 0
    outcome = "Allowed" if record.decision.allowed else "Denied"
    operation = f"operation = {action.operation.name}"
    if not facts.audit_line_has_deciding_rule:  # AclAuthorizer and its predecessor
        operation = f"Operation = {_camel_case(action.operation.name)}"
    pattern = "LITERAL:" if facts.audit_line_has_pattern_type else ""
    resource = f"{_camel_case(action.resource_type.name)}:{pattern}{name}"
    text = (
        f"Principal = {actor.principal} is {outcome} {operation} from host = {actor.host}"
        f" on resource = {resource}"
    )
    if facts.audit_line_has_api_name:
        is_renamed = api is ApiKey.LIST_CONFIG_RESOURCES
        api_name = facts.list_config_resources_name if is_renamed else api.wire_name
        text += f" for request = {api_name} with resourceRefCount = {count}"
    if facts.audit_line_has_deciding_rule:
        text += (
            f" based on rule {_deciding_rule_text(record.decision, facts.audit_line_acl_brackets)}"
        )
    return text


def _is_any_resource_check(record: AccessRecord, context: RequestContext) -> bool:
    """Return whether a check was for any resource of a type. StandardAuthorizer only logs its first
    question, which is about a name.
    """
    bound = record.requirement
    return (
        record.action.resource_name == WILDCARD
        and context.facts.access.audit_line_has_deciding_rule
        and bound is not None
        and any(need.any_name for need in bound.needs)
    )


def _allows_probed_name(decision: Decision) -> bool:
    acl = decision.acl
    if not decision.allowed or acl is None:
        return decision.allowed
    if acl.pattern_type is PatternType.PREFIXED:
        return PROBED_NAME.startswith(acl.resource_name)
    return acl.resource_name in (PROBED_NAME, WILDCARD)


def _camel_case(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("_"))


def _deciding_rule_text(decision: Decision, brackets: str) -> str:
    match decision.reason:
        case DecisionReason.SUPER_USER:
            return "SuperUser"
        case DecisionReason.DEFAULT_ALLOW:
            return "DefaultAllow"
        case DecisionReason.ACL if decision.acl is not None:
            from kafka_shim.policy.formats.acls_in_audit_log import (  # noqa: PLC0415 - to log alone
                standard_acl_to_string,
            )

            return f"MatchingAcl(acl={standard_acl_to_string(decision.acl, brackets)})"
        case _:
            return "DefaultDeny"

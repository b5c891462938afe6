"""The audit line: one a decision, in the words of a release's `kafka.authorizer.logger`; behind a
denial, the least that would allow it.

Denied with log_if_denied: info; allowed with log_if_allowed: debug; the rest is Kafka's trace level
and is not written. DEVIATION: 0.11 has denials at debug, KRaft's 3.2 has no audit line at all.
"""

import logging

from authorizer.model import Because, Decision
from protocol.enums import ApiKey
from shim.access import AccessRecord
from shim.context import RequestContext
from shim.logs import Log

LOGGER_NAME = "kafka.authorizer.logger"

log = Log(LOGGER_NAME)
_stdlib = logging.getLogger(LOGGER_NAME)


def write(context: RequestContext, api: ApiKey) -> None:
    """Log the decisions of a request that its level asks for."""
    debug = _stdlib.isEnabledFor(logging.DEBUG)
    for record in context.access.records:
        if record.decision.allowed:
            if debug and record.log_if_allowed:
                log.debug(line(record, context, api))
        elif record.log_if_denied and _stdlib.isEnabledFor(logging.INFO):
            log.info(line(record, context, api), to_allow=_to_allow(record, context))


def _to_allow(record: AccessRecord, context: RequestContext) -> str:
    """What Kafka's line does not say: `add {...}` or `remove {...}`, the least that would do."""
    from shim.explaining.remedy import rule_text, would_allow  # noqa: PLC0415 - to log alone

    found = would_allow(record, context.access.actor.principal) or {}
    return "; ".join(f"{verb} {rule_text(rule)}" for verb, rule in found.items())


def line(record: AccessRecord, context: RequestContext, api: ApiKey) -> str:
    """The text of one decision."""
    action, actor, behaviour = record.action, context.access.actor, context.behaviour
    outcome = "Allowed" if record.decision.allowed else "Denied"
    operation = f"operation = {action.operation.name}"
    if not behaviour.audit_names_rule:  # AclAuthorizer and its predecessor
        operation = f"Operation = {_camel_case(action.operation.name)}"
    pattern = "LITERAL:" if behaviour.audit_names_pattern else ""
    resource = f"{_camel_case(action.resource_type.name)}:{pattern}{action.resource_name}"
    text = (
        f"Principal = {actor.principal} is {outcome} {operation} from host = {actor.host}"
        f" on resource = {resource}"
    )
    if behaviour.audit_names_request:
        text += f" for request = {api.wire_name} with resourceRefCount = {record.count}"
    if behaviour.audit_names_rule:
        text += f" based on rule {_rule(record.decision, behaviour.audit_acl_brackets)}"
    return text


def _camel_case(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("_"))


def _rule(decision: Decision, brackets: str) -> str:
    match decision.because:
        case Because.SUPER_USER:
            return "SuperUser"
        case Because.DEFAULT_ALLOW:
            return "DefaultAllow"
        case Because.ACL if decision.acl is not None:
            from authorizer.acl_formats.standard_acl import (  # noqa: PLC0415 - to log alone
                standard_acl,
            )

            return f"MatchingAcl(acl={standard_acl(decision.acl, brackets)})"
        case _:
            return "DefaultDeny"

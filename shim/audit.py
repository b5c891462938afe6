"""The audit line: one a decision, in the field order of Kafka's `kafka.authorizer.logger`.

Denied with log_if_denied: info; allowed with log_if_allowed: debug; the rest is Kafka's trace
level and is not written (facts 2.8, KAFKA authorizer logging).
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
        elif record.log_if_denied:
            log.info(line(record, context, api))


def line(record: AccessRecord, context: RequestContext, api: ApiKey) -> str:
    """The text of one decision, with its rule where the release names it (StandardAuthorizer)."""
    action = record.action
    outcome = "Allowed" if record.decision.allowed else "Denied"
    operation = action.operation.name
    if not context.behaviour.audit_names_rule:  # AclAuthorizer and its predecessor: `Describe`
        operation = _camel_case(operation)
    resource_type = _camel_case(action.resource_type.name)
    text = (
        f"Principal = {context.access.actor.principal} is {outcome} operation = {operation} "
        f"from host = {context.access.actor.host} "
        f"on resource = {resource_type}:LITERAL:{action.resource_name} "
        f"for request = {api.wire_name} with resourceRefCount = {record.count}"
    )
    if context.behaviour.audit_names_rule:
        text += f" based on rule {_rule(record.decision)}"
    return text


def _camel_case(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("_"))


def _rule(decision: Decision) -> str:
    match decision.because:
        case Because.SUPER_USER:
            return "SuperUser"
        case Because.DEFAULT_ALLOW:
            return "DefaultAllow"
        case Because.ACL if decision.acl is not None:
            from authorizer.acl_formats.standard_acl import (  # noqa: PLC0415 - to log alone
                standard_acl,
            )

            return f"MatchingAcl(acl={standard_acl(decision.acl)})"
        case _:
            return "DefaultDeny"

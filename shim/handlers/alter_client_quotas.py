"""49 AlterClientQuotas, versions 0-1. One answer an entity; entities do not disturb each other.

An entity that is named twice, or a key that is, makes that entity fail on KRaft; on ZooKeeper the
last one counts.
"""

from collections import Counter

from kafka_shim.authorizer.requirements import ALTER_CLIENT_QUOTAS
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.alter_client_quotas_request import (
    AlterClientQuotasRequest,
    EntryData as AskedEntry,
)
from kafka_shim.protocol.messages.alter_client_quotas_response import (
    AlterClientQuotasResponse,
    EntityData,
    EntryData,
)
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.quotas import QuotaError, check_entity, check_value


def handle(request: AlterClientQuotasRequest, context: RequestContext) -> AlterClientQuotasResponse:
    context.access.require(ALTER_CLIENT_QUOTAS, message=context.facts.users.quota_denial)
    counts = Counter(_key(entry) for entry in request.entries)
    results = {}
    for entry in request.entries:
        key = _key(entry)
        if key not in results or not context.facts.users.quotas_alter_entities_once:
            results[key] = _alter(entry, counts[key], context, keep=not request.validate_only)
    return AlterClientQuotasResponse(entries=list(results.values()))


def refuse(
    request: AlterClientQuotasRequest, error: ErrorCode, message: str | None
) -> AlterClientQuotasResponse:
    return AlterClientQuotasResponse(
        entries=[_result(entry, error, message) for entry in request.entries]
    )


def _key(entry: AskedEntry) -> frozenset[tuple[str, str | None]]:
    return frozenset(
        {component.entity_type: component.entity_name for component in entry.entity}.items()
    )


def _alter(entry: AskedEntry, count: int, context: RequestContext, *, keep: bool) -> EntryData:
    entity = {component.entity_type: component.entity_name for component in entry.entity}
    is_repeated = count > 1 or len({op.key for op in entry.ops}) < len(entry.ops)
    if is_repeated and context.facts.users.quotas_alter_entities_once:
        text = "the entity, or one of its quotas, is named more than once"
        return _result(entry, ErrorCode.INVALID_REQUEST, text)
    try:
        check_entity(entity, context.facts.users.quota_entity_types)
        for op in entry.ops:
            if not op.remove:
                zero_is_allowed = context.facts.users.quota_may_be_zero
                check_value(entity, op.key, op.value, zero_is_allowed=zero_is_allowed)
    except QuotaError as problem:
        return _result(entry, ErrorCode.INVALID_REQUEST, str(problem))
    if keep:
        changes = {op.key: None if op.remove else op.value for op in entry.ops}
        context.cluster.quotas.alter(entity, changes)
    return _result(entry, ErrorCode.NONE, None)


def _result(entry: AskedEntry, error: ErrorCode, message: str | None) -> EntryData:
    entity = {component.entity_type: component.entity_name for component in entry.entity}
    return EntryData(
        error_code=error,
        error_message=message,
        entity=[EntityData(entity_type=kind, entity_name=name) for kind, name in entity.items()],
    )

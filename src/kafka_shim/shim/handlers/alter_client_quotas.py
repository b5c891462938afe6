"""49 AlterClientQuotas, versions 0-1. One result per entity; each succeeds or fails on its own.

An entity or a key that is listed twice makes the entity fail on KRaft; ZooKeeper alters one after
the other, and returns the last result.
"""

from collections import Counter
from collections.abc import Mapping

from kafka_shim.authorizer.acl_requests import ZOOKEEPER_DOTS
from kafka_shim.authorizer.requirements import ALTER_CLIENT_QUOTAS
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    RequestEntryData as RequestedEntry,
    ResponseEntityData,
    ResponseEntryData,
)
from kafka_shim.shim.errors import RequestRejected
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.java_collections import JavaHashOrder
from kafka_shim.shim.state.quotas.quotas import (
    Alteration,
    EntityKey,
    QuotaError,
    entity_in_java_map_order,
    entity_key,
    java_hash_of_entity,
    validate_entity,
    validate_limit,
)


def handle(request: AlterClientQuotasRequest, context: RequestContext) -> AlterClientQuotasResponse:
    context.access.require(
        ALTER_CLIENT_QUOTAS, message=context.facts.users.alter_quotas_denial_message
    )
    counts = Counter(_entity_key(entry) for entry in request.entries)
    results: dict[EntityKey, ResponseEntryData] = {}
    alterations: list[Alteration] = []
    for entry in request.entries:
        key = _entity_key(entry)
        if key not in results or not context.facts.users.alter_quotas_rejects_repeated_entities:
            results[key] = _validate_quota_entry(entry, counts[key], context)
            if results[key].error_code == ErrorCode.NONE:
                changes = {op.key: None if op.remove else op.value for op in entry.ops}
                alterations.append((_entity_names_by_type(entry), changes))
    _check_change_limit(alterations, context)
    if not request.validate_only:
        _alter_limits(alterations, context)
    return AlterClientQuotasResponse(entries=_results_in_hash_map_order(results))


def _alter_limits(alterations: list[Alteration], context: RequestContext) -> None:
    """Alter limits, and report what changed to the observer of changes, if there is one."""
    quotas, is_observed = context.cluster.quotas, context.cluster.observe_change is not None
    entities = [entity for entity, _ in alterations] if is_observed else []
    before = quotas.limits_as_texts(entities)
    quotas.alter_limits(alterations)
    for entity, limits in quotas.limits_as_texts(entities).items():
        context.cluster.report_settings(f"quotas of {entity}", before[entity], limits)


def _check_change_limit(alterations: list[Alteration], context: RequestContext) -> None:
    """Raise POLICY_VIOLATION if the request changes more than a controller does in one request."""
    limit = context.facts.users.changed_quotas_per_request_max
    if limit is None or sum(len(changes) for _, changes in alterations) <= limit:
        return
    count = sum(map(context.cluster.quotas.changed_limit_count, alterations))
    if count > limit:
        message = f"{count} changed quotas in one request: at most {limit}"
        raise RequestRejected(ErrorCode.POLICY_VIOLATION, message)


def _results_in_hash_map_order(
    results: Mapping[EntityKey, ResponseEntryData],
) -> list[ResponseEntryData]:
    order = JavaHashOrder[EntityKey]()
    for key in results:
        order.add_last_in_bucket(key, java_hash_of_entity(key))
    return [results[key] for key in order]


def error_response(
    request: AlterClientQuotasRequest, error: ErrorCode, message: str | None
) -> AlterClientQuotasResponse:
    return AlterClientQuotasResponse(
        entries=[
            ResponseEntryData(
                error_code=error,
                error_message=message,
                entity=[
                    ResponseEntityData(component.entity_type, component.entity_name)
                    for component in entry.entity
                ],
            )
            for entry in request.entries
        ]
    )


def _entity_names_by_type(entry: RequestedEntry) -> dict[str, str | None]:
    return {component.entity_type: component.entity_name for component in entry.entity}


def _entity_key(entry: RequestedEntry) -> EntityKey:
    return entity_key(_entity_names_by_type(entry))


def _validate_quota_entry(
    entry: RequestedEntry, count: int, context: RequestContext
) -> ResponseEntryData:
    entity = _entity_names_by_type(entry)
    is_repeated = count > 1 or len({op.key for op in entry.ops}) < len(entry.ops)
    if is_repeated and context.facts.users.alter_quotas_rejects_repeated_entities:
        text = "the entity, or one of its quotas, is duplicate"
        return _quota_result(entity, ErrorCode.INVALID_REQUEST, text)
    try:
        validate_entity(entity, context.facts.users.quota_entity_types)
        for op in entry.ops:
            if not op.remove:
                validate_limit(entity, op.key, op.value, context.facts.users)
    except QuotaError as problem:
        return _quota_result(entity, ErrorCode.INVALID_REQUEST, str(problem))
    in_zookeeper = not context.facts.users.alter_quotas_rejects_repeated_entities
    if in_zookeeper and not set(ZOOKEEPER_DOTS).isdisjoint(entity.values()):
        return _quota_result(entity, ErrorCode.UNKNOWN_SERVER_ERROR, None)
    return _quota_result(entity, ErrorCode.NONE, None)


def _quota_result(
    entity: Mapping[str, str | None], error: ErrorCode, message: str | None
) -> ResponseEntryData:
    ordered_names = entity_in_java_map_order(entity, len(entity))
    return ResponseEntryData(
        error_code=error,
        error_message=message,
        entity=[
            ResponseEntityData(entity_type=kind, entity_name=name)
            for kind, name in ordered_names.items()
        ],
    )

"""48 DescribeClientQuotas, versions 0-1. The entities that match every component of the filter.

A strict filter excludes entities with other entity types. A denial has null entries instead of an
empty list (KIP-546).
"""

from collections.abc import Iterable, Mapping, Sequence

from kafka_shim.authorizer.requirements import DESCRIBE_CLIENT_QUOTAS
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.describe_client_quotas import (
    ComponentData,
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
    EntityData,
    EntryData,
    ValueData,
)
from kafka_shim.shim.errors import RequestRejected
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.quotas.quotas import IP, Quotas

EXACT, DEFAULT, SPECIFIED = 0, 1, 2


def handle(
    request: DescribeClientQuotasRequest, context: RequestContext
) -> DescribeClientQuotasResponse:
    context.access.require(DESCRIBE_CLIENT_QUOTAS)
    _check_filter(request, context)
    return DescribeClientQuotasResponse(
        error_message=context.facts.users.describe_quotas_ok_message,
        entries=[
            _quota_entry(entity, limits)
            for entity, limits in _candidate_entities(request, context.cluster.quotas)
            if all(_component_matches_entity(component, entity) for component in request.components)
            and not (request.strict and len(entity) != len(request.components))
        ],
    )


error_response = mirroring_error_builder(
    DescribeClientQuotasResponse, constant_fields={"entries": None}
)


def _candidate_entities(
    request: DescribeClientQuotasRequest, quotas: Quotas
) -> Iterable[tuple[dict[str, str | None], dict[str, float]]]:
    """Return the entities that the filter may match: one if it names all parts of an entity."""
    components = request.components
    if request.strict and all(component.match_type != SPECIFIED for component in components):
        return quotas.entity_with_limits(
            {
                component.entity_type: component.match if component.match_type == EXACT else None
                for component in components
            }
        )
    return quotas.all_entities_with_limits()


def _check_filter(request: DescribeClientQuotasRequest, context: RequestContext) -> None:
    """Raise INVALID_REQUEST (42) for a malformed component, UNSUPPORTED_VERSION (35) for a type."""
    components = request.components
    kinds = [component.entity_type for component in components]
    is_checked = context.facts.users.describe_quotas_rejects_invalid_filter
    if not is_checked and any(map(_has_malformed_match, components)):  # before any type
        raise RequestRejected(ErrorCode.UNKNOWN_SERVER_ERROR)
    for component in components:
        _check_component(component, context)
    if len(set(kinds)) < len(kinds):
        raise RequestRejected(ErrorCode.INVALID_REQUEST, "duplicate entity type in the filter")
    if IP in kinds and len(kinds) > 1:
        raise RequestRejected(
            ErrorCode.INVALID_REQUEST, "an ip cannot be combined with other types"
        )
    if not context.facts.users.quota_filter_accepts_empty_name and _has_empty_entity_name(request):
        raise RequestRejected(ErrorCode.UNKNOWN_SERVER_ERROR)


def _has_empty_entity_name(request: DescribeClientQuotasRequest) -> bool:
    """Return whether ZooKeeper is asked for an empty name, which no path may contain.

    A broker reads the path of one entity if the filter names or excludes both its user and its
    client id, or names an ip. Otherwise, it reads all entities.
    """
    components = request.components
    named = [component for component in components if component.match_type != SPECIFIED]
    is_one_path = (
        len(named) > 1
        or (request.strict and len(components) == 1)
        or any(component.entity_type == IP for component in named)
    )
    return is_one_path and any(
        component.match_type == EXACT and component.match == "" for component in named
    )


def _check_component(component: ComponentData, context: RequestContext) -> None:
    known = context.facts.users.quota_entity_types
    is_checked = context.facts.users.describe_quotas_rejects_invalid_filter
    if not component.entity_type:
        raise RequestRejected(ErrorCode.INVALID_REQUEST, "an entity type is empty")
    if context.facts.users.describe_quotas_checks_entity_type_first:
        _check_entity_type_known(component, known)
    if is_checked and _has_malformed_match(component):
        text = f"match type {component.match_type} is unknown, or has no name to match"
        raise RequestRejected(ErrorCode.INVALID_REQUEST, text)
    if is_checked and component.match_type != EXACT and component.match is not None:
        raise RequestRejected(ErrorCode.INVALID_REQUEST, "only an exact match may have a name")
    _check_entity_type_known(component, known)


def _has_malformed_match(component: ComponentData) -> bool:
    is_known = component.match_type in (EXACT, DEFAULT, SPECIFIED)
    return not is_known or (component.match_type == EXACT and component.match is None)


def _check_entity_type_known(component: ComponentData, known_types: Sequence[str]) -> None:
    if component.entity_type not in known_types:
        kinds = ", ".join(known_types)
        text = f"`{component.entity_type}` is not a quota entity type: expected one of {kinds}"
        raise RequestRejected(ErrorCode.UNSUPPORTED_VERSION, text)


def _component_matches_entity(component: ComponentData, entity: Mapping[str, str | None]) -> bool:
    if component.entity_type not in entity:
        return False
    name = entity[component.entity_type]
    if component.match_type == EXACT:
        return name == component.match
    return component.match_type == SPECIFIED or name is None


def _quota_entry(entity: Mapping[str, str | None], limits: Mapping[str, float]) -> EntryData:
    return EntryData(
        entity=[EntityData(entity_type=kind, entity_name=name) for kind, name in entity.items()],
        values=[ValueData(key=key, value=value) for key, value in limits.items()],
    )

"""74 ListConfigResources, versions 0-1. The resources that have or can have configs (KIP-1142).

Version 0 is ListClientMetricsResources (KIP-714): only client metrics subscriptions. Brokers and
topics are listed even if no config was set on them.
"""

from collections.abc import Iterator

from kafka_shim.authorizer.requirements import LIST_CONFIG_RESOURCES
from kafka_shim.protocol.enums import ConfigResourceType
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.list_config_resources import (
    ConfigResource,
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
)
from kafka_shim.shim.errors import RequestRejected
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.request.context import RequestContext

ORDER = (
    ConfigResourceType.GROUP,
    ConfigResourceType.CLIENT_METRICS,
    ConfigResourceType.BROKER_LOGGER,
    ConfigResourceType.BROKER,
    ConfigResourceType.TOPIC,
)
"""As a broker lists them."""


def handle(
    request: ListConfigResourcesRequest, context: RequestContext
) -> ListConfigResourcesResponse:
    context.access.require(LIST_CONFIG_RESOURCES)
    if context.version == 0:
        requested_types = {int(ConfigResourceType.CLIENT_METRICS)}
    else:
        requested_types = set(request.resource_types) or {int(kind) for kind in ORDER}
    if not requested_types <= {int(kind) for kind in ORDER}:
        raise RequestRejected(ErrorCode.UNSUPPORTED_VERSION)
    return ListConfigResourcesResponse(
        config_resources=[
            ConfigResource(resource_name=name, resource_type=kind)
            for kind in ORDER
            if kind in requested_types
            for name in _resource_names_of_type(kind, context)
        ]
    )


error_response = mirroring_error_builder(ListConfigResourcesResponse)


def _resource_names_of_type(
    resource_type: ConfigResourceType, context: RequestContext
) -> Iterator[str]:
    cluster = context.cluster
    match resource_type:
        case ConfigResourceType.GROUP:
            yield from cluster.configs.groups
        case ConfigResourceType.CLIENT_METRICS:
            yield from cluster.configs.client_metrics
        case ConfigResourceType.TOPIC:
            yield from sorted(topic.name for topic in cluster.topics)
        case _:
            yield from (str(node_id) for node_id in cluster.nodes)

"""18 ApiVersions, versions 0-5. Needs no permission, and is allowed before authentication.

An unknown version gets UNSUPPORTED_VERSION (35) in the layout of version 0, with the supported
range of ApiVersions (KIP-35). The client's software name and version (version 3) must look like
identifiers, or the response is INVALID_REQUEST (42, KIP-511). Since version 5 a client may name a
cluster id and a node id: both or neither, or the response is INVALID_REQUEST (42). If they are not
this broker's, the response is REBOOTSTRAP_REQUIRED (129, KIP-1242).
"""

import re

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.features import Feature
from kafka_shim.protocol.messages.api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)
from kafka_shim.shim.apis import advertised_apis
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.request.session import AuthenticationPhase
from kafka_shim.shim.state.settings.static_settings import parse_client_telemetry_enabled

CACHED_SINCE = 0
NAMES_NODE_SINCE = 5
ANY_NODE = -1
_FINALIZED_ORDER = (
    *("group.version", "streams.version", "transaction.version"),
    *("eligible.leader.replicas.version", "kraft.version", "share.version", "metadata.version"),
)
"""Brokers list what is finalized in the order of a HashMap of eight buckets (4.3.1 and 4.4.0)."""

_SHARED_RESPONSES: dict[tuple[str, int, bool], tuple[tuple[Feature, ...], ApiVersionsResponse]] = {}
"""The last responses, by release, version and whether metrics are taken, with their features."""
_SOFTWARE = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")


def handle(request: ApiVersionsRequest, context: RequestContext) -> ApiVersionsResponse:
    if context.version >= 3 and not _has_valid_software_name(request):
        return error_response(request, ErrorCode.INVALID_REQUEST, None)
    if context.version >= NAMES_NODE_SINCE:
        error = _destination_error(request, context)
        if error is not ErrorCode.NONE:
            return error_response(request, error, None)
    if (
        context.session.phase is AuthenticationPhase.HANDSHAKE
        and context.facts.users.second_api_versions_closes_connection
    ):
        context.session.phase = AuthenticationPhase.MECHANISM
    context.session.set_client_software(
        request.client_software_name, request.client_software_version
    )
    return _cached_response(context)


def _cached_response(context: RequestContext) -> ApiVersionsResponse:
    """Return the response, which all clients share while the features do not change."""
    cluster = context.cluster
    has_metrics = parse_client_telemetry_enabled(cluster.config.properties)
    key = cluster.release, context.version, has_metrics
    cached = _SHARED_RESPONSES.get(key)
    if cached is None or cached[0] is not cluster.features:
        response = _build_response(*key, cluster.features)
        cached = _SHARED_RESPONSES[key] = (cluster.features, response)
    return cached[1]


def _build_response(
    release: str, version: int, has_metrics: bool, features: tuple[Feature, ...]
) -> ApiVersionsResponse:
    versions = advertised_apis(release, accepts_client_metrics=has_metrics)
    return ApiVersionsResponse(
        api_keys=[
            ApiVersion(api_key=key, min_version=low, max_version=high)
            for key, (low, high) in sorted(versions.items())
        ],
        supported_features=[
            SupportedFeatureKey(name=f.name, min_version=f.min_version, max_version=f.max_version)
            for f in features
            if f.min_version > 0 or version >= 4  # version 3 cannot contain 0 (KIP-1022)
        ],
        finalized_features_epoch=0 if features else -1,
        finalized_features=[
            FinalizedFeatureKey(
                name=f.name,
                min_version_level=f.finalized_level,
                max_version_level=f.finalized_level,
            )
            for f in sorted(features, key=lambda f: _FINALIZED_ORDER.index(f.name))
            if f.finalized_level > 0
        ],
    )


def error_response(
    request: ApiVersionsRequest | None,
    error: ErrorCode,
    message: str | None,
) -> ApiVersionsResponse:
    return ApiVersionsResponse(error_code=error)


def unsupported_version_response(supported_versions: tuple[int, int] | None) -> ApiVersionsResponse:
    """Return the response to an unsupported version: the supported ones, for another try."""
    response = ApiVersionsResponse(error_code=ErrorCode.UNSUPPORTED_VERSION)
    if supported_versions is not None:
        response.api_keys = [ApiVersion(ApiKey.API_VERSIONS, *supported_versions)]
    return response


def _destination_error(request: ApiVersionsRequest, context: RequestContext) -> ErrorCode:
    """Return the error for a client that means another cluster or node."""
    if (request.cluster_id is None) != (request.node_id == ANY_NODE):
        return ErrorCode.INVALID_REQUEST
    if request.cluster_id is None:
        return ErrorCode.NONE
    this_node = context.cluster.cluster_id, context.node_id
    if (request.cluster_id, request.node_id) != this_node:
        return ErrorCode.REBOOTSTRAP_REQUIRED
    return ErrorCode.NONE


def _has_valid_software_name(request: ApiVersionsRequest) -> bool:
    names = (request.client_software_name, request.client_software_version)
    return all(_SOFTWARE.fullmatch(name) for name in names)

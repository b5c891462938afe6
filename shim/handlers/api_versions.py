"""18 ApiVersions, versions 0-4. Open to everybody, also before authentication.

Unknown versions are answered with 35 in the layout of version 0 (KIP-35), and with our own range.
The client's software name and version (version 3) must look like identifiers, or the answer is 42
(KIP-511).
"""

import re

from protocol.enums import ApiKey
from protocol.error_codes import ErrorCode
from protocol.messages.api_versions_request import ApiVersionsRequest
from protocol.messages.api_versions_response import (
    ApiVersion,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)
from shim.context import RequestContext
from shim.state.cluster import Cluster

_SOFTWARE = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")


def handle(request: ApiVersionsRequest, context: RequestContext) -> ApiVersionsResponse:
    if context.version >= 3 and not _is_named(request):
        return refuse(request, ErrorCode.INVALID_REQUEST, None)
    context.session.runs(request.client_software_name, request.client_software_version)
    features = context.cluster.features
    return ApiVersionsResponse(
        api_keys=_versions(context),
        supported_features=[
            SupportedFeatureKey(name=f.name, min_version=f.min_version, max_version=f.max_version)
            for f in features
            if f.min_version > 0 or context.version >= 4  # version 3 cannot say 0 (KIP-1022)
        ],
        finalized_features_epoch=0 if features else -1,
        finalized_features=[
            FinalizedFeatureKey(name=f.name, min_version_level=f.level, max_version_level=f.level)
            for f in features
            if f.level > 0
        ],
    )


def refuse(
    request: ApiVersionsRequest | None,
    error: ErrorCode,
    message: str | None,
) -> ApiVersionsResponse:
    return ApiVersionsResponse(error_code=error)


def refuse_version(cluster: Cluster) -> ApiVersionsResponse:
    """The answer to a version that is not served: which ones are, so that clients try again."""
    answer = ApiVersionsResponse(error_code=ErrorCode.UNSUPPORTED_VERSION)
    if cluster.behaviour.refused_version_tells_range:
        low, high = cluster.apis.advertised[ApiKey.API_VERSIONS]
        answer.api_keys = [ApiVersion(ApiKey.API_VERSIONS, low, high)]
    return answer


def _versions(context: RequestContext) -> list[ApiVersion]:
    return [
        ApiVersion(api_key=key, min_version=low, max_version=high)
        for key, (low, high) in sorted(context.cluster.apis.advertised.items())
    ]


def _is_named(request: ApiVersionsRequest) -> bool:
    names = (request.client_software_name, request.client_software_version)
    return all(_SOFTWARE.fullmatch(name) for name in names)

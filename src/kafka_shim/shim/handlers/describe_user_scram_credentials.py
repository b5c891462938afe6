"""50 DescribeUserScramCredentials, version 0. Mechanisms and iterations, never keys (KIP-554).

A denial names no user: each result has an empty name. With users null a real broker fails on the
denial and does not respond; here it is CLUSTER_AUTHORIZATION_FAILED (31, see
docs/explanation/differences.md).
"""

from collections import Counter

from kafka_shim.authorizer.acl_requests import ZOOKEEPER_DOTS
from kafka_shim.authorizer.requirements import DESCRIBE_USER_SCRAM_CREDENTIALS
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.describe_user_scram_credentials import (
    CredentialInfo,
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    DescribeUserScramCredentialsResult,
)
from kafka_shim.shim.request.context import RequestContext


def handle(
    request: DescribeUserScramCredentialsRequest, context: RequestContext
) -> DescribeUserScramCredentialsResponse:
    error = context.access.denial_error(DESCRIBE_USER_SCRAM_CREDENTIALS)
    if error is not ErrorCode.NONE:
        if context.facts.users.denied_describe_scram_lists_users:
            return error_response(request, error, None)
        return DescribeUserScramCredentialsResponse(error_code=error, error_message=None)
    if request.users:
        counts_by_name = Counter(user.name for user in request.users)
    else:
        counts_by_name = Counter(context.cluster.users.names_with_stored_credentials())
    return DescribeUserScramCredentialsResponse(
        results=[_describe_user(name, count, context) for name, count in counts_by_name.items()]
    )


def error_response(
    request: DescribeUserScramCredentialsRequest, error: ErrorCode, message: str | None
) -> DescribeUserScramCredentialsResponse:
    result = DescribeUserScramCredentialsResult(error_code=error, error_message=message)
    return DescribeUserScramCredentialsResponse(
        error_code=error, error_message=message, results=[result for _ in request.users or ()]
    )


def _describe_user(
    name: str, count: int, context: RequestContext
) -> DescribeUserScramCredentialsResult:
    if count > 1:
        return DescribeUserScramCredentialsResult(
            user=name,
            error_code=ErrorCode.DUPLICATE_RESOURCE,
            error_message=f"duplicate user `{name}`",
        )
    if name in ZOOKEEPER_DOTS and not context.facts.users.alter_scram_rejects_repeated_users:
        error = ErrorCode.UNKNOWN_SERVER_ERROR
        message = f"ZooKeeper has no user `{name}`"
        return DescribeUserScramCredentialsResult(
            user=name, error_code=error, error_message=message
        )
    credentials = context.cluster.users.stored_credentials(name)
    if not credentials:
        return DescribeUserScramCredentialsResult(
            user=name,
            error_code=ErrorCode.RESOURCE_NOT_FOUND,
            error_message=f"user `{name}` has no SCRAM credential",
        )
    return DescribeUserScramCredentialsResult(
        user=name,
        credential_infos=[
            CredentialInfo(mechanism=mechanism, iterations=credential.iterations)
            for mechanism, credential in credentials
        ],
    )

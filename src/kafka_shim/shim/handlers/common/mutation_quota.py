"""The quota for changes of topics (KIP-599)."""

from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.shim.handlers.common.topic_plan import TopicError
from kafka_shim.shim.request.context import RequestContext


def take_mutation_quota(
    context: RequestContext, mutation_count: int, strict_since_version: int
) -> None:
    """Take tokens of the client's quota, and set the response's throttle time.

    Raise TopicError above the quota, in versions from `strict_since_version` on.
    """
    throttles = context.cluster.throttles
    if throttles is None:
        return
    is_strict = context.version >= strict_since_version
    is_allowed, wait_ms = throttles.take_mutation_tokens(
        context.quota_client, mutation_count, is_strict=is_strict
    )
    context.throttle_ms = max(context.throttle_ms, wait_ms)
    if not is_allowed:
        error = ErrorCode.THROTTLING_QUOTA_EXCEEDED
        raise TopicError(error, f"the client's quota is exceeded; try again in {wait_ms} ms")

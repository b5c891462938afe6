"""What the APIs have in common that change topics: a quota, and waits for leaders."""

from collections.abc import Iterable
from typing import TypeVar

from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.shim.handlers.common.topic_plan import TopicError
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.topics import Topic
from kafka_shim.shim.wait import PendingResponse


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


Response = TypeVar("Response")


def every_partition_was_led(topic: Topic) -> bool:
    """Return whether every partition has had a leader; only then a request about it is done."""
    return all(partition.was_led for partition in topic.partitions)


def hold_timed_out_response(
    response: Response, error_codes: Iterable[int], timeout_ms: int, context: RequestContext
) -> Response | PendingResponse[Response]:
    """Delay the response by the request's timeout if one of its errors is REQUEST_TIMED_OUT."""
    if timeout_ms <= 0 or ErrorCode.REQUEST_TIMED_OUT not in error_codes:
        return response
    wait = PendingResponse[Response]()
    context.cluster.clock.call_after_wait(timeout_ms, lambda: wait.complete(response))
    return wait

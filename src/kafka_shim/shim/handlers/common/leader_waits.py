"""Requests of administrators that wait for leaders which there will never be."""

from collections.abc import Iterable
from typing import TypeVar

from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.topics import Topic
from kafka_shim.shim.wait import PendingResponse

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
    context.cluster.clock.call_later(timeout_ms, lambda: wait.complete(response))
    return wait

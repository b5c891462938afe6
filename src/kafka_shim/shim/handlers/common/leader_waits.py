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
    response: Response, codes: Iterable[int], timeout_ms: int, context: RequestContext
) -> Response | PendingResponse[Response]:
    """Hold a response back for as long as the request may take, if something in it is not done."""
    if timeout_ms <= 0 or ErrorCode.REQUEST_TIMED_OUT not in codes:
        return response
    wait = PendingResponse[Response]()
    context.cluster.clock.call_later(timeout_ms, lambda: wait.complete(response))
    return wait

"""Client quotas of a request: its bytes and time are counted, and its response has the throttle
time. Its connection is not read meanwhile (KIP-219).
"""

from typing import Any

import msgspec

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.fetch_response import FetchResponse
from kafka_shim.shim.apis import ServedApi
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.quotas.throttles import BUSY, FETCHED, PRODUCED


def count_request(api: ServedApi, context: RequestContext, frame_bytes: int, busy_us: int) -> None:
    """Count the request's bytes, and the time that it took."""
    throttles = context.cluster.throttles
    if throttles is None or not context.session.is_ready:
        return
    who = context.client
    wait_ms = throttles.count(BUSY, who, busy_us / 10_000)
    if api.key is ApiKey.PRODUCE:
        wait_ms = max(wait_ms, throttles.count(PRODUCED, who, frame_bytes))
    context.throttle_ms = max(context.throttle_ms, wait_ms)
    context.session.muted_ms = context.throttle_ms


def throttled(api: ServedApi, context: RequestContext, response: Any) -> Any:
    """Return the answer with its throttle time, if there is one; a Fetch then has no records."""
    throttles = context.cluster.throttles
    if throttles is not None and api.key is ApiKey.FETCH:
        size, who = len(api.write(response)), context.client
        context.throttle_ms = max(context.throttle_ms, throttles.count(FETCHED, who, size))
        if context.throttle_ms:
            throttles.take_back(FETCHED, who, size)
            response = FetchResponse(session_id=response.session_id, responses=[])
    context.session.muted_ms = context.throttle_ms
    if not context.throttle_ms or not hasattr(response, "throttle_time_ms"):
        return response
    return msgspec.structs.replace(response, throttle_time_ms=context.throttle_ms)

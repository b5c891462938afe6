"""Whether a handler wants time slices for a request."""

from typing import Any

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.shim.apis import import_handler
from kafka_shim.shim.state.cluster import Cluster


def takes_long(api: ApiKey, request: Any, cluster: Cluster) -> bool:
    """Return what the handler of the API says about a short request."""
    handler: Any = import_handler(api)  # not every handler has this function
    is_long: bool = handler.takes_long(request, cluster)
    return is_long

"""The served APIs: handler modules by API key, limited to those of the release.

Fail closed: an API without a handler is neither advertised nor answered, and a version that the
release does not have is rejected.
"""

import importlib
from collections.abc import Callable, Mapping
from functools import cache
from struct import Struct
from typing import Any, Protocol, cast

from kafka_shim.protocol.api_versions import TELEMETRY, advertised_versions, served_versions
from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.headers import response_header_version
from kafka_shim.protocol.releases.facts import facts_of_release
from kafka_shim.shim.request.context import RequestContext

_RESPONSE_START = Struct(">ii")  # the size and the correlation id
_RESPONSE_START_WITH_TAGS = Struct(">iix")

APIS_WITH_HANDLER: tuple[ApiKey, ...] = (
    ApiKey.PRODUCE,
    ApiKey.FETCH,
    ApiKey.LIST_OFFSETS,
    ApiKey.METADATA,
    ApiKey.LEADER_AND_ISR,
    ApiKey.STOP_REPLICA,
    ApiKey.UPDATE_METADATA,
    ApiKey.CONTROLLED_SHUTDOWN,
    ApiKey.OFFSET_COMMIT,
    ApiKey.OFFSET_FETCH,
    ApiKey.FIND_COORDINATOR,
    ApiKey.JOIN_GROUP,
    ApiKey.HEARTBEAT,
    ApiKey.LEAVE_GROUP,
    ApiKey.SYNC_GROUP,
    ApiKey.DESCRIBE_GROUPS,
    ApiKey.LIST_GROUPS,
    ApiKey.SASL_HANDSHAKE,
    ApiKey.API_VERSIONS,
    ApiKey.CREATE_TOPICS,
    ApiKey.DELETE_TOPICS,
    ApiKey.DELETE_RECORDS,
    ApiKey.INIT_PRODUCER_ID,
    ApiKey.OFFSET_FOR_LEADER_EPOCH,
    ApiKey.ADD_PARTITIONS_TO_TXN,
    ApiKey.ADD_OFFSETS_TO_TXN,
    ApiKey.END_TXN,
    ApiKey.WRITE_TXN_MARKERS,
    ApiKey.TXN_OFFSET_COMMIT,
    ApiKey.DESCRIBE_ACLS,
    ApiKey.CREATE_ACLS,
    ApiKey.DELETE_ACLS,
    ApiKey.DESCRIBE_CONFIGS,
    ApiKey.ALTER_CONFIGS,
    ApiKey.ALTER_REPLICA_LOG_DIRS,
    ApiKey.DESCRIBE_LOG_DIRS,
    ApiKey.SASL_AUTHENTICATE,
    ApiKey.CREATE_PARTITIONS,
    ApiKey.CREATE_DELEGATION_TOKEN,
    ApiKey.RENEW_DELEGATION_TOKEN,
    ApiKey.EXPIRE_DELEGATION_TOKEN,
    ApiKey.DESCRIBE_DELEGATION_TOKEN,
    ApiKey.DELETE_GROUPS,
    ApiKey.ELECT_LEADERS,
    ApiKey.INCREMENTAL_ALTER_CONFIGS,
    ApiKey.ALTER_PARTITION_REASSIGNMENTS,
    ApiKey.LIST_PARTITION_REASSIGNMENTS,
    ApiKey.OFFSET_DELETE,
    ApiKey.DESCRIBE_CLIENT_QUOTAS,
    ApiKey.ALTER_CLIENT_QUOTAS,
    ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS,
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS,
    ApiKey.DESCRIBE_QUORUM,
    ApiKey.ALTER_PARTITION,
    ApiKey.UPDATE_FEATURES,
    ApiKey.DESCRIBE_CLUSTER,
    ApiKey.DESCRIBE_PRODUCERS,
    ApiKey.UNREGISTER_BROKER,
    ApiKey.DESCRIBE_TRANSACTIONS,
    ApiKey.LIST_TRANSACTIONS,
    ApiKey.CONSUMER_GROUP_HEARTBEAT,
    ApiKey.CONSUMER_GROUP_DESCRIBE,
    ApiKey.GET_TELEMETRY_SUBSCRIPTIONS,
    ApiKey.PUSH_TELEMETRY,
    ApiKey.LIST_CONFIG_RESOURCES,
    ApiKey.DESCRIBE_TOPIC_PARTITIONS,
    ApiKey.SHARE_GROUP_HEARTBEAT,
    ApiKey.SHARE_GROUP_DESCRIBE,
    ApiKey.SHARE_FETCH,
    ApiKey.SHARE_ACKNOWLEDGE,
    ApiKey.ADD_RAFT_VOTER,
    ApiKey.REMOVE_RAFT_VOTER,
    ApiKey.INITIALIZE_SHARE_GROUP_STATE,
    ApiKey.READ_SHARE_GROUP_STATE,
    ApiKey.WRITE_SHARE_GROUP_STATE,
    ApiKey.DELETE_SHARE_GROUP_STATE,
    ApiKey.READ_SHARE_GROUP_STATE_SUMMARY,
    ApiKey.STREAMS_GROUP_HEARTBEAT,
    ApiKey.STREAMS_GROUP_DESCRIBE,
    ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS,
    ApiKey.ALTER_SHARE_GROUP_OFFSETS,
    ApiKey.DELETE_SHARE_GROUP_OFFSETS,
    ApiKey.STREAMS_GROUP_TOPOLOGY_DESCRIPTION_UPDATE,
    ApiKey.UNREGISTER_CONTROLLER,
)
"""In the order of keys. Each has `shim/handlers/<name>.py`, imported on the first request; those of
ALWAYS_REJECTED are in the table of `shim/handlers/always_rejected.py`."""

ALWAYS_REJECTED: frozenset[ApiKey] = frozenset(
    {
        ApiKey.LEADER_AND_ISR,
        ApiKey.STOP_REPLICA,
        ApiKey.UPDATE_METADATA,
        ApiKey.CONTROLLED_SHUTDOWN,
        ApiKey.ALTER_PARTITION,
        ApiKey.ADD_RAFT_VOTER,
        ApiKey.REMOVE_RAFT_VOTER,
        ApiKey.UNREGISTER_CONTROLLER,
    }
)
"""Their requests are checked and decided, but never succeed."""


class Handler(Protocol):
    """The public functions of a handler module.

    `handle` returns a response, a Wait for one, or NO_RESPONSE. `error_response` returns the
    response to a request that failed as a whole. `CACHED_SINCE`, which not every handler has, is
    the first version whose responses depend neither on the clock nor on randomness, and that
    changes nothing but topics that it creates; all others may change anything.
    """

    def handle(self, request: Any, context: RequestContext) -> Any: ...
    def error_response(self, request: Any, error: ErrorCode, message: str | None) -> Any: ...


class ServedApi:
    """An API in a version: codec and handler, resolved once.

    `pack_response_start` takes the size of a response and its correlation id, and returns the bytes
    before the body; `response_start_bytes` of them count for the size. `is_cacheable`: see
    `CACHED_SINCE` of handlers. `encode_response_in_chunks` encodes a response that may contain
    `ByteChunks`; None if this one never does.
    """

    __slots__ = (
        "decode_request",
        "encode_response",
        "encode_response_in_chunks",
        "error_response",
        "handle",
        "has_response_tags",
        "is_cacheable",
        "key",
        "pack_response_start",
        "response_start_bytes",
        "version",
    )

    def __init__(self, key: ApiKey, version: int, *, has_item_limits: bool = False) -> None:
        handler = import_handler(key)
        self.key = key
        self.version = version
        cached_since: int | None = getattr(handler, "CACHED_SINCE", None)
        self.is_cacheable = cached_since is not None and version >= cached_since
        self.decode_request: Callable[[bytes, int], Any] = codecs.request_reader(
            key, version, limits_counts=has_item_limits
        )
        self.has_response_tags = response_header_version(key, version) > 0
        start = _RESPONSE_START_WITH_TAGS if self.has_response_tags else _RESPONSE_START
        self.pack_response_start: Callable[[int, int], bytes] = start.pack
        self.response_start_bytes = start.size - 4
        write = codecs.response_writer(key, version)
        is_shared = key is ApiKey.API_VERSIONS  # the same response for all clients, and a long one
        self.encode_response: Callable[[Any], bytes] = (
            _cache_last_result(write) if is_shared else write
        )
        self.encode_response_in_chunks: codecs.ChunkWriter | None = None
        if key is ApiKey.FETCH:
            self.encode_response_in_chunks = codecs.response_chunk_writer(key, version)
        self.handle = handler.handle
        self.error_response = handler.error_response


def _cache_last_result(write: Callable[[Any], bytes]) -> Callable[[Any], bytes]:
    """Return `write` with a cache of one result: a repeated message is not encoded again."""
    last: tuple[Any, bytes] = (None, b"")

    def write_cached(message: Any) -> bytes:
        nonlocal last
        if message is not last[0]:
            last = (message, write(message))
        return last[1]

    return write_cached


def import_handler(key: ApiKey) -> Handler:
    name = "always_rejected" if key in ALWAYS_REJECTED else key.name.lower()
    module = importlib.import_module(f"kafka_shim.shim.handlers.{name}")
    return cast("Handler", module.HANDLERS[key] if key in ALWAYS_REJECTED else module)


@cache
def advertised_apis(
    release: str, *, accepts_client_metrics: bool
) -> Mapping[ApiKey, tuple[int, int]]:
    """Return the APIs and versions for the ApiVersions response.

    `accepts_client_metrics`: also the APIs to push client metrics (KIP-714).
    """
    hidden = frozenset() if accepts_client_metrics else TELEMETRY
    return {
        key: versions for key, versions in advertised_versions(release).items() if key not in hidden
    }


class ApiTable:
    """The APIs of one release, for dispatch."""

    def __init__(self, release: str, *, accepts_client_metrics: bool = False) -> None:
        self.advertised = advertised_apis(release, accepts_client_metrics=accepts_client_metrics)
        self._served = served_versions(release)
        self.request_items_are_limited = facts_of_release(release).cluster.request_items_are_limited
        self._resolved: dict[tuple[int, int], ServedApi] = {}

    def find_api(self, key: int, version: int) -> ServedApi | None:
        """Return the API in a version; None if the release or the shim does not support it."""
        served = self._resolved.get((key, version))
        if served is None:
            try:
                api = ApiKey(key)
            except ValueError:
                return None
            low, high = self._served.get(api, (1, 0))
            if api not in APIS_WITH_HANDLER or not low <= version <= high:
                return None
            served = self._resolved[key, version] = ServedApi(
                api, version, has_item_limits=self.request_items_are_limited
            )
        return served

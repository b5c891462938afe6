"""Which APIs are served: handler modules by API key, cut to what the release offers.

Fail closed: an API without a handler is neither advertised nor answered, a version that the
release does not have is refused.
"""

import importlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol, cast

from protocol import codecs
from protocol.api_versions import TELEMETRY, advertised, served
from protocol.enums import ApiKey
from protocol.error_codes import ErrorCode
from protocol.headers import response_header_version

if TYPE_CHECKING:
    from shim.context import RequestContext

HANDLED: frozenset[ApiKey] = frozenset(
    {
        ApiKey.METADATA,
        ApiKey.CREATE_TOPICS,
        ApiKey.DESCRIBE_CONFIGS,
        ApiKey.DESCRIBE_LOG_DIRS,
        ApiKey.ALTER_REPLICA_LOG_DIRS,
        ApiKey.LIST_PARTITION_REASSIGNMENTS,
        ApiKey.ALTER_PARTITION_REASSIGNMENTS,
        ApiKey.ELECT_LEADERS,
        ApiKey.LIST_CONFIG_RESOURCES,
        ApiKey.ALTER_CONFIGS,
        ApiKey.INCREMENTAL_ALTER_CONFIGS,
        ApiKey.CREATE_PARTITIONS,
        ApiKey.DELETE_TOPICS,
        ApiKey.DESCRIBE_TOPIC_PARTITIONS,
        ApiKey.PRODUCE,
        ApiKey.FETCH,
        ApiKey.LIST_OFFSETS,
        ApiKey.DELETE_RECORDS,
        ApiKey.OFFSET_FOR_LEADER_EPOCH,
        ApiKey.API_VERSIONS,
        ApiKey.INIT_PRODUCER_ID,
        ApiKey.ADD_PARTITIONS_TO_TXN,
        ApiKey.ADD_OFFSETS_TO_TXN,
        ApiKey.END_TXN,
        ApiKey.WRITE_TXN_MARKERS,
        ApiKey.TXN_OFFSET_COMMIT,
        ApiKey.DESCRIBE_PRODUCERS,
        ApiKey.DESCRIBE_TRANSACTIONS,
        ApiKey.LIST_TRANSACTIONS,
        ApiKey.OFFSET_COMMIT,
        ApiKey.OFFSET_FETCH,
        ApiKey.FIND_COORDINATOR,
        ApiKey.JOIN_GROUP,
        ApiKey.HEARTBEAT,
        ApiKey.LEAVE_GROUP,
        ApiKey.SYNC_GROUP,
        ApiKey.DESCRIBE_GROUPS,
        ApiKey.LIST_GROUPS,
        ApiKey.DELETE_GROUPS,
        ApiKey.OFFSET_DELETE,
        ApiKey.CONSUMER_GROUP_DESCRIBE,
        ApiKey.CONSUMER_GROUP_HEARTBEAT,
        ApiKey.DELETE_SHARE_GROUP_OFFSETS,
        ApiKey.ALTER_SHARE_GROUP_OFFSETS,
        ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS,
        ApiKey.SHARE_ACKNOWLEDGE,
        ApiKey.SHARE_FETCH,
        ApiKey.SHARE_GROUP_DESCRIBE,
        ApiKey.SHARE_GROUP_HEARTBEAT,
        ApiKey.STREAMS_GROUP_DESCRIBE,
        ApiKey.STREAMS_GROUP_HEARTBEAT,
        ApiKey.SASL_HANDSHAKE,
        ApiKey.SASL_AUTHENTICATE,
        ApiKey.CREATE_DELEGATION_TOKEN,
        ApiKey.RENEW_DELEGATION_TOKEN,
        ApiKey.EXPIRE_DELEGATION_TOKEN,
        ApiKey.DESCRIBE_DELEGATION_TOKEN,
        ApiKey.DESCRIBE_CLUSTER,
        ApiKey.INITIALIZE_SHARE_GROUP_STATE,
        ApiKey.READ_SHARE_GROUP_STATE,
        ApiKey.WRITE_SHARE_GROUP_STATE,
        ApiKey.DELETE_SHARE_GROUP_STATE,
        ApiKey.READ_SHARE_GROUP_STATE_SUMMARY,
        ApiKey.DESCRIBE_CLIENT_QUOTAS,
        ApiKey.ALTER_CLIENT_QUOTAS,
        ApiKey.DESCRIBE_QUORUM,
        ApiKey.UPDATE_FEATURES,
        ApiKey.UNREGISTER_BROKER,
        ApiKey.ADD_RAFT_VOTER,
        ApiKey.REMOVE_RAFT_VOTER,
        ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS,
        ApiKey.ALTER_USER_SCRAM_CREDENTIALS,
        ApiKey.CREATE_ACLS,
        ApiKey.DESCRIBE_ACLS,
        ApiKey.DELETE_ACLS,
        ApiKey.LEADER_AND_ISR,
        ApiKey.STOP_REPLICA,
        ApiKey.UPDATE_METADATA,
        ApiKey.CONTROLLED_SHUTDOWN,
        ApiKey.ALTER_PARTITION,
        ApiKey.GET_TELEMETRY_SUBSCRIPTIONS,
        ApiKey.PUSH_TELEMETRY,
    }
)
"""One module `shim/handlers/<name>.py` each; imported on the first request."""


class Handler(Protocol):
    """The two public functions of a handler module.

    `handle` answers a request: with a response, with a Wait for one, or with NO_RESPONSE.
    `refuse` builds the answer to a request that failed as a whole.
    """

    def handle(self, request: Any, context: "RequestContext") -> Any: ...
    def refuse(self, request: Any, error: ErrorCode, message: str | None) -> Any: ...


class ServedApi:
    """One API in one version: codec and handler, resolved once.

    `response_tags` are between the correlation id and the body of an answer.
    """

    __slots__ = ("handle", "key", "read", "refuse", "response_tags", "version", "write")

    def __init__(self, key: ApiKey, version: int) -> None:
        handler = handler_of(key)
        self.key = key
        self.version = version
        self.read: Callable[[bytes, int], Any] = codecs.request_reader(key, version)
        self.response_tags = b"\0" if response_header_version(key, version) else b""
        self.write: Callable[[Any], bytes] = codecs.response_writer(key, version)
        self.handle = handler.handle
        self.refuse = handler.refuse


def handler_of(key: ApiKey) -> Handler:
    return cast("Handler", importlib.import_module(f"shim.handlers.{key.name.lower()}"))


class ApiTable:
    """The APIs of one release, for ApiVersions and for dispatch.

    `takes_metrics`: clients are told that they may push theirs (KIP-714).
    """

    def __init__(self, release: str, *, takes_metrics: bool = False) -> None:
        told = HANDLED if takes_metrics else HANDLED - TELEMETRY
        self.advertised: Mapping[ApiKey, tuple[int, int]] = {
            key: versions for key, versions in advertised(release).items() if key in told
        }
        self._served = served(release)
        self._resolved: dict[tuple[int, int], ServedApi] = {}

    def find(self, key: int, version: int) -> ServedApi | None:
        """None for what the release, or the shim, does not serve."""
        found = self._resolved.get((key, version))
        if found is None:
            try:
                api = ApiKey(key)
            except ValueError:
                return None
            low, high = self._served.get(api, (1, 0))
            if api not in HANDLED or not low <= version <= high:
                return None
            found = self._resolved[key, version] = ServedApi(api, version)
        return found

"""Lies of a proxy about responses, and the mistake that a report must name.

A key is a regular expression that must match the report; tests know no names of lies.
"""

from collections.abc import Callable, Iterable
from typing import Any, Final

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.describe_configs import DescribeConfigsResourceResult
from kafka_shim.protocol.messages.describe_delegation_token import DescribedDelegationToken
from kafka_shim.protocol.messages.describe_groups import DescribedGroupMember
from kafka_shim.protocol.messages.describe_producers import ProducerState
from kafka_shim.protocol.messages.list_groups import ListedGroup
from kafka_shim.protocol.messages.metadata import MetadataResponseTopic
from tests.mutants.lying_proxy import Lie
from tests.recordings.records.batches import batch

DENIED: Final = frozenset({29, 30, 31, 53, 65})
Change = Callable[[Any], Any]


def of(*apis: ApiKey) -> Callable[[Change], Lie]:
    """Return a decorator for a change of the responses of some APIs; it returns None to close."""

    def decorate(change: Change) -> Lie:
        def lie(api: ApiKey, version: int, response: Any) -> Any:
            if api not in apis:
                return response
            changed = change(response)
            return response if changed is KEPT else changed

        return lie

    return decorate


KEPT: Final = object()


def elements(response: Any) -> Iterable[Any]:
    """Yield a response and all structs in it."""
    if isinstance(response, list):
        for each in response:
            yield from elements(each)
    elif hasattr(response, "__struct_fields__"):
        yield response
        for name in response.__struct_fields__:
            yield from elements(getattr(response, name))


def setting(code: int | None = None, **fields: Any) -> Change:
    """Return a change of elements with this error code, or any code of a denial."""

    def change(response: Any) -> Any:
        for element in elements(response):
            found = getattr(element, "error_code", 0)
            if found == code if code is not None else found in DENIED:
                for name, value in fields.items():
                    if hasattr(element, name):
                        setattr(element, name, value)
        return response

    return change


def replacing(code: int, other: int) -> Change:
    """Return a change of one error code into another."""
    return setting(code, error_code=other)


def everywhere(name: str, value: Callable[[Any], Any]) -> Change:
    """Return a change of a field in all elements without an error."""

    def change(response: Any) -> Any:
        for element in elements(response):
            if hasattr(element, name) and not getattr(element, "error_code", 0):
                setattr(element, name, value(getattr(element, name)))
        return response

    return change


def reordering(name: str) -> Change:
    def change(response: Any) -> Any:
        getattr(response, name).reverse()
        return response

    return change


def adding(name: str, make: Callable[[], Any]) -> Change:
    def change(response: Any) -> Any:
        if response.error_code == 0:
            getattr(response, name).append(make())
        return response

    return change


def closing_if_denied(response: Any) -> Any:
    return None if any(getattr(e, "error_code", 0) in DENIED for e in elements(response)) else KEPT


def _without_last(rows: list[Any]) -> list[Any]:
    return rows[:-1]


def _unseen_topics(response: Any) -> Any:
    """Add a denied topic to responses about all topics."""
    for topic in response.topics:
        if topic.name and topic.name.endswith("-other") and len(response.topics) == 1:
            name = topic.name.replace("-other", "-name")
            response.topics.append(MetadataResponseTopic(name=name))
            break
    return response


def _all_denied(response: Any) -> Any:
    """Deny all topics if one is denied."""
    codes = {row.error_code for topic in response.responses for row in topic.partitions}
    return setting(0, error_code=29, records=None)(response) if 29 in codes else response


class _SessionsForget:
    """Leave out denied partitions of later responses in a fetch session."""

    def __init__(self) -> None:
        self.seen: set[int] = set()

    def __call__(self, response: Any) -> Any:
        if response.session_id in self.seen and response.session_id:
            response.responses = [
                topic
                for topic in response.responses
                if not any(row.error_code == 29 for row in topic.partitions)
            ]
        self.seen.add(response.session_id)
        return response


RECORDS: Final = batch([b"v"])
MEMBER: Final = DescribedGroupMember(member_id="m", client_id="c", client_host="/127.0.0.1")
CONFIG: Final = DescribeConfigsResourceResult(name="retention.ms", value="1")
TOKEN: Final = DescribedDelegationToken(
    principal_type="User", principal_name="alice", token_id="x", hmac=b"x"
)
TOPIC_DENIED = r"TOPIC_AUTHORIZATION_FAILED \(29\)"
GROUP_DENIED = r"GROUP_AUTHORIZATION_FAILED \(30\)"
CLUSTER_DENIED = r"CLUSTER_AUTHORIZATION_FAILED \(31\)"
TRANSACTION_DENIED = r"TRANSACTIONAL_ID_AUTHORIZATION_FAILED \(53\)"

LIES: Final[dict[str, Lie]] = {
    # what is denied leaks
    f"Fetch returns records beside {TOPIC_DENIED}": of(ApiKey.FETCH)(setting(records=RECORDS)),
    f"Fetch returns highWatermark beside {TOPIC_DENIED}": of(ApiKey.FETCH)(
        setting(high_watermark=7)
    ),
    f"Fetch returns logStartOffset beside {TOPIC_DENIED}": of(ApiKey.FETCH)(
        setting(log_start_offset=3)
    ),
    f"ListOffsets returns offset beside {TOPIC_DENIED}": of(ApiKey.LIST_OFFSETS)(setting(offset=7)),
    f"Produce returns baseOffset beside {TOPIC_DENIED}": of(ApiKey.PRODUCE)(setting(base_offset=7)),
    f"OffsetForLeaderEpoch returns endOffset beside {TOPIC_DENIED}": of(
        ApiKey.OFFSET_FOR_LEADER_EPOCH
    )(setting(end_offset=7)),
    f"DeleteRecords returns lowWatermark beside {TOPIC_DENIED}": of(ApiKey.DELETE_RECORDS)(
        setting(low_watermark=7)
    ),
    f"OffsetFetch returns committedOffset beside {TOPIC_DENIED}": of(ApiKey.OFFSET_FETCH)(
        setting(29, committed_offset=5)
    ),
    f"OffsetFetch returns metadata beside {TOPIC_DENIED}": of(ApiKey.OFFSET_FETCH)(
        setting(29, metadata="x")
    ),
    f"DescribeProducers returns activeProducers beside {TOPIC_DENIED}": of(
        ApiKey.DESCRIBE_PRODUCERS
    )(setting(active_producers=[ProducerState(producer_id=1)])),
    f"DescribeConfigs returns configs beside {TOPIC_DENIED}": of(ApiKey.DESCRIBE_CONFIGS)(
        setting(configs=[CONFIG])
    ),
    f"CreateTopics returns numPartitions beside {TOPIC_DENIED}": of(ApiKey.CREATE_TOPICS)(
        setting(num_partitions=2)
    ),
    f"DescribeGroups returns members beside {GROUP_DENIED}": of(ApiKey.DESCRIBE_GROUPS)(
        setting(members=[MEMBER])
    ),
    f"DescribeGroups returns groupState beside {GROUP_DENIED}": of(ApiKey.DESCRIBE_GROUPS)(
        setting(group_state="Stable")
    ),
    f"DescribeGroups returns protocolType beside {GROUP_DENIED}": of(ApiKey.DESCRIBE_GROUPS)(
        setting(protocol_type="consumer")
    ),
    f"ConsumerGroupDescribe returns groupEpoch beside {GROUP_DENIED}": of(
        ApiKey.CONSUMER_GROUP_DESCRIBE
    )(setting(group_epoch=3)),
    f"FindCoordinator returns host beside {TRANSACTION_DENIED}": of(ApiKey.FIND_COORDINATOR)(
        setting(host="127.0.0.1")
    ),
    f"FindCoordinator returns port beside {TRANSACTION_DENIED}": of(ApiKey.FIND_COORDINATOR)(
        setting(port=9092)
    ),
    f"FindCoordinator returns nodeId beside {GROUP_DENIED}": of(ApiKey.FIND_COORDINATOR)(
        setting(node_id=1)
    ),
    f"JoinGroup returns leader beside {GROUP_DENIED}": of(ApiKey.JOIN_GROUP)(setting(leader="m")),
    f"JoinGroup returns generationId beside {GROUP_DENIED}": of(ApiKey.JOIN_GROUP)(
        setting(generation_id=4)
    ),
    f"SyncGroup returns assignment beside {GROUP_DENIED}": of(ApiKey.SYNC_GROUP)(
        setting(assignment=b"x")
    ),
    f"InitProducerId returns producerId beside {CLUSTER_DENIED}": of(ApiKey.INIT_PRODUCER_ID)(
        setting(producer_id=9)
    ),
    f"DescribeTransactions returns transactionState beside {TRANSACTION_DENIED}": of(
        ApiKey.DESCRIBE_TRANSACTIONS
    )(setting(transaction_state="Ongoing")),
    "DescribeDelegationToken returns more elements of tokens": of(ApiKey.DESCRIBE_DELEGATION_TOKEN)(
        adding("tokens", lambda: TOKEN)
    ),
    "Metadata returns more elements of topics": of(ApiKey.METADATA)(_unseen_topics),
    "ListGroups returns more elements of groups": of(ApiKey.LIST_GROUPS)(
        adding("groups", lambda: ListedGroup(group_id="r344-name"))
    ),
    # decisions are turned round
    f"Metadata returns no error instead of {TOPIC_DENIED}": of(ApiKey.METADATA)(replacing(29, 0)),
    f"Metadata returns UNKNOWN_TOPIC_OR_PARTITION \\(3\\) instead of {TOPIC_DENIED}": of(
        ApiKey.METADATA
    )(replacing(29, 3)),
    f"DescribeGroups returns no error instead of {GROUP_DENIED}": of(ApiKey.DESCRIBE_GROUPS)(
        replacing(30, 0)
    ),
    f"Heartbeat returns UNKNOWN_MEMBER_ID \\(25\\) instead of {GROUP_DENIED}": of(ApiKey.HEARTBEAT)(
        replacing(30, 25)
    ),
    f"EndTxn returns .*INVALID_PRODUCER_ID_MAPPING \\(49\\) instead of {TRANSACTION_DENIED}": of(
        ApiKey.END_TXN
    )(replacing(53, 49)),
    f"InitProducerId returns no error instead of {CLUSTER_DENIED}": of(ApiKey.INIT_PRODUCER_ID)(
        replacing(31, 0)
    ),
    f"DescribeAcls returns no error instead of {CLUSTER_DENIED}": of(ApiKey.DESCRIBE_ACLS)(
        replacing(31, 0)
    ),
    f"Fetch returns {TOPIC_DENIED} instead of no error": of(ApiKey.FETCH)(_all_denied),
    f"Fetch returns {TOPIC_DENIED} instead of UNKNOWN_TOPIC_OR_PARTITION": of(ApiKey.FETCH)(
        replacing(3, 29)
    ),
    "Fetch leaves out elements of responses": of(ApiKey.FETCH)(_SessionsForget()),
    "Heartbeat has the outcome closed": of(ApiKey.HEARTBEAT)(closing_if_denied),
    # what is allowed is missing or another
    "Fetch returns no records": of(ApiKey.FETCH)(everywhere("records", lambda _: None)),
    "DescribeConfigs returns no configs": of(ApiKey.DESCRIBE_CONFIGS)(
        everywhere("configs", lambda _: [])
    ),
    "DescribeGroups returns no members": of(ApiKey.DESCRIBE_GROUPS)(
        everywhere("members", lambda _: [])
    ),
    "ListGroups leaves out elements of groups": of(ApiKey.LIST_GROUPS)(
        everywhere("groups", lambda _: [])
    ),
    "FindCoordinator returns no host": of(ApiKey.FIND_COORDINATOR)(
        everywhere("host", lambda _: "")
    ),
    "Metadata returns another topicAuthorizedOperations": of(ApiKey.METADATA)(
        everywhere("topic_authorized_operations", lambda bits: bits | 1 << 4)
    ),
    "DescribeGroups returns another authorizedOperations": of(ApiKey.DESCRIBE_GROUPS)(
        everywhere("authorized_operations", lambda bits: bits & ~(1 << 3))
    ),
    "DescribeCluster returns another clusterAuthorizedOperations": of(ApiKey.DESCRIBE_CLUSTER)(
        everywhere("cluster_authorized_operations", lambda _: 8184)
    ),
    "OffsetFetch returns another committedOffset": of(ApiKey.OFFSET_FETCH)(
        everywhere("committed_offset", lambda offset: offset + 1)
    ),
    # ACLs
    "CreateAcls returns results in another order": of(ApiKey.CREATE_ACLS)(reordering("results")),
    "DeleteAcls returns filterResults in another order": of(ApiKey.DELETE_ACLS)(
        reordering("filter_results")
    ),
    "DeleteAcls leaves out elements of matchingAcls": of(ApiKey.DELETE_ACLS)(
        everywhere("matching_acls", _without_last)
    ),
    "DeleteAcls (returns another host|leaves out elements of matchingAcls)": of(ApiKey.DELETE_ACLS)(
        everywhere("host", lambda _: "*")
    ),
}

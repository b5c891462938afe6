"""Errors that cases inject: in an API's first response, or since a version of a request.

Producers and consumers must retry errors that Kafka's own client retries (`RetriableException`).
An admin client should retry them, and may report them as retriable instead. All other errors must
be reported to the caller with their code.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from kafka_shim.conformance.case_context import TRANSACTIONAL_PRODUCER, CaseContext
from kafka_shim.protocol.codec.catalogue import api_key, request_versions
from kafka_shim.protocol.error_codes import ErrorCode

TOPIC, GROUP = "orders", "workers"


class ErrorScenario(msgspec.Struct, frozen=True):
    """The broker returns `error` for one request of `api` during `command`.

    `item` is the name of the affected item in the command's answer; None: the whole answer.
    """

    api: str
    error: ErrorCode
    command: str
    fields: Mapping[str, Any]
    settings: Mapping[str, str] = {}
    item: str | None = None
    topics: tuple[str, ...] = (TOPIC,)

    @property
    def is_admin(self) -> bool:
        return self.command not in ("produce", "begin", "consume")

    @property
    def name(self) -> str:
        """The name in the case's id, such as `produce-not-leader-or-follower`."""
        finding = "-finding" if self.api == "FindCoordinator" else ""
        return f"{self.command}{finding}-{self.error.name}".lower().replace("_", "-")


_PRODUCE: tuple[str, Mapping[str, Any]] = ("produce", {"topic": TOPIC, "values": ["a"]})
_CREATE: tuple[str, Mapping[str, Any]] = ("create_topics", {"topics": {"new": 1}})
_OFFSETS: tuple[str, Mapping[str, Any]] = ("list_offsets", {"partitions": [f"{TOPIC}-0"]})
_COMMITTED: tuple[str, Mapping[str, Any]] = (
    "group_offsets",
    {"group": GROUP, "partitions": [f"{TOPIC}-0"]},
)
_DESCRIBE: tuple[str, Mapping[str, Any]] = (
    "describe_groups",
    {"names": [GROUP], "operations": False},
)
_BEGIN: tuple[str, Mapping[str, Any]] = ("begin", {})

RETRIED: tuple[ErrorScenario, ...] = (
    *(
        ErrorScenario("Produce", error, *_PRODUCE)
        for error in (
            ErrorCode.NOT_LEADER_OR_FOLLOWER,
            ErrorCode.REQUEST_TIMED_OUT,
            ErrorCode.NOT_ENOUGH_REPLICAS,
            ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
            ErrorCode.CORRUPT_MESSAGE,
            ErrorCode.KAFKA_STORAGE_ERROR,
        )
    ),
    *(
        ErrorScenario("InitProducerId", error, *_BEGIN, settings=TRANSACTIONAL_PRODUCER)
        for error in (
            ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
            ErrorCode.COORDINATOR_NOT_AVAILABLE,
            ErrorCode.NOT_COORDINATOR,
            ErrorCode.CONCURRENT_TRANSACTIONS,
        )
    ),
    *(
        ErrorScenario("FindCoordinator", error, *_COMMITTED, item=f"{TOPIC}-0")
        for error in (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.COORDINATOR_NOT_AVAILABLE)
    ),
    *(
        ErrorScenario("OffsetFetch", error, *_COMMITTED, item=f"{TOPIC}-0")
        for error in (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.NOT_COORDINATOR)
    ),
    ErrorScenario("DescribeGroups", ErrorCode.NOT_COORDINATOR, *_DESCRIBE, item=GROUP),
    ErrorScenario("ListOffsets", ErrorCode.NOT_LEADER_OR_FOLLOWER, *_OFFSETS, item=f"{TOPIC}-0"),
    ErrorScenario("CreateTopics", ErrorCode.NOT_CONTROLLER, *_CREATE, item="new"),
    ErrorScenario("CreateTopics", ErrorCode.THROTTLING_QUOTA_EXCEEDED, *_CREATE, item="new"),
)

FINAL_ERRORS: tuple[ErrorScenario, ...] = (
    *(
        ErrorScenario("Produce", error, *_PRODUCE)
        for error in (
            ErrorCode.MESSAGE_TOO_LARGE,
            ErrorCode.INVALID_TOPIC_EXCEPTION,
            ErrorCode.INVALID_TIMESTAMP,
            ErrorCode.INVALID_RECORD,
            ErrorCode.INVALID_REQUIRED_ACKS,
            ErrorCode.POLICY_VIOLATION,
        )
    ),
    *(
        ErrorScenario("CreateTopics", error, *_CREATE, item="new")
        for error in (
            ErrorCode.TOPIC_ALREADY_EXISTS,
            ErrorCode.INVALID_PARTITIONS,
            ErrorCode.INVALID_REPLICATION_FACTOR,
            ErrorCode.INVALID_CONFIG,
            ErrorCode.POLICY_VIOLATION,
            ErrorCode.UNKNOWN_SERVER_ERROR,
        )
    ),
    *(
        ErrorScenario("InitProducerId", error, *_BEGIN, settings=TRANSACTIONAL_PRODUCER)
        for error in (
            ErrorCode.INVALID_TRANSACTION_TIMEOUT,
            ErrorCode.INVALID_REQUEST,
        )
    ),
    *(
        ErrorScenario("DescribeGroups", error, *_DESCRIBE, item=GROUP)
        for error in (ErrorCode.INVALID_GROUP_ID, ErrorCode.UNKNOWN_SERVER_ERROR)
    ),
)


_E = ErrorCode
SINCE: Mapping[tuple[str, ErrorCode], tuple[int, ErrorCode | None]] = {
    # recorded on real brokers for each version: `python -m tests.oracle.error_versions`
    ("EndTxn", _E.PRODUCER_FENCED): (2, _E.INVALID_PRODUCER_EPOCH),
    ("InitProducerId", _E.PRODUCER_FENCED): (4, _E.INVALID_PRODUCER_EPOCH),
    ("CreateTopics", _E.THROTTLING_QUOTA_EXCEEDED): (6, None),
    ("Fetch", _E.KAFKA_STORAGE_ERROR): (6, _E.NOT_LEADER_OR_FOLLOWER),
    ("Fetch", _E.FETCH_SESSION_ID_NOT_FOUND): (7, None),
    ("Fetch", _E.FENCED_LEADER_EPOCH): (9, None),
    ("Fetch", _E.UNKNOWN_LEADER_EPOCH): (9, None),
    ("Fetch", _E.UNKNOWN_TOPIC_ID): (13, _E.UNKNOWN_TOPIC_OR_PARTITION),
    ("JoinGroup", _E.FENCED_INSTANCE_ID): (5, None),
    ("OffsetCommit", _E.ILLEGAL_GENERATION): (1, None),
    ("OffsetCommit", _E.UNKNOWN_MEMBER_ID): (1, None),
    # not recorded, as brokers of 3.9, 4.0 and 4.4 never return it for EndTxn: the version is from
    # the comments in Kafka's EndTxnResponse.json, the error for older versions is assumed
    ("EndTxn", _E.TRANSACTION_ABORTABLE): (4, _E.INVALID_TXN_STATE),
}
"""By API and error: the first version that gets it, and the error for older ones (None: none).

Every version gets the other errors. That includes KAFKA_STORAGE_ERROR (56) of Produce: Kafka's
definition says that it came with version 4, but real brokers return it in version 3, too.
"""


class InjectedErrorFaults(msgspec.Struct):
    """The faults that return an error, each in the versions that it is for."""

    fired_codes: dict[int, list[Any]]

    def fired_error_codes(self) -> set[int]:
        """Return the errors that the client got."""
        return {
            code
            for code, faults in self.fired_codes.items()
            if any(fault.fired for fault in faults)
        }


def inject_versioned_error(
    context: CaseContext, api: str, error: int, **fault_options: Any
) -> InjectedErrorFaults:
    """Make an API return the error that brokers return in the version that the client sends."""
    known = SINCE.get((api, ErrorCode(error)))
    match = fault_options.pop("match", {})
    if known is None:
        fault = context.inject_fault(api, error=error, match=match, **fault_options)
        return InjectedErrorFaults({error: [fault]})
    first, older = known
    low, high = request_versions(api_key(api))
    faults: dict[int, list[Any]] = {}
    for version in range(low, high + 1):
        code = error if version >= first else older
        if code is not None:
            told = {**match, "version": version}
            fault = context.inject_fault(api, error=int(code), match=told, **fault_options)
            faults.setdefault(int(code), []).append(fault)
    return InjectedErrorFaults(faults)

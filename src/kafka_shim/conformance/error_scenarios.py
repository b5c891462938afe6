"""Errors that occur once: an API whose first response is an error.

Producers and consumers must retry errors that Kafka's own client retries (`RetriableException`).
An admin client should retry them, and may report them as retriable instead. All other errors must
be reported to the caller with their code.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from kafka_shim.conformance.case_context import TRANSACTIONAL_PRODUCER
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

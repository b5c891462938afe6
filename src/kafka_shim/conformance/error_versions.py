"""Errors that brokers return since a version of a request, and those that older versions get."""

from collections.abc import Mapping
from typing import Any

import msgspec

from kafka_shim.conformance.case_context import CaseContext
from kafka_shim.protocol.codec.catalogue import api_key, request_versions
from kafka_shim.protocol.error_codes import ErrorCode

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

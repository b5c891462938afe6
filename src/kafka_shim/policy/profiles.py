"""Profiles: activities of clients, such as `consume`, with all accesses that they need.

A profile lists rows of the requirements table under the key of an expectation that has their
resource names: `consume` needs `Fetch.topic` for the names under `topic`, and `JoinGroup.group` for
those under `group`.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final

import msgspec

from kafka_shim.authorizer.requirement import NeedAlternative
from kafka_shim.authorizer.requirements import TABLE, requirements_of_served_versions
from kafka_shim.policy.name_sets import NameSet
from kafka_shim.protocol.enums import ResourceType

TOPIC, GROUP, TRANSACTION = "topic", "group", "transactional-id"
APPLICATION, INPUT, OUTPUT, INTERNAL = "application-id", "input", "output", "internal"

_READ = ("Metadata.topic", "ListOffsets.topic", "Fetch.topic")
_MEMBER = ("JoinGroup.group", "SyncGroup.group", "Heartbeat.group", "LeaveGroup.group")
_NEW_MEMBER = ("ConsumerGroupHeartbeat.group",)
_SHARING = ("GroupHeartbeat", "Fetch", "Acknowledge")
_OFFSETS = ("FindCoordinator.group", "OffsetFetch.group", "OffsetCommit.group")
_OFFSETS_OF_TOPIC = ("OffsetFetch.topic", "OffsetCommit.topic")
_WRITE = ("Metadata.topic", "Produce.topic")
_IDEMPOTENT = ("InitProducerId.idempotent", "Produce.idempotent")
_TRANSACTION = (
    "FindCoordinator.transaction",
    "InitProducerId.transactional_id",
    "AddPartitionsToTxn.transactional_id",
    "Produce.transactional_id",
    "EndTxn.transactional_id",
)
_IN_TRANSACTION = (*_WRITE, "AddPartitionsToTxn.topic")
_OFFSETS_IN_TRANSACTION = ("AddOffsetsToTxn.transactional_id", "TxnOffsetCommit.transactional_id")
_OWN_TOPICS = ("CreateTopics.topic", *_READ, *_WRITE)

_RequirementIdsByKey = Mapping[str, Sequence[str]]
_CONSUME: _RequirementIdsByKey = {TOPIC: (*_READ, *_OFFSETS_OF_TOPIC), GROUP: (*_OFFSETS, *_MEMBER)}
_PRODUCE_IN_TRANSACTION: _RequirementIdsByKey = {TOPIC: _IN_TRANSACTION, TRANSACTION: _TRANSACTION}
_STREAMS: _RequirementIdsByKey = {
    INPUT: (*_READ, *_OFFSETS_OF_TOPIC),
    OUTPUT: _WRITE,
    INTERNAL: (*_OWN_TOPICS, *_OFFSETS_OF_TOPIC, "DeleteRecords.topic"),
    GROUP: (*_OFFSETS, *_MEMBER),
}

PROFILES: Final[Mapping[str, _RequirementIdsByKey]] = {
    "read": {TOPIC: _READ},
    "consume": _CONSUME,
    "consume-new-protocol": {
        TOPIC: (*_READ, *_OFFSETS_OF_TOPIC, "ConsumerGroupHeartbeat.topic"),
        GROUP: (*_OFFSETS, *_NEW_MEMBER),
    },
    "consume-shared": {
        TOPIC: ("Metadata.topic", *(f"Share{api}.topic" for api in _SHARING)),
        GROUP: ("FindCoordinator.group", *(f"Share{api}.group" for api in _SHARING)),
    },
    "commit": {TOPIC: _OFFSETS_OF_TOPIC, GROUP: _OFFSETS},
    "produce": {TOPIC: _WRITE},
    "produce-idempotent": {TOPIC: (*_WRITE, *_IDEMPOTENT)},
    "produce-transactional": _PRODUCE_IN_TRANSACTION,
    "commit-in-transaction": {
        TOPIC: ("TxnOffsetCommit.topic",),
        GROUP: ("FindCoordinator.group", "AddOffsetsToTxn.group", "TxnOffsetCommit.group"),
        TRANSACTION: (*_TRANSACTION, *_OFFSETS_IN_TRANSACTION),
    },
    "create-topic": {TOPIC: ("CreateTopics.topic",)},
    "streams": {**_STREAMS, OUTPUT: (*_WRITE, *_IDEMPOTENT)},
    "streams-new-protocol": {
        INPUT: (*_STREAMS[INPUT], "StreamsGroupHeartbeat.topic"),
        OUTPUT: (*_WRITE, *_IDEMPOTENT),
        INTERNAL: (
            *_READ,
            *_WRITE,
            *_OFFSETS_OF_TOPIC,
            "StreamsGroupHeartbeat.topic",
            "StreamsGroupHeartbeat.create",
            "DeleteRecords.topic",
        ),
        GROUP: (*_OFFSETS, "StreamsGroupHeartbeat.group"),
    },
    "streams-exactly-once": {
        INPUT: (*_STREAMS[INPUT], "TxnOffsetCommit.topic"),
        OUTPUT: _IN_TRANSACTION,
        INTERNAL: (*_STREAMS[INTERNAL], "AddPartitionsToTxn.topic", "TxnOffsetCommit.topic"),
        GROUP: (*_STREAMS[GROUP], "AddOffsetsToTxn.group", "TxnOffsetCommit.group"),
        TRANSACTION: (*_TRANSACTION, *_OFFSETS_IN_TRANSACTION),
    },
    "connect": {
        TOPIC: (*_OWN_TOPICS, *_IDEMPOTENT),
        GROUP: (*_OFFSETS, *_MEMBER),
    },
}
"""Ids of requirements by profile, and by the key that has their names."""

_ROWS = {row.id: row for row in TABLE}


class NeedsOnNames(msgspec.Struct, frozen=True):
    """A check that one of `needs` is allowed on every name in `names`, made by one requirement."""

    needs: tuple[NeedAlternative, ...]
    names: NameSet | None
    requirement_id: str | None = None

    @property
    def resource_type(self) -> ResourceType:
        """The resource type of the names; CLUSTER if there are none."""
        for need in self.needs:
            if need.resource_type is not ResourceType.CLUSTER and not need.any_name:
                return need.resource_type
        return ResourceType.CLUSTER


def name_keys_of_profile(profile: str) -> tuple[str, ...]:
    """Return the keys that an expectation needs for a profile, such as `topic` and `group`."""
    requirement_ids_by_key = PROFILES[profile]
    if INTERNAL in requirement_ids_by_key:
        return APPLICATION, INPUT, OUTPUT
    return tuple(requirement_ids_by_key)


def clauses_of_profile(
    profile: str, names_by_key: Mapping[str, Sequence[NameSet]], release: str
) -> tuple[NeedsOnNames, ...]:
    """Return the distinct accesses of a profile in a release, for these names.

    A Kafka Streams application has a group of its own name, and topics and transactions whose
    names begin with it.
    """
    names = dict(names_by_key)
    if APPLICATION in names:
        names[GROUP] = names[APPLICATION]
        own = [NameSet(f"{names.text}-", is_prefix=True) for names in names[APPLICATION]]
        names[INTERNAL] = names[TRANSACTION] = own
    needs = _needs_by_requirement_id_in_profiles(release)
    clauses = [
        NeedsOnNames(needs[row], None if are_nameless_needs(needs[row]) else name, row)
        for slot, rows in PROFILES[profile].items()
        for row in rows
        if row in needs
        for name in names[slot]
    ]
    return tuple(dict.fromkeys(clauses))


def are_nameless_needs(needs: Sequence[NeedAlternative]) -> bool:
    """Return whether all needs are about the cluster, or about any resource of a type."""
    return all(need.any_name or need.resource_type is ResourceType.CLUSTER for need in needs)


@cache
def _needs_by_requirement_id_in_profiles(release: str) -> dict[str, tuple[NeedAlternative, ...]]:
    return {
        bound.requirement.id: tuple(
            NeedAlternative(need.operation, need.resource_type, any_name=need.any_name)
            for need in bound.needs
        )
        for bound in requirements_of_served_versions(release)
        if bound.requirement.id in _ROWS
    }

"""The API versions that brokers of each release advertise on listeners for clients.

Brokers up to 2.8 are ZooKeeper brokers, later ones KRaft brokers. A release is a minor release,
"0.11" to the newest; where patch releases differ, the last one counts (JoinGroup of 4.0.0 alone
began at version 2). They come from `ApiKeys` in the clients jar of each release.
"""

from collections.abc import Mapping
from functools import cache
from typing import Final, Literal

from kafka_shim.protocol.enums import ApiKey

RELEASES: Final = (
    *("0.11", "1.0", "1.1"),
    *("2.0", "2.1", "2.2", "2.3", "2.4", "2.5", "2.6", "2.7", "2.8"),
    *("3.0", "3.1", "3.2", "3.3", "3.4", "3.5", "3.6", "3.7", "3.8", "3.9"),
    *("4.0", "4.1", "4.2", "4.3", "4.4"),
)
"""All minor releases, oldest first."""

TELEMETRY: Final = frozenset({ApiKey.GET_TELEMETRY_SUBSCRIPTIONS, ApiKey.PUSH_TELEMETRY})
"""Advertised if a telemetry receiver is configured (KIP-714); in `advertised_versions` always."""

PRODUCE_ADVERTISED_SINCE_ZERO: Final = "4.0"
"""Since this release, Produce lists versions from 0, which librdkafka requires, but serves only
versions from 3 (KIP-896, KAFKA-18659): an older request closes the connection."""

PRODUCE_SERVED_SINCE: Final = 3

# "release:min-max" holds until the next entry; "-" means not advertised
_ADVERTISED: Final[dict[ApiKey, str]] = {
    ApiKey.PRODUCE: (
        "0.11:0-3 1.0:0-5 2.0:0-6 2.1:0-7 2.4:0-8 2.8:0-9 3.7:0-10 3.8:0-11 4.0:0-12 4.1:0-13"
    ),
    ApiKey.FETCH: (
        "0.11:0-5 1.0:0-6 1.1:0-7 2.0:0-8 2.1:0-10 2.3:0-11 2.7:0-12 3.1:0-13 3.5:0-15 "
        "3.7:0-16 3.9:0-17 4.0:4-17 4.1:4-18"
    ),
    ApiKey.LIST_OFFSETS: (
        "0.11:0-2 2.0:0-3 2.1:0-4 2.2:0-5 2.8:0-6 3.0:0-7 3.5:0-8 3.9:0-9 4.0:1-10 4.2:1-11"
    ),
    ApiKey.METADATA: "0.11:0-4 1.0:0-5 2.0:0-6 2.1:0-7 2.3:0-8 2.4:0-9 2.8:0-11 3.1:0-12 4.0:0-13",
    ApiKey.LEADER_AND_ISR: "0.11:0-0 1.0:0-1 2.2:0-2 2.4:0-4 2.8:0-5 3.0:-",
    ApiKey.STOP_REPLICA: "0.11:0-0 2.2:0-1 2.4:0-2 2.6:0-3 3.0:-",
    ApiKey.UPDATE_METADATA: "0.11:0-3 1.0:0-4 2.2:0-5 2.4:0-6 2.8:0-7 3.0:-",
    ApiKey.CONTROLLED_SHUTDOWN: "0.11:1-1 1.0:0-1 2.2:0-2 2.4:0-3 3.0:-",
    ApiKey.OFFSET_COMMIT: "0.11:0-3 2.0:0-4 2.1:0-6 2.3:0-7 2.4:0-8 3.7:0-9 4.0:2-9 4.2:2-10",
    ApiKey.OFFSET_FETCH: (
        "0.11:0-3 2.0:0-4 2.1:0-5 2.4:0-6 2.5:0-7 3.0:0-8 3.7:0-9 4.0:1-9 4.2:1-10"
    ),
    ApiKey.FIND_COORDINATOR: "0.11:0-1 2.0:0-2 2.4:0-3 3.0:0-4 3.8:0-5 3.9:0-6",
    ApiKey.JOIN_GROUP: "0.11:0-2 2.0:0-3 2.2:0-4 2.3:0-5 2.4:0-6 2.5:0-7 3.2:0-9",
    ApiKey.HEARTBEAT: "0.11:0-1 2.0:0-2 2.3:0-3 2.4:0-4",
    ApiKey.LEAVE_GROUP: "0.11:0-1 2.0:0-2 2.4:0-4 3.2:0-5",
    ApiKey.SYNC_GROUP: "0.11:0-1 2.0:0-2 2.3:0-3 2.4:0-4 2.5:0-5",
    ApiKey.DESCRIBE_GROUPS: "0.11:0-1 2.0:0-2 2.3:0-3 2.4:0-5 4.0:0-6",
    ApiKey.LIST_GROUPS: "0.11:0-1 2.0:0-2 2.4:0-3 2.6:0-4 3.8:0-5",
    ApiKey.SASL_HANDSHAKE: "0.11:0-0 1.0:0-1",
    ApiKey.API_VERSIONS: "0.11:0-1 2.0:0-2 2.4:0-3 3.9:0-4 4.4:0-5",
    ApiKey.CREATE_TOPICS: "0.11:0-2 2.0:0-3 2.4:0-5 2.7:0-6 2.8:0-7 4.0:2-7",
    ApiKey.DELETE_TOPICS: "0.11:0-1 2.0:0-2 2.1:0-3 2.4:0-4 2.7:0-5 2.8:0-6 4.0:1-6",
    ApiKey.DELETE_RECORDS: "0.11:0-0 2.0:0-1 2.6:0-2",
    ApiKey.INIT_PRODUCER_ID: "0.11:0-0 2.0:0-1 2.4:0-2 2.5:0-3 2.7:0-4 3.8:0-5",
    ApiKey.OFFSET_FOR_LEADER_EPOCH: "0.11:0-0 2.0:0-1 2.1:0-2 2.3:0-3 2.8:0-4 4.0:2-4",
    ApiKey.ADD_PARTITIONS_TO_TXN: "0.11:0-0 2.0:0-1 2.7:0-2 2.8:0-3 3.6:0-4 3.8:0-5",
    ApiKey.ADD_OFFSETS_TO_TXN: "0.11:0-0 2.0:0-1 2.7:0-2 2.8:0-3 3.8:0-4",
    ApiKey.END_TXN: "0.11:0-0 2.0:0-1 2.7:0-2 2.8:0-3 3.8:0-4 4.0:0-5",
    ApiKey.WRITE_TXN_MARKERS: "0.11:0-0 2.8:0-1 4.0:1-1 4.2:1-2",
    ApiKey.TXN_OFFSET_COMMIT: "0.11:0-0 2.0:0-1 2.1:0-2 2.5:0-3 3.8:0-4 4.0:0-5 4.4:0-6",
    ApiKey.DESCRIBE_ACLS: "0.11:0-0 2.0:0-1 2.5:0-2 3.3:0-3 4.0:1-3",
    ApiKey.CREATE_ACLS: "0.11:0-0 2.0:0-1 2.5:0-2 3.3:0-3 4.0:1-3",
    ApiKey.DELETE_ACLS: "0.11:0-0 2.0:0-1 2.5:0-2 3.3:0-3 4.0:1-3",
    ApiKey.DESCRIBE_CONFIGS: "0.11:0-0 1.1:0-1 2.0:0-2 2.6:0-3 2.8:0-4 4.0:1-4",
    ApiKey.ALTER_CONFIGS: "0.11:0-0 2.0:0-1 2.8:0-2",
    ApiKey.ALTER_REPLICA_LOG_DIRS: "1.0:0-0 2.0:0-1 2.8:0-2 4.0:1-2",
    ApiKey.DESCRIBE_LOG_DIRS: "1.0:0-0 2.0:0-1 2.6:0-2 3.2:0-3 3.3:0-4 4.0:1-4 4.3:1-5",
    ApiKey.SASL_AUTHENTICATE: "1.0:0-0 2.2:0-1 2.5:0-2",
    ApiKey.CREATE_PARTITIONS: "1.0:0-0 2.0:0-1 2.5:0-2 2.7:0-3",
    ApiKey.CREATE_DELEGATION_TOKEN: "1.1:0-0 2.0:0-1 2.4:0-2 3.0:- 3.6:0-3 4.0:1-3",
    ApiKey.RENEW_DELEGATION_TOKEN: "1.1:0-0 2.0:0-1 2.5:0-2 3.0:- 3.6:0-2 4.0:1-2",
    ApiKey.EXPIRE_DELEGATION_TOKEN: "1.1:0-0 2.0:0-1 2.5:0-2 3.0:- 3.6:0-2 4.0:1-2",
    ApiKey.DESCRIBE_DELEGATION_TOKEN: "1.1:0-0 2.0:0-1 2.5:0-2 3.0:- 3.6:0-3 4.0:1-3",
    ApiKey.DELETE_GROUPS: "1.1:0-0 2.0:0-1 2.4:0-2 4.4:0-3",
    ApiKey.ELECT_LEADERS: "2.2:0-0 2.4:0-2",
    ApiKey.INCREMENTAL_ALTER_CONFIGS: "2.3:0-0 2.4:0-1",
    ApiKey.ALTER_PARTITION_REASSIGNMENTS: "2.4:0-0 4.1:0-1",
    ApiKey.LIST_PARTITION_REASSIGNMENTS: "2.4:0-0",
    ApiKey.OFFSET_DELETE: "2.4:0-0",
    ApiKey.DESCRIBE_CLIENT_QUOTAS: "2.6:0-0 2.8:0-1",
    ApiKey.ALTER_CLIENT_QUOTAS: "2.6:0-0 2.8:0-1",
    ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS: "2.7:0-0 3.0:- 3.5:0-0",
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS: "2.7:0-0 3.0:- 3.5:0-0",
    ApiKey.DESCRIBE_QUORUM: "3.3:0-1 3.9:0-2",
    ApiKey.ALTER_PARTITION: "2.7:0-0 3.0:-",
    ApiKey.UPDATE_FEATURES: "2.7:0-0 3.3:0-1 4.0:0-2",
    ApiKey.ENVELOPE: "3.0:0-0 3.2:-",
    ApiKey.DESCRIBE_CLUSTER: "2.8:0-0 3.7:0-1 4.0:0-2",
    ApiKey.DESCRIBE_PRODUCERS: "2.8:0-0",
    ApiKey.UNREGISTER_BROKER: "3.3:0-0",
    ApiKey.DESCRIBE_TRANSACTIONS: "3.0:0-0",
    ApiKey.LIST_TRANSACTIONS: "3.0:0-0 3.8:0-1 4.1:0-2",
    ApiKey.CONSUMER_GROUP_HEARTBEAT: "3.7:0-0 4.0:0-1",
    ApiKey.CONSUMER_GROUP_DESCRIBE: "3.8:0-0 4.0:0-1",
    ApiKey.GET_TELEMETRY_SUBSCRIPTIONS: "3.7:0-0",
    ApiKey.PUSH_TELEMETRY: "3.7:0-0",
    ApiKey.LIST_CONFIG_RESOURCES: "3.7:0-0 4.1:0-1",
    ApiKey.DESCRIBE_TOPIC_PARTITIONS: "3.8:0-0",
    ApiKey.SHARE_GROUP_HEARTBEAT: "4.1:1-1",
    ApiKey.SHARE_GROUP_DESCRIBE: "4.1:1-1",
    ApiKey.SHARE_FETCH: "4.1:1-1 4.2:1-2",
    ApiKey.SHARE_ACKNOWLEDGE: "4.1:1-1 4.2:1-2",
    ApiKey.ADD_RAFT_VOTER: "3.9:0-0 4.2:0-1",
    ApiKey.REMOVE_RAFT_VOTER: "3.9:0-0",
    ApiKey.INITIALIZE_SHARE_GROUP_STATE: "4.1:0-0",
    ApiKey.READ_SHARE_GROUP_STATE: "4.1:0-0",
    ApiKey.WRITE_SHARE_GROUP_STATE: "4.1:0-0 4.2:0-1",
    ApiKey.DELETE_SHARE_GROUP_STATE: "4.1:0-0",
    ApiKey.READ_SHARE_GROUP_STATE_SUMMARY: "4.1:0-0 4.2:0-1",
    ApiKey.STREAMS_GROUP_HEARTBEAT: "4.2:0-0 4.4:0-1",
    ApiKey.STREAMS_GROUP_DESCRIBE: "4.2:0-0 4.4:0-1",
    ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS: "4.1:0-0 4.2:0-1",
    ApiKey.ALTER_SHARE_GROUP_OFFSETS: "4.1:0-0",
    ApiKey.DELETE_SHARE_GROUP_OFFSETS: "4.1:0-0",
    ApiKey.STREAMS_GROUP_TOPOLOGY_DESCRIPTION_UPDATE: "4.4:0-0",
    ApiKey.UNREGISTER_CONTROLLER: "4.4:0-0",
}

# the first KRaft brokers list the versions that a controller supports, not their own
_SERVED_ONLY: Final = {
    release: {ApiKey.DESCRIBE_QUORUM: (0, 0)} for release in ("3.0", "3.1", "3.2")
}
_LISTED_ONLY: Final = {
    release: frozenset({ApiKey.UPDATE_FEATURES, ApiKey.ENVELOPE}) for release in ("3.0", "3.1")
}

# the newest version of a release is hidden unless unstable.api.versions.enable is set
_UNSTABLE: Final[dict[ApiKey, str]] = {
    ApiKey.OFFSET_COMMIT: "3.6:9 3.7:- 4.1:10 4.2:-",
    ApiKey.OFFSET_FETCH: "4.1:10 4.2:-",
    ApiKey.INIT_PRODUCER_ID: "4.1:6",
    ApiKey.ADD_PARTITIONS_TO_TXN: "3.5:4 3.6:-",
    ApiKey.CONSUMER_GROUP_HEARTBEAT: "3.5:0 3.7:-",
    ApiKey.CONSUMER_GROUP_DESCRIBE: "3.7:0 3.8:-",
    ApiKey.SHARE_GROUP_HEARTBEAT: "3.9:0 4.1:-",
    ApiKey.SHARE_GROUP_DESCRIBE: "3.9:0 4.1:-",
    ApiKey.SHARE_FETCH: "3.9:0 4.1:-",
    ApiKey.SHARE_ACKNOWLEDGE: "3.9:0 4.1:-",
    ApiKey.INITIALIZE_SHARE_GROUP_STATE: "3.9:0 4.1:-",
    ApiKey.READ_SHARE_GROUP_STATE: "3.9:0 4.1:-",
    ApiKey.WRITE_SHARE_GROUP_STATE: "3.9:0 4.1:-",
    ApiKey.DELETE_SHARE_GROUP_STATE: "3.9:0 4.1:-",
    ApiKey.READ_SHARE_GROUP_STATE_SUMMARY: "3.9:0 4.1:-",
    ApiKey.STREAMS_GROUP_HEARTBEAT: "4.1:0 4.2:-",
    ApiKey.STREAMS_GROUP_DESCRIBE: "4.1:0 4.2:-",
}


def advertised_versions(release: str) -> dict[ApiKey, tuple[int, int]]:
    """Return the (lowest, highest) version of every API that ApiVersions lists, in key order.

    `TELEMETRY` is included; leave it out unless it is enabled. `served_versions` has the versions
    that work.
    """
    return {
        key: (int(low), int(high))
        for key, versions in _version_texts_at_release(release, "advertised").items()
        for low, _, high in [versions.partition("-")]
    }


def served_versions(release: str) -> dict[ApiKey, tuple[int, int]]:
    """Return the (lowest, highest) version of every API that is answered, in key order."""
    ranges = advertised_versions(release)
    if release_index(release) >= release_index(PRODUCE_ADVERTISED_SINCE_ZERO):
        ranges[ApiKey.PRODUCE] = (PRODUCE_SERVED_SINCE, ranges[ApiKey.PRODUCE][1])
    ranges |= _SERVED_ONLY.get(release, {})
    unserved = _LISTED_ONLY.get(release, frozenset())
    return {key: ranges[key] for key in sorted(ranges) if key not in unserved}


def highest_unstable_versions(release: str) -> dict[ApiKey, int]:
    """Return the highest version of each API that has versions hidden as unstable."""
    return {
        key: int(version) for key, version in _version_texts_at_release(release, "unstable").items()
    }


def release_index(release: str) -> int:
    """Return the index of a minor release in `RELEASES`, to compare it. Raise ValueError if
    unknown.
    """
    try:
        return RELEASES.index(release)
    except ValueError:
        raise ValueError(_unknown_release_message(release)) from None


def parse_minor_release(version_text: str) -> str:
    """Return the minor release of a version: 4.3 for "4.3.1", 0.11 for "0.11.0.3", 3.9 for "3".

    Patch numbers can be any numbers (see `parse_patch_numbers`). Raise ValueError for an unknown
    release.
    """
    parts = version_text.strip().split(".")
    if not all(part.isascii() and part.isdigit() for part in parts):
        raise ValueError(_unknown_release_message(version_text))
    # A major version alone means its newest release, as a container image's tag does.
    known = [r for r in RELEASES if r.split(".")[: len(parts)] == parts[:2]]
    if not known:
        raise ValueError(_unknown_release_message(version_text))
    return known[-1]


def parse_patch_numbers(version_text: str) -> tuple[int, ...] | None:
    """Return the patch numbers of a version, such as (1,) for "3.9.1"; None without."""
    parts = version_text.strip().split(".")[len(parse_minor_release(version_text).split(".")) :]
    return tuple(int(part) for part in parts) or None


@cache
def _version_texts_at_release(
    release: str, table: Literal["advertised", "unstable"]
) -> dict[ApiKey, str]:
    """Return the rows of a table that a release has: `0-4`, or the highest unstable version."""
    index = release_index(release)
    held = {}
    for key, history in (_ADVERTISED if table == "advertised" else _UNSTABLE).items():
        entries = (entry.split(":") for entry in history.split())
        begun = [versions for since, versions in entries if release_index(since) <= index]
        if begun and begun[-1] != "-":
            held[key] = begun[-1]
    return held


def _unknown_release_message(text: str) -> str:
    return f"unknown Kafka release `{text}`: expected one of {', '.join(RELEASES)}"


def most_similar_release(api_versions: Mapping[int, tuple[int, int]]) -> str:
    """Return the release whose advertised versions are most like these; the newest of equals."""

    def likeness(release: str) -> tuple[int, int]:
        known = advertised_versions(release)
        same = sum(api_versions.get(key) == span for key, span in known.items())
        return same - len(known.keys() ^ api_versions.keys()), RELEASES.index(release)

    return max(RELEASES, key=likeness)


def unsupported_version_message(key: int, version: int, release: str) -> str:
    """Return what is wrong with the API or version of a request: what the release supports, and
    the first release with it.
    """
    if key not in set(ApiKey):
        return f"unknown API key {key}"
    api = ApiKey(key)
    span = served_versions(release).get(api)
    supported = f"supports versions {span[0]} to {span[1]}" if span else "does not have this API"
    spans = ((name, served_versions(name).get(api)) for name in RELEASES)
    fitting = [other for other, span in spans if span and span[0] <= version <= span[1]]
    where = f"Kafka {fitting[0]} to {fitting[-1]} support it" if fitting else "no release has it"
    return (
        f"{api.wire_name} (API key {key}) version {version}: Kafka {release} {supported}; {where}"
    )

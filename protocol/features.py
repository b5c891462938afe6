"""Feature levels that a broker of each release tells in ApiVersions (KIP-584), freshly formatted.

Read off real brokers of 3.6.2 to 3.9.1 and 4.1.1 to 4.3.1; those of 3.3 to 3.5 and 4.0 follow from
the metadata versions that these releases finalised. ZooKeeper brokers have none.
"""

from functools import cache

import msgspec

from kafka_shim.protocol.api_versions import parse_release, release_index


class Feature(msgspec.Struct, frozen=True):
    """What a release supports of a feature, and the level it runs at; level 0 is: not in use."""

    name: str
    min_version: int
    max_version: int
    level: int


# feature: "release:min-max@level" holds until the next entry
_FEATURES = {
    "group.version": "4.0:0-1@1",
    "kraft.version": "3.9:0-1@0",
    "metadata.version": (
        "3.3:1-7@7 3.4:1-8@8 3.5:1-11@11 3.6:1-14@14 3.7:1-19@19 3.8:1-20@20 3.9:1-21@21 "
        "4.0:7-25@25 4.1:7-27@27 4.2:7-29@29 4.3:7-30@30 4.4:7-33@33"
    ),
    "share.version": "4.1:0-1@0 4.2:0-1@1 4.4:0-2@2",
    "streams.version": "4.2:0-1@1",
    "transaction.version": "4.0:0-2@2",
    "eligible.leader.replicas.version": "4.0:0-1@0 4.1:0-1@1",
}


@cache
def features_of(release: str) -> tuple[Feature, ...]:
    """The features of a release such as `4.3`, in the order that its broker lists them."""
    at = release_index(parse_release(release))
    found = []
    for name, table in _FEATURES.items():
        feature = None
        for entry in table.split():
            since, _, levels = entry.partition(":")
            if release_index(since) <= at:
                versions, _, level = levels.partition("@")
                low, _, high = versions.partition("-")
                feature = Feature(name, int(low), int(high), int(level))
        if feature is not None:
            found.append(feature)
    return tuple(found)

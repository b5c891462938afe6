"""Feature levels that a newly formatted broker of each release returns in ApiVersions (KIP-584).

They come from the classes of the releases. ZooKeeper brokers have none, KRaft brokers since 3.3;
kraft.version is that of a static quorum.
"""

from functools import cache

import msgspec

from kafka_shim.protocol.api_versions import parse_minor_release, release_index
from kafka_shim.protocol.feature_levels import FEATURES

ELIGIBLE_REPLICAS = "eligible.leader.replicas.version"
"""The feature with which replicas that left the ISR may lead (KIP-966)."""


class Feature(msgspec.Struct, frozen=True):
    """The supported levels of a feature, and its level; 0 means that it is not in use."""

    name: str
    min_version: int
    max_version: int
    finalized_level: int


@cache
def features_in_release(release: str) -> tuple[Feature, ...]:
    """Return the features of a release such as `4.3`, in the order of its brokers."""
    at = release_index(parse_minor_release(release))
    features = []
    for name, history in FEATURES.items():
        begun = [levels for since, levels in history.items() if release_index(since) <= at]
        if begun:
            features.append(Feature(name, *begun[-1]))
    return tuple(features)

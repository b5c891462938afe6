"""What an emulated release does, by name: the facts of all parts.

Each part has a module: a class of facts, their values in the oldest release, and a chain of
changes. A handler asks `context.facts.<part>.<fact>`, never for a release number. To add a
difference: a field (its comment says what True means), its first value in OLDEST, and a Change at
the release that altered it, behind those of the same release.

ACL rules are in `authorizer/acl_releases.py` in the same form, version ranges in `api_versions.py`,
required permissions in `authorizer/requirements`.
"""

from functools import cache

import msgspec

from kafka_shim.protocol.releases import (
    access,
    cluster,
    configs,
    groups,
    records,
    telemetry,
    topics,
    users,
)
from kafka_shim.protocol.releases.change import fold


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """What a release does, part by part."""

    access: access.AccessFacts
    cluster: cluster.ClusterFacts
    configs: configs.ConfigFacts
    groups: groups.GroupFacts
    records: records.RecordFacts
    telemetry: telemetry.TelemetryFacts
    topics: topics.TopicFacts
    users: users.UserFacts


@cache
def facts_of(release: str) -> Facts:
    """The facts of a release such as `2.8` or `4.3.1`; ValueError lists the known ones."""
    return Facts(
        access=fold(access.OLDEST, access.CHANGES, release),
        cluster=fold(cluster.OLDEST, cluster.CHANGES, release),
        configs=fold(configs.OLDEST, configs.CHANGES, release),
        groups=fold(groups.OLDEST, groups.CHANGES, release),
        records=fold(records.OLDEST, records.CHANGES, release),
        telemetry=fold(telemetry.OLDEST, telemetry.CHANGES, release),
        topics=fold(topics.OLDEST, topics.CHANGES, release),
        users=fold(users.OLDEST, users.CHANGES, release),
    )

"""The facts of a release, which say how it behaves, from all parts.

Each part has a module: a class of facts, whose defaults are those of the oldest release, and a
chain of changes. Handlers use `context.facts.<part>.<fact>`, never a release number. To add a
difference, add a field (its comment says what True means) with its oldest value, and a Change for
the release, after others of the same release.

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
from kafka_shim.protocol.releases.change import apply_changes_up_to_release


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """The facts of a release, by part."""

    access: access.AccessFacts
    cluster: cluster.ClusterFacts
    configs: configs.ConfigFacts
    groups: groups.GroupFacts
    records: records.RecordFacts
    telemetry: telemetry.TelemetryFacts
    topics: topics.TopicFacts
    users: users.UserFacts


@cache
def facts_of_release(release: str) -> Facts:
    """Return the facts of a release such as `2.8` or `4.3.1`. Raise ValueError, which lists the
    known ones, if that fails.
    """
    return Facts(
        access=apply_changes_up_to_release(access.AccessFacts(), access.CHANGES, release),
        cluster=apply_changes_up_to_release(cluster.ClusterFacts(), cluster.CHANGES, release),
        configs=apply_changes_up_to_release(configs.ConfigFacts(), configs.CHANGES, release),
        groups=apply_changes_up_to_release(groups.GroupFacts(), groups.CHANGES, release),
        records=apply_changes_up_to_release(records.RecordFacts(), records.CHANGES, release),
        telemetry=apply_changes_up_to_release(
            telemetry.TelemetryFacts(), telemetry.CHANGES, release
        ),
        topics=apply_changes_up_to_release(topics.TopicFacts(), topics.CHANGES, release),
        users=apply_changes_up_to_release(users.UserFacts(), users.CHANGES, release),
    )

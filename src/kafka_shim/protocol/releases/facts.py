"""The facts of a release, which say how it behaves, from all parts.

Each part has a module: a class of facts, whose defaults are those of the oldest release, and a
chain of changes. Handlers use `context.facts.<part>.<fact>`, never a release number. To add a
difference, add a field (its comment says what True means) with its oldest value, and a Change for
the release, after others of the same release.

ACL rules are in `authorizer/acl_rules.py` in the same form, version ranges in `api_versions.py`,
required permissions in `authorizer/requirements`.
"""

from collections.abc import Mapping
from functools import cache
from typing import Final

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

REBALANCE_PROTOCOLS: Final = "group.coordinator.rebalance.protocols"


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


def facts_of_broker(release: str, settings: Mapping[str, str]) -> Facts:
    """Return the facts of a release with these broker settings, which can select a coordinator.

    Raise ValueError, which lists the known releases, if the release is unknown.
    """
    facts = facts_of_release(release)
    protocols = settings.get(REBALANCE_PROTOCOLS, "").lower().split(",")
    is_selected = "consumer" in (name.strip() for name in protocols)
    if not (is_selected and facts.groups.consumer_groups_are_preview):
        return facts
    selected = msgspec.structs.replace(facts.groups, java_group_coordinator=True)
    return msgspec.structs.replace(facts, groups=selected)

"""A denial: a command, the permissions that it needs, and the one that is missing."""

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any

import msgspec

from kafka_shim.authorizer.requirement import Requirement, bind_to_release
from kafka_shim.authorizer.requirements import PRODUCE_TOPIC
from kafka_shim.conformance.fixtures import DEFAULT_SETUP, ClusterSetup
from kafka_shim.protocol.api_versions import served_versions
from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.releases.facts import facts_of_release

Rule = Mapping[str, Any]

DENIED, ALLOWED = "denied", "allowed"


def allow_on_topic(*operations: str, name: str = DENIED) -> Rule:
    return {"allow": list(operations), "topic": name}


def allow_on_group(*operations: str, name: str = DENIED) -> Rule:
    return {"allow": list(operations), "group": name}


def allow_on_cluster(*operations: str) -> Rule:
    return {"allow": list(operations), "cluster": None}


def allow_on_transactional_id(*operations: str) -> Rule:
    return {"allow": list(operations), "transactional_id": "tx"}


def supports_api(api: ApiKey, version: int = 0) -> Callable[[str], bool]:
    """Return a test of a release: it supports this version of the API, or a newer one."""
    return lambda release: served_versions(release).get(api, (0, -1))[1] >= version


def enables_group_protocol(name: str) -> Callable[[str], bool]:
    """Return a test of a release: it enables this group protocol by default."""
    return lambda release: name in facts_of_release(release).groups.protocols


def requires_permission(
    requirement: Requirement, operation: Operation, resource_type: ResourceType
) -> Callable[[str], bool]:
    def requires_permission(release: str) -> bool:
        needs = bind_to_release(requirement, release).needs
        return any(
            (need.operation, need.resource_type) == (operation, resource_type) for need in needs
        )

    return requires_permission


def hides_topics_without_describe(release: str) -> bool:
    """Return whether the release reports topics without Describe as unknown (up to 0.11)."""
    return bind_to_release(PRODUCE_TOPIC, release).hidden_as is not None


class RecommendedCheck(Enum):
    """A check of `reports-error` that is a case of its own, of level should, for a row.

    Kafka's own client fails it on real brokers, and neither the protocol nor a KIP requires it. The
    value is the last part of the case's id.
    """

    ERROR_CODE = "reports-code"
    NO_RETRY_STORM = "without-retry-storm"


class DeniedCommand(msgspec.Struct, frozen=True):
    """A command that is denied with `code` until `missing_rule` is granted.

    `granted` is granted from the start. `items` are the names of the denied and the allowed thing
    in the command's answer; the second is empty if nothing is allowed.
    """

    name: str
    command: str
    fields: Mapping[str, Any]
    missing_rule: Rule
    code: int
    granted: tuple[Rule, ...] = ()
    items: tuple[str, str] | None = None
    topics: tuple[str, ...] = (DENIED, ALLOWED)
    settings: Mapping[str, str] = {}
    groups: tuple[str, ...] = ()
    """Existing groups, which have committed an offset for the topic `allowed`."""
    supports_release: Callable[[str], bool] = lambda _: True
    """Whether the denial exists in a release."""
    before: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    """Commands before it, which succeed."""
    then: str | None = None
    """A second command, which may report the error instead of the first."""
    setup: ClusterSetup = DEFAULT_SETUP
    capabilities: str = ""
    is_fatal: bool = False
    """Whether the error makes the client unusable, such as a denied transactional id."""
    origin: str = "KIP-11"
    recommended_check: RecommendedCheck | None = None
    recommendation_origin: str = ""
    """Where Kafka's own client is known to fail `recommended_check`."""

    @property
    def reads_records(self) -> bool:
        """Return whether the client reads records, and continues in the background."""
        return self.command.startswith("consume")

    def error_code_in_release(self, release: str) -> int:
        """Return the error at a release: UNKNOWN_TOPIC_OR_PARTITION if it hides the topic."""
        rules = self.granted
        is_seen = any(r.get("topic") == DENIED and "Describe" in r["allow"] for r in rules)
        if (
            self.code == ErrorCode.TOPIC_AUTHORIZATION_FAILED
            and not is_seen
            and hides_topics_without_describe(release)
        ):
            return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return self.code

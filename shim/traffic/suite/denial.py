"""One way of being denied something: a command, the rights that it takes, and the missing one."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from kafka_shim.authorizer.requirement import Requirement, bind
from kafka_shim.authorizer.requirements import PRODUCE_TOPIC
from kafka_shim.protocol.api_versions import served
from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.releases.facts import facts_of
from kafka_shim.shim.traffic.suite.stages import DEFAULT_SETUP, Setup

Rule = Mapping[str, Any]

DENIED, ALLOWED = "denied", "allowed"


def on_topic(*operations: str, name: str = DENIED) -> Rule:
    return {"allow": list(operations), "topic": name}


def on_group(*operations: str, name: str = DENIED) -> Rule:
    return {"allow": list(operations), "group": name}


def on_cluster(*operations: str) -> Rule:
    return {"allow": list(operations), "cluster": None}


def on_transactions(*operations: str) -> Rule:
    return {"allow": list(operations), "transactional_id": "tx"}


def serves(api: ApiKey, version: int = 0) -> Callable[[str], bool]:
    """Whether a release serves this version of an API, or a newer one."""
    return lambda release: served(release).get(api, (0, -1))[1] >= version


def has_protocol(name: str) -> Callable[[str], bool]:
    """Whether a release has this protocol of groups switched on by default."""
    return lambda release: name in facts_of(release).groups.protocols


def asks(
    requirement: Requirement, operation: Operation, resource_type: ResourceType
) -> Callable[[str], bool]:
    def asks(release: str) -> bool:
        needs = bind(requirement, release).needs
        return any(
            (need.operation, need.resource_type) == (operation, resource_type) for need in needs
        )

    return asks


def hides(release: str) -> bool:
    """Whether a topic that may not be described is unknown to the client (up to 0.11)."""
    return bind(PRODUCE_TOPIC, release).hidden_as is not None


class Denial(msgspec.Struct, frozen=True):
    """`lacking` is what is not granted at first, `granted` what is; `code` is the error.

    `items`: the command is about several things, and its answer is looked for under these names,
    the denied one and the one that is allowed, if there is one.
    """

    name: str
    command: str
    fields: Mapping[str, Any]
    lacking: Rule
    code: int
    granted: tuple[Rule, ...] = ()
    items: tuple[str, str] | None = None
    topics: tuple[str, ...] = (DENIED, ALLOWED)
    settings: Mapping[str, str] = {}
    groups: tuple[str, ...] = ()
    """Groups that are there, with an offset in `allowed`."""
    possible: Callable[[str], bool] = lambda _: True
    """Whether a release can deny it so."""
    before: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    """Commands that succeed first."""
    then: str | None = None
    """A command that may tell the error in place of the other."""
    setup: Setup = DEFAULT_SETUP
    capabilities: str = ""
    is_fatal: bool = False
    """The client cannot be used afterwards, as producers say of their transactional id."""
    origin: str = "KIP-11"

    def code_at(self, release: str) -> int:
        """The error at a release: one that hides topics says that there is none of that name."""
        rules = self.granted
        is_seen = any(r.get("topic") == DENIED and "Describe" in r["allow"] for r in rules)
        if self.code == ErrorCode.TOPIC_AUTHORIZATION_FAILED and not is_seen and hides(release):
            return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return self.code

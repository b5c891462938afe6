"""Derive from a response whether its request's authorization checks succeeded.

The result is None if the response does not determine it. A denial appears as the row's error.
Success is certain only if the check was made: brokers stop at the first denied check of a
request, and at some errors before any check.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

import msgspec

from kafka_shim.authorizer.access_plan import (
    AlternativeActions,
    RequestAccessNeeds,
    checked_names_in_response,
)
from kafka_shim.authorizer.acl_rules import acl_rules_of_release, supported_operations
from kafka_shim.authorizer.model import Action
from kafka_shim.authorizer.requirement import BoundRequirement, DenialEffect
from kafka_shim.authorizer.requirements import bound_requirements_by_id
from kafka_shim.protocol.enums import CLUSTER_NAME, NO_OPERATIONS, ApiKey, ResourceType
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.responses import (
    ErrorCodesByName,
    error_codes_by_name,
    topic_error_codes,
)

Bound = Mapping[str, BoundRequirement]
"""The requirements of a release by row id."""

_BEFORE_ASKING = frozenset(
    {
        ErrorCode.UNKNOWN_SERVER_ERROR,
        ErrorCode.ILLEGAL_SASL_STATE,
        ErrorCode.UNSUPPORTED_VERSION,
        ErrorCode.NOT_CONTROLLER,
        ErrorCode.INVALID_REQUEST,
        ErrorCode.SECURITY_DISABLED,
        ErrorCode.FETCH_SESSION_ID_NOT_FOUND,
        ErrorCode.INVALID_FETCH_SESSION_EPOCH,
        ErrorCode.TOPIC_DELETION_DISABLED,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.SHARE_SESSION_NOT_FOUND,
        ErrorCode.INVALID_SHARE_SESSION_EPOCH,
        ErrorCode.STREAMS_INVALID_TOPOLOGY,
    }
)
"""ErrorCodesByName of a request, or an entry of it, that can occur before any check."""
_SILENT_EFFECTS = (DenialEffect.HIDE, DenialEffect.EMPTY)
"""Effects of a denial that return no error code."""
_SILENT = {"DeleteTopics.topic": {ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}}
"""Errors by row that do not depend on the decision: DELETE is checked on missing topics too."""
_OMITTING = (ApiKey.FETCH, ApiKey.SHARE_FETCH)
"""APIs whose answers omit partitions that have neither records nor errors."""
_DELETE, _DELETE_DESCRIBE = "DeleteTopics.topic", "DeleteTopics.describe"
_CREATE_CONFIGS = "CreateTopics.configs"
_UNAUTHORIZED_TO_CREATE = "Unauthorized to CREATE on topics "
"""Precedes the names in the detail of a status of StreamsGroupHeartbeat."""
_CLUSTER_OPERATIONS = ("Metadata.cluster_operations", "DescribeCluster.cluster_operations")

_GROUPS: Final = ("groups", "group_id", "authorized_operations", ResourceType.GROUP)
_TOPICS: Final = ("topics", "name", "topic_authorized_operations", ResourceType.TOPIC)
_ELEMENTS: Final = {
    ApiKey.METADATA: _TOPICS,
    ApiKey.DESCRIBE_TOPIC_PARTITIONS: _TOPICS,
    ApiKey.DESCRIBE_GROUPS: _GROUPS,
    ApiKey.CONSUMER_GROUP_DESCRIBE: _GROUPS,
    ApiKey.SHARE_GROUP_DESCRIBE: _GROUPS,
    ApiKey.STREAMS_GROUP_DESCRIBE: _GROUPS,
}
_CLUSTER: Final = (ApiKey.METADATA, ApiKey.DESCRIBE_CLUSTER)


def _no_topic_existed(_: str) -> bool:
    return False


class ExternalTopicFacts(msgspec.Struct, frozen=True):
    """Information about topics from outside the exchange.

    `names_by_id` are topic names; `existed` returns whether a topic existed at that time.
    """

    names_by_id: Mapping[bytes, str] = {}
    existed: Callable[[str], bool] = _no_topic_existed


def evidence_from_response(
    api_key: int,
    version: int,
    plan: RequestAccessNeeds,
    response: Any,
    *,
    release: str,
    topics: ExternalTopicFacts,
) -> "ResponseEvidence":
    """Combine a plan with its decoded response."""
    errors = error_codes_by_name(response)
    names = topics.names_by_id
    ids = {names[key]: key for key in errors if isinstance(key, bytes) and key in names}
    rows = bound_requirements_by_id(release)
    return ResponseEvidence(api_key, version, plan, response, errors, rows, ids, topics.existed)


class ResponseEvidence(msgspec.Struct, frozen=True):
    """A request's plan with its response, as one release checks and answers requests."""

    api_key: int
    version: int
    plan: RequestAccessNeeds
    response: Any
    errors: ErrorCodesByName
    requirements: Bound
    topic_ids: Mapping[str, bytes]
    """Topic ids in the answer, by name."""
    topic_existed: Callable[[str], bool]

    def decision_about_need(self, need: AlternativeActions) -> bool | None:
        """Return whether the requirement was met; None if the response does not show it."""
        row = self.requirements[need.requirement_id]
        effect = row.effect_in_version(self.version)
        if effect in (DenialEffect.VALUE, DenialEffect.STATUS):
            return self._decision_from_separate_field(need)
        if effect in _SILENT_EFFECTS:
            return None
        codes = self._error_codes_for_need(need, effect)
        if codes is None:
            return None
        if row.error in codes:
            return self._implied_decision(need, effect)
        if codes & (
            _BEFORE_ASKING
            | self._errors_of_earlier_checks(need)
            | _SILENT.get(row.requirement.id, set())
        ):
            return None
        return None if row.hidden_as in codes else True

    def needs_denied_by_status(self) -> list[AlternativeActions]:
        """Return the needs that depend on the broker's state, and whose denial a status names."""
        if self.api_key != ApiKey.STREAMS_GROUP_HEARTBEAT:
            return []
        denied = set(self._names_denied_to_create())
        return [
            need for need in self.plan.possible_needs if need.actions[-1].resource_name in denied
        ]

    def names_listed_without_error(self, requirement_id: str) -> Iterator[str]:
        """Yield the distinct names that a list contains: the caller was allowed to see them."""
        for name in dict.fromkeys(
            checked_names_in_response(self.requirements[requirement_id], self.response)
        ):
            if name and not self.errors.get(name):
                yield name

    def _error_codes_for_need(
        self, need: AlternativeActions, effect: DenialEffect
    ) -> set[int] | None:
        """Return the errors for a requirement; None if the response has nothing about it."""
        above: set[int] = self.errors.get(None, set())
        if effect is DenialEffect.TOP:
            return above
        name = need.actions[-1].resource_name
        keys = {name, self.topic_ids.get(name)} & self.errors.keys() - {None}
        if keys:
            return above.union(*(self.errors[key] for key in keys))
        if (
            len(self._needs_of_requirement(need)) == 1
            and need.requirement_id not in self.plan.requirements_with_unknown_names
        ):
            everywhere: set[int] = set().union(*self.errors.values())
            is_topic = need.actions[-1].resource_type is ResourceType.TOPIC
            if not (is_topic and everywhere):  # an error of the whole group replaces its topics
                return everywhere  # for any name in the response
        return set() if self.api_key in _OMITTING and not above else None

    def _needs_of_requirement(self, need: AlternativeActions) -> list[AlternativeActions]:
        return [other for other in self.plan.needs if other.requirement_id == need.requirement_id]

    def _errors_of_earlier_checks(self, need: AlternativeActions) -> set[int]:
        """Return the errors of requirements that are checked before this one."""
        at = self.plan.needs.index(need)
        before = (*self.plan.needs[:at], *self.plan.possible_needs)
        earlier = {other.requirement_id for other in before} - {need.requirement_id}
        return {self.requirements[requirement].error for requirement in earlier}

    def _implied_decision(self, need: AlternativeActions, effect: DenialEffect) -> bool | None:
        """Return False if the error can only come from this requirement and name, else None."""
        if need.requirement_id == _DELETE_DESCRIBE:
            return self._is_name_of_id_returned(need)
        if need.requirement_id == _DELETE:
            return (
                False  # without DESCRIBE there is no DELETE, except with a DENY of DESCRIBE alone
            )
        if effect is DenialEffect.TOP and len(self._needs_of_requirement(need)) > 1:
            return None
        is_there = any(self.topic_existed(action.resource_name) for action in need.actions)
        missing = () if is_there else self.plan.possible_needs
        return None if self._needs_with_same_denial(need, (*self.plan.needs, *missing)) else False

    def _needs_with_same_denial(
        self, need: AlternativeActions, other_needs: Iterable[AlternativeActions]
    ) -> list[AlternativeActions]:
        """Return the requirements whose denial gives the same error on the same name."""
        names = {action.resource_name for action in need.actions}
        error = self.requirements[need.requirement_id].error
        return [
            other
            for other in other_needs
            if self.requirements[other.requirement_id].error == error
            and other.requirement_id
            not in (need.requirement_id, _CREATE_CONFIGS)  # a field of its own
            and names & {action.resource_name for action in other.actions}
        ]

    def needs_possibly_denied_instead(self, need: AlternativeActions) -> list[AlternativeActions]:
        """Return the requirements that were denied if this one was not;
        empty if that is certain.
        """
        row = self.requirements[need.requirement_id]
        if self.decision_about_need(need) is not None or self._needs_with_same_denial(
            need, self.plan.needs
        ):
            return []
        effect = row.effect_in_version(self.version)
        codes = None if effect in _SILENT_EFFECTS else self._error_codes_for_need(need, effect)
        return (
            self._needs_with_same_denial(need, self.plan.possible_needs)
            if row.error in (codes or ())
            else []
        )

    def _is_name_of_id_returned(self, need: AlternativeActions) -> bool | None:
        """Return whether a topic requested by id was describable: only
        then is its name returned.
        """
        topic_id = self.topic_ids.get(need.actions[-1].resource_name)
        if topic_id is None or topic_id not in self.errors:
            return None
        return need.actions[-1].resource_name in self.errors

    def _decision_from_separate_field(self, need: AlternativeActions) -> bool | None:
        """Return the decision shown by a separate field of the response."""
        if need.requirement_id == _CREATE_CONFIGS:
            return self._decision_about_new_topic_configs(need)
        if need.requirement_id in _CLUSTER_OPERATIONS:
            bits = self.response.cluster_authorized_operations
            return None if bits == NO_OPERATIONS else bool(bits)
        return False if need in self.needs_denied_by_status() else None

    def _names_denied_to_create(self) -> Iterator[str]:
        for status in self.response.status or ():
            names = status.status_detail.partition(_UNAUTHORIZED_TO_CREATE)[2]
            yield from names.removesuffix(".").split(", ")

    def _decision_about_new_topic_configs(self, need: AlternativeActions) -> bool | None:
        """Return the decision on a new topic's configs (CreateTopics), which does not affect
        creation.
        """
        name = need.actions[-1].resource_name
        found = topic_error_codes(self.response).get(name)
        if found is None or self.version < 5 or found[0]:
            return None
        return found[1] != ErrorCode.TOPIC_AUTHORIZATION_FAILED


def decisions_in_authorized_operations(
    api_key: int, response: Any, release: str
) -> Iterator[tuple[Action, bool]]:
    """Yield the checks for the authorized operations in a response, with their decisions."""
    if api_key in _CLUSTER and response.cluster_authorized_operations:
        bits = response.cluster_authorized_operations
        yield from _decisions_in_bit_field(bits, ResourceType.CLUSTER, CLUSTER_NAME, release)
    if api_key in _ELEMENTS:
        elements, name, field, kind = _ELEMENTS[ApiKey(api_key)]
        for element in getattr(response, elements):
            bits = getattr(element, field)
            yield from _decisions_in_bit_field(bits, kind, getattr(element, name), release)


def _decisions_in_bit_field(
    bits: int, resource_type: ResourceType, name: str | None, release: str
) -> Iterator[tuple[Action, bool]]:
    if bits == NO_OPERATIONS or name is None:
        return
    for operation in supported_operations(resource_type, acl_rules_of_release(release)):
        yield Action(operation, resource_type, name), bool(bits >> operation & 1)

"""Derive from a response whether its request's authorization checks succeeded.

The result is None if the response does not determine it. A denial appears as the row's error.
Success is certain only if the check was made: brokers stop at the first denied check of a
request, and at some errors before any check.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import msgspec

from kafka_shim.authorizer.access_plan import AnyOf, Plan, names_in_response
from kafka_shim.authorizer.requirement import BoundRequirement, Effect
from kafka_shim.authorizer.requirements import rows_by_id
from kafka_shim.protocol.enums import NO_OPERATIONS, ApiKey, ResourceType
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.responses import (
    ErrorCodesByName,
    created_topic_and_config_errors,
    error_codes_by_name,
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
_SILENT_EFFECTS = (Effect.HIDE, Effect.EMPTY)
"""Effects of a denial that return no error code."""
_SILENT = {"DeleteTopics.topic": {ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}}
"""Errors by row that do not depend on the decision: DELETE is checked on missing topics too."""
_OMITTING = (ApiKey.FETCH, ApiKey.SHARE_FETCH)
"""APIs whose answers omit partitions that have neither records nor errors."""
_DELETE, _DELETE_DESCRIBE = "DeleteTopics.topic", "DeleteTopics.describe"
_CREATE_CONFIGS = "CreateTopics.configs"
_CLUSTER_OPERATIONS = ("Metadata.cluster_operations", "DescribeCluster.cluster_operations")


def _unknown(_: str) -> bool:
    return False


class Known(msgspec.Struct, frozen=True):
    """Information about topics from outside the exchange.

    `names` are topic names by id; `is_there` returns whether a topic existed at that time.
    """

    names: Mapping[bytes, str] = {}
    is_there: Callable[[str], bool] = _unknown


def evidence_from_response(
    api_key: int,
    version: int,
    plan: Plan,
    response: Any,
    *,
    release: str,
    known: Known,
) -> "ResponseEvidence":
    """Combine a plan with its decoded response."""
    errors = error_codes_by_name(response)
    names = known.names
    ids = {names[key]: key for key in errors if isinstance(key, bytes) and key in names}
    rows = rows_by_id(release)
    return ResponseEvidence(api_key, version, plan, response, errors, rows, ids, known.is_there)


class ResponseEvidence(msgspec.Struct, frozen=True):
    """A request's plan with its response, as one release checks and answers requests."""

    api_key: int
    version: int
    plan: Plan
    message: Any
    errors: ErrorCodesByName
    bound: Bound
    ids: Mapping[str, bytes]
    """Topic ids in the answer, by name."""
    is_there: Callable[[str], bool]

    def decision(self, need: AnyOf) -> bool | None:
        """Return whether the requirement was met; None if the response does not show it."""
        row = self.bound[need.requirement]
        effect = row.effect(self.version)
        if effect is Effect.VALUE:
            return self._by_value(need)
        if effect in _SILENT_EFFECTS:
            return None
        codes = self._codes(need, effect)
        if codes is None:
            return None
        if row.error in codes:
            return self._denied(need, effect)
        if codes & (_BEFORE_ASKING | self._earlier_errors(need) | _SILENT.get(row.row.id, set())):
            return None
        return None if row.hidden_as in codes else True

    def shown(self, requirement: str) -> Iterator[str]:
        """Yield the distinct names that a list contains: the caller was allowed to see them."""
        for name in dict.fromkeys(names_in_response(self.bound[requirement], self.message)):
            if name and not self.errors.get(name):
                yield name

    def _codes(self, need: AnyOf, effect: Effect) -> set[int] | None:
        """Return the errors for a requirement; None if the response has nothing about it."""
        above: set[int] = self.errors.get(None, set())
        if effect is Effect.TOP:
            return above
        name = need.actions[-1].resource_name
        keys = {name, self.ids.get(name)} & self.errors.keys() - {None}
        if keys:
            return above.union(*(self.errors[key] for key in keys))
        if len(self._alike(need)) == 1 and need.requirement not in self.plan.unknown:
            everywhere: set[int] = set().union(*self.errors.values())
            is_topic = need.actions[-1].resource_type is ResourceType.TOPIC
            if not (is_topic and everywhere):  # an error of the whole group replaces its topics
                return everywhere  # for any name in the response
        return set() if self.api_key in _OMITTING and not above else None

    def _alike(self, need: AnyOf) -> list[AnyOf]:
        return [other for other in self.plan.needs if other.requirement == need.requirement]

    def _earlier_errors(self, need: AnyOf) -> set[int]:
        """Return the errors of requirements that are checked before this one."""
        at = self.plan.needs.index(need)
        before = (*self.plan.needs[:at], *self.plan.possible)
        earlier = {other.requirement for other in before} - {need.requirement}
        return {self.bound[requirement].error for requirement in earlier}

    def _denied(self, need: AnyOf, effect: Effect) -> bool | None:
        """Return False if the error can only come from this requirement and name, else None."""
        if need.requirement == _DELETE_DESCRIBE:
            return self._is_described(need)
        if need.requirement == _DELETE:
            return (
                False  # without DESCRIBE there is no DELETE, except with a DENY of DESCRIBE alone
            )
        if effect is Effect.TOP and len(self._alike(need)) > 1:
            return None
        is_there = any(self.is_there(action.resource_name) for action in need.actions)
        missing = () if is_there else self.plan.possible
        return None if self._sharing(need, (*self.plan.needs, *missing)) else False

    def _sharing(self, need: AnyOf, others: Iterable[AnyOf]) -> list[AnyOf]:
        """Return the requirements whose denial gives the same error on the same name."""
        names = {action.resource_name for action in need.actions}
        error = self.bound[need.requirement].error
        return [
            other
            for other in others
            if self.bound[other.requirement].error == error
            and other.requirement not in (need.requirement, _CREATE_CONFIGS)  # a field of its own
            and names & {action.resource_name for action in other.actions}
        ]

    def denied_instead(self, need: AnyOf) -> list[AnyOf]:
        """Return the requirements that were denied if this one was not;
        empty if that is certain.
        """
        row = self.bound[need.requirement]
        if self.decision(need) is not None or self._sharing(need, self.plan.needs):
            return []
        effect = row.effect(self.version)
        codes = None if effect in _SILENT_EFFECTS else self._codes(need, effect)
        return self._sharing(need, self.plan.possible) if row.error in (codes or ()) else []

    def _is_described(self, need: AnyOf) -> bool | None:
        """Return whether a topic requested by id was describable: only
        then is its name returned.
        """
        topic_id = self.ids.get(need.actions[-1].resource_name)
        if topic_id is None or topic_id not in self.errors:
            return None
        return need.actions[-1].resource_name in self.errors

    def _by_value(self, need: AnyOf) -> bool | None:
        """Return the decision shown by a separate field of the response."""
        if need.requirement == _CREATE_CONFIGS:
            return self._configs(need)
        if need.requirement in _CLUSTER_OPERATIONS:
            bits = self.message.cluster_authorized_operations
            return None if bits == NO_OPERATIONS else bool(bits)
        return None

    def _configs(self, need: AnyOf) -> bool | None:
        """Return the decision on a new topic's configs (CreateTopics), which does not affect
        creation.
        """
        name = need.actions[-1].resource_name
        found = created_topic_and_config_errors(self.message).get(name)
        if found is None or self.version < 5 or found[0]:
            return None
        return found[1] != ErrorCode.TOPIC_AUTHORIZATION_FAILED

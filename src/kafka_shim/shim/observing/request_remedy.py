"""The smallest change of the ACLs after which a whole denied request succeeds.

It covers the checks that were made, and those that a broker makes only after a denied one is
allowed, as far as the request and the cluster show them.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET, UnsetType

from kafka_shim.authorizer.access_plan import (
    AlternativeActions,
    RequestAccessNeeds,
    access_plan,
    alternative_actions_for_name,
)
from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.client_needs import advice_text, detect_role, follow_up_actions
from kafka_shim.authorizer.model import DecisionReason
from kafka_shim.authorizer.remedy import (
    CheckedAction,
    Remedy,
    RequiredAccess,
    required_access_for_need,
    side_effects_of_steps,
    steps_to_allow,
)
from kafka_shim.authorizer.requirement import BoundRequirement
from kafka_shim.authorizer.requirements import (
    METADATA_AUTO_CREATE,
    METADATA_TOPIC,
    bound_requirements_by_id,
)
from kafka_shim.policy.formats.yaml_rules import acls_to_rules, rule_line
from kafka_shim.protocol.enums import Operation, ResourceType
from kafka_shim.shim.request.access import AccessRecord
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.cluster import Cluster

DENIALS_MAX = 20
"""How many denials of a request a remedy covers, so that it takes a few milliseconds."""
_CLUSTER, _TOPIC = ResourceType.CLUSTER, ResourceType.TOPIC


class RequestNeeds(NamedTuple):
    """What a denied request needs, whatever ACLs there are.

    If it is not `complete`, the broker may check further names after a change of ACLs.
    """

    alternatives: tuple[AlternativeActions, ...]
    complete: bool


class RequestRemedy(msgspec.Struct):
    """ACLs to add and then to remove, together, as rules of a state file. If it is not `complete`,
    the broker may check further names after the change. `advice` is about what else the change
    opens, and what the client needs next.
    """

    add: list[dict[str, Any]]
    remove: list[dict[str, Any]]
    complete: bool
    advice: str


class DeniedRequest:
    """What would allow a denied request. It is computed when somebody reads it, not while the
    client waits for its response; the history and the audit log share it.
    """

    def __init__(self, context: RequestContext) -> None:
        self._context: RequestContext | None = context
        self._policy = context.cluster.policy
        self._node_id, self._actor = context.node_id, context.access.actor
        self._api, self._client_id = context.header.api_key, context.header.client_id
        self._session = context.session
        self._needs: RequestNeeds | None = None
        self._remedy: Remedy | UnsetType | None = UNSET
        authorizer = self._policy.deciding_authorizer(self._node_id)
        if isinstance(authorizer, StandardAuthorizer):
            authorizer.store.call_before_next_change(self.compute)

    @property
    def needs(self) -> RequestNeeds:
        """The checks that were denied, and those that a broker makes only after these."""
        if self._needs is None:
            assert self._context is not None
            self._needs = _needs_of_request(self._context)
            self._context = None  # a decoded request can be large
        return self._needs

    @property
    def remedy(self) -> Remedy | None:
        """The smallest change of the ACLs of the time of the request; if more requests were denied
        than a store of ACLs remembers, of those when this is first read.

        None if no change helps, as against a fault, or if later ACLs allow the request.
        """
        return self.compute()

    def compute(self) -> Remedy | None:
        """Compute the remedy, unless it is known."""
        if self._remedy is UNSET:
            self._remedy = self._compute_remedy()
        return self._remedy

    def _compute_remedy(self) -> Remedy | None:
        needs = self.needs
        authorizer = self._policy.deciding_authorizer(self._node_id)
        if authorizer is None:
            return None
        accesses = [required_access_for_need(self._actor, need) for need in needs.alternatives]
        client = detect_role(self._client_id, self._session.sent_apis)
        if client is not None:
            actions = [action for need in needs.alternatives for action in need.actions]
            accesses += [
                RequiredAccess(self._actor, ((CheckedAction(action),),))
                for action in follow_up_actions(self._api, actions, client.role)
            ]
        steps = steps_to_allow(authorizer, accesses)
        if not steps:
            return None
        remedy = Remedy.from_steps(steps, complete=needs.complete)
        opened = side_effects_of_steps(authorizer, steps, accesses)
        advice = advice_text(self._api, remedy.add, client)
        unknown = ""
        if not isinstance(authorizer, StandardAuthorizer):
            unknown = f"{type(authorizer).__name__} may decide otherwise than Kafka's authorizer"
        advice = "; ".join(filter(None, (unknown, *opened, advice)))
        return msgspec.structs.replace(remedy, advice=advice)


def denied_request(context: RequestContext) -> DeniedRequest:
    """Return the one for a request with denials."""
    denied = context.access.denied_request
    if not isinstance(denied, DeniedRequest):
        denied = context.access.denied_request = DeniedRequest(context)
    return denied


def _needs_of_request(context: RequestContext) -> RequestNeeds:
    denied = dict.fromkeys(checked_requirements(context.access.records, only_denied=True))
    covered = tuple(islice(denied, DENIALS_MAX))
    bound_rows = bound_requirements_by_id(context.cluster.policy.release)
    errors = [
        need for need in covered if bound_rows[need.requirement_id].denial_is_error_in_some_version
    ]
    complete = len(covered) == len(denied)
    if errors and complete:
        plan = _access_plan_of_request(context)
        errors += _find_unmet_needs(context, plan, bound_rows)
        complete = not any(
            bound_rows[row].denial_is_error_in_some_version
            for row in plan.requirements_with_unknown_names
        )
    return RequestNeeds(tuple(errors) or covered, complete)


def checked_requirements(
    records: Sequence[AccessRecord], *, only_denied: bool = False
) -> Iterator[AlternativeActions]:
    """Yield the requirements of checks, including those that an alternative met.

    If DESCRIBE is only checked after a denial, to hide the topic, it is not required.
    """
    hidden: set[str] = set()
    for record in records:
        bound, action = record.requirement, record.action
        if bound is None or (only_denied and record.decision.allowed):
            continue
        if record.decision.allowed:
            pass
        elif bound.hidden_as is not None and not bound.describe_first:
            hidden.add(action.resource_name)
        elif bound.requirement is METADATA_TOPIC and action.resource_name in hidden:
            continue
        if any(need.source_of_names for need in bound.needs):  # each alternative has another name
            if action.resource_type is bound.needs[0].resource_type:
                yield AlternativeActions(bound.requirement.id, (action,), (False,))
        elif action.resource_type is not _CLUSTER or bound.needs[-1].resource_type is _CLUSTER:
            yield alternative_actions_for_name(bound, action.resource_name)


def _access_plan_of_request(context: RequestContext) -> RequestAccessNeeds:
    header, release = context.header, context.cluster.policy.release
    names = _TopicNamesById(context.cluster)
    return access_plan(header.api_key, context.version, context.request, release, names)


def _find_unmet_needs(
    context: RequestContext, plan: RequestAccessNeeds, bound_rows: Mapping[str, BoundRequirement]
) -> Iterator[AlternativeActions]:
    """Yield the requirements whose denial is an error, except those that an ACL already meets."""
    met = {
        record.action
        for record in context.access.records
        if record.decision.reason is DecisionReason.ACL and record.decision.allowed
    }
    for need in plan.needs:
        bound = bound_rows[need.requirement_id]
        if bound.denial_is_error_in_some_version and met.isdisjoint(need.actions):
            yield need
        if bound.describe_first:
            yield alternative_actions_for_name(
                bound_rows[METADATA_TOPIC.id], need.actions[-1].resource_name
            )
    cluster = context.cluster
    for need in plan.possible_needs:
        action = need.actions[-1]
        creates_topic = action.operation is Operation.CREATE and action.resource_type is _TOPIC
        if need.requirement_id == METADATA_AUTO_CREATE.id:
            creates_topic = cluster.configs.effective_broker_bool("auto.create.topics.enable")
        if creates_topic and cluster.topics.led_topic(action.resource_name) is None:
            yield need


class _TopicNamesById(Mapping[bytes, str]):
    """The names of a cluster's topics by id, looked up one by one."""

    def __init__(self, cluster: Cluster) -> None:
        self._topics = cluster.topics

    def __getitem__(self, topic_id: bytes) -> str:
        topic = self._topics.by_id(topic_id)
        if topic is None:
            raise KeyError(topic_id)
        return topic.name

    def __iter__(self) -> Iterator[bytes]:
        return (topic.topic_id for topic in self._topics)

    def __len__(self) -> int:
        return len(self._topics)


def remedy_json(remedy: Remedy | None) -> dict[str, Any] | None:
    """Return a remedy for JSON, with ACLs as rules of a state file."""
    if remedy is None:
        return None
    rules = RequestRemedy(
        acls_to_rules(remedy.add), acls_to_rules(remedy.remove), remedy.complete, remedy.advice
    )
    return msgspec.structs.asdict(rules)


def remedy_text(remedy: Mapping[str, Any]) -> str:
    """Return `add {RULE}; remove {RULE} (ADVICE)` for the object of a remedy."""
    steps = [f"{verb} {rule_line(rule)}" for verb in ("add", "remove") for rule in remedy[verb]]
    return "; ".join(steps) + (f" ({remedy['advice']})" if remedy["advice"] else "")
